// SPDX-License-Identifier: Apache-2.0

// The groups of a comparison, the sums of its parts, and the work that it blames.

#include <coroscope/analysis/slow_requests.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/views.hpp>
#include <doctest/doctest.h>

#include "loaded_trace.hpp"

using namespace coroscope;
using analysis::cause_role;
using analysis::path_kind;
using test::loaded;

namespace {

constexpr std::int64_t ms = 1'000'000;

// Requests that wait for the given times, in an await within a scope "fetch". Each request is a
// scope "serve" in a task on thread 1. Thread 2 wakes them.
class waiting_service {
public:
    explicit waiting_service(const std::vector<std::int64_t>& waits_ns,
                             const char* name = "serve") {
        add(waits_ns, name);
    }

    void add(const std::vector<std::int64_t>& waits_ns, const char* name) {
        const auto type = built_.site(name, "server.cpp", 1, trace::site_kind::coroutine);
        for (const std::int64_t wait_ns : waits_ns) add_request(type, wait_ns);
    }

    [[nodiscard]] analysis::trace trace() {
        built_.lasts(now_ + 1000);
        return loaded(built_);
    }

    std::uint64_t tasks() const { return task_; }

private:
    void add_request(std::uint32_t type, std::int64_t wait_ns) {
        const auto query = built_.site("query", "store.cpp", 3, trace::site_kind::await);
        built_.on(1).spawn(now_, ++task_, type, trace::spawn_started);
        built_.on(1).suspend(now_ + 10, task_, query);
        built_.on(2).wake(now_ + 10 + wait_ns, task_, 0, 2);
        built_.on(1).resume(now_ + 10 + wait_ns, task_).finish(now_ + 20 + wait_ns, task_);
        now_ += wait_ns + 100;
    }

    test::trace_builder built_;
    std::uint64_t task_ = 0;
    std::int64_t now_ = 100;
};

// The tasks as marked requests: a trace without marks has one type.
analysis::request_list all_tasks(const analysis::trace& from) {
    analysis::request_list list;
    for (std::uint32_t task = 0; task < from.tasks.size(); ++task) {
        const analysis::task_info& of = from.tasks[task];
        list.requests.push_back({.id = task + 1,
                                 .site = of.spawn_site,
                                 .task = task,
                                 .start_ns = *of.first_wake_ns,
                                 .end_ns = *of.end_ns,
                                 .deadline_ns = {}});
    }
    return list;
}

std::vector<std::int64_t> twenty(std::int64_t fast_ns, const std::vector<std::int64_t>& slow_ns) {
    std::vector<std::int64_t> waits_ns(20 - slow_ns.size(), fast_ns);
    waits_ns.insert(waits_ns.end(), slow_ns.begin(), slow_ns.end());
    return waits_ns;
}

analysis::slow_requests compared(const analysis::trace& from) {
    const auto found = analysis::compare_slow_requests(from, all_tasks(from));
    REQUIRE(found);
    return *found;
}

// Request 20 is queued for 5 ms for thread 1. A task "audit" has a scope "flush" there meanwhile.
analysis::trace queued_behind_flush() {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    const auto audit = built.site("audit", "audit.cpp", 2, trace::site_kind::coroutine);
    const auto flush = built.site("flush", "audit.cpp", 3);
    const auto holds = built.site("holds", "holder.cpp", 4);
    std::int64_t now = 100;
    for (std::uint64_t task = 1; task <= 20; ++task) {
        built.on(1).spawn(now, task, serve, trace::spawn_started).suspend(now + 10, task);
        built.on(2).wake(now + 200, task, 0, 2);
        std::int64_t resume = now + 200;
        if (task == 20) {
            built.on(2).scope(holds, now + 150, now + 6 * ms);
            built.on(1).spawn(now + 100, 99, audit, trace::spawn_started);
            resume += 5 * ms;
            built.on(1).long_scope(flush, now + 100, resume, trace::scope_in_frame, 99);
            built.on(1).finish(resume, 99);
        }
        built.on(1).resume(resume, task).finish(resume + 50, task);
        now = resume + 1000;
    }
    return loaded(built.lasts(now + 2 * ms));
}

// Each request is a fiber that waits in a scope "reload"; request 20 for 5 ms.
analysis::trace waiting_fibers() {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1);
    const auto reload = built.site("reload", "quotas.cpp", 2);
    const auto wait = built.site("boost.fiber.suspend", "", 0, trace::site_kind::await);
    std::int64_t now = 100;
    for (std::uint64_t task = 1; task <= 20; ++task) {
        const std::int64_t end = now + (task == 20 ? 5 * ms : 1000);
        built.on(1).spawn(now, task, serve, trace::spawn_started | trace::spawn_fiber);
        built.on(1).suspend(now + 10, task, wait);
        built.on(2).wake(end, task, 0, 2);
        built.on(1).resume(end, task).long_scope(reload, now + 5, end + 5,
                                                 trace::scope_in_frame | trace::scope_exact, task);
        built.on(1).finish(end + 10, task);
        now = end + 1000;
    }
    return loaded(built.lasts(now));
}

