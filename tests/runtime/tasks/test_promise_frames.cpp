// SPDX-License-Identifier: Apache-2.0

// The frames of promise types: their allocation, its failure, and their layout.

#include <coroscope/instrumented.hpp>

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "../support/awaitables.hpp"
#include "../support/promises.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// --- allocation -------------------------------------------------------------------------------------

struct arena {
    std::size_t allocated = 0;
    std::size_t freed = 0;
};

#if !defined(__clang__)
#pragma GCC diagnostic ignored                                                                     \
    "-Wmismatched-new-delete"  // at -O0 g++ takes the template below for another new
#endif

// The address of the arena is behind the frame, as in allocator-aware promises.
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

// --- alignment and size -----------------------------------------------------------------------------

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

}  // namespace

TEST_SUITE("promises") {
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

    TEST_CASE("a coroutine that gets no frame returns the object for allocation failures") {
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

    TEST_CASE("an aligned promise is at the address that its handle computes") {
        auto coroutine = aligned_promise();
        CHECK(coroutine.handle.promise().value == 17);
        CHECK(reinterpret_cast<std::uintptr_t>(&coroutine.handle.promise()) % alignof(aligned) ==
              0);
        const auto ours =
            std::coroutine_handle<instrumented<aligned>>::from_address(coroutine.handle.address());
        CHECK(&ours.promise() == &coroutine.handle.promise());
        CHECK(&ours.coroscope_promise().promise() == &coroutine.handle.promise());
        run(coroutine);
    }

    TEST_CASE(
        "the place of the task's state in a very large frame is unknown, and its scopes say so") {
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

    TEST_CASE("the state of a task adds at most 64 bytes to a frame") {
        struct bare {
            int value;
        };
        CHECK(sizeof(detail::task_state) <= 64);
        static_assert(!is_instrumented<bare>);
        static_assert(is_instrumented<instrumented<aligned>>);
    }
}
