// SPDX-License-Identifier: Apache-2.0
#pragma once

// The steps that the language performs for the operand of a co_await: find the awaiter (a member or
// a free operator co_await, or the operand itself), and keep it as long as the language would.

#include <type_traits>

#include <coroscope/detail/hand_over.hpp>

// Before version 17 clang inlines await_suspend into the coroutine. The locals of await_suspend may
// then be in the frame, which may be destroyed when the function goes on. If clang sees that the
// coroutine goes on at once, it places the awaiter on the stack.
#if defined(__clang__) && __clang_major__ < 17
#define COROSCOPE_DETAIL_APART [[gnu::noinline]]
#else
#define COROSCOPE_DETAIL_APART
#endif

namespace coroscope::detail {

/// Returns the result of await_suspend, and hides from the compiler which coroutine runs next.
template <class Outcome>
[[gnu::always_inline]] inline Outcome unforeseen(Outcome outcome) noexcept {
#if defined(__clang__) && __clang_major__ < 17
    __asm__("" : "+m"(outcome));
#endif
    return outcome;
}

template <class Operand>
concept has_member_co_await =
    requires(Operand&& operand) { static_cast<Operand&&>(operand).operator co_await(); };

template <class Operand>
concept has_free_co_await =
    requires(Operand&& operand) { operator co_await(static_cast<Operand&&>(operand)); };

/// Returns the awaiter of an operand: a prvalue from operator co_await, or a reference to the
/// operand.
template <class Operand>
decltype(auto) get_awaiter(Operand&& operand) {
    if constexpr (has_member_co_await<Operand>) {
        return static_cast<Operand&&>(operand).operator co_await();
    } else if constexpr (has_free_co_await<Operand>) {
        return operator co_await(static_cast<Operand&&>(operand));
    } else {
        return static_cast<Operand&&>(operand);
    }
}

/// Whether any coroutine may await the operand: it is an awaiter, or it has operator co_await.
template <class Operand>
concept is_awaitable = has_member_co_await<Operand> || has_free_co_await<Operand> ||
                       requires(Operand&& operand) { operand.await_ready(); };

template <class Operand>
using awaiter_of = decltype(detail::get_awaiter(std::declval<Operand>()));

/// An awaiter without state (std::suspend_always): any copy of it behaves the same.
template <class Operand>
concept stateless_awaiter = std::is_empty_v<Operand> && std::is_trivially_copyable_v<Operand> &&
                            std::is_trivially_move_constructible_v<Operand> &&
                            !has_member_co_await<Operand> && !has_free_co_await<Operand>;

/// Keeps the awaiter of an operand that must live elsewhere until the end of the await expression.
/// If the awaiter is the operand, or a reference from operator co_await, the member is a reference.
/// If it is stateless, the slot is empty.
template <class Operand>
class operand_slot {
public:
    explicit operand_slot(Operand&& operand)
        : awaiter_(detail::get_awaiter(static_cast<Operand&&>(operand))) {}
    auto& awaiter() noexcept { return awaiter_; }

private:
    awaiter_of<Operand&&> awaiter_;
};

template <stateless_awaiter Operand>
class operand_slot<Operand> {
public:
    explicit operand_slot(Operand&& operand) noexcept : awaiter_(static_cast<Operand&&>(operand)) {}
    Operand& awaiter() noexcept { return awaiter_; }

private:
    [[no_unique_address]] Operand awaiter_;
};

/// Keeps an awaitable that was made for the await (by the promise's own await_transform or
/// final_suspend), and its awaiter if that is another object. A slot is never moved.
template <class Awaitable,
          bool Own = !has_member_co_await<Awaitable> && !has_free_co_await<Awaitable>>
class made_slot {
public:
    template <class Make>
    explicit made_slot(Make&& make) : awaitable_(make()) {}
    auto& awaiter() noexcept { return awaitable_; }

private:
    Awaitable awaitable_;
};

// Only here the member has no unique address: g++ would move other objects into such a member,
// instead of making them in place.
template <stateless_awaiter Awaitable>
class made_slot<Awaitable, true> {
public:
    template <class Make>
    explicit made_slot(Make&& make) : awaitable_(make()) {}
    auto& awaiter() noexcept { return awaitable_; }

private:
    [[no_unique_address]] Awaitable awaitable_;
};

template <class Awaitable>
class made_slot<Awaitable, false> {
public:
    template <class Make>
    explicit made_slot(Make&& make)
        : awaitable_(make()), awaiter_(detail::get_awaiter(static_cast<Awaitable&&>(awaitable_))) {}
    auto& awaiter() noexcept { return awaiter_; }

private:
    Awaitable awaitable_;
    awaiter_of<Awaitable> awaiter_;
};

/// An operand, and the function to call with its converted value.
template <class Operand, class Make>
struct conversion {
    Operand&& operand;
    const Make& make;
};

/// Keeps the converted operand of await_transform, for which the coroutine would have a temporary
/// object.
template <class Parameter, class Slot>
class converted_slot {
    using value_type = std::remove_cvref_t<Parameter>;

public:
    template <class Operand, class Make>
    explicit converted_slot(const conversion<Operand, Make>& from)
        : value_(convert<Operand>(from.operand)),
          slot_([&]() -> decltype(auto) { return from.make(static_cast<Parameter>(value_)); }) {}
    auto& awaiter() noexcept { return slot_.awaiter(); }

private:
    // Converts as the language does, without explicit constructors.
    template <class Operand>
    static value_type convert(std::remove_reference_t<Operand>& operand) {
        return static_cast<Operand&&>(operand);
    }

