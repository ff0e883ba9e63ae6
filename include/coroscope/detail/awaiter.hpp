// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a co_await does with its operand, spelled out: finding the awaiter (a member or a free
// operator co_await, or the operand itself) and keeping it where the language would keep it.

#include <type_traits>

#include <coroscope/detail/hand_over.hpp>

// Before version 17 clang inlines await_suspend into the coroutine. Then its locals may stand in the frame, which may be
// gone when it goes on; and where clang sees that the coroutine goes on at once, the awaiter stands on the stack.
#if defined(__clang__) && __clang_major__ < 17
#define COROSCOPE_DETAIL_APART [[gnu::noinline]]
#else
#define COROSCOPE_DETAIL_APART
#endif

namespace coroscope::detail {

/// What await_suspend returns, where the compiler must not see who runs next.
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

/// The awaiter of an operand: a prvalue from operator co_await, or a reference to the operand.
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

/// May any coroutine await it: is it an awaiter, or has it operator co_await?
template <class Operand>
concept is_awaitable = has_member_co_await<Operand> || has_free_co_await<Operand> ||
                       requires(Operand&& operand) { operand.await_ready(); };

template <class Operand>
using awaiter_of = decltype(get_awaiter(std::declval<Operand>()));

/// An awaiter with nothing in it (std::suspend_always), which is as good as any copy of it.
template <class Operand>
concept stateless_awaiter = std::is_empty_v<Operand> && std::is_trivially_copyable_v<Operand> &&
                            std::is_trivially_move_constructible_v<Operand> &&
                            !has_member_co_await<Operand> && !has_free_co_await<Operand>;

/// Keeps the awaiter of an operand that lives elsewhere until the end of the await expression.
/// A member of reference type where the awaiter is the operand or a reference from operator co_await; nothing where
/// it is stateless.
template <class Operand>
class operand_slot {
public:
    explicit operand_slot(Operand&& operand)
        : awaiter_(get_awaiter(static_cast<Operand&&>(operand))) {}
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
/// final_suspend), and its awaiter if that is another object. Never moved.
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

// Only here without an address of its own: g++ would move into such a member what can be made in place elsewhere.
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
        : awaitable_(make()), awaiter_(get_awaiter(static_cast<Awaitable&&>(awaitable_))) {}
    auto& awaiter() noexcept { return awaiter_; }

private:
    Awaitable awaitable_;
    awaiter_of<Awaitable> awaiter_;
};

/// An operand, and what is called with what it is converted to.
template <class Operand, class Make>
struct conversion {
    Operand&& operand;
    const Make& make;
};

/// Keeps what an operand was converted to for await_transform, where the coroutine would have a temporary object.
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
    // As the language does it, without explicit constructors.
    template <class Operand>
    static value_type convert(std::remove_reference_t<Operand>& operand) {
        return static_cast<Operand&&>(operand);
    }

    value_type value_;
    Slot slot_;
};

/// Can a stateless awaiter be asked while compiling whether it is ready (as std::suspend_always and suspend_never can)?
/// Then that is its answer whenever it is asked.
template <class Awaiter>
concept known_readiness = std::is_empty_v<Awaiter> && requires {
    typename std::bool_constant<static_cast<bool>(Awaiter{}.await_ready())>;
};

/// What an awaiter answers to await_ready(), asked once; kept only where it has to be.
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

// Whether a promise declares await_transform in any form, deleted ones included: then the coroutine may
// await only what one of them takes. Found by making the name ambiguous, which a final class escapes.
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

/// await_resume on an lvalue, as the language calls it on a temporary; on an rvalue where only that
/// is offered.
template <class Awaiter>
decltype(auto) resume_value(Awaiter& awaiter) {
    if constexpr (requires { awaiter.await_resume(); }) {
        return awaiter.await_resume();
    } else {
        return moved(awaiter).await_resume();
    }
}

}  // namespace coroscope::detail
