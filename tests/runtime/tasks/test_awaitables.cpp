// SPDX-License-Identifier: Apache-2.0

// Every form of awaitable, inside an instrumented coroutine, and under COROSCOPE_AWAIT in a
// coroutine that is not instrumented. The coroutine behaves as before, and each suspension is
// recorded.

#include <coroscope/await.hpp>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "../support/awaitables.hpp"
#include "../support/executors.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using foreign::manual;

// The report of a coroutine under test.
struct log {
    slot into;
    int reached = 0;
    std::string text;
};

template <class Way>
manual<Way> pauses(log& out) {
    co_await COROSCOPE_AWAIT("pause", suspend_into(out.into));
    ++out.reached;
}
template <class Way>
manual<Way> pauses_maybe(log& out, bool stays) {
    out.reached = co_await COROSCOPE_AWAIT("maybe", maybe_pause(out.into, stays));
}
template <class Way>
manual<Way> goes(log& out, go_to::where where, std::coroutine_handle<> other) {
    co_await COROSCOPE_AWAIT("go", go_to(out.into, where, other));
    ++out.reached;
}
template <class Way>
manual<Way> throws_inside(log& out) {
    try {
        co_await COROSCOPE_AWAIT("throws", throwing_pause());
    } catch (const std::runtime_error& error) {
        out.text = error.what();
    }
    ++out.reached;
    co_await COROSCOPE_AWAIT("after", suspend_into(out.into));
    ++out.reached;
}
template <class Way>
manual<Way> ready_values(log& out) {
    int value = 4;
    int& reference = co_await COROSCOPE_AWAIT("reference", ready<int&>(value));
    reference = 5;
    std::unique_ptr<int> moved =
        co_await COROSCOPE_AWAIT("moved", ready<std::unique_ptr<int>>(std::make_unique<int>(6)));
    out.reached = value + *moved;
    out.text = co_await COROSCOPE_AWAIT("value", ready<std::string>("text"));
}
template <class Way>
manual<Way> operators(log& out) {
    with_member named(out.into);
    out.text = co_await COROSCOPE_AWAIT("member, lvalue", named);
    out.text += co_await COROSCOPE_AWAIT("member, rvalue", with_member(out.into));
    with_free free(out.into);
    co_await COROSCOPE_AWAIT("free, lvalue", free);
    co_await COROSCOPE_AWAIT("free, rvalue", with_free(out.into));
    suspend_into local(out.into);
    co_await COROSCOPE_AWAIT("local", local);
    ++out.reached;
}
template <class Way>
manual<Way> loops_and_branches(log& out, int times) {
    for (int each = 0; each < times; ++each) {
        const int answer = each % 2 == 0
                               ? co_await COROSCOPE_AWAIT("even", maybe_pause(out.into, true))
                               : co_await COROSCOPE_AWAIT("odd", maybe_pause(out.into, false));
        out.reached += answer;
        if (answer == 7 && co_await COROSCOPE_AWAIT("condition", maybe_pause(out.into, true)) != 7)
            co_return;
    }
}
template <class Way>
manual<Way> fails_after(log& out) {
    co_await COROSCOPE_AWAIT("before the end", suspend_into(out.into));
    throw std::runtime_error("left");
}

// Destroys the coroutine that awaits it, from inside.
struct destroys_waiter {
    explicit destroys_waiter(bool& destroyed) noexcept : destroyed_(&destroyed) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) const {
        bool* destroyed = destroyed_;
        waiter.destroy();
        COROSCOPE("after destroying");
        *destroyed = true;
    }
    void await_resume() const noexcept {}

private:
    bool* destroyed_;
};
struct sets_at_end {
    explicit sets_at_end(log& target) noexcept : out(&target) {}
    sets_at_end(const sets_at_end&) = delete;
    sets_at_end& operator=(const sets_at_end&) = delete;
    ~sets_at_end() { ++out->reached; }
    log* out;
};
template <class Way>
manual<Way> destroys_itself(log& out, bool& destroyed) {
    const sets_at_end guard(out);
    COROSCOPE("scope of the destroyed");
    co_await COROSCOPE_AWAIT("suicide", destroys_waiter(destroyed));
    FAIL("it ran on");
}
template <class Way>
manual<Way> waits_in_scope(log& out) {
    const sets_at_end guard(out);
    COROSCOPE("scope that waits");
    co_await COROSCOPE_AWAIT("forever", suspend_into(out.into));
}

