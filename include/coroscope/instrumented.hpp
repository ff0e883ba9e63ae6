// SPDX-License-Identifier: Apache-2.0
#pragma once

// instrumented<Promise>: wraps a promise type and makes each coroutine of that type a task. It
// behaves like `Promise` in every way that the coroutine, its awaitables and its library can
// observe. In addition it records the coroutine's spawn, first resume, suspensions and end, times
// each co_await with its own file and line, and lets scopes survive a co_await.
//
//   struct my_task { using promise_type = coroscope::instrumented<my_promise>; … };
//   COROSCOPE_INSTRUMENT_COROUTINE(their::task)                          // at global scope
//   COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), their::task<T>)
//   COROSCOPE_INSTRUMENT_TRAITS((class T), (their::promise<T>), their::task<T>, their::tag)
//
// The wrapped promise is the first member, at offset 0 with its own alignment. A
// coroutine_handle<Promise> that is made from the frame's address is therefore valid, because g++
// and clang place a promise by its alignment alone. The specialisation of std::coroutine_traits
// must be visible before the first coroutine of the type. Cost: 64 bytes of frame per coroutine and
// at most 16 per co_await, 24 with a label.

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <type_traits>

#include <coroscope/await.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/instrumented_awaiter.hpp>
#include <coroscope/detail/location.hpp>
#include <coroscope/detail/promise_allocation.hpp>
#include <coroscope/detail/promise_parameters.hpp>
#include <coroscope/detail/promise_returns.hpp>
#include <coroscope/detail/promise_yields.hpp>

// If a coroutine's type requires it, clang needs this attribute on a function that returns the type
// and is not a coroutine.
#if __has_cpp_attribute(clang::coro_wrapper)
#define COROSCOPE_DETAIL_CORO_WRAPPER [[clang::coro_wrapper]]
#else
#define COROSCOPE_DETAIL_CORO_WRAPPER
#endif

