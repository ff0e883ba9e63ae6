// SPDX-License-Identifier: Apache-2.0
// Traces with removed, duplicated or moved chunks: the trace reports the loss, and each unmarked
// task is as in the whole trace.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../loading.hpp"
#include <coroscope/analysis/views.hpp>

using namespace coroscope::test;
namespace analysis = coroscope::analysis;
namespace trace = coroscope::trace;

namespace {

using bytes = std::vector<unsigned char>;

constexpr std::uint32_t thread_count = 3;

/// Three threads run a few tasks, which spawn, suspend, wake each other and end. A chunk holds a few records.
class scheduler {
public:
    explicit scheduler(std::uint32_t seed) : random_(seed) {
        built_.header.all_threads = 1;
        work_ = built_.site("work");
        waits_ = built_.site("wait", "test.cpp", 2, trace::site_kind::await);
        built_.lasts(2000);
        for (std::uint32_t thread = 1; thread <= thread_count; ++thread) built_.on(thread);
    }

    trace_builder run(int steps) {
        for (int step = 0; step < steps; ++step) {
            const std::uint32_t thread = 1 + below(thread_count);
            now_ += 3;
            if (below(6) == 0) writer(thread).next_chunk(now_, running_[thread]);
            running_[thread] != 0 ? go_on(thread) : pick(thread);
        }
        return built_;
    }

private:
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    thread_writer writer(std::uint32_t thread) { return built_.on(thread); }

    void go_on(std::uint32_t thread) {
        const std::uint64_t task = std::exchange(running_[thread], 0);
        switch (below(4)) {
            case 0: writer(thread).finish(now_, task); return;
            case 1:
                writer(thread).suspend(now_, task, waits_);
                asleep_.push_back(task);
                return;
            case 2: writer(thread).scope(work_, now_ - 2, now_ - 1); break;
            default: spawn(thread, task); break;
        }
        running_[thread] = task;
    }

    void spawn(std::uint32_t thread, std::uint64_t parent) {
        writer(thread).spawn(now_, ++last_task_, work_, trace::spawn_ready, parent);
        ready_.push_back(last_task_);
    }

    void pick(std::uint32_t thread) {
        if (!asleep_.empty() && below(2) == 0) {
            writer(thread).wake(now_, asleep_.back(), 0, thread);
            ready_.push_back(asleep_.back());
            asleep_.pop_back();
        } else if (!ready_.empty()) {
            running_[thread] = ready_.back();
            ready_.pop_back();
            writer(thread).resume(now_, running_[thread]);
        } else {
            spawn(thread, 0);
        }
    }

    std::mt19937 random_;
    trace_builder built_;
    std::uint32_t work_ = 0;
    std::uint32_t waits_ = 0;
    std::int64_t now_ = 10;
    std::uint64_t last_task_ = 0;
    std::uint64_t running_[thread_count + 1] = {};
    std::vector<std::uint64_t> ready_;
    std::vector<std::uint64_t> asleep_;
};

std::size_t chunks_of(const bytes& content) {
    return (content.size() - trace::file_header_bytes) / trace_builder::small_chunk;
}
bytes::iterator chunk_at(bytes& content, std::size_t chunk) {
    return content.begin() + static_cast<std::ptrdiff_t>(trace::file_header_bytes +
                                                         chunk * trace_builder::small_chunk);
}
constexpr auto chunk_length = static_cast<std::ptrdiff_t>(trace_builder::small_chunk);

bytes without(bytes content, std::size_t chunk) {
    std::fill_n(chunk_at(content, chunk), chunk_length, static_cast<unsigned char>(0));
    return content;
}
bytes doubled(bytes content, std::size_t from, std::size_t onto) {
    std::copy_n(chunk_at(content, from), chunk_length, chunk_at(content, onto));
    return content;
}
bytes swapped(bytes content, std::size_t one, std::size_t other) {
    std::swap_ranges(chunk_at(content, one), chunk_at(content, one) + chunk_length,
                     chunk_at(content, other));
    return content;
}

analysis::trace load(const bytes& content) {
    return coroscope::test::load(trace::buffer::copy(content.data(), content.size()));
}

using scope_key = std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::uint64_t>;

std::map<scope_key, int> scopes_of(const analysis::trace& loaded) {
    std::map<scope_key, int> found;
    for (const analysis::event& each : loaded.events)
        ++found[{each.start_ns, each.end_ns, loaded.threads[each.thread].id,
                 each.task == analysis::none ? 0 : loaded.tasks[each.task].id}];
    return found;
}

std::vector<std::tuple<std::int64_t, analysis::optional_ns, analysis::optional_ns>>
awaits_of(const analysis::trace& loaded, const analysis::task_info& task) {
    std::vector<std::tuple<std::int64_t, analysis::optional_ns, analysis::optional_ns>> found;
    for (const std::uint32_t at : task.awaits)
        found.emplace_back(loaded.awaits[at].suspend_ns, loaded.awaits[at].wake_ns,
                           loaded.awaits[at].resume_ns);
    return found;
}

bool same_task(const analysis::trace& one, const analysis::task_info& task,
               const analysis::trace& other, const analysis::task_info& whole) {
    return task.state == whole.state && task.end_ns == whole.end_ns &&
           task.first_wake_ns == whole.first_wake_ns &&
           task.time.running_ns == whole.time.running_ns &&
           task.time.suspended_ns == whole.time.suspended_ns &&
           task.time.queued_ns == whole.time.queued_ns &&
           task.time.waiting_ns == whole.time.waiting_ns &&
           awaits_of(one, task) == awaits_of(other, whole);
}

/// Each unmarked task is as in the whole trace, and each scope is in the whole trace, too.
void check_nothing_false(const analysis::trace& damaged, const analysis::trace& whole) {
    for (const analysis::task_info& each : damaged.tasks) {
        if (each.losses) continue;
        CAPTURE(each.id);
        REQUIRE(same_task(damaged, each, whole, task(whole, each.id)));
    }
    const auto expected = scopes_of(whole);
    for (const auto& [scope, count] : scopes_of(damaged)) {
        const auto found = expected.find(scope);
        REQUIRE(found != expected.end());
        REQUIRE(count <= found->second);
    }
    REQUIRE(tasks_add_up(damaged));
    REQUIRE(events_are_sound(damaged));
}

void check_reported(const analysis::trace& damaged) {
    REQUIRE(damaged.health.damaged_chunks == 1);
    const std::string notes = analysis::loss_notes(damaged);
    REQUIRE(notes.find("Damaged or missing chunks: 1\n") != std::string::npos);
    REQUIRE(analysis::info_text(damaged).find("incomplete") != std::string::npos);
    REQUIRE(analysis::info_json(damaged).find("\"damaged_chunks\": 1,") != std::string::npos);
}

}  // namespace