analysis::request_difference first_difference(const analysis::trace& from) {
    const auto found = analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
    REQUIRE(found);
    REQUIRE(!found->differences.empty());
    return found->differences.front();
}

// Request 20 waits for 5 ms, and thread 2 wakes it. Thread 2 has a scope "estimate" that begins
// `begin_ns` after that of the request and ends at the wake. If `by_task` is set, the waker is a task
// that ended on thread 2 when the scope began.
analysis::trace woken_late(std::int64_t begin_ns, bool by_task) {
    test::trace_builder built;
    const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    const auto estimate = built.site("estimate", "worker.cpp", 2);
    std::int64_t now = 10 * ms;
    for (std::uint64_t task = 1; task <= 20; ++task) {
        const std::int64_t wake = now + (task == 20 ? 5 * ms : 1000);
        built.on(1).spawn(now, task, serve, trace::spawn_started).suspend(now + 10, task);
        if (task == 20) {
            if (by_task)
                built.on(2).spawn(now + 20, 99, serve, trace::spawn_started).finish(now + 30, 99);
            built.on(2).scope(estimate, now + begin_ns, wake + 1);
        }
        built.on(2).wake(wake, task, task == 20 && by_task ? 99 : 0, 2);
        built.on(1).resume(wake, task).finish(wake + 50, task);
        now = wake + 1000;
    }
    return loaded(built.lasts(now + ms));
}

// The session recorded each switch. The thread was on a processor, as far as its states are known.
void keep_states(analysis::trace& from, std::uint32_t thread, std::int64_t until_ns) {
    from.states.source = trace::thread_state_source::switches;
    from.states.histories.resize(from.threads.size());
    from.states.histories[thread].points = {
        {.time_ns = 0, .state = analysis::thread_state::on_cpu},
        {.time_ns = until_ns, .on_cpu_ns = until_ns, .state = analysis::thread_state::unknown}};
}

std::uint32_t scope_named(const analysis::trace& from, std::string_view name) {
    const auto found = std::ranges::find_if(
        from.events, [&](const analysis::event& each) { return from.strings[each.name] == name; });
    REQUIRE(found != from.events.end());
    return static_cast<std::uint32_t>(found - from.events.begin());
}

}  // namespace

