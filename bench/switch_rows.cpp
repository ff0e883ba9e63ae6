// SPDX-License-Identifier: Apache-2.0

// The cost of the states of threads: processor time per context switch.

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <coroscope/profile.hpp>
#include <coroscope/trace/buffer.hpp>
#include <coroscope/trace/file_header.hpp>

#include "once.hpp"
#include "whole_traces.hpp"

namespace bench {
namespace {

constexpr int turns = 10'000;
constexpr int rounds = 15;

void use_first_processor(const cpu_set_t& allowed) {
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (!CPU_ISSET(processor, &allowed)) continue;
        cpu_set_t first;
        CPU_ZERO(&first);
        CPU_SET(processor, &first);
        sched_setaffinity(0, sizeof first, &first);
        return;
    }
}

// Two threads on one processor hand a byte to and fro: two switches a turn.
bool hand_over(const cpu_set_t& allowed) {
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0) return false;
    bool first_ok = true, second_ok = true;
    std::thread first([&] {
        use_first_processor(allowed);
        char byte = 0;
        for (int turn = 0; turn < turns && first_ok; ++turn)
            first_ok = write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1;
    });
    std::thread second([&] {
        use_first_processor(allowed);
        char byte = 0;
        for (int turn = 0; turn < turns && second_ok; ++turn)
            second_ok = read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1;
    });
    first.join();
    second.join();
    for (const int end : {there[0], there[1], back[0], back[1]}) close(end);
    return first_ok && second_ok;
}

struct switch_cost {
    double nanoseconds = 0;  ///< per switch, of all threads of the process
    bool done = false;
    bool has_switches = false;
};

switch_cost cost(bool states, const cpu_set_t& allowed) {
    coroscope::profile session({.all_threads = true, .thread_states = states});
    const double before = processor_seconds();
    switch_cost measured;
    measured.done = hand_over(allowed);
    const coroscope::trace::buffer recorded = session.stop();
    measured.nanoseconds = (processor_seconds() - before) * 1e9 / (2.0 * turns);
    coroscope::trace::file_header header{};
    if (recorded.size() >= sizeof header) std::memcpy(&header, recorded.data(), sizeof header);
    measured.has_switches =
        header.thread_states ==
        static_cast<std::uint64_t>(coroscope::trace::thread_state_source::switches);
    return measured;
}

// The median over rounds of the difference to a session without states.
once_result switched() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {0, {}, "no processors"};
    std::vector<double> more;
    for (int round = 0; round < rounds; ++round) {
        const switch_cost without = cost(false, allowed);
        const switch_cost with = cost(true, allowed);
        if (!without.done || !with.done) return {0, {}, "a pipe failed"};
        if (!with.has_switches) return {0, {}, "no context switches are recorded here"};
        more.push_back(with.nanoseconds - without.nanoseconds);
    }
    std::ranges::nth_element(more, more.begin() + rounds / 2);
    return {more[rounds / 2], {}, {}};
}

}  // namespace

std::vector<once_row> switch_rows() { return {{"states.switch", "ns", switched}}; }

}  // namespace bench
