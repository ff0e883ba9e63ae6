// SPDX-License-Identifier: Apache-2.0
#pragma once

// Allocation of an instrumented coroutine's frame: by the promise's own operators where it has them
// (with the coroutine's parameters where it takes them). Its place and size are noted in the task's state, so that
// scopes inside the frame are known to belong to the task.

#include <coroutine>
#include <cstddef>
#include <new>
#include <type_traits>

#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

template <class Promise>
concept has_own_new = requires(std::size_t bytes) { Promise::operator new(bytes); };

template <class Promise, class... Parameters>
concept has_parameter_new =
    sizeof...(Parameters) > 0 && requires(std::size_t bytes, Parameters&&... parameters) {
        Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...);
    };

// Whether a promise declares operator new in any form, found as declares_await_transform is.
struct other_operator_new {
    static void* operator new(std::size_t bytes);
};
template <class Promise>
struct ambiguous_operator_new : Promise, other_operator_new {};

template <class Promise>
inline constexpr bool declares_operator_new =
    !requires { &ambiguous_operator_new<Promise>::operator new; };
template <class Promise>
    requires std::is_final_v<Promise>
inline constexpr bool declares_operator_new<Promise> = false;

/// May a coroutine whose parameters no operator new of the promise's takes have a frame?
template <class Promise>
concept has_frame_without_parameters = has_own_new<Promise> || !declares_operator_new<Promise>;

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
// none that depends on anything. `Self` is the instrumented promise.
template <class Self, class Promise>
struct promise_allocation : promise_failure<Promise> {
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && !has_failure_object<Promise>)
    static void* operator new(std::size_t bytes, Parameters&&... parameters) {
        return noted(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...), bytes);
    }
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && has_failure_object<Promise>)
    static void* operator new(std::size_t bytes, Parameters&&... parameters) noexcept {
        return noted(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...), bytes);
    }

    static void* operator new(std::size_t bytes)
        requires(has_frame_without_parameters<Promise> && !has_failure_object<Promise>)
    {
        if constexpr (has_own_new<Promise>) {
            return noted(Promise::operator new(bytes), bytes);
        } else {
            return noted(::operator new(bytes), bytes);
        }
    }
    static void* operator new(std::size_t bytes) noexcept
        requires(has_frame_without_parameters<Promise> && has_failure_object<Promise>)
    {
        if constexpr (has_own_new<Promise>) {
            return noted(Promise::operator new(bytes), bytes);
        } else {
            return noted(::operator new(bytes, std::nothrow), bytes);
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
            ::operator delete(frame);  // without its size, as g++ does by itself
        }
    }
#pragma GCC diagnostic pop

private:
    [[gnu::always_inline]] static void* noted(void* frame, std::size_t bytes) noexcept {
        if (!has_failure_object<Promise> || frame != nullptr)
            note_frame(std::coroutine_handle<Self>::from_address(frame).promise().coroscope_task(),
                       frame, bytes);
        return frame;
    }
};

}  // namespace coroscope::detail
