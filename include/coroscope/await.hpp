// SPDX-License-Identifier: Apache-2.0
#pragma once

// label_await, the function behind COROSCOPE_AWAIT: labels one await.
//
// In an instrumented coroutine it only adds the label. An operand that only the promise can await
// (Asio's) is returned unchanged, inside a scope with the label that ends with the await
// expression. In any other coroutine the operand is wrapped, and the suspension is recorded as an
// await of its own.

#include <coroutine>

#include <coroscope/config.hpp>
#include <coroscope/detail/awaiter.hpp>
#include <coroscope/detail/task_state.hpp>
#include <coroscope/scope.hpp>
#include <coroscope/site.hpp>

namespace coroscope {

/// Whether only the coroutine's own promise can make an awaitable of this operand, as for Asio's
/// awaitables. The promise must then get the operand unchanged. May be specialised for other types.
template <class Operand>
inline constexpr bool passes_through = !detail::is_awaitable<Operand>;

namespace detail {

/// Records an await that began at `start` and ends now, in a coroutine that is not a task.
COROSCOPE_API void record_await(site& label, const scope_start& start) noexcept;

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// An await in a coroutine that is not a task: its time is recorded under the label. The context
/// does not change, because no event would report that the coroutine leaves the thread that resumed
/// it. Takes 32 bytes of frame beside the awaiter. Follows the awaiter protocol; see [expr.await].
template <class Operand>
class wrapped_await {
public:
    wrapped_await(site& label, Operand&& operand)
        : slot_(static_cast<Operand&&>(operand)), label_(&label) {}
    wrapped_await(const wrapped_await&) = delete;
    wrapped_await& operator=(const wrapped_await&) = delete;

    bool await_ready() { return static_cast<bool>(slot_.awaiter().await_ready()); }

    template <class Promise>
    COROSCOPE_DETAIL_APART auto await_suspend(std::coroutine_handle<Promise> handle) {
        detail::begin_scope(
            start_, [](detail::scope_start* slow) noexcept { detail::begin_unobserved(slow); });
        // After a successful inner call, *this must not be touched: the coroutine may already run
        // on another thread. If the call throws or returns false, no other thread can have resumed
        // it.
        unsuspend guard{&start_.ticks};
        using outcome = decltype(slot_.awaiter().await_suspend(handle));
        if constexpr (std::is_void_v<outcome>) {
            slot_.awaiter().await_suspend(handle);
            guard.ticks = nullptr;
        } else {
            auto result = slot_.awaiter().await_suspend(handle);
            if constexpr (std::is_same_v<outcome, bool>) {
                if (!result) return result;
            }
            guard.ticks = nullptr;
            return result;
        }
    }

    decltype(auto) await_resume() {
        if (detail::was_begun(start_)) detail::record_await(*label_, start_);
        return detail::resume_value(slot_.awaiter());
    }

private:
    struct unsuspend {
        explicit unsuspend(std::uint64_t* started) noexcept : ticks(started) {}
        unsuspend(const unsuspend&) = delete;
        unsuspend& operator=(const unsuspend&) = delete;
        ~unsuspend() {
            if (ticks != nullptr) *ticks = 0;
        }
        std::uint64_t* ticks;
    };

    detail::operand_slot<Operand> slot_;
    site* label_;
    detail::scope_start start_{0, 0};
};

/// An operand with its label. An instrumented promise removes the label; in any other coroutine
/// operator co_await wraps the operand.
template <class Operand>
class [[nodiscard]] labelled_await {
public:
    labelled_await(site& label, Operand&& operand) noexcept
        : label_(&label), operand_(static_cast<Operand&&>(operand)) {}

    site& label() const noexcept { return *label_; }
    Operand&& operand() const noexcept { return static_cast<Operand&&>(operand_); }

    wrapped_await<Operand> operator co_await() const {
        return wrapped_await<Operand>(*label_, static_cast<Operand&&>(operand_));
    }

private:
    site* label_;
    Operand&& operand_;
};

/// The label of one await, alive until the end of the await expression. If the operand passes
/// through unchanged, the label is a scope of that extent.
class await_label {
public:
    explicit await_label(site& where) noexcept : site_(&where) {}
    await_label(const await_label&) = delete;
    await_label& operator=(const await_label&) = delete;
    ~await_label() {
        if (detail::hardly_ever(detail::was_begun(start_))) detail::end_scope(*site_, &start_);
    }

    void begin() noexcept { detail::begin_scope(start_, *site_); }
    site& where() const noexcept { return *site_; }

private:
    site* site_;
    detail::scope_start start_{0, 0};
};

template <class Operand>
decltype(auto) label_await(await_label&& label, Operand&& operand) noexcept {
    if constexpr (passes_through<Operand>) {
        label.begin();
        return static_cast<Operand&&>(operand);
    } else {
        return labelled_await<Operand>(label.where(), static_cast<Operand&&>(operand));
    }
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
