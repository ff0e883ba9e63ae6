// SPDX-License-Identifier: Apache-2.0

// coroscope::fiber: results and lifetimes of a function on its own stack.

#include <boost/context/protected_fixedsize_stack.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "../runtime/support/build.hpp"
#include "recorded_fibers.hpp"
using namespace coroscope;
using namespace coroscope::test;

namespace {

/// Calls `work` inside so many calls. ThreadSanitizer's record of a thread's open calls holds
/// 65,536 of them, so that few calls which it takes for open ones are too many.
[[gnu::noinline]] int below_open_calls(int calls, const std::function<void()>& work) {
    if (calls > 0) return below_open_calls(calls - 1, work) + 1;
    work();
    return 0;
}

}  // namespace

TEST_SUITE("fiber") {
    TEST_CASE("a fiber runs when it is resumed, returns control and continues at the same place") {
        std::vector<int> steps;
        fiber work([&steps](fiber::handle& self) {
            steps.push_back(1);
            self.suspend();
            steps.push_back(3);
        });
        CHECK(steps.empty());
        work.resume();
        steps.push_back(2);
        CHECK_FALSE(work.done());
        work.resume();
        CHECK(work.done());
        CHECK(steps == std::vector{1, 2, 3});
    }

    TEST_CASE(
        "a function may be move-only, take no argument, and is destroyed when the fiber is done") {
        int gone = 0, seen = 0;
        fiber work([&seen, held = std::make_unique<says_when_gone>(gone),
                    number = std::make_unique<int>(7)] { seen = *number; });
        work.resume();
        CHECK(seen == 7);
        CHECK(gone == 1);
    }

    TEST_CASE("fibers can be moved, and an empty one is not valid") {
        int ran = 0;
        fiber first([&ran](fiber::handle& self) {
            ++ran;
            self.suspend();
            ++ran;
        });
        first.resume();
        fiber second = std::move(first);
        CHECK_FALSE(
            first.valid());  // NOLINT(bugprone-use-after-move): the moved-from state is specified
        second.resume();
        CHECK(ran == 2);
        second = fiber([&ran] { ran = 10; });
        second.resume();
        CHECK(ran == 10);
    }

    TEST_CASE("a fiber may be moved while it runs, and assigned to itself") {
        std::vector<fiber> fibers;
        fibers.reserve(1);
        int ran = 0;
        fibers.emplace_back([&](fiber::handle& self) {
            fibers.emplace_back([] {});  // the vector grows
            self.suspend();
            ++ran;
        });
        fibers[0].resume();
        fiber& itself = fibers[0];
        fibers[0] = std::move(itself);
        REQUIRE(fibers[0].valid());
        fibers[0].resume();
        CHECK(ran == 1);
        CHECK(fibers[0].done());
    }

    TEST_CASE("an exception leaves resume(), and the task has failed") {
        recording session;
        fiber work([](fiber::handle& self) {
            self.suspend();
            throw std::runtime_error("on the fiber");
        });
        work.resume();
        CHECK_THROWS_WITH_AS(work.resume(), "on the fiber", std::runtime_error);
        CHECK(work.done());
        CHECK(current_context().task == 0);
        CHECK(fiber_at(session.stop()).state == analysis::task_state::failed);
    }

    TEST_CASE("a fiber outlives the fiber that made it") {
        recording session;
        fiber made;
        fiber maker([&made](fiber::handle& self) {
            made = fiber([](fiber::handle& own) {
                COROSCOPE("of its own");
                own.suspend();
            });
            self.suspend();
        });
        maker.resume();
        made.resume();
        maker.resume();
        REQUIRE(maker.done());
        maker = fiber();
        made.resume();
        CHECK(made.done());
        const recorded found = session.stop();
        const auto& scope = found.event("of its own");
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(scope).suspended_ns == fiber_at(found, 1).time.suspended_ns);
    }

    TEST_CASE("a function that throws while a fiber is made of it leaves no fiber behind") {
        struct cannot_be_copied {
            cannot_be_copied() = default;
            cannot_be_copied(const cannot_be_copied&) { throw std::runtime_error("no copy"); }
            void operator()() const {}
        };
        const cannot_be_copied function;
        CHECK_THROWS_WITH_AS(fiber{function}, "no copy", std::runtime_error);
        int ran = 0;
        fiber after([&ran] { ++ran; });
        after.resume();
        CHECK(ran == 1);
    }

    TEST_CASE("a thread makes any number of fibers, whether or not they run") {
        constexpr int many = 1'500;
        int ran = 0;
        below_open_calls(test::thread_sanitized ? 64'500 : 0, [&ran] {
            for (int each = 0; each < many; ++each) {
                fiber work([&ran] { ++ran; });
                if (each % 2 == 0) work.resume();
            }
        });
        CHECK(ran == many / 2);
    }

    TEST_CASE("any stack of Boost.Context can be used") {
        recording session;
        fiber work(std::allocator_arg, boost::context::protected_fixedsize_stack(64 * 1024),
                   [](fiber::handle& self) {
                       COROSCOPE("on it");
                       self.suspend();
                   });
        work.resume();
        work.resume();
        const recorded found = session.stop();
        CHECK((found.event("on it").flags & analysis::event_suspension_unknown) == 0);
    }
}
