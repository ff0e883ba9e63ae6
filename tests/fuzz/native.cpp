// SPDX-License-Identifier: Apache-2.0

// The reader of native traces. Most changes of a byte break a chunk's checksum, behind which nothing is
// read: the mutator seals the chunks again.

#include "target.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/format.hpp>
#include <xxhash.h>

namespace coroscope_fuzz {

namespace analysis = coroscope::analysis;
namespace format = coroscope::trace;

namespace {

constexpr std::size_t most_tasks_told = 4;

void told(const analysis::listing& list) {
    if (analysis::to_json(list).empty() || analysis::to_csv(list).empty()) std::abort();
    if (analysis::to_text(list).empty() && !list.rows.empty()) std::abort();
}

void ask_tasks(const analysis::trace& loaded) {
    told(analysis::list_task_sites(loaded, analysis::task_statistics(loaded)));
    told(analysis::list_task_tree(loaded));
    told(analysis::list_await_sites(loaded, analysis::await_statistics(loaded)));
    told(analysis::list_await_chains(loaded, analysis::await_chains(loaded)));
    told(analysis::list_streams(analysis::statistics_of_streams(loaded)));
    told(analysis::list_threads(loaded));
    for (std::uint32_t task = 0; task < loaded.tasks.size() && task < most_tasks_told; ++task) {
        if (analysis::task_text(loaded, task).empty()) std::abort();
        if (analysis::task_json(loaded, task).empty()) std::abort();
    }
}

// The four parts of a task's wall time are what it is made of.
bool adds_up(const analysis::task_info& task, std::int64_t session_ns) {
    const analysis::time_split& time = task.time;
    if (time.running_ns < 0 || time.suspended_ns < 0 || time.queued_ns < 0 || time.waiting_ns < 0)
        return false;
    if (!task.first_wake_ns) return time.wall_ns() == 0;
    const std::int64_t end_ns = std::max(*task.first_wake_ns, task.end_ns.value_or(session_ns));
    return time.wall_ns() == end_ns - *task.first_wake_ns;
}

void check_times(const analysis::trace& loaded) {
    for (const analysis::task_info& each : loaded.tasks)
        if (!adds_up(each, loaded.duration_ns)) std::abort();
    for (const analysis::event& each : loaded.events)
        if (each.start_ns < 0 || each.end_ns < each.start_ns) std::abort();
}

}  // namespace

void feed(std::string_view bytes) {
    const auto loaded = analysis::load(coroscope::trace::buffer::copy(bytes.data(), bytes.size()));
    if (!loaded) return check_failure(loaded.error().message);
    check_times(*loaded);
    ask_tasks(*loaded);
    if (analysis::info_json(*loaded).empty() || analysis::info_text(*loaded).empty()) std::abort();
    if (analysis::summary(*loaded).empty()) std::abort();
    if (!analysis::export_chrome(*loaded, nowhere{})) std::abort();
    if (!analysis::export_perfetto(*loaded, nowhere{})) std::abort();
    ask_all(analysis::events_of(*loaded));
}

}  // namespace coroscope_fuzz

#if defined(COROSCOPE_FUZZER)
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Sealed chunks get the checksum of what is in them now.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int) {
    using namespace coroscope_fuzz;
    size = LLVMFuzzerMutate(data, size, most);
    format::file_header header;
    if (size < sizeof header) return size;
    std::memcpy(&header, data, sizeof header);
    if (header.chunk_bytes < format::chunk_header_bytes) return size;
    for (std::size_t at = format::file_header_bytes; at + header.chunk_bytes <= size;
         at += header.chunk_bytes) {
        format::chunk_header chunk;
        std::memcpy(&chunk, data + at, sizeof chunk);
        if (chunk.used_bytes > header.chunk_bytes - sizeof chunk) continue;
        chunk.checksum = XXH3_64bits(data + at + sizeof chunk, chunk.used_bytes);
        std::memcpy(data + at, &chunk, sizeof chunk);
    }
    return size;
}
#endif
