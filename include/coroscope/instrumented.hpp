// SPDX-License-Identifier: Apache-2.0
#pragma once

// instrumented<Promise>: stands over somebody's promise type and makes each coroutine of that type
// a task. It behaves as `Promise` does in every way that the coroutine, its awaitables and its
// library can see; in addition each co_await is timed with its own file and line, scopes survive it,
// and the coroutine's spawn, first resume, suspensions and end are recorded.
//
//   struct my_task { using promise_type = coroscope::instrumented<my_promise>; … };
//   COROSCOPE_INSTRUMENT_COROUTINE(their::task)                          // at global scope
//   COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), their::task<T>)
//
// The promise is the first member, at offset 0 with its own alignment, so that a
// coroutine_handle<Promise> made from the frame's address is good: g++ and clang place a promise by
// its alignment alone. The specialisation of std::coroutine_traits must be seen before the first
// coroutine of the type. Costs 64 bytes of frame per coroutine and at most 16 per co_await.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <new>
#include <type_traits>

#include <coroscope/await.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/instrumented_awaiter.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/promise_allocation.hpp>
#include <coroscope/detail/promise_parameters.hpp>
#include <coroscope/detail/promise_returns.hpp>

namespace coroscope {

namespace detail {

/// Around the promise's unhandled_exception(): where that throws on, as generators' do, the coroutine
/// has ended without a final suspension, and its thread leaves the task here.
class end_unless_handled {
public:
    explicit end_unless_handled(task_state& task) noexcept : task_(&task) {}
    end_unless_handled(const end_unless_handled&) = delete;
    end_unless_handled& operator=(const end_unless_handled&) = delete;
    ~end_unless_handled() {
        if (task_ == nullptr) return;
        if (load_gate() != 0) exception_passes(*task_);
        end_task(*task_);
    }
    void handled() noexcept { task_ = nullptr; }

private:
    task_state* task_;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

#if COROSCOPE_ENABLED

template <class Promise>
class instrumented final : public detail::promise_returns<instrumented<Promise>, Promise>,
                           public detail::promise_allocation<instrumented<Promise>, Promise> {
public:
    // A promise without constructors takes parameters, too, for its first members.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    /// Constructs the promise from the coroutine's parameters where it takes them, else from nothing.
    /// They are passed on as they come: g++ offers parameters of rvalue reference type as rvalues.
    template <class... Parameters>
        requires(sizeof...(Parameters) > 0 && std::constructible_from<Promise, Parameters...>)
    explicit instrumented(Parameters&&... parameters)
        : promise_(static_cast<Parameters&&>(parameters)...), task_(detail::in_frame_t{}) {
        check_place();
    }
#pragma GCC diagnostic pop
    instrumented() : promise_(), task_(detail::in_frame_t{}) { check_place(); }
    instrumented(const instrumented&) = delete;
    instrumented& operator=(const instrumented&) = delete;

    ~instrumented() {
        if ((task_.flags & detail::task_spawned) != 0) [[unlikely]]
            detail::destroy_task(task_);
    }

    // clang would elide the frame of a coroutine whose end it sees, and put it on the stack of its
    // creator: scopes there could not be told from calls. So it must not see through the handle; and where that is hidden in
    // place, it reads it from the frame again, when that may be gone.
#if defined(__clang__)
    [[gnu::noinline]]
#endif
    decltype(auto) get_return_object(const void* where = COROSCOPE_DETAIL_HERE) {
        task_.where = where;
        Promise* promise = &promise_;
        if constexpr (detail::returns_object_at<Promise>) {
            return promise->get_return_object(detail::location_at(where));
        } else {
            return promise->get_return_object();
        }
    }

    auto initial_suspend() {
        const auto make = [this]() -> decltype(auto) { return promise_.initial_suspend(); };
        using slot = detail::made_slot<decltype(make())>;
        return detail::initial_awaiter<Promise, slot>(place(), make);
    }

    auto final_suspend() noexcept {
        const auto make = [this]() noexcept -> decltype(auto) { return promise_.final_suspend(); };
        using slot = detail::made_slot<decltype(make())>;
        return detail::final_awaiter<Promise, slot>(task_, make);
    }

    void unhandled_exception() noexcept(noexcept(std::declval<Promise&>().unhandled_exception())) {
        detail::set_flags(task_, detail::task_exception);
        if (detail::load_gate() != 0) detail::exception_leaves(task_);
        detail::end_unless_handled handling(task_);
        promise_.unhandled_exception();
        handling.handled();
    }

    /// Theirs first, where they have one, then ours around the result. A label comes off before.
    template <class Operand>
    auto await_transform(Operand&& operand, const void* where = COROSCOPE_DETAIL_HERE) {
        return transform<detail::await_place::here>(static_cast<Operand&&>(operand), where);
    }
    template <class Operand>
    auto await_transform(labelled_await<Operand>&& labelled,
                         const void* where = COROSCOPE_DETAIL_HERE) {
        if (detail::load_gate() != 0) task_.await_site = detail::await_site_id(labelled.label());
        return transform<detail::await_place::labelled>(labelled.operand(), where);
    }

    template <class Value>
        requires detail::yields_as_it_is<Promise, Value>
    auto yield_value(Value&& value) {
        return yield<Value>(static_cast<Value&&>(value));
    }
    /// What is converted, and braced lists.
    template <class Theirs = Promise, class Value = detail::yielded<Theirs>>
        requires detail::yields<Promise, Value>
    auto yield_value(std::type_identity_t<Value>&& value) {
        return yield<Value>(static_cast<Value&&>(value));
    }
    template <class Theirs = Promise, class Value = detail::yielded<Theirs>>
        requires detail::yields_constant<Promise, Value>
    auto yield_value(const std::type_identity_t<Value>& value) {
        return yield<const Value&>(value);
    }

    /// The promise underneath, for a library that asks for it.
    Promise& promise() noexcept { return promise_; }
    detail::task_state& coroscope_task() noexcept { return task_; }

private:
    template <detail::await_place Place, class Operand>
    auto transform(Operand&& operand, [[maybe_unused]] const void* where) {
        if constexpr (detail::converts_operand<Promise, Operand>) {
            return transform_converted<Place>(static_cast<Operand&&>(operand), where);
        } else if constexpr (detail::transforms_at<Promise, Operand>) {
            const auto make = [&]() -> decltype(auto) {
                return promise_.await_transform(static_cast<Operand&&>(operand),
                                                detail::location_at(where));
            };
            using slot = detail::made_slot<decltype(make())>;
            return detail::instrumented_awaiter<Promise, slot, Place>(place(), make);
        } else if constexpr (requires {
                                 promise_.await_transform(static_cast<Operand&&>(operand));
                             }) {
            const auto make = [&]() -> decltype(auto) {
                return promise_.await_transform(static_cast<Operand&&>(operand));
            };
            using slot = detail::made_slot<decltype(make())>;
            return detail::instrumented_awaiter<Promise, slot, Place>(place(), make);
        } else {
            static_assert(!detail::declares_await_transform<Promise>,
                          "no await_transform of this coroutine's promise takes this operand");
            static_assert(
                detail::is_awaitable<Operand>,
                "an instrumented coroutine finds operator co_await as a member of the operand's "
                "class or in the namespace of its type");
            using slot = detail::operand_slot<Operand>;
            return detail::instrumented_awaiter<Promise, slot, Place>(
                place(), static_cast<Operand&&>(operand));
        }
    }

    template <detail::await_place Place, class Operand>
    auto transform_converted(Operand&& operand, [[maybe_unused]] const void* where) {
        using parameter = typename detail::transformed<Promise>::type;
        const auto make = [&](parameter given) -> decltype(auto) {
            if constexpr (detail::transforms_at<Promise, Operand>) {
                return promise_.await_transform(static_cast<parameter>(given),
                                                detail::location_at(where));
            } else {
                return promise_.await_transform(static_cast<parameter>(given));
            }
        };
        using made = detail::made_slot<decltype(make(std::declval<parameter>()))>;
        using slot = detail::converted_slot<parameter, made>;
        return detail::instrumented_awaiter<Promise, slot, Place>(
            place(),
            detail::conversion<Operand, decltype(make)>{static_cast<Operand&&>(operand), make});
    }

    template <class Value>
    auto yield(Value&& value) {
        const auto make = [&]() -> decltype(auto) {
            return promise_.yield_value(static_cast<Value&&>(value));
        };
        using slot = detail::made_slot<decltype(make())>;
        return detail::instrumented_awaiter<Promise, slot>(place(), make);
    }

    detail::task_place place() noexcept {
        const void* frame = std::coroutine_handle<instrumented>::from_promise(*this).address();
        // In one expression, which g++ computes itself.
        const auto in_promise =
            reinterpret_cast<const char*>(&task_) - reinterpret_cast<const char*>(this);
        return {&task_, frame,
                detail::bytes_between(frame, this) + static_cast<std::int32_t>(in_promise)};
    }

    static constexpr void check_place() noexcept {
        static_assert(alignof(instrumented) == alignof(Promise) ||
                          (alignof(instrumented) <= 16 && alignof(Promise) <= 16),
                      "a frame places both promises at the same offset");
    }

    [[no_unique_address]] Promise promise_;
    // NOLINTNEXTLINE(readability-identifier-naming): some instantiations are taken for public
    detail::task_state task_;
};

/// Is this promise type instrumented?
template <class Promise>
inline constexpr bool is_instrumented = false;
template <class Promise>
inline constexpr bool is_instrumented<instrumented<Promise>> = true;

}  // namespace COROSCOPE_ABI

namespace detail {

/// A last parameter that no coroutine has: the traits with it are as they would be without the macros below, the
/// library's own where it specialises them.
struct as_if_alone {};
template <class... Parameters>
concept of_a_coroutine = !(std::same_as<Parameters, as_if_alone> || ...);

/// The promise of the coroutines that these traits are for, instrumented. The macros below ask for it so,
/// because inside the traits the type's own name would be looked up in namespace std first.
template <class Traits>
struct instrumented_result;
template <class Result, class... Parameters>
struct instrumented_result<std::coroutine_traits<Result, Parameters...>> {
    using type = instrumented<
        typename std::coroutine_traits<Result, Parameters..., as_if_alone>::promise_type>;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

#else

template <class Promise>
using instrumented = Promise;

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope

#if COROSCOPE_ENABLED

/// Makes every coroutine that returns this type a task, without an edit of the type. At global scope,
/// before the first such coroutine. The constraint puts it before a specialisation of the library's own for every
/// parameter list; one for certain parameters wins over it, and then the assertion fails if those are none.
#define COROSCOPE_INSTRUMENT_COROUTINE(...)                                                        \
    template <class... CoroscopeParameters>                                                        \
        requires ::coroscope::detail::of_a_coroutine<CoroscopeParameters...>                       \
    struct std::coroutine_traits<__VA_ARGS__, CoroscopeParameters...> {                            \
        using promise_type =                                                                       \
            typename ::coroscope::detail::instrumented_result<coroutine_traits>::type;             \
    };                                                                                             \
    static_assert(::coroscope::is_instrumented<std::coroutine_traits<__VA_ARGS__>::promise_type>,  \
                  "another specialisation of std::coroutine_traits is in the way")

/// The same for a template: COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T, class A), their::task<T, A>).
#define COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE(parameters, ...)                                   \
    template <COROSCOPE_DETAIL_UNWRAP parameters, class... CoroscopeParameters>                    \
        requires ::coroscope::detail::of_a_coroutine<CoroscopeParameters...>                       \
    struct std::coroutine_traits<__VA_ARGS__, CoroscopeParameters...> {                            \
        using promise_type =                                                                       \
            typename ::coroscope::detail::instrumented_result<coroutine_traits>::type;             \
    }
#define COROSCOPE_DETAIL_UNWRAP(...) __VA_ARGS__

#else

#define COROSCOPE_INSTRUMENT_COROUTINE(...) static_assert(true)
#define COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE(parameters, ...) static_assert(true)

#endif