namespace coroscope {

namespace detail {

/// Surrounds the promise's unhandled_exception(). If that throws, as in generators, the coroutine
/// has ended without a final suspension, and its thread leaves the task here.
class end_unless_handled {
public:
    explicit end_unless_handled(task_state& task) noexcept : task_(&task) {}
    end_unless_handled(const end_unless_handled&) = delete;
    end_unless_handled& operator=(const end_unless_handled&) = delete;
    ~end_unless_handled() {
        if (task_ == nullptr) return;
        if (detail::load_gate() != 0) detail::exception_passes(*task_);
        detail::end_task(*task_);
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
    // A promise without constructors also takes parameters, for its first members.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
    /// Constructs the promise from the coroutine's parameters if it accepts them, else by default.
    /// Parameters are forwarded unchanged: g++ passes parameters of rvalue reference type as
    /// rvalues.
    template <class... Parameters>
        requires(sizeof...(Parameters) > 0 && std::constructible_from<Promise, Parameters...>)
    explicit instrumented(Parameters&&... parameters)
        : promise_(static_cast<Parameters&&>(parameters)...), task_(detail::in_frame_t{}) {
        check_place();
    }
#pragma GCC diagnostic pop
    instrumented() : promise_(), task_(detail::in_frame_t{}) { check_place(); }
    // Not copyable, but not deleted: clang would ask whether the promise can be copied, and if a
    // constraint of one of its own constructors asks the same, the recursion would not end.
    instrumented(const instrumented&)
        requires false;
    instrumented& operator=(const instrumented&) = delete;

    ~instrumented() {
        if ((task_.flags & detail::task_spawned) != 0) [[unlikely]]
            detail::destroy_task(task_);
    }

    // Clang would elide the frame of a coroutine whose end it sees, and place it on the creator's
    // stack, on which scopes look like calls. The handle must therefore be opaque to clang. If the
    // function were inlined, the opaque handle would be read from the frame again, which may be
    // destroyed by then.
#if defined(__clang__)
    // The default arguments are evaluated in the coroutine's ramp, to which this call returns.
    [[gnu::noinline]] COROSCOPE_DETAIL_CORO_WRAPPER decltype(auto)
    get_return_object(const void* where = COROSCOPE_DETAIL_HERE,
                      const void* caller = COROSCOPE_DETAIL_CALLER) {
        detail::note_origin(task_, __builtin_return_address(0), caller);
        return object_at(where);
    }
#else
    decltype(auto) get_return_object(const void* where = COROSCOPE_DETAIL_HERE) {
        if constexpr (!detail::has_code_address) detail::note_origin(task_, where, nullptr);
        return object_at(where);
    }
#endif

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

    /// Applies the wrapped promise's await_transform first, if it has one, and instruments the
    /// result. A label is removed before that.
    template <class Operand>
    auto await_transform(Operand&& operand, const void* where = COROSCOPE_DETAIL_HERE) {
        return transform(static_cast<Operand&&>(operand), where, detail::no_label{});
    }
    template <class Operand>
    auto await_transform(labelled_await<Operand>&& labelled,
                         const void* where = COROSCOPE_DETAIL_HERE) {
        return transform(labelled.operand(), where, detail::kept_label{&labelled.label()});
    }

    template <class Value>
        requires detail::yields_as_it_is<Promise, Value>
    auto yield_value(Value&& value) {
        return yield<Value>(static_cast<Value&&>(value));
    }
    /// Operands that need a conversion, and braced lists. These are const so that the function
    /// above is the better match.
    template <class Theirs = Promise, class Value = detail::yielded<Theirs>>
        requires detail::yields_converted<Promise, Value>
    auto yield_value(std::type_identity_t<Value>&& value) const {
        return yield_converted<Value>(value);
    }
    template <class Theirs = Promise, class Value = detail::yielded<Theirs>>
        requires detail::yields_converted<Promise, const Value&>
    auto yield_value(const std::type_identity_t<Value>& value) const {
        return yield_converted<const Value&>(value);
    }
    /// `co_yield {}`, if the type of the list is unknown.
    template <class Theirs = Promise>
        requires(std::same_as<detail::yielded<Theirs>, detail::no_parameter> &&
                 detail::yield_functions<Theirs>::takes_empty_list)
    auto yield_value(std::initializer_list<detail::no_element>) {
        return yield_made([&]() -> decltype(auto) { return promise_.yield_value({}); });
    }

    /// The wrapped promise, for a library that needs it.
    Promise& promise() noexcept { return promise_; }
    detail::task_state& coroscope_task() noexcept { return task_; }

private:
    COROSCOPE_DETAIL_CORO_WRAPPER [[gnu::always_inline]] decltype(auto)
    object_at(const void* where) {
        task_.where = where;
        Promise* promise = __builtin_addressof(promise_);
        if constexpr (detail::returns_object_at<Promise>) {
            return promise->get_return_object({detail::location_at(where)});
        } else {
            return promise->get_return_object();
        }
    }

    template <class Operand, class Label>
    auto transform(Operand&& operand, [[maybe_unused]] const void* where, const Label& label) {
        if constexpr (detail::converts_operand<Promise, Operand>) {
            return transform_converted(static_cast<Operand&&>(operand), where, label);
        } else if constexpr (detail::transforms_at<Promise, Operand>) {
            const auto make = [&]() -> decltype(auto) {
                return promise_.await_transform(static_cast<Operand&&>(operand),
                                                {detail::location_at(where)});
            };
            using slot = detail::made_slot<decltype(make())>;
            return detail::instrumented_awaiter<Promise, slot, Label>(place(), make, label);
        } else if constexpr (requires {
                                 promise_.await_transform(static_cast<Operand&&>(operand));
                             }) {
            const auto make = [&]() -> decltype(auto) {
                return promise_.await_transform(static_cast<Operand&&>(operand));
            };
            using slot = detail::made_slot<decltype(make())>;
            return detail::instrumented_awaiter<Promise, slot, Label>(place(), make, label);
        } else {
            static_assert(!detail::declares_await_transform<Promise>,
                          "no await_transform of this coroutine's promise takes this operand");
            static_assert(
                detail::is_awaitable<Operand>,
                "an instrumented coroutine finds operator co_await as a member of the operand's "
                "class or in the namespace of its type");
            using slot = detail::operand_slot<Operand>;
            return detail::instrumented_awaiter<Promise, slot, Label>(
                place(), static_cast<Operand&&>(operand), label);
        }
    }

    template <class Operand, class Label>
    auto transform_converted(Operand&& operand, [[maybe_unused]] const void* where,
                             const Label& label) {
        using parameter = typename detail::transformed<Promise>::type;
        const auto make = [&](parameter given) -> decltype(auto) {
            if constexpr (detail::transforms_at<Promise, Operand>) {
                return promise_.await_transform(static_cast<parameter>(given),
                                                {detail::location_at(where)});
            } else {
                return promise_.await_transform(static_cast<parameter>(given));
            }
        };
        using made = detail::made_slot<decltype(make(std::declval<parameter>()))>;
        using slot = detail::converted_slot<parameter, made>;
        return detail::instrumented_awaiter<Promise, slot, Label>(
            place(),
            detail::conversion<Operand, decltype(make)>{static_cast<Operand&&>(operand), make},
            label);
    }

    template <class Value>
    auto yield(Value&& value) {
        return yield_made(
            [&]() -> decltype(auto) { return promise_.yield_value(static_cast<Value&&>(value)); });
    }

    template <class Value>
    auto yield_converted(std::remove_reference_t<Value>& value) const {
        using functions = detail::yield_functions<Promise>;
        auto& self = const_cast<instrumented&>(*this);
        if constexpr (detail::without_braces<functions, Value>) {
            return self.template yield<Value>(static_cast<Value&&>(value));
        } else if constexpr (functions::template takes_constant<std::remove_cvref_t<Value>>) {
            return self.template yield<const Value&>(value);
        } else {
            return self.yield_made([&]() -> decltype(auto) {
                return self.promise_.yield_value({static_cast<Value&&>(value)});
            });
        }
    }

    template <class Make>
    auto yield_made(const Make& make) {
        using slot = detail::made_slot<decltype(make())>;
        return detail::instrumented_awaiter<Promise, slot>(place(), make);
    }

    detail::task_place place() noexcept {
        const void* frame = std::coroutine_handle<instrumented>::from_promise(*this).address();
        // One expression, which g++ can evaluate at compile time.
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
    // NOLINTNEXTLINE(readability-identifier-naming): clang-tidy takes some for public members
    detail::task_state task_;
};

/// Whether this promise type is instrumented.
template <class Promise>
inline constexpr bool is_instrumented = false;
template <class Promise>
inline constexpr bool is_instrumented<instrumented<Promise>> = true;

}  // namespace COROSCOPE_ABI

namespace detail {

/// A last parameter that no coroutine has. With it, the traits are those without the macros below:
/// the library's own, if it specialises them.
struct as_if_alone {};
template <class... Parameters>
concept of_a_coroutine = !(std::same_as<Parameters, as_if_alone> || ...);

/// The instrumented promise for coroutines with these traits. The macros below name it in this way
/// because, inside the traits, the type's own name would be looked up in namespace std first.
template <class Traits>
struct instrumented_result;
template <class Result, class... Parameters>
struct instrumented_result<std::coroutine_traits<Result, Parameters...>> {
    using library = std::coroutine_traits<Result, Parameters..., as_if_alone>;
    static_assert(
        requires { typename library::promise_type; },
        "std::coroutine_traits gives no promise that can be instrumented: name it, by "
        "COROSCOPE_INSTRUMENT_TRAITS");
    using type = instrumented<typename library::promise_type>;
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// Whether a coroutine with this result and these parameters is a task. `Parameters` are as in
/// std::coroutine_traits: those of a member function must begin with a reference to its object.
/// Also true if the profiler is compiled out, so that it can be asserted.
template <class Result, class... Parameters>
inline constexpr bool makes_task =
    is_instrumented<typename std::coroutine_traits<Result, Parameters...>::promise_type>;

#else

template <class Promise>
using instrumented = Promise;
template <class Result, class... Parameters>
inline constexpr bool makes_task = true;

#endif

}  // namespace COROSCOPE_ABI
}  // namespace coroscope

#if COROSCOPE_ENABLED

// The compiler prefers the first specialisation, because of its constraint, to a library's own one
// for every parameter list. The second is more specialised than the library's, whatever the
// library's constraint is, unless the coroutine has no parameters.
#define COROSCOPE_DETAIL_TRAITS(template_parameters, ...)                                          \
    template <COROSCOPE_DETAIL_UNWRAP template_parameters class... CoroscopeParameters>            \
        requires ::coroscope::detail::of_a_coroutine<CoroscopeParameters...>                       \
    struct std::coroutine_traits<__VA_ARGS__, CoroscopeParameters...> {                            \
        using promise_type =                                                                       \
            typename ::coroscope::detail::instrumented_result<coroutine_traits>::type;             \
    };                                                                                             \
    template <COROSCOPE_DETAIL_UNWRAP template_parameters class CoroscopeFirst,                    \
              class... CoroscopeParameters>                                                        \
        requires ::coroscope::detail::of_a_coroutine<CoroscopeFirst, CoroscopeParameters...>       \
    struct std::coroutine_traits<__VA_ARGS__, CoroscopeFirst, CoroscopeParameters...> {            \
        using promise_type =                                                                       \
            typename ::coroscope::detail::instrumented_result<coroutine_traits>::type;             \
    }

/// Makes every coroutine that returns this type a task, without a change of the type. Must be used
/// at global scope, before the first such coroutine. If a library specialises std::coroutine_traits
/// for certain parameters, the compiler prefers that specialisation. In that case name those
/// parameters, too, after the type, with the library's concepts in the form for templates.
#define COROSCOPE_INSTRUMENT_COROUTINE(...)                                                        \
    COROSCOPE_DETAIL_TRAITS((), __VA_ARGS__);                                                      \
    static_assert(::coroscope::makes_task<__VA_ARGS__>,                                            \
                  "another specialisation of std::coroutine_traits is in the way: name its "       \
                  "promise, by COROSCOPE_INSTRUMENT_TRAITS")

/// As above, for a template: COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T, class A),
/// their::task<T, A>).
#define COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE(parameters, ...)                                   \
    COROSCOPE_DETAIL_TRAITS((COROSCOPE_DETAIL_UNWRAP parameters, ), __VA_ARGS__)

/// Makes the coroutines that have exactly this result, these parameters and this promise tasks,
/// whatever specialisations of std::coroutine_traits the library has:
/// COROSCOPE_INSTRUMENT_TRAITS((class T), (their::promise<T>), their::task<T>, their::tag). With
/// `()` as its first argument it applies to one type, and is preferred to everything else.
#define COROSCOPE_INSTRUMENT_TRAITS(parameters, promise, ...)                                      \
    COROSCOPE_DETAIL_TEMPLATE parameters struct std::coroutine_traits<__VA_ARGS__> {               \
        using promise_type = ::coroscope::instrumented<COROSCOPE_DETAIL_UNWRAP promise>;           \
    }
#define COROSCOPE_DETAIL_TEMPLATE(...)                                                             \
    template <__VA_ARGS__>                                                                         \
    __VA_OPT__(requires true)
#define COROSCOPE_DETAIL_UNWRAP(...) __VA_ARGS__

#else

#define COROSCOPE_INSTRUMENT_COROUTINE(...) static_assert(true)
#define COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE(parameters, ...) static_assert(true)
#define COROSCOPE_INSTRUMENT_TRAITS(parameters, promise, ...) static_assert(true)

#endif
