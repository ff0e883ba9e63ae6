// SPDX-License-Identifier: Apache-2.0
#pragma once

// observer: a pair of callbacks that see scopes begin and end, whether or not a session records them
// (torch: at::RecordFunction's callbacks).
//
//   coroscope::observer timing(
//       [](const coroscope::scope_info&) { return std::make_unique<stopwatch>(); },
//       [](const coroscope::scope_info& scope, coroscope::observer_context* from_start) { … });
//   const auto handle = coroscope::add_global_observer(timing.sampling_probability(0.01));
//   … coroscope::remove_observer(handle);
//
// A global observer sees every thread; a thread-local one sees the context that added it and whatever work
// that context is carried to. Which observers see a scope is settled when it begins: global ones first, then
// thread-local ones, each in the order of registration, and the same order at its end. An end is called where its
// start was, and did not throw, also after the observer was removed. What callbacks throw is dropped and counted.
// A scope inside a callback is not seen by the observer whose callback it is.
//
// Observed are COROSCOPE, COROSCOPE_FUNCTION, COROSCOPE_CAT, COROSCOPE_ARGS, record_function, range, and
// COROSCOPE_AWAIT where it is a scope. Awaits and transitions of tasks are not scopes.
//
// Registering and removing: any thread, any time, also inside callbacks. Callbacks run on the thread where the
// scope begins or ends, and concurrently where scopes do.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/site.hpp>

namespace coroscope {

/// Text that is the runtime's. data() ends with a NUL; valid during the callback.
class observed_text {
public:
    constexpr observed_text(const char* text, std::size_t size) noexcept
        : text_(text), size_(size) {}
    constexpr const char* data() const noexcept { return text_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }

private:
    const char* text_;
    std::size_t size_;
};

/// Addresses by which values can be known again; valid during the callback.
class observed_addresses {
public:
    constexpr observed_addresses(const void* const* first, std::size_t size) noexcept
        : first_(first), size_(size) {}
    constexpr const void* const* begin() const noexcept { return first_; }
    constexpr const void* const* end() const noexcept { return first_ + size_; }
    constexpr std::size_t size() const noexcept { return size_; }

private:
    const void* const* first_;
    std::size_t size_;
};

/// One scope as its observers see it. Valid during the callback.
class scope_info {
public:
    explicit scope_info(const detail::scope_facts& facts) noexcept : facts_(facts) {}

    observed_text name() const noexcept { return {facts_.name, facts_.name_size}; }
    scope_kind kind() const noexcept { return facts_.kind; }
    /// Where it stands in the source; null where the label is one of run time.
    const site* where() const noexcept { return facts_.where; }
    /// Unique in the process, from 1. 0 where no observer that sees this scope needs ids.
    std::uint64_t id() const noexcept { return facts_.id; }
    /// The thread on which it began: threads are counted from 1, and no number is used again.
    std::uint32_t thread_id() const noexcept { return facts_.thread; }
    /// The task in whose context it began; 0: none.
    std::uint64_t task() const noexcept { return facts_.task; }
    /// Ties deferred work to the place that created it; -1: none.
    std::int64_t sequence_nr() const noexcept { return facts_.sequence_nr; }
    /// May it end on another thread than it began on: a range, or a scope in the frame of a coroutine or on
    /// a fiber's stack?
    bool may_change_threads() const noexcept { return facts_.may_change_threads; }
    /// The values of COROSCOPE_ARGS, of record_function's arguments or of a decorated call's, as text. During
    /// start only, and where some observer of the scope needs inputs; else empty.
    observed_text inputs() const noexcept { return {facts_.inputs, facts_.inputs_size}; }
    /// Their dimensions as JSON, "[[2, 3], []]"; see shapes.hpp. Empty as inputs() is.
    observed_text input_shapes() const noexcept {
        return {facts_.input_shapes, facts_.input_shapes_size};
    }
    /// Where their elements are, for the first 16: pointers, and what has data(), but text; null for the rest.
    observed_addresses input_addresses() const noexcept {
        return {facts_.input_addresses, facts_.input_addresses_size};
    }
    /// What record_function::outputs was given, or a decorated call returned. During end only, and
    /// where some observer of the scope needs outputs; else empty.
    observed_text outputs() const noexcept { return {facts_.outputs, facts_.outputs_size}; }

    observed_addresses output_addresses() const noexcept {
        return {facts_.output_addresses, facts_.output_addresses_size};
    }

