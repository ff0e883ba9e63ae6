// SPDX-License-Identifier: Apache-2.0

// Traces of awaits and of tasks: how fast they are loaded, and in how much memory.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include <coroscope/analysis/load.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/trace/reader.hpp>

#include "coroutines.hpp"
#include "once.hpp"
#include "whole_traces.hpp"

namespace {

// Bytes of operator new that are in use, and the most so far; of this program and of the libraries
// that it uses.
std::atomic<bool> counts_memory = false;
std::atomic<std::ptrdiff_t> in_use = 0;
std::atomic<std::ptrdiff_t> most_in_use = 0;

void count(std::ptrdiff_t bytes) {
    const std::ptrdiff_t now = in_use.fetch_add(bytes) + bytes;
    std::ptrdiff_t most = most_in_use.load();
    while (most < now && !most_in_use.compare_exchange_weak(most, now)) {
    }
}

}  // namespace

void* operator new(std::size_t bytes) {
    void* const made = std::malloc(bytes == 0 ? 1 : bytes);
    if (made == nullptr) throw std::bad_alloc();
    if (counts_memory) count(static_cast<std::ptrdiff_t>(malloc_usable_size(made)));
    return made;
}

void operator delete(void* given) noexcept {
    if (counts_memory) count(-static_cast<std::ptrdiff_t>(malloc_usable_size(given)));
    std::free(given);
}

void operator delete(void* given, std::size_t) noexcept { operator delete(given); }

namespace bench {
namespace {

constexpr std::uint64_t awaits = 4'000'000;
constexpr std::uint64_t tasks = 1'000'000;

coroscope::trace::buffer record(std::uint64_t (*work)(std::uint64_t), std::uint64_t operations) {
    coroscope::profile session{{.all_threads = true, .policy = coroscope::overflow::wait}};
    work(operations);
    return session.stop();
}

coroscope::trace::buffer trace_of_awaits() { return record(steps<false>, awaits); }
coroscope::trace::buffer trace_of_tasks() { return record(lazy_tasks<false>, tasks); }

// Whether as many were loaded as were recorded. A few more tasks run them.
const char* note(std::size_t loaded, std::uint64_t recorded) {
    return loaded >= recorded && loaded <= recorded + 8 ? "" : "not all were loaded";
}

template <class Counted>
once_result load_rate(const coroscope::trace::buffer& bytes, std::uint64_t recorded,
                      Counted counted) {
    std::size_t found = 0;
    const double floor = rate(recorded, [&] { keep(look_at(bytes)); });
    const double value = rate(recorded, [&] {
        const auto loaded = coroscope::analysis::load(bytes);
        found = loaded ? counted(*loaded) : 0;
    });
    return {value, floor, note(found, recorded)};
}

/// Returns the most bytes for each that the load had in use at one time, beside the trace.
template <class Counted>
once_result load_memory(const coroscope::trace::buffer& bytes, std::uint64_t recorded,
                        Counted counted) {
    in_use = most_in_use = 0;
    counts_memory = true;
    const auto loaded = coroscope::analysis::load(bytes);
    counts_memory = false;
    return {static_cast<double>(most_in_use) / static_cast<double>(recorded),
            {},
            note(loaded ? counted(*loaded) : 0, recorded)};
}

std::size_t count_awaits(const coroscope::analysis::trace& loaded) { return loaded.awaits.size(); }
std::size_t count_tasks(const coroscope::analysis::trace& loaded) { return loaded.tasks.size(); }

once_result load_awaits() { return load_rate(trace_of_awaits(), awaits, count_awaits); }
once_result load_tasks() { return load_rate(trace_of_tasks(), tasks, count_tasks); }
once_result load_awaits_memory() { return load_memory(trace_of_awaits(), awaits, count_awaits); }
once_result load_tasks_memory() { return load_memory(trace_of_tasks(), tasks, count_tasks); }

}  // namespace

std::vector<once_row> task_load_rows() {
    return {
        {"load.awaits", "M/s", load_awaits},
        {"load.tasks", "M/s", load_tasks},
        {"memory.load_awaits", "B", load_awaits_memory},
        {"memory.load_tasks", "B", load_tasks_memory},
    };
}

}  // namespace bench
