// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observer is a pair of callbacks that see scopes begin and end, whether or not a session
// records them (torch: at::RecordFunction's callbacks).
//
//   coroscope::observer timing(
//       [](const coroscope::scope_info&) { return std::make_unique<stopwatch>(); },
//       [](const coroscope::scope_info& scope, coroscope::observer_context* from_start) { … });
//   const auto handle = coroscope::add_global_observer(timing.sampling_probability(0.01));
//   … coroscope::remove_observer(handle);
//
// A global observer sees every thread. A thread-local observer sees the context that added it and
// the work to which that context is carried. The observers of a scope are chosen when it begins:
// global ones first, then thread-local ones, each in the order of registration. Their ends run in
// the same order. An end runs if its start ran and did not throw, even if the observer was removed
// in between. An exception of a callback is dropped and counted. An observer does not see scopes
// inside its own callbacks.
//
// Observers see COROSCOPE, COROSCOPE_FUNCTION, COROSCOPE_CAT, COROSCOPE_ARGS, record_function,
// range, and COROSCOPE_AWAIT if it is a scope. Awaits and transitions of tasks are not scopes.
//
// Thread-safety: any thread may register and remove observers at any time, also inside callbacks.
// Callbacks run on the thread on which the scope begins or ends. They must be safe to run
// concurrently, because scopes of several threads are concurrent.

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include <coroscope/detail/export.hpp>
#include <coroscope/detail/hand_over.hpp>
#include <coroscope/detail/scope_facts.hpp>
#include <coroscope/site.hpp>

namespace coroscope {

/// Text that the runtime owns. data() ends with a NUL. Valid during the callback only.
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

/// Addresses that identify values. Valid during the callback only.
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

/// One scope, as its observers see it. Valid during the callback only.
class scope_info {
public:
    explicit scope_info(const detail::scope_facts& facts) noexcept : facts_(facts) {}

    observed_text name() const noexcept { return {facts_.name, facts_.name_size}; }
    scope_kind kind() const noexcept { return facts_.kind; }
    /// The place of the scope in the source; null if its label was made at run time.
    const site* where() const noexcept { return facts_.where; }
    /// Unique in the process, from 1. 0 if no observer of this scope needs ids.
    std::uint64_t id() const noexcept { return facts_.id; }
    /// The thread on which the scope began. Threads are counted from 1, and numbers are not reused.
    std::uint32_t thread_id() const noexcept { return facts_.thread; }
    /// The task in whose context the scope began; 0: none.
    std::uint64_t task() const noexcept { return facts_.task; }
    /// Sequence number that links deferred work to its creation; -1: none.
    std::int64_t sequence_nr() const noexcept { return facts_.sequence_nr; }
    /// Returns whether the scope may end on another thread than it began on. That holds for a range
    /// and for a scope in a coroutine's frame or on a fiber's stack.
    bool may_change_threads() const noexcept { return facts_.may_change_threads; }
    /// The values of COROSCOPE_ARGS, of record_function's arguments or of a decorated call's
    /// arguments, as text. Empty outside the start callback, and if no observer of the scope needs
    /// inputs.
    observed_text inputs() const noexcept { return {facts_.inputs, facts_.inputs_size}; }
    /// The dimensions of the inputs as JSON, "[[2, 3], []]"; see shapes.hpp. Empty whenever
    /// inputs() is.
    observed_text input_shapes() const noexcept {
        return {facts_.input_shapes, facts_.input_shapes_size};
    }
    /// Addresses of the elements of the first 16 inputs: of pointers, and of objects with data()
    /// except text. Null for every other input.
    observed_addresses input_addresses() const noexcept {
        return {facts_.input_addresses, facts_.input_addresses_size};
    }
    /// The values given to record_function::outputs, or the result of a decorated call. Empty
    /// outside the end callback, and if no observer of the scope needs outputs.
    observed_text outputs() const noexcept { return {facts_.outputs, facts_.outputs_size}; }

    observed_addresses output_addresses() const noexcept {
        return {facts_.output_addresses, facts_.output_addresses_size};
    }

    /// The number of the calling thread, as in thread_id(); 0 while the thread is ending.
    COROSCOPE_API static std::uint32_t current_thread_id() noexcept;

private:
    const detail::scope_facts& facts_;
};

/// Data that a start callback may pass to its end callback. Derive from this class and return a
/// std::unique_ptr to the object. The object is destroyed after the end callback, on the same
/// thread.
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
    bool holds_profiler_slot = false;  ///< the observer counts as a session, as emit_nvtx does
    /// if not null, called before each scope: whether to observe it
    bool (*wanted)() noexcept = nullptr;
    std::uint8_t kinds = all_scope_kinds;
    double sampling_probability = 1;
};

}  // namespace detail