TEST_CASE("the loss of any chunk is reported, and unmarked tasks are as in the whole trace") {
    std::size_t unmarked = 0;
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const bytes content = scheduler(seed).run(120).bytes();
        const auto whole = load(content);
        REQUIRE(whole.health.damaged_chunks == 0);
        for (std::size_t chunk = 0; chunk < chunks_of(content); ++chunk) {
            CAPTURE(seed);
            CAPTURE(chunk);
            const auto damaged = load(without(content, chunk));
            check_reported(damaged);
            check_nothing_false(damaged, whole);
            unmarked += static_cast<std::size_t>(
                std::ranges::count_if(damaged.tasks, [](const analysis::task_info& each) {
                    return !each.losses && each.end_ns.has_value();
                }));
        }
    }
    CHECK(unmarked > 100);  // those before the gap
}

TEST_CASE("a copy of a chunk over another is counted once, and the other one is missing") {
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
        const bytes content = scheduler(seed).run(120).bytes();
        const auto whole = load(content);
        for (std::size_t from = 0; from < chunks_of(content); ++from)
            for (std::size_t onto = 0; onto < chunks_of(content); ++onto) {
                if (from == onto) continue;
                CAPTURE(seed);
                CAPTURE(from);
                CAPTURE(onto);
                const auto damaged = load(doubled(content, from, onto));
                check_reported(damaged);
                check_nothing_false(damaged, whole);
            }
    }
}

TEST_CASE("chunks that changed places are read in the order of their numbers") {
    const bytes content = scheduler(1).run(120).bytes();
    const auto whole = load(content);
    for (std::size_t one = 0; one < chunks_of(content); ++one)
        for (std::size_t other = 0; other < one; ++other) {
            const auto moved = load(swapped(content, one, other));
            REQUIRE(moved.health.damaged_chunks == 0);
            REQUIRE(moved.health.warnings.empty());
            check_nothing_false(moved, whole);
            REQUIRE(scopes_of(moved) == scopes_of(whole));
        }
}

TEST_CASE("a warning names the numbers of the missing chunks") {
    const bytes content = scheduler(2).run(120).bytes();
    REQUIRE(chunks_of(content) > 9);
    const auto damaged = load(without(without(without(content, 3), 4), 7));
    REQUIRE(damaged.health.warnings.size() == 1);
    CHECK(damaged.health.warnings[0] ==
          "3 of " + std::to_string(chunks_of(content)) +
              " chunks are missing; no intact chunk has the numbers 4-5, 8");
    CHECK(damaged.health.damaged_chunks == 3);
}

TEST_CASE("two chunks of one number that differ are both left out") {
    bytes content = scheduler(3).run(120).bytes();
    const std::uint64_t number = 5;
    std::memcpy(&*chunk_at(content, 6) + offsetof(trace::chunk_header, number), &number,
                sizeof(number));
    const auto damaged = load(content);
    CHECK(damaged.health.damaged_chunks == 2);
    CHECK(damaged.health.warnings.size() == 2);
}

TEST_CASE("a zeroed chunk is noticed by the count of chunks if others were overwritten") {
    auto built = scheduler(4).run(120);
    built.header.policy = trace::overflow_policy::overwrite_oldest;
    built.thread(1).overwritten = 3;
    bytes content = built.bytes();
    const std::uint64_t in_use = chunks_of(content) - 2;
    std::memcpy(content.data() + offsetof(trace::file_header, chunks_in_use), &in_use,
                sizeof(in_use));
    content = without(without(content, 2), 3);
    CHECK(load(content).health.damaged_chunks == 0);
    CHECK(load(content).health.warnings.empty());
    const auto damaged = load(without(content, 5));
    CHECK(damaged.health.damaged_chunks == 1);
    REQUIRE(damaged.health.warnings.size() == 1);
    CHECK(damaged.health.warnings[0] == "1 of " + std::to_string(in_use) + " chunks are missing");
    for (const analysis::task_info& each : damaged.tasks)
        for (const std::uint32_t at : each.awaits) CHECK_FALSE(damaged.awaits[at].wake_ns);
}

TEST_CASE("a finished trace of an earlier release is checked by its numbers") {
    bytes content = scheduler(5).run(120).bytes();
    std::memset(content.data() + offsetof(trace::file_header, chunks_in_use), 0,
                sizeof(std::uint64_t));
    CHECK(load(content).health.damaged_chunks == 0);
    CHECK(load(without(content, 4)).health.damaged_chunks == 1);
}
