// SPDX-License-Identifier: Apache-2.0
#pragma once

// Allocation of an instrumented coroutine's frame: by the promise's own operators where it has them
// (with the coroutine's parameters where it takes them), and noted for the promise to find, so that
// scopes inside the frame are known to belong to its task.

#include <cstddef>
#include <new>

#include <coroscope/detail/thread_state.hpp>

namespace coroscope::detail {

[[gnu::always_inline]] inline void* note_frame(void* frame, std::size_t bytes) noexcept {
    this_thread.new_frame = frame;
    this_thread.new_frame_bytes = bytes;
    return frame;
}

template <class Promise>
concept has_own_new = requires(std::size_t bytes) { Promise::operator new(bytes); };

template <class Promise, class... Parameters>
concept has_parameter_new =
    sizeof...(Parameters) > 0 && requires(std::size_t bytes, Parameters&&... parameters) {
        Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...);
    };

template <class Promise>
concept has_failure_object = requires { Promise::get_return_object_on_allocation_failure(); };

// The failure object's function must exist only where theirs does: the language asks for its name.
template <class Promise>
struct promise_failure {};
template <has_failure_object Promise>
struct promise_failure<Promise> {
    static decltype(auto) get_return_object_on_allocation_failure() {
        return Promise::get_return_object_on_allocation_failure();
    }
};

// Spelled twice, because clang looks at the exception specification before it is instantiated and wants
// none that depends on anything.
template <class Promise>
struct promise_allocation : promise_failure<Promise> {
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && !has_failure_object<Promise>)
    static void* operator new(std::size_t bytes, Parameters&&... parameters) {
        return note_frame(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...),
                          bytes);
    }
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && has_failure_object<Promise>)
    static void* operator new(std::size_t bytes, Parameters&&... parameters) noexcept {
        return note_frame(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...),
                          bytes);
    }

    static void* operator new(std::size_t bytes)
        requires(!has_failure_object<Promise>)
    {
        if constexpr (has_own_new<Promise>) {
            return note_frame(Promise::operator new(bytes), bytes);
        } else {
            return note_frame(::operator new(bytes), bytes);
        }
    }
    static void* operator new(std::size_t bytes) noexcept
        requires has_failure_object<Promise>
    {
        if constexpr (has_own_new<Promise>) {
            return note_frame(Promise::operator new(bytes), bytes);
        } else {
            return note_frame(::operator new(bytes, std::nothrow), bytes);
        }
    }

    // At -Og g++ inlines this alone, and takes what operator new returns for another's.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        if constexpr (requires { Promise::operator delete(frame, bytes); }) {
            Promise::operator delete(frame, bytes);
        } else if constexpr (requires { Promise::operator delete(frame); }) {
            Promise::operator delete(frame);
        } else {
#if defined(__cpp_sized_deallocation)
            ::operator delete(frame, bytes);
#else
            ::operator delete(frame);
#endif
        }
    }
#pragma GCC diagnostic pop
};

}  // namespace coroscope::detail