    /// The calling thread's number, as above; 0 where it is ending.
    COROSCOPE_API static std::uint32_t current_thread_id() noexcept;

private:
    const detail::scope_facts& facts_;
};

/// What a start may hand to its end: derive from it and return a std::unique_ptr. It is destroyed after
/// the end callback, on that thread.
class observer_context {
public:
    observer_context() noexcept = default;
    virtual ~observer_context() = default;
    observer_context(const observer_context&) = delete;
    observer_context& operator=(const observer_context&) = delete;
};

namespace detail {

struct observer_calls {
    observer_calls() noexcept = default;
    virtual ~observer_calls() = default;
    observer_calls(const observer_calls&) = delete;
    observer_calls& operator=(const observer_calls&) = delete;
    virtual observer_context* start(const scope_info& scope) = 0;
    virtual void end(const scope_info& scope, observer_context* from_start) = 0;
};

template <class Start, class End>
class user_calls final : public observer_calls {
public:
    user_calls(Start at_start, End at_end)
        : start_(detail::moved(at_start)), end_(detail::moved(at_end)) {}
    observer_context* start(const scope_info& scope) override {
        if constexpr (std::is_void_v<decltype(start_(scope))>) {
            start_(scope);
            return nullptr;
        } else {
            return start_(scope).release();
        }
    }
    void end(const scope_info& scope, observer_context* from_start) override {
        end_(scope, from_start);
    }

private:
    Start start_;
    End end_;
};

struct observer_options {
    bool needs_inputs = false;
    bool needs_outputs = false;
    bool needs_ids = false;
    bool holds_profiler_slot = false;     ///< as a session does: see emit_nvtx
    bool (*wanted)() noexcept = nullptr;  ///< asked before each scope, where there is one
    std::uint8_t kinds = all_scope_kinds;
    double sampling_probability = 1;
};

}  // namespace detail

/// Two callbacks and what they ask for; registered once. Used by one thread.
class observer {
public:
    /// `start(scope)` gives nothing or a std::unique_ptr to something derived from observer_context;
    /// `end(scope, observer_context*)` gets that, or null.
    template <class Start, class End>
    observer(Start start, End end)
        : calls_(new(std::nothrow)
                     detail::user_calls<Start, End>(detail::moved(start), detail::moved(end))) {}
    template <class Start>
    explicit observer(Start start)
        : observer(detail::moved(start), [](const scope_info&, observer_context*) {}) {}
    observer(observer&& other) noexcept
        : calls_(detail::taken(other.calls_)), options_(other.options_), message_(other.message_) {}
    observer& operator=(observer&&) = delete;
    ~observer() { delete calls_; }

    observer& needs_inputs(bool wanted = true) noexcept {
        return options_.needs_inputs = wanted, *this;
    }
    observer& needs_outputs(bool wanted = true) noexcept {
        return options_.needs_outputs = wanted, *this;
    }
    observer& needs_ids(bool wanted = true) noexcept { return options_.needs_ids = wanted, *this; }
    /// Only these kinds; none means all.
    template <class... Kinds>
    observer& scopes(Kinds... kinds) noexcept {
        options_.kinds = sizeof...(kinds) == 0
                             ? detail::all_scope_kinds
                             : static_cast<std::uint8_t>((0U | ... | detail::bit_of(kinds)));
        return *this;
    }
    /// Sees each scope with this probability, in [0, 1]: geometric countdowns per thread and kind of scope.
    observer& sampling_probability(double probability) noexcept {
        const bool valid = probability >= 0 && probability <= 1;
        if (valid) options_.sampling_probability = probability;
        if (!valid) message_ = "Invalid sampling probability";
        return *this;
    }

    /// Why it cannot be registered; a literal, empty where it can.
    const char* message() const noexcept { return message_; }

private:
    friend struct observer_access;
    detail::observer_calls* calls_;
    detail::observer_options options_{};
    const char* message_ = calls_ == nullptr ? "There is no memory for an observer." : "";
};

/// Names a registered observer, from 1; 0 is none.
using observer_handle = std::uint64_t;

/// Registers for all threads: scopes that begin from now on. 0 where observer::message() tells why not, or memory
/// is short.
COROSCOPE_API observer_handle add_global_observer(observer& added) noexcept;
inline observer_handle add_global_observer(observer&& added) noexcept {
    return add_global_observer(added);
}

/// Registers for this context, which carries it into what it spawns, awaits, posts and propagates from now
/// on. As an attribute is: it is removed in the block that added it, and on the thread or in the task that did.
COROSCOPE_API observer_handle add_thread_local_observer(observer& added) noexcept;
inline observer_handle add_thread_local_observer(observer&& added) noexcept {
    return add_thread_local_observer(added);
}

/// No scope that begins from now on is seen by it; on other threads a start may be running still. Its callables live
/// until the last scope that it sees has ended, and no thread or context knows it any more. False, with one line on
/// stderr the first time, where the handle names none (any more).
COROSCOPE_API bool remove_observer(observer_handle handle) noexcept;

/// Are scopes of this context observed, if anybody observes?
COROSCOPE_API bool observers_enabled() noexcept;

/// Switches observers on or off for this context until the end of the block, on the thread or in the task that
/// runs it; what is started meanwhile keeps it. Scopes that are observed already have their end.
class [[nodiscard]] observers_guard {
public:
    COROSCOPE_API explicit observers_guard(bool enabled = true) noexcept;
    COROSCOPE_API ~observers_guard();
    observers_guard(const observers_guard&) = delete;
    observers_guard& operator=(const observers_guard&) = delete;

private:
    std::uint32_t carried_;
};

class [[nodiscard]] disable_observers_guard : observers_guard {
public:
    disable_observers_guard() noexcept : observers_guard(false) {}
};

/// What went wrong with observers, in this process so far. The first of each kind writes one line to stderr.
struct observer_faults {
    std::uint64_t callbacks_that_threw =
        0;  ///< the exception was dropped; after a start there is no end
    std::uint64_t unknown_handles = 0;  ///< removed, and named no observer
    std::uint64_t out_of_memory = 0;  ///< a scope was not observed, or its name or outputs were cut
    std::uint64_t cut_texts = 0;      ///< inputs or outputs beyond 1,024 bytes
};
/// Any thread. Figures may be of slightly different moments.
COROSCOPE_API observer_faults current_observer_faults() noexcept;

/// For tests: from now on the countdowns of every thread follow from this seed alone; 0: no more.
COROSCOPE_API void seed_observer_sampling(std::uint64_t seed) noexcept;

}  // namespace coroscope
