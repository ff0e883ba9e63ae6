// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel's facts in a trace, by thread.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/profile.hpp>
#include <coroscope/trace/format.hpp>
#include <coroscope/trace/kernel_format.hpp>
#include <coroscope/trace/reader.hpp>
#include <doctest/doctest.h>

#include <unistd.h>

namespace coroscope::test {

inline std::uint32_t this_thread_id() { return static_cast<std::uint32_t>(::gettid()); }

struct switch_fact {
    std::int64_t time_ns;
    bool entered;
    bool preempted;
    bool created;
    std::uint32_t processor;
};

struct times_fact {
    std::int64_t time_ns;
    trace::thread_times_body sums;
};

struct blocked_fact {
    std::int64_t time_ns;
    trace::blocked_body what;
};

struct kernel_facts {
    trace::file_header header{};
    std::size_t chunks = 0;
    std::map<std::uint32_t, std::vector<switch_fact>> switches;  // in the order of their times
    std::map<std::uint32_t, std::vector<times_fact>> times;
    std::map<std::uint32_t, std::vector<blocked_fact>> blocked;
    std::vector<trace::switches_lost_body> lost;

    [[nodiscard]] trace::thread_state_source source() const {
        return static_cast<trace::thread_state_source>(header.thread_states);
    }
    [[nodiscard]] std::string message() const { return header.thread_states_message; }

    /// Sum of the thread's stretches off its processor, of one kind.
    [[nodiscard]] std::int64_t off_ns(std::uint32_t thread, bool preempted) const {
        const auto found = switches.find(thread);
        std::int64_t sum = 0;
        if (found == switches.end()) return 0;
        const switch_fact* left = nullptr;
        for (const switch_fact& each : found->second) {
            if (each.entered && left != nullptr && left->preempted == preempted)
                sum += each.time_ns - left->time_ns;
            left = each.entered ? nullptr : &each;
        }
        return sum;
    }
};

template <class Body>
Body body_of(const trace::record_view& record) {
    Body body;
    REQUIRE(record.payload_bytes() >= sizeof body);
    std::memcpy(&body, record.payload(), sizeof body);
    return body;
}

inline void add_fact(kernel_facts& facts, const trace::record_view& record) {
    const auto time_ns = static_cast<std::int64_t>(record.word(0));
    if (record.kind() == trace::record_kind::processor) {
        facts.switches[record.id()].push_back({time_ns,
                                               (record.value() & trace::processor_entered) != 0,
                                               (record.value() & trace::processor_preempted) != 0,
                                               (record.value() & trace::processor_created) != 0,
                                               record.value() >> trace::processor_number_shift});
        return;
    }
    REQUIRE(record.kind() == trace::record_kind::fact);
    switch (trace::fact_kind_of(record.id())) {
        case trace::fact_kind::thread_times: {
            const auto body = body_of<trace::thread_times_body>(record);
            facts.times[body.thread].push_back({time_ns, body});
            break;
        }
        case trace::fact_kind::switches_lost:
            facts.lost.push_back(body_of<trace::switches_lost_body>(record));
            break;
        case trace::fact_kind::blocked: {
            const auto body = body_of<trace::blocked_body>(record);
            facts.blocked[body.thread].push_back({time_ns, body});
            break;
        }
        default: FAIL_CHECK("a fact of an unknown kind");
    }
}

inline kernel_facts facts_of(const trace::reader& read) {
    for (const std::string& warning : read.warnings()) FAIL_CHECK(warning);
    kernel_facts facts;
    facts.header = read.header();
    for (const trace::chunk_view& chunk : read.chunks()) {
        if (chunk.header.kind != trace::chunk_kind::kernel) continue;
        ++facts.chunks;
        trace::for_each_record(chunk,
                               [&](const trace::record_view& each) { add_fact(facts, each); });
    }
    for (auto& [thread, switches] : facts.switches)
        std::stable_sort(switches.begin(), switches.end(),
                         [](const switch_fact& left, const switch_fact& right) {
                             return left.time_ns < right.time_ns;
                         });
    return facts;
}

inline kernel_facts facts_of(const trace::buffer& trace) {
    const auto read = trace::reader::open(trace);
    REQUIRE(read);
    return facts_of(*read);
}

inline kernel_facts facts_of(const std::string& path) {
    const auto read = trace::reader::open(path);
    REQUIRE_MESSAGE(read, path);
    return facts_of(*read);
}

/// The records of a session with threads that waited.
struct recorded_waits {
    kernel_facts facts;
    std::vector<std::uint32_t> waiters;

    [[nodiscard]] bool are_seen() const {
        return std::all_of(waiters.begin(), waiters.end(), [this](std::uint32_t thread) {
            return facts.blocked.count(thread) == 1 && facts.times.count(thread) == 1;
        });
    }
};

/// Calls `record(time)`, which returns kernel_facts, with longer and longer times, until the facts
/// are whole or the kernel refuses them: on a busy machine the watcher may not get a processor in
/// time.
template <class Record, class IsWhole>
kernel_facts record_until(Record record, IsWhole is_whole) {
    constexpr std::chrono::milliseconds longest{12800};
    for (std::chrono::milliseconds time{50};; time *= 2) {
        kernel_facts made = record(time);
        const bool is_refused = made.source() == trace::thread_state_source::refused;
        if (is_refused || time >= longest || is_whole(made)) return made;
    }
}

/// The same for threads that wait so long: until the facts about each of them are there.
template <class Record>
recorded_waits record_until_seen(Record record) {
    recorded_waits made;
    record_until(
        [&](std::chrono::milliseconds time) {
            made = record(4 * time);
            return made.facts;
        },
        [&](const kernel_facts&) { return made.are_seen(); });
    return made;
}

/// Records a thread that waits for a mutex, which this thread holds for a time.
inline recorded_waits record_wait(std::mutex& lock, std::chrono::milliseconds time) {
    profile session({.all_threads = true});
    std::uint32_t waiter = 0;
    std::thread waits;
    {
        const std::lock_guard held(lock);
        waits = std::thread([&] {
            waiter = this_thread_id();
            const std::lock_guard guard(lock);
        });
        std::this_thread::sleep_for(time);
    }
    waits.join();
    return {facts_of(session.stop()), {waiter}};
}

}  // namespace coroscope::test