/// Two callbacks and their options. An observer can be registered once, and only one thread may use
/// it.
class observer {
public:
    /// `start(scope)` must return void or a std::unique_ptr to a class derived from
    /// observer_context. `end(scope, observer_context*)` receives that pointer, or null.
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

    /// Observed scopes provide inputs. This function and the setters below must be called before
    /// the registration.
    observer& needs_inputs(bool wanted = true) noexcept {
        return options_.needs_inputs = wanted, *this;
    }
    /// Observed scopes provide outputs.
    observer& needs_outputs(bool wanted = true) noexcept {
        return options_.needs_outputs = wanted, *this;
    }
    /// Observed scopes have ids.
    observer& needs_ids(bool wanted = true) noexcept { return options_.needs_ids = wanted, *this; }
    /// Observes only these kinds of scope; without arguments, all kinds.
    template <class... Kinds>
    observer& scopes(Kinds... kinds) noexcept {
        options_.kinds = sizeof...(kinds) == 0
                             ? detail::all_scope_kinds
                             : static_cast<std::uint8_t>((0U | ... | detail::bit_of(kinds)));
        return *this;
    }
    /// Observes each scope with this probability, which must be in [0, 1]. Each thread draws
    /// geometric countdowns for each kind of scope.
    observer& sampling_probability(double probability) noexcept {
        const bool valid = probability >= 0 && probability <= 1;
        if (valid) options_.sampling_probability = probability;
        if (!valid) message_ = "Invalid sampling probability";
        return *this;
    }

    /// Returns a literal: the reason why the observer cannot be registered; empty if it can.
    const char* message() const noexcept { return message_; }

private:
    friend struct observer_access;
    detail::observer_calls* calls_;
    detail::observer_options options_{};
    const char* message_ = calls_ == nullptr ? "There is no memory for an observer." : "";
};

/// Identifies a registered observer, from 1; 0: none.
using observer_handle = std::uint64_t;

/// Registers `added` for all threads; it sees the scopes that begin from now on. Returns 0 if
/// memory is short or if observer::message() gives a reason.
COROSCOPE_API observer_handle add_global_observer(observer& added) noexcept;
inline observer_handle add_global_observer(observer&& added) noexcept {
    return add_global_observer(added);
}

/// Registers `added` for this context, which carries it into the work that it spawns, awaits, posts
/// and propagates from now on. Like an attribute, the observer must be removed in the block that
/// added it, and on the same thread or in the same task.
COROSCOPE_API observer_handle add_thread_local_observer(observer& added) noexcept;
inline observer_handle add_thread_local_observer(observer&& added) noexcept {
    return add_thread_local_observer(added);
}

/// Removes an observer. It sees no scope that begins from now on; on another thread, a start
/// callback may still be running. Its callables live until the last observed scope has ended and no
/// thread or context refers to the observer. Returns false if the handle identifies no registered
/// observer; the first time, this writes one line to stderr.
COROSCOPE_API bool remove_observer(observer_handle handle) noexcept;

/// Returns whether the registered observers see the scopes of this context.
COROSCOPE_API bool observers_enabled() noexcept;

/// Switches observers on or off for this context until the end of the block. Must be used in one
/// block, on one thread or in one task. Work that is started meanwhile inherits the setting. Scopes
/// that are observed already still have their end callback.
class [[nodiscard]] observers_guard {
public:
    COROSCOPE_API explicit observers_guard(bool enabled = true) noexcept;
    COROSCOPE_API ~observers_guard();
    observers_guard(const observers_guard&) = delete;
    observers_guard& operator=(const observers_guard&) = delete;

private:
    std::uint32_t carried_;
};

/// An observers_guard that switches observers off.
class [[nodiscard]] disable_observers_guard : observers_guard {
public:
    disable_observers_guard() noexcept : observers_guard(false) {}
};

/// Faults of observers in this process so far. The first fault of each kind writes one line to
/// stderr.
struct observer_faults {
    /// The exception was dropped; if a start callback threw, its end callback does not run.
    std::uint64_t callbacks_that_threw = 0;
    std::uint64_t unknown_handles = 0;  ///< a removal that named no observer
    std::uint64_t out_of_memory = 0;  ///< a scope was not observed, or its name or outputs were cut
    std::uint64_t cut_texts = 0;      ///< inputs or outputs longer than 1,024 bytes
};
/// Any thread may call it. The counters are read one after the other.
COROSCOPE_API observer_faults current_observer_faults() noexcept;

/// For tests: derives the countdowns of every thread from this seed alone. 0 ends that.
COROSCOPE_API void seed_observer_sampling(std::uint64_t seed) noexcept;

}  // namespace coroscope
