// SPDX-License-Identifier: Apache-2.0

// Awaiters of a promise type: from its await_transform, at its start and at its end.

#include <coroscope/instrumented.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <new>

#include "../support/awaitables.hpp"
#include "../support/promises.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Its await_transform returns an object whose operator co_await refers to another object.
struct transforms : lazy_base<transforms> {
    struct by_reference {
        explicit by_reference(suspend_into& target) noexcept : to(&target) {}
        suspend_into& operator co_await() const noexcept { return *to; }
        suspend_into* to;
    };
    by_reference await_transform(suspend_into& target) const noexcept {
        return by_reference(target);
    }
    owner<transforms> get_return_object() {
        return owner<transforms>(std::coroutine_handle<transforms>::from_promise(*this));
    }
};
owner<transforms> transformed(slot& into) {
    suspend_into target(into);
    co_await target;
}

// Its awaiters have no members, and yet answer by a variable at run time.
struct asks_around {
    struct promise {
        struct awaiter {
            bool await_ready() const noexcept { return ready; }
            void await_suspend(std::coroutine_handle<>) const noexcept {}
            void await_resume() const noexcept {}
        };
        explicit promise(int& live) noexcept : live_(&live) { ++live; }
        promise(const promise&) = delete;
        promise& operator=(const promise&) = delete;
        ~promise() { --*live_; }
        asks_around get_return_object() {
            return {std::coroutine_handle<promise>::from_promise(*this)};
        }
        awaiter initial_suspend() const noexcept { return {}; }
        awaiter final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { std::terminate(); }

    private:
        int* live_;
    };
    using promise_type = instrumented<promise>;
    static inline bool ready = false;
    std::coroutine_handle<promise> handle;
};
asks_around asks([[maybe_unused]] int& live) {
    COROSCOPE("between the answers");
    co_return;
}

// Its await_transform makes an awaiter that refers to itself, and cannot be moved.
struct makes_in_place : lazy_base<makes_in_place> {
    class anchored {
    public:
        explicit anchored(slot& into) noexcept : inner_(into), self_(this) {}
        anchored(const anchored&) = delete;
        anchored& operator=(const anchored&) = delete;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waiter) noexcept {
            self_->inner_.await_suspend(waiter);
        }
        bool await_resume() const noexcept { return self_ == this; }

    private:
        suspend_into inner_;
        anchored* self_;
    };
    anchored await_transform(slot& into) const noexcept { return anchored(into); }
    owner<makes_in_place> get_return_object() {
        return owner<makes_in_place>(std::coroutine_handle<makes_in_place>::from_promise(*this));
    }
};
owner<makes_in_place> stays_in_place(slot& into, bool& stayed) { stayed = co_await into; }

// A coroutine without suspension points, which clang could compile like a function.
struct runs_through {
    struct promise {
        static void* operator new(std::size_t bytes) {
            ++frames;
            return ::operator new(bytes);
        }
        static void operator delete(void* frame, std::size_t bytes) {
            ::operator delete(frame, bytes);
        }
        runs_through get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const { std::terminate(); }
    };
    using promise_type = instrumented<promise>;
    static inline int frames = 0;
};
runs_through inside() { co_return; }
runs_through outside() {
    inside();
    co_return;
}

}  // namespace

TEST_SUITE("promises") {
    TEST_CASE("a stateless awaiter is asked at the await, at the start and at the end") {
        for (const bool goes : {false, true}) {
            CAPTURE(goes);
            recording session;
            int live = 0;
            asks_around::ready = false;
            const asks_around coroutine = asks(live);
            CHECK_FALSE(coroutine.handle.done());
            asks_around::ready = goes;
            coroutine.handle.resume();
            CHECK(live == (goes ? 0 : 1));
            CHECK(current_context().task == 0);
            if (!goes) coroutine.handle.destroy();
            const recorded found = session.stop();
            CHECK(found.task("asks").state == analysis::task_state::finished);
            CHECK(found.task("asks").slices.size() == 1);
            CHECK(found.event("between the answers").task == found.task_index("asks"));
        }
        asks_around::ready = true;
        int live = 0;
        static_cast<void>(asks(live));
        CHECK(live == 0);
    }

    TEST_CASE(
        "a coroutine that cannot suspend has a frame of its own, and its creator as its parent") {
        recording session;
        runs_through::frames = 0;
        outside();
        CHECK(runs_through::frames == 2);
        const recorded found = session.stop();
        CHECK(found.task("outside").parent == analysis::none);
        CHECK(found.task("inside").parent == found.task_index("outside"));
    }

    TEST_CASE("an await_transform may return an object whose awaiter is elsewhere") {
        recording session;
        slot into;
        auto coroutine = transformed(into);
        coroutine.handle.resume();
        CHECK_FALSE(coroutine.handle.done());
        into.resume();
        CHECK(coroutine.handle.done());
        const recorded found = session.stop();
        CHECK(found.awaits(found.task("transformed")).size() == 1);
    }

    TEST_CASE("an await_transform may return an awaiter that cannot be moved") {
        slot into;
        bool stayed = false;
        auto coroutine = stays_in_place(into, stayed);
        coroutine.handle.resume();
        into.resume();
        CHECK(coroutine.handle.done());
        CHECK(stayed);
    }
}
