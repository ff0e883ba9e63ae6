// SPDX-License-Identifier: Apache-2.0

// Promise types with the less common parts of the language: parameters, allocation, failure.

#include <coroscope/instrumented.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "support/awaitables.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// What the promises below have in common: lazily started, suspended at the end.
template <class Promise>
struct lazy_base {
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const { std::terminate(); }
};

template <class Promise>
struct owner {
    using promise_type = instrumented<Promise>;
    using handle_type = std::coroutine_handle<Promise>;
    explicit owner(handle_type frame) noexcept : handle(frame) {}
    owner(owner&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    owner& operator=(owner&&) = delete;
    ~owner() {
        if (handle) handle.destroy();
    }
    handle_type handle;
};

// --- constructed from the coroutine's parameters ----------------------------------------------------

struct from_parameters : lazy_base<from_parameters> {
    from_parameters(const std::string& name, int& count) : name_seen(name), count_seen(&count) {
        ++count;
    }
    owner<from_parameters> get_return_object() {
        return owner<from_parameters>(std::coroutine_handle<from_parameters>::from_promise(*this));
    }
    std::string name_seen;
    int* count_seen;
};
owner<from_parameters> takes_name([[maybe_unused]] std::string name, [[maybe_unused]] int& count) {
    co_return;
}

struct has_member_coroutine {
    int seen = 0;
    owner<struct from_object> member(int value);
};
struct from_object : lazy_base<from_object> {
    from_object(has_member_coroutine& object, int value) { object.seen = value; }
    owner<from_object> get_return_object() {
        return owner<from_object>(std::coroutine_handle<from_object>::from_promise(*this));
    }
};
owner<from_object> has_member_coroutine::member([[maybe_unused]] int value) { co_return; }

// --- allocation -------------------------------------------------------------------------------------

struct arena {
    std::size_t allocated = 0;
    std::size_t freed = 0;
};

#if !defined(__clang__)
#pragma GCC diagnostic ignored                                                                     \
    "-Wmismatched-new-delete"  // at -O0 it takes the template below for another new
#endif

// The frame remembers its arena behind itself, as allocator-aware promises do.
struct in_arena : lazy_base<in_arena> {
    static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
    template <class... Rest>
    static void* operator new(std::size_t bytes, std::allocator_arg_t, arena& from, Rest&&...) {
        from.allocated += bytes;
        auto* frame = static_cast<char*>(std::malloc(rounded(bytes) + sizeof(arena*)));
        arena* owner = &from;
        __builtin_memcpy(frame + rounded(bytes), static_cast<const void*>(&owner), sizeof owner);
        return frame;
    }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        arena* owner = nullptr;
        __builtin_memcpy(static_cast<void*>(&owner), static_cast<char*>(frame) + rounded(bytes),
                         sizeof owner);
        owner->freed += bytes;
        std::free(frame);
    }
    owner<in_arena> get_return_object() {
        return owner<in_arena>(std::coroutine_handle<in_arena>::from_promise(*this));
    }
};
owner<in_arena> allocated_in(std::allocator_arg_t, [[maybe_unused]] arena& from, slot& into) {
    COROSCOPE("in arena");
    co_await suspend_into(into);
}

struct may_fail : lazy_base<may_fail> {
    static inline bool fails = false;
    static void* operator new(std::size_t bytes) noexcept {
        return fails ? nullptr : std::malloc(bytes);
    }
    static void operator delete(void* frame) noexcept { std::free(frame); }
    static owner<may_fail> get_return_object_on_allocation_failure() {
        return owner<may_fail>(nullptr);
    }
    owner<may_fail> get_return_object() {
        return owner<may_fail>(std::coroutine_handle<may_fail>::from_promise(*this));
    }
};
owner<may_fail> may_have_no_frame() { co_return; }

struct global_nothrow : lazy_base<global_nothrow> {
    static owner<global_nothrow> get_return_object_on_allocation_failure() {
        return owner<global_nothrow>(nullptr);
    }
    owner<global_nothrow> get_return_object() {
        return owner<global_nothrow>(std::coroutine_handle<global_nothrow>::from_promise(*this));
    }
};
owner<global_nothrow> allocated_globally() { co_return; }

// --- exceptions around the start --------------------------------------------------------------------

struct throws_at_start : lazy_base<throws_at_start> {
    struct start {
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const {
            throw std::runtime_error("cannot start");
        }
        void await_resume() const noexcept {}
    };
    start initial_suspend() const noexcept { return {}; }
    owner<throws_at_start> get_return_object() { return owner<throws_at_start>(nullptr); }
};
owner<throws_at_start> cannot_start() { co_return; }

struct conditional_start : lazy_base<conditional_start> {
    struct start {
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
        void await_resume() const noexcept {}
    };
    start initial_suspend() const noexcept { return {}; }
    owner<conditional_start> get_return_object() {
        return owner<conditional_start>(
            std::coroutine_handle<conditional_start>::from_promise(*this));
    }
};
owner<conditional_start> starts_after_all() {
    COROSCOPE("started after all");
    co_return;
}

