// SPDX-License-Identifier: Apache-2.0

// The reader of native traces. Most changes of a byte break a chunk's checksum, and the reader
// skips the chunk. Therefore the mutator seals the chunks again.

#include "target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/chrome.hpp>
#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/perfetto.hpp>
#include <coroscope/analysis/profile_exports.hpp>
#include <coroscope/analysis/report.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <coroscope/analysis/slow_requests.hpp>
#include <coroscope/analysis/span_exports.hpp>
#include <coroscope/analysis/stream_statistics.hpp>
#include <coroscope/analysis/table_exports.hpp>
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

// The segments of a path must follow one another from its start to its end.
void check_path(const analysis::trace& loaded, const analysis::critical_path& path) {
    std::int64_t now_ns = path.start_ns;
    for (const analysis::path_segment& each : path.segments) {
        if (each.start_ns != now_ns || each.end_ns <= each.start_ns) std::abort();
        now_ns = each.end_ns;
    }
    if (now_ns != path.end_ns) std::abort();
    told(analysis::list_path(loaded, path));
    told(analysis::list_path_parts(loaded, path));
    if (analysis::path_json(loaded, path).empty()) std::abort();
    for (std::uint32_t at = 0; at < path.waits.size(); ++at)
        if (path.waits[at].through != analysis::none && path.waits[at].through >= at) std::abort();
}

// The own times of the nodes must add up to the wall times of the requests.
void check_tree(const analysis::trace& loaded, const analysis::request_paths& tree) {
    std::int64_t sum_ns = 0;
    for (const analysis::request_path_node& each : tree.nodes)
        analysis::add_to(sum_ns, each.own_ns);
    if (sum_ns != tree.wall_ns) std::abort();
    told(analysis::list_request_paths(loaded, tree, true));
    if (analysis::request_paths_json(loaded, tree).empty()) std::abort();
}

void ask_tasks(const analysis::trace& loaded) {
    told(analysis::list_task_sites(loaded, analysis::task_statistics(loaded)));
    told(analysis::list_task_tree(loaded));
    told(analysis::list_await_sites(loaded, analysis::await_statistics(loaded)));
    told(analysis::list_await_chains(loaded, analysis::await_chains(loaded)));
    told(analysis::list_await_blame(loaded, analysis::blame_of_awaits(loaded)));
    told(analysis::list_streams(analysis::statistics_of_streams(loaded)));
    told(analysis::list_threads(loaded));
    for (std::uint32_t task = 0; task < loaded.tasks.size() && task < most_tasks_told; ++task) {
        if (analysis::task_text(loaded, task).empty()) std::abort();
        if (analysis::task_json(loaded, task).empty()) std::abort();
        check_path(loaded, analysis::critical_path_of_task(loaded, task));
    }
}

void ask_requests(const analysis::trace& loaded) {
    const analysis::request_list list = analysis::requests_of(loaded);
    for (const analysis::critical_path& each : analysis::critical_paths(loaded, list.requests))
        check_path(loaded, each);
    if (const auto compared = analysis::compare_slow_requests(loaded, list)) {
        told(analysis::list_differences(loaded, *compared, true));
        if (analysis::slow_requests_json(loaded, *compared).empty()) std::abort();
    }
    if (const auto tree = analysis::paths_of_requests(loaded, list)) check_tree(loaded, *tree);
    const auto written = analysis::export_folded_stacks(loaded, analysis::folded_time::wall,
                                                        [](std::string_view) { return true; });
    if (!written) std::abort();
}

void check_exports(const analysis::trace& loaded) {
    const auto nowhere = [](std::string_view) { return true; };
    if (!analysis::export_speedscope(loaded, nowhere)) std::abort();
    if (!analysis::export_firefox(loaded, nowhere)) std::abort();
    if (!analysis::export_pprof(loaded, nowhere)) std::abort();
    for (const auto form : {analysis::otlp_form::json, analysis::otlp_form::protobuf})
        if (!analysis::export_otlp(loaded, form, nowhere)) std::abort();
    for (const std::string_view table : analysis::data_table_names())
        for (const auto form : {analysis::rows_form::csv, analysis::rows_form::ndjson})
            if (!analysis::export_table(loaded, table, form, nowhere)) std::abort();
    for (const std::uint64_t most : {std::uint64_t{1'000'000}, std::uint64_t{3}})
        if (!analysis::write_report(loaded, nowhere, {.most_events = most})) std::abort();
}

// A task's wall time must be the sum of its four parts.
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
    ask_requests(*loaded);
    check_exports(*loaded);
    if (analysis::info_json(*loaded).empty() || analysis::info_text(*loaded).empty()) std::abort();
    if (analysis::summary(*loaded).empty()) std::abort();
    if (!analysis::export_chrome(*loaded, nowhere{})) std::abort();
    if (!analysis::export_perfetto(*loaded, nowhere{})) std::abort();
    ask_all(analysis::events_of(*loaded));
}

}  // namespace coroscope_fuzz

#if defined(COROSCOPE_FUZZER)
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Gives sealed chunks the checksum of their present content.
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