    value_type value_;
    Slot slot_;
};

/// Whether the compiler can evaluate the readiness of a stateless awaiter, such as
/// std::suspend_always and suspend_never. Then the answer is always the same.
template <class Awaiter>
concept known_readiness = std::is_empty_v<Awaiter> && requires {
    typename std::bool_constant<static_cast<bool>(Awaiter{}.await_ready())>;
};

/// The answer of an awaiter's await_ready(), which is called once. The answer is stored only if it
/// must be.
template <class Awaiter>
class readiness {
public:
    static constexpr bool always = false;
    static constexpr bool never = false;
    explicit readiness(Awaiter& awaiter) : ready_(static_cast<bool>(awaiter.await_ready())) {}
    bool is_ready() const noexcept { return ready_; }

private:
    bool ready_;
};

template <known_readiness Awaiter>
class readiness<Awaiter> {
public:
    static constexpr bool always = static_cast<bool>(Awaiter{}.await_ready());
    static constexpr bool never = !always;
    explicit readiness(Awaiter&) noexcept {}
    static constexpr bool is_ready() noexcept { return always; }
};

// Whether a promise declares await_transform in any form, including deleted ones. Then the
// coroutine may await only the operands that one of them takes. The test derives from the promise
// and makes the name ambiguous. It cannot derive from a final class.
struct other_await_transform {
    void await_transform();
};
template <class Promise>
struct ambiguous_await_transform : Promise, other_await_transform {};

template <class Promise>
inline constexpr bool declares_await_transform =
    !requires { &ambiguous_await_transform<Promise>::await_transform; };
template <class Promise>
    requires std::is_final_v<Promise>
inline constexpr bool declares_await_transform<Promise> = false;

/// Whether resume_value() cannot throw.
template <class Awaiter>
constexpr bool resumes_noexcept() {
    if constexpr (requires(Awaiter& awaiter) { awaiter.await_resume(); }) {
        return noexcept(std::declval<Awaiter&>().await_resume());
    } else {
        return noexcept(detail::moved(std::declval<Awaiter&>()).await_resume());
    }
}

/// Calls await_resume on an lvalue, as the language does for a temporary; on an rvalue if only that
/// is offered.
template <class Awaiter>
decltype(auto) resume_value(Awaiter& awaiter) noexcept(detail::resumes_noexcept<Awaiter>()) {
    if constexpr (requires { awaiter.await_resume(); }) {
        return awaiter.await_resume();
    } else {
        return detail::moved(awaiter).await_resume();
    }
}

}  // namespace coroscope::detail