TEST_SUITE("slow groups") {
    TEST_CASE("without a name the type has five whole requests, and not the slowest one of all") {
        waiting_service built(twenty(ms, {9 * ms}));
        built.add({50 * ms, 60 * ms}, "rare");
        const analysis::trace from = built.trace();
        const auto found = analysis::compare_slow_requests(from, all_tasks(from));
        REQUIRE(found);
        CHECK(found->name == "serve");
        CHECK(found->requests == 20);
    }

    TEST_CASE("without a type of five whole requests nothing is compared") {
        waiting_service built({ms, ms, 2 * ms});
        built.add({50 * ms, 60 * ms}, "rare");
        const analysis::trace from = built.trace();
        CHECK_FALSE(analysis::compare_slow_requests(from, all_tasks(from)));
    }

    TEST_CASE("several slow requests are compared together, and a single outlier alone") {
        CHECK(compared(waiting_service(twenty(ms, {9 * ms, 8 * ms, 7 * ms})).trace()).slow ==
              std::vector<std::uint64_t>{18, 19, 20});
        CHECK(compared(waiting_service(twenty(ms, {2 * ms, 2 * ms, 90 * ms})).trace()).slow ==
              std::vector<std::uint64_t>{20});
    }

    TEST_CASE("the means of the parts add up to the mean wall times to the nanosecond") {
        const analysis::slow_requests found =
            compared(waiting_service(twenty(ms, {9 * ms + 1, 8 * ms + 1, 7 * ms + 3})).trace());
        REQUIRE(found.slow.size() == 3);
        std::int64_t slow_ns = 0;
        std::int64_t median_ns = 0;
        for (const analysis::request_difference& each : found.differences) {
            slow_ns += each.slow_ns;
            median_ns += each.median_ns;
        }
        CHECK(slow_ns == found.slow_wall_ns);
        CHECK(median_ns == found.median_wall_ns);
    }

    TEST_CASE("the unexplained share is at most the whole, even if another part is shorter") {
        test::trace_builder built;
        const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
        std::int64_t now = 100;
        for (std::uint64_t task = 1; task <= 20; ++task) {
            const std::int64_t wait = task == 20 ? 9 * ms : 1000;
            const std::int64_t run = task == 20 ? 10 : 3 * ms;
            built.on(1)
                .spawn(now, task, serve, trace::spawn_started)
                .suspend(now + run, task)
                .resume(now + run + wait, task)
                .finish(now + run + wait + 10, task);
            now += 100 + run + wait;
        }
        const analysis::slow_requests found = compared(loaded(built.lasts(now)));
        CHECK(found.differences.front().share > 1);
        CHECK(found.unexplained_share == doctest::Approx(1));
    }

    TEST_CASE("a wait of a fiber, which has the place of its scope, has that scope's name") {
        const analysis::request_difference first = first_difference(waiting_fibers());
        CHECK(first.label == "boost.fiber.suspend");
        CHECK(first.scope == "reload");
        CHECK(first.scope_site == first.site);
    }

    TEST_CASE("a queued part is charged to the scope that ran on the thread") {
        const analysis::request_difference first = first_difference(queued_behind_flush());
        CHECK(first.kind == path_kind::queued);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "flush");
        CHECK(first.cause->role == cause_role::ran);
    }

    TEST_CASE("if the work on the thread waits for a lock, the holder is the cause") {
        analysis::trace from = queued_behind_flush();
        const std::uint32_t flush = scope_named(from, "flush");
        const std::uint32_t holder = scope_named(from, "holds");
        analysis::lock_wait wait;
        wait.start_ns = from.events[flush].start_ns + 10;
        wait.end_ns = from.events[flush].end_ns - 10;
        wait.waiter = {from.events[flush].thread, from.events[flush].task, flush};
        wait.holder_os_id = 1002;
        wait.holder = {from.events[holder].thread, analysis::none, holder};
        from.lock_waits = {wait};
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "holds");
        CHECK(first.cause->role == cause_role::held);
    }

    TEST_CASE("the time in which work ran and the time in which it held a lock count together") {
        analysis::trace from = queued_behind_flush();
        const std::uint32_t flush = scope_named(from, "flush");
        const std::uint32_t holder = scope_named(from, "holds");
        analysis::event other_flush = from.events[flush];
        other_flush.thread = from.events[holder].thread;
        from.events.push_back(other_flush);
        const auto other = static_cast<std::uint32_t>(from.events.size() - 1);
        analysis::lock_wait wait;
        wait.start_ns = from.events[flush].start_ns + ms;
        wait.end_ns = wait.start_ns + 2 * ms;
        wait.waiter = {from.events[flush].thread, from.events[flush].task, flush};
        wait.holder_os_id = 1002;
        wait.holder = {from.events[holder].thread, analysis::none, holder};
        analysis::lock_wait next = wait;
        next.start_ns = wait.end_ns;
        next.end_ns = next.start_ns + 14 * ms / 10;
        next.holder.scope = other;
        from.lock_waits = {wait, next};
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "flush");
        CHECK(first.cause->role == cause_role::ran);
    }

    TEST_CASE("if the holder is unknown, no work is the cause") {
        analysis::trace from = queued_behind_flush();
        const std::uint32_t flush = scope_named(from, "flush");
        analysis::lock_wait wait;
        wait.start_ns = from.events[flush].start_ns + 10;
        wait.end_ns = from.events[flush].end_ns - 10;
        wait.waiter = {from.events[flush].thread, from.events[flush].task, flush};
        from.lock_waits = {wait};
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->label.empty());
        CHECK(first.cause->role == cause_role::held);
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(analysis::slow_requests_text(from, *found).find("a lock held by an unknown holder") !=
              std::string::npos);
    }

    TEST_CASE("work that had no processor is not the cause") {
        analysis::trace from = queued_behind_flush();
        const analysis::event flush = from.events[scope_named(from, "flush")];
        from.states.histories.resize(from.threads.size());
        from.states.histories[flush.thread].points = {
            {.time_ns = 0, .state = analysis::thread_state::on_cpu},
            {.time_ns = flush.start_ns + 100'000,
             .on_cpu_ns = flush.start_ns + 100'000,
             .state = analysis::thread_state::preempted},
            {.time_ns = flush.end_ns,
             .on_cpu_ns = flush.start_ns + 100'000,
             .preempted_ns = flush.end_ns - flush.start_ns - 100'000,
             .state = analysis::thread_state::unknown}};
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->role == cause_role::preempted);
        CHECK(first.cause->label.empty());
        CHECK_FALSE(first.is_explained());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(analysis::slow_requests_sentence(from, *found).empty());
        CHECK(analysis::slow_requests_text(from, *found).find("no processor for thread") !=
              std::string::npos);
    }

    TEST_CASE("blocked work is not the cause if the holder of its lock may be lost") {
        analysis::trace from = queued_behind_flush();
        const analysis::event flush = from.events[scope_named(from, "flush")];
        from.states.source = trace::thread_state_source::switches;
        from.states.histories.resize(from.threads.size());
        from.states.histories[flush.thread].points = {
            {.time_ns = 0, .state = analysis::thread_state::on_cpu},
            {.time_ns = flush.start_ns + 100'000,
             .on_cpu_ns = flush.start_ns + 100'000,
             .state = analysis::thread_state::blocked},
            {.time_ns = flush.end_ns,
             .on_cpu_ns = flush.start_ns + 100'000,
             .blocked_ns = flush.end_ns - flush.start_ns - 100'000,
             .state = analysis::thread_state::unknown}};
        const auto role = [&] {
            const auto cause = first_difference(from).cause;
            REQUIRE(cause);
            return cause->role;
        };
        CHECK(role() == cause_role::ran);
        from.health.overwritten = 1;
        CHECK(role() == cause_role::unknown);
        analysis::blocked_look sleeping;
        sleeping.time_ns = flush.start_ns + ms;
        sleeping.thread = flush.thread;
        sleeping.call = 35;  // nanosleep on x86-64
        from.states.looks.push_back(sleeping);
        CHECK(role() == cause_role::ran);
    }

    TEST_CASE("work on a thread whose states are missing is not the cause: it may have waited") {
        analysis::trace from = queued_behind_flush();
        const analysis::event flush = from.events[scope_named(from, "flush")];
        keep_states(from, flush.thread, flush.start_ns + 100'000);
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->role == cause_role::unknown);
        CHECK(first.cause->label.empty());
        CHECK_FALSE(first.is_explained());
        const auto found =
            analysis::compare_slow_requests(from, analysis::requests_of(from), "serve");
        REQUIRE(found);
        CHECK(analysis::slow_requests_sentence(from, *found).empty());
        CHECK(analysis::slow_requests_text(from, *found).find("missing facts about thread") !=
              std::string::npos);
        CHECK(analysis::slow_requests_json(from, *found).find(R"("role": "unknown")") !=
              std::string::npos);
    }

    TEST_CASE("the states of a thread that are missing for a small part do not hide the cause") {
        analysis::trace from = queued_behind_flush();
        const analysis::event flush = from.events[scope_named(from, "flush")];
        keep_states(from, flush.thread, flush.end_ns - 100'000);
        const analysis::request_difference first = first_difference(from);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "flush");
    }

    TEST_CASE("a longer run of the requests is unexplained if its thread's states are missing") {
        test::trace_builder built;
        const auto serve = built.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
        std::int64_t now = 100;
        for (std::uint64_t task = 1; task <= 20; ++task) {
            const std::int64_t end = now + (task == 20 ? 9 * ms : 1000);
            built.on(1).spawn(now, task, serve, trace::spawn_started).finish(end, task);
            now = end + 100;
        }
        analysis::trace from = loaded(built.lasts(now));
        CHECK(first_difference(from).is_explained());
        keep_states(from, 0, now - 9 * ms);
        const analysis::request_difference first = first_difference(from);
        CHECK(first.kind == path_kind::running);
        REQUIRE(first.cause);
        CHECK(first.cause->role == cause_role::unknown);
        CHECK_FALSE(first.is_explained());
    }

    TEST_CASE("a scope outside tasks that began within the request and woke it is the cause") {
        const auto found = compared(woken_late(ms, false));
        const analysis::request_difference& first = found.differences.front();
        CHECK(first.kind == path_kind::suspended);
        REQUIRE(first.cause);
        CHECK(first.cause->label == "estimate");
        CHECK(first.cause->role == cause_role::woke);
    }

    TEST_CASE("the path of such a request names the scope at its wait") {
        const analysis::trace from = woken_late(ms, false);
        const auto path = analysis::critical_path_of_task(from, *analysis::find_task(from, 20));
        const std::string text = analysis::path_text(from, path);
        CHECK(text.find("estimate for 4.0 ms") != std::string::npos);
        CHECK(text.find(", which ended the wait") != std::string::npos);
    }

    TEST_CASE("it is the cause, too, if it began before the request suspended") {
        const auto found = compared(woken_late(5, false));
        REQUIRE(found.differences.front().cause);
        CHECK(found.differences.front().cause->label == "estimate");
        CHECK(found.differences.front().cause->time_ns == 5 * ms - 10);
    }

    TEST_CASE("a scope that was open before the request, as a loop is, is not the cause") {
        CHECK_FALSE(compared(woken_late(-ms, false)).differences.front().cause);
    }

    TEST_CASE("if the waking task had ended before the wake, the time between has no cause") {
        CHECK_FALSE(compared(woken_late(30, true)).differences.front().cause);
    }

    TEST_CASE("no sentence is made of differences below a millisecond or the median itself") {
        const auto sentence = [](std::int64_t fast_ns, std::int64_t slow_ns) {
            const analysis::trace from = waiting_service(twenty(fast_ns, {slow_ns})).trace();
            return analysis::slow_requests_sentence(from, compared(from));
        };
        CHECK(sentence(100'000, 900'000).empty());
        CHECK(sentence(10 * ms, 18 * ms).empty());
        CHECK_FALSE(sentence(10 * ms, 25 * ms).empty());
    }
}
