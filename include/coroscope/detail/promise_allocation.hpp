// SPDX-License-Identifier: Apache-2.0
#pragma once

// Allocation of an instrumented coroutine's frame, with the promise's own operators if it has them
// (and with the coroutine's parameters if they take those). The place and size of the frame are
// noted in the task's state, so that scopes inside the frame are known to belong to the task.

#include <coroutine>
#include <cstddef>
#include <new>
#include <type_traits>

#include <coroscope/detail/instrumented_handle.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::detail {

template <class Promise>
concept has_own_new = requires(std::size_t bytes) { Promise::operator new(bytes); };

template <class Promise, class... Parameters>
concept has_parameter_new =
    sizeof...(Parameters) > 0 && requires(std::size_t bytes, Parameters&&... parameters) {
        Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...);
    };

// Whether a promise declares operator new in any form. Found as in declares_await_transform.
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

/// Whether a coroutine can have a frame if no operator new of the promise takes its parameters.
template <class Promise>
concept has_frame_without_parameters = has_own_new<Promise> || !declares_operator_new<Promise>;

template <class Promise>
concept has_failure_object = requires { Promise::get_return_object_on_allocation_failure(); };

// The failure object's function must exist only if the promise has one, because the language tests
// for its name.
template <class Promise>
struct promise_failure {};
template <has_failure_object Promise>
struct promise_failure<Promise> {
    static decltype(auto) get_return_object_on_allocation_failure() {
        return Promise::get_return_object_on_allocation_failure();
    }
};

// g++ inlines these functions into the ramp even without optimisation, so that they read the ramp's
// addresses. With clang instrumented<>::get_return_object() notes the addresses.
#if defined(__clang__)
#define COROSCOPE_DETAIL_IN_RAMP
#else
#define COROSCOPE_DETAIL_IN_RAMP [[gnu::always_inline]]
#endif

// Without optimisation g++ would inline operator new alone, and warn of mismatched operators at
// each coroutine.
#if defined(__clang__) || defined(__OPTIMIZE__)
#define COROSCOPE_DETAIL_WITH_NEW
#else
#define COROSCOPE_DETAIL_WITH_NEW [[gnu::always_inline]]
#endif

// Written twice, because clang reads the exception specification before the instantiation and
// accepts none that depends on a template parameter. `Self` is the instrumented promise.
template <class Self, class Promise>
struct promise_allocation : promise_failure<Promise> {
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && !has_failure_object<Promise>)
    COROSCOPE_DETAIL_IN_RAMP static void* operator new(std::size_t bytes,
                                                       Parameters&&... parameters) {
        return noted(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...), bytes);
    }
    template <class... Parameters>
        requires(has_parameter_new<Promise, Parameters...> && has_failure_object<Promise>)
    COROSCOPE_DETAIL_IN_RAMP static void* operator new(std::size_t bytes,
                                                       Parameters&&... parameters) noexcept {
        return noted(Promise::operator new(bytes, static_cast<Parameters&&>(parameters)...), bytes);
    }

    COROSCOPE_DETAIL_IN_RAMP static void* operator new(std::size_t bytes)
        requires(has_frame_without_parameters<Promise> && !has_failure_object<Promise>)
    {
        if constexpr (has_own_new<Promise>) {
            return noted(Promise::operator new(bytes), bytes);
        } else {
            return noted(::operator new(bytes), bytes);
        }
    }
    COROSCOPE_DETAIL_IN_RAMP static void* operator new(std::size_t bytes) noexcept
        requires(has_frame_without_parameters<Promise> && has_failure_object<Promise>)
    {
        if constexpr (has_own_new<Promise>) {
            return noted(Promise::operator new(bytes), bytes);
        } else {
            return noted(::operator new(bytes, std::nothrow), bytes);
        }
    }

    // At -Og g++ inlines only this function, and then reports mismatched operators.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
    COROSCOPE_DETAIL_WITH_NEW static void operator delete(void* frame, std::size_t bytes) noexcept {
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
    [[gnu::always_inline]] static task_state& task_in(void* frame) noexcept {
        return detail::state_of_task(std::coroutine_handle<Self>::from_address(frame));
    }

    [[gnu::always_inline]] static void* noted(void* frame, std::size_t bytes) noexcept {
        if (!has_failure_object<Promise> || frame != nullptr) {
            detail::note_frame(task_in(frame), frame, bytes);
#if !defined(__clang__)
            if constexpr (detail::has_code_address)
                detail::note_origin(task_in(frame), detail::code_address(),
                                    COROSCOPE_DETAIL_CALLER);
#endif
        }
        return frame;
    }
};

}  // namespace coroscope::detail