std::vector<std::string> await_names(const recorded& found, const analysis::task_info& task) {
    std::vector<std::string> names;
    for (const auto& each : found.awaits(task)) names.push_back(found.site_label(each.site));
    return names;
}

using names = std::vector<std::string>;

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);

TEST_SUITE("awaitables") {
    TEST_CASE_TEMPLATE("await_suspend may return void", Way, foreign::plain, foreign::declared) {
        for (const bool on : {false, true}) {
            profile session({.enabled = on, .all_threads = true});
            log out;
            auto coroutine = pauses<Way>(out);
            coroutine.resume();
            CHECK_FALSE(coroutine.done());
            out.into.resume();
            CHECK(coroutine.done());
            CHECK(out.reached == 1);
        }
    }

    TEST_CASE_TEMPLATE("await_suspend may return false and true", Way, foreign::plain,
                       foreign::declared) {
        for (const bool on : {false, true}) {
            profile session({.enabled = on, .all_threads = true});
            log out;
            auto goes_on = pauses_maybe<Way>(out, false);
            CHECK(goes_on.resume().done());
            auto stays = pauses_maybe<Way>(out, true);
            CHECK_FALSE(stays.resume().done());
            out.into.resume();
            CHECK(stays.done());
            CHECK(out.reached == 7);
        }
    }

    TEST_CASE_TEMPLATE(
        "await_suspend may return a handle: of another coroutine, of its own, or none", Way,
        foreign::plain, foreign::declared) {
        for (const bool on : {false, true}) {
            profile session({.enabled = on, .all_threads = true});
            log out;
            log other_out;
            auto other = pauses<Way>(other_out);
            auto transfers = goes<Way>(out, go_to::where::other, other.handle);
            transfers.resume();
            CHECK(other_out.into.waiter);
            CHECK(out.reached == 0);
            out.into.resume();
            CHECK(transfers.done());
            auto own = goes<Way>(out, go_to::where::self, {});
            CHECK(own.resume().done());
            auto nowhere = goes<Way>(out, go_to::where::nowhere, {});
            CHECK_FALSE(nowhere.resume().done());
            out.into.resume();
            CHECK(nowhere.done());
            CHECK(out.reached == 3);
            other_out.into.resume();
            CHECK(other.done());
        }
    }

    TEST_CASE_TEMPLATE("await_suspend may throw: the coroutine goes on with the exception", Way,
                       foreign::plain, foreign::declared) {
        for (const bool on : {false, true}) {
            profile session({.enabled = on, .all_threads = true});
            log out;
            auto coroutine = throws_inside<Way>(out);
            coroutine.resume();
            CHECK(out.text == "not today");
            CHECK(out.reached == 1);
            out.into.resume();
            CHECK(coroutine.done());
            CHECK_FALSE(coroutine.error());
        }
    }

    TEST_CASE_TEMPLATE(
        "await_resume may return a reference, a value, and a value that can only be moved", Way,
        foreign::plain, foreign::declared) {
        log out;
        CHECK(ready_values<Way>(out).resume().done());
        CHECK(out.reached == 11);
        CHECK(out.text == "text");
    }

    TEST_CASE_TEMPLATE("operator co_await may be a member or free, on an lvalue or an rvalue", Way,
                       foreign::plain, foreign::declared) {
        for (const bool on : {false, true}) {
            profile session({.enabled = on, .all_threads = true});
            log out;
            auto coroutine = operators<Way>(out);
            coroutine.resume();
            for (int each = 0; each < 5; ++each) out.into.resume();
            CHECK(coroutine.done());
            CHECK(out.text == "lvaluervalue");
            CHECK(out.reached == 1);
        }
    }

    TEST_CASE(
        "each await of a task that called await_suspend has its label, and no other has one") {
        recording session;
        log out;
        auto first = operators<foreign::declared>(out);
        first.resume();
        for (int each = 0; each < 5; ++each) out.into.resume();
        auto second = loops_and_branches<foreign::declared>(out, 2);
        second.resume();
        while (!second.done()) out.into.resume();
        auto third = throws_inside<foreign::declared>(out);
        third.resume();
        out.into.resume();
        auto fourth = ready_values<foreign::declared>(out);
        fourth.resume();
        const recorded found = session.stop();
        CHECK(await_names(found, found.task("operators")) ==
              names{"member, lvalue", "member, rvalue", "free, lvalue", "free, rvalue", "local"});
        CHECK(await_names(found, found.task("loops_and_branches")) ==
              names{"even", "condition", "odd", "condition"});
        CHECK(await_names(found, found.task("throws_inside")) == names{"throws", "after"});
        CHECK(found.task("throws_inside").slices.size() == 2);
        CHECK(found.awaits(found.task("ready_values")).empty());
        CHECK(found.task("ready_values").slices.size() == 1);
        for (const auto& each : found.trace.tasks) {
            CHECK(each.state == analysis::task_state::finished);
            CHECK(each.time.queued_ns == 0);
            check_sum(each, found.trace.duration_ns);
        }
    }

    TEST_CASE("a task whose await_suspend returns its own handle was woken as it suspended") {
        recording session;
        log out;
        goes<foreign::declared>(out, go_to::where::self, {}).resume();
        const recorded found = session.stop();
        const auto awaits = found.awaits(found.task("goes"));
        REQUIRE(awaits.size() == 1);
        CHECK(awaits[0].wake_ns == awaits[0].resume_ns);
    }

    TEST_CASE("an exception that leaves a coroutine makes its task failed") {
        recording session;
        log out;
        auto coroutine = fails_after<foreign::declared>(out);
        coroutine.resume();
        out.into.resume();
        CHECK(coroutine.error());
        const recorded found = session.stop();
        CHECK(found.task("fails_after").state == analysis::task_state::failed);
    }

    TEST_CASE(
        "a coroutine that is destroyed while suspended is abandoned, and so are its open scopes") {
        recording session;
        log out;
        auto coroutine = waits_in_scope<foreign::declared>(out);
        coroutine.resume();
        spin(std::chrono::microseconds(1));
        coroutine.destroy();
        CHECK(out.reached == 1);
        const recorded found = session.stop();
        CHECK(found.task("waits_in_scope").state == analysis::task_state::abandoned);
        const auto& scope = found.event("scope that waits");
        CHECK(scope.task == found.task_index("waits_in_scope"));
        CHECK((scope.flags & analysis::event_abandoned) != 0);
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(scope).waiting_ns > 0);
        check_sum(found.task("waits_in_scope"), found.trace.duration_ns);
    }

    TEST_CASE("a coroutine may be destroyed on another thread, inside a scope of that thread") {
        recording session;
        log out;
        auto coroutine = waits_in_scope<foreign::declared>(out);
        coroutine.resume();
        std::thread([&coroutine] {
            COROSCOPE("destroyer");
            coroutine.destroy();
        }).join();
        const recorded found = session.stop();
        CHECK(found.task("waits_in_scope").state == analysis::task_state::abandoned);
        const auto& scope = found.event("scope that waits");
        CHECK(scope.task == found.task_index("waits_in_scope"));
        CHECK((scope.flags & analysis::event_abandoned) != 0);
        CHECK(found.end_thread(scope) == found.event("destroyer").thread);
        CHECK(found.event("destroyer").task == analysis::none);
    }

    TEST_CASE_TEMPLATE("a coroutine may be destroyed by its own awaitable", Way, foreign::plain,
                       foreign::declared) {
        recording session;
        log out;
        bool destroyed = false;
        auto coroutine = destroys_itself<Way>(out, destroyed);
        const auto frame = std::exchange(coroutine.handle, nullptr);
        frame.resume();
        CHECK(destroyed);
        CHECK(out.reached == 1);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        CHECK(found.count("after destroying") == 1);
        CHECK(found.count("scope of the destroyed") == 1);
        if (std::is_same_v<Way, foreign::plain>) return;
        CHECK(found.task("destroys_itself").state == analysis::task_state::abandoned);
        CHECK(found.event("scope of the destroyed").task == found.task_index("destroys_itself"));
    }

    TEST_CASE(
        "in a coroutine that is no task a labelled await that suspends is recorded as an event") {
        recording session;
        log out;
        auto coroutine = operators<foreign::plain>(out);
        coroutine.resume();
        for (int each = 0; each < 5; ++each) out.into.resume();
        auto failing = throws_inside<foreign::plain>(out);
        failing.resume();
        out.into.resume();
        auto goes_on = pauses_maybe<foreign::plain>(out, false);
        goes_on.resume();
        const recorded found = session.stop();
        CHECK(found.trace.tasks.empty());
        for (const char* name :
             {"member, lvalue", "member, rvalue", "free, lvalue", "free, rvalue", "after"}) {
            const auto& event = found.event(name);
            CHECK((event.flags & analysis::event_await) != 0);
            CHECK((event.flags & analysis::event_in_frame) != 0);
            CHECK(found.split(event).running_ns == 0);
            CHECK(event.self_running_ns == 0);
        }
        CHECK(found.count("throws") == 0);
        CHECK(found.count("maybe") == 0);
    }
}