// --- alignment and values ---------------------------------------------------------------------------

struct alignas(16) aligned : lazy_base<aligned> {
    owner<aligned> get_return_object() {
        return owner<aligned>(std::coroutine_handle<aligned>::from_promise(*this));
    }
    int value = 17;
};
owner<aligned> aligned_promise() { co_return; }

struct large : lazy_base<large> {
    owner<large> get_return_object() {
        return owner<large>(std::coroutine_handle<large>::from_promise(*this));
    }
    std::array<char, 100'000> body{};
};
owner<large> large_promise(slot& into) {
    COROSCOPE("beside a large promise");
    co_await suspend_into(into);
}

// Its await_transform gives an object whose operator co_await refers to another.
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

// Its awaiters have nothing in them, and yet answer by what they find at run time.
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

template <class Promise>
void run(owner<Promise>& coroutine) {
    coroutine.handle.resume();
    CHECK(coroutine.handle.done());
}

}  // namespace

TEST_SUITE("promises") {
    TEST_CASE("a promise may be constructed from the coroutine's parameters") {
        int count = 0;
        auto coroutine = takes_name("given", count);
        CHECK(coroutine.handle.promise().name_seen == "given");
        CHECK(coroutine.handle.promise().count_seen == &count);
        CHECK(count == 1);
        has_member_coroutine object;
        auto member = object.member(8);
        CHECK(object.seen == 8);
        run(member);
    }

    TEST_CASE("an allocator-aware promise gets the parameters, and its frame is known") {
        arena memory;
        slot into;
        recording session;
        {
            auto coroutine = allocated_in(std::allocator_arg, memory, into);
            CHECK(memory.allocated > 0);
            coroutine.handle.resume();
            into.resume();
        }
        CHECK(memory.freed == memory.allocated);
        const recorded found = session.stop();
        CHECK(found.event("in arena").task == found.task_index("allocated_in"));
        CHECK((found.event("in arena").flags & analysis::event_suspension_unknown) == 0);
    }

    TEST_CASE("a coroutine that gets no frame gives back the failure's object") {
        may_fail::fails = true;
        CHECK_FALSE(may_have_no_frame().handle);
        may_fail::fails = false;
        auto coroutine = may_have_no_frame();
        REQUIRE(coroutine.handle);
        run(coroutine);
        auto other = allocated_globally();
        REQUIRE(other.handle);
        run(other);
    }

    TEST_CASE("a coroutine whose start throws is a task that was cancelled") {
        recording session;
        CHECK_THROWS_AS(cannot_start(), std::runtime_error);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        CHECK(found.task("cannot_start").state == analysis::task_state::cancelled);
    }

    TEST_CASE("an initial suspension that does not take place starts the task") {
        recording session;
        {
            auto coroutine = starts_after_all();
            CHECK(coroutine.handle.done());
            CHECK(current_context().task == 0);
        }
        const recorded found = session.stop();
        CHECK(found.task("starts_after_all").state == analysis::task_state::finished);
        CHECK(found.event("started after all").task == found.task_index("starts_after_all"));
    }

    TEST_CASE("a stateless awaiter is asked when it is awaited, at the start and at the end") {
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

    TEST_CASE("an aligned promise stands where its handle looks for it") {
        auto coroutine = aligned_promise();
        CHECK(coroutine.handle.promise().value == 17);
        CHECK(reinterpret_cast<std::uintptr_t>(&coroutine.handle.promise()) % alignof(aligned) ==
              0);
        const auto ours =
            std::coroutine_handle<instrumented<aligned>>::from_address(coroutine.handle.address());
        CHECK(&ours.promise().promise() == &coroutine.handle.promise());
        run(coroutine);
    }

    TEST_CASE("the task's place in a very large frame is unknown, and its scopes say so") {
        recording session;
        slot into;
        {
            auto coroutine = large_promise(into);
            coroutine.handle.resume();
            into.resume();
            CHECK(coroutine.handle.done());
        }
        const recorded found = session.stop();
        CHECK(found.task("large_promise").state == analysis::task_state::finished);
        CHECK((found.event("beside a large promise").flags & analysis::event_suspension_unknown) !=
              0);
    }

    TEST_CASE("an await_transform may give an object whose awaiter is elsewhere") {
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

    TEST_CASE("an await_transform may make an awaiter that cannot be moved") {
        slot into;
        bool stayed = false;
        auto coroutine = stays_in_place(into, stayed);
        coroutine.handle.resume();
        into.resume();
        CHECK(coroutine.handle.done());
        CHECK(stayed);
    }

    TEST_CASE("what instrumentation adds to a frame stays within its bound") {
        struct bare {
            int value;
        };
        CHECK(sizeof(detail::task_state) <= 64);
        static_assert(!is_instrumented<bare>);
        static_assert(is_instrumented<instrumented<aligned>>);
    }
}
