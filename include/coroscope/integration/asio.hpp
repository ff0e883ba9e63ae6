// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the asynchronous operations of an Asio or Boost.Asio program into tasks, without a change
// of the program. The build must define, for every translation unit of a target,
//
//   BOOST_ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>    (Boost.Asio)
//   ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>          (Asio)
//
// (Meson: dependency('coroscope-asio')). A target that mixes translation units with and without it
// has an ODR violation. Asio includes this header at global scope before its own types.
//
// A co_spawn is a task; the awaits of its coroutines suspend it (asio_awaitable.hpp). Any other
// operation is a task that runs its handler. docs/reference/integrations.md describes the
// exactness.

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) && __has_include(<boost/asio/version.hpp>)
#include <boost/asio/version.hpp>
#endif
// The build may track both libraries although only one is installed.
#if defined(ASIO_CUSTOM_HANDLER_TRACKING) && __has_include(<asio/version.hpp>)
#include <asio/version.hpp>
#endif

#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <type_traits>

#include <coroscope/await.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/integration/asio_entry.hpp>
#include <coroscope/integration/asio_kind.hpp>
#include <coroscope/integration/asio_outcome.hpp>
#include <coroscope/integration/asio_task.hpp>
#include <coroscope/integration/asio_wake.hpp>

namespace coroscope::asio {

/// The range of Asio's versions that this header was tried with.
/// docs/decisions/0026-asio-versions.md lists them.
inline constexpr std::uint32_t oldest_tried_version = 101800;
inline constexpr std::uint32_t newest_tried_version = 103802;

/// Set in the version that a program reports if that version is outside the range.
inline constexpr std::uint32_t untried_version = 1U << 31;

consteval std::uint32_t told_version(std::uint32_t version) noexcept {
    return version >= oldest_tried_version && version <= newest_tried_version
               ? version
               : version | untried_version;
}

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) && defined(BOOST_ASIO_VERSION)
extern "C" [[gnu::used,
             gnu::visibility("default")]] inline const std::uint32_t coroscope_boost_asio_version =
    asio::told_version(BOOST_ASIO_VERSION);
#endif
#if defined(ASIO_CUSTOM_HANDLER_TRACKING) && defined(ASIO_VERSION)
extern "C"
    [[gnu::used, gnu::visibility("default")]] inline const std::uint32_t coroscope_asio_version =
        asio::told_version(ASIO_VERSION);
#endif

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || defined(ASIO_CUSTOM_HANDLER_TRACKING)
/// Marks the program as one with tracked translation units; the runtime's check looks for the
/// symbol.
extern "C" [[gnu::used, gnu::visibility("default")]] inline const char coroscope_asio_tracked = 1;
#endif

/// Base of each of Asio's operations. Only the owner of the operation may touch it.
class tracked_handler {
protected:
    tracked_handler() noexcept = default;
    tracked_handler(const tracked_handler&) = delete;
    tracked_handler& operator=(const tracked_handler&) = delete;
    ~tracked_handler() = default;

public:
    operation_state state;  ///< only the runtime may read it
};

/// Surrounds the completion of one operation: constructed when the operation completes or is
/// destroyed. The short path is for an awaited operation without attributes.
class completion {
public:
    // If nothing is active, the constructor writes the stage alone.
    template <class Operation>
    explicit completion(const Operation& operation) noexcept
        : completion(static_cast<const tracked_handler&>(operation), is_awaited_directly<Operation>,
                     hides_result<Operation>) {
        if constexpr (is_timeout<Operation>)
            if (!operation.ec_ && asio::is_active()) asio::times_out(operation.state);
    }
    completion(const tracked_handler& handler, bool is_direct, bool hides) noexcept
        : is_direct_(is_direct), hides_(hides) {
        const purpose& whose = handler.state.whose;
        if (whose.is(purpose_step | purpose_back))
            take_plain(handler.state);
        else if (whose.which != 0 || asio::is_active())
            take(handler.state);
        if (stage_ != stage::absent) expect_drop();
    }
    ~completion() {
        if (stage_ != stage::absent) drop();
    }
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    template <class... Results>
    void invocation_begin(const Results&... results) noexcept {
        if (stage_ == stage::absent) return;
        frame_.outcome = static_cast<std::uint8_t>(outcome_of(results...));
        if (const int error = asio::error_of(results...); error != 0) [[unlikely]]
            fail(error);
        if (!(stage_ == stage::plain && push_plain())) begin();
    }
    void invocation_end() noexcept {
        if (stage_ != stage::absent && !(stage_ == stage::plain_began && pop_plain())) end();
    }

private:
    enum class stage : std::uint8_t { absent, plain, plain_began, taken, began };

    COROSCOPE_API COROSCOPE_NO_PLT void take(const operation_state& operation) noexcept;
    COROSCOPE_API void begin() noexcept;
    COROSCOPE_API void end() noexcept;
    COROSCOPE_API void drop() noexcept;
    COROSCOPE_API void fail(int error) noexcept;
    void end_any(bool failed) noexcept;

    [[nodiscard]] await_outcome outcome_of() const noexcept {
        return hides_ ? await_outcome::unknown : await_outcome::value;
    }
    template <class First, class... Rest>
    [[nodiscard]] await_outcome outcome_of(const First& first, const Rest&...) const noexcept {
        return asio::outcome_of_results(is_direct_, first);
    }

    // Reads word by word: a vector load would stall on the separate stores (failed store-to-load
    // forwarding).
    void take_plain(const operation_state& operation) noexcept {
        const auto word = [](const std::uint64_t& of) {
            return __atomic_load_n(&of, __ATOMIC_RELAXED);
        };
        stage_ = stage::plain;
        frame_.whose.task = word(operation.whose.task);
        frame_.whose.carried = 0;
        frame_.whose.which = word(operation.whose.which);
        frame_.wake = word(operation.wake);
        frame_.waker = word(operation.waker);
        frame_.state = frame_idle;
        frame_.starting = 0;
    }
    // Asio drops an operation only if its service shuts down. The handler is destroyed before this
    // object.
    COROSCOPE_CONTEXT_SWITCH void expect_drop() noexcept {
        ended_before_ = detail::here().ending_service;
        detail::here().ending_service = true;
    }
    COROSCOPE_CONTEXT_SWITCH bool push_plain() noexcept {
        detail::here().ending_service = false;
        frame* const outer = detail::here().invocation;
        if (outer != nullptr && (outer->suspends() || outer->is(frame_outermost))) [[unlikely]]
            return false;
        frame_.outer = outer;
        detail::here().invocation = &frame_;
        stage_ = stage::plain_began;
        return true;
    }
    COROSCOPE_CONTEXT_SWITCH bool pop_plain() noexcept {
        if (frame_.suspends()) [[unlikely]]
            return false;
        detail::here().invocation = frame_.outer;
        detail::here().ending_service = ended_before_;
        stage_ = stage::absent;
        return true;
    }

    stage stage_ = stage::absent;
    bool is_direct_;          ///< is_awaited_directly
    bool hides_;              ///< hides_result
    bool ended_before_;       ///< thread_state::ending_service before this operation
    bool handles_;            ///< a task runs its handler. take() sets this and all below
    std::uint16_t executor_;  ///< number of the handler's executor; valid if handles_
    union {
        frame frame_;  // NOLINT(readability-identifier-naming): private as the union is
    };
    std::uint64_t carried_;  ///< context of an awaited operation (counted)
    union {
        // NOLINTNEXTLINE(readability-identifier-naming): private as the union is
        tracked_task handler_;  ///< valid if handles_
    };
    std::uint64_t carried_before_;  ///< of the thread; valid if carried_ has attributes
};

/// Tracked code has created one of Asio's schedulers, the core of a context. Another context that
/// was at that address has ended. `context` may be null.
COROSCOPE_API void scheduler_created(const void* context) noexcept;

/// As above, with the scheduler itself.
template <class Scheduler>
void scheduler_created(Scheduler& made) noexcept {
    if constexpr (requires { made.context(); }) {
        asio::scheduler_created(static_cast<const void*>(__builtin_addressof(made.context())));
    } else {
        asio::scheduler_created(static_cast<const void*>(nullptr));
    }
}

/// Called for each operation that Asio creates, and for each one that its reactor performed, if the
/// tracking is active. Fills `created`. `object`: the address of the implementation on which it
/// operates. `context` is the key of the context that completes it (context_key()).
COROSCOPE_API COROSCOPE_NO_PLT void create_operation(operation_state& created, const char* type,
                                                     const char* operation, operation_kind kind,
                                                     const void* object,
                                                     std::uintptr_t context) noexcept;
/// As above, for an operation of a strand on that context.
COROSCOPE_API void create_on_strand(operation_state& created, const char* type,
                                    const char* operation, operation_kind kind, const void* strand,
                                    const void* context) noexcept;
COROSCOPE_API void reactor_operation(operation_state& performed) noexcept;

template <class Context, class Object>
[[gnu::always_inline]] inline void creation(Context& context, tracked_handler& handler,
                                            const char* type, const Object* object, std::uintmax_t,
                                            const char* operation) noexcept {
    if (!asio::is_active()) return;
    const operation_kind kind = asio::kind_of_created(type, operation);
    const void* const of = __builtin_addressof(context);
    const context_type seen = asio::type_of_created(type);
    if (seen == context_type::strand)
        asio::create_on_strand(handler.state, type, operation, kind, object, of);
    else
        asio::create_operation(handler.state, type, operation, kind, object,
                               asio::context_key(of, seen));
    if (kind != operation_kind::work) asio::note_object(handler.state, object);
}

/// Asio calls this for the operations that end others: cancel, cancel_one, close, release.
template <class Context>
void operation_called(Context&, const char*, const void* object, std::uintmax_t,
                      const char*) noexcept {
    if (asio::is_active()) asio::cancels_operations(object);
}

/// The reactor tried an operation. An operation that would block stays with the reactor and is
/// tried again.
template <class Error, class... Results>
void reactor_performed(tracked_handler& handler, const char*, const Error& error,
                       const Results&...) noexcept {
    if (handler.state.whose.which != 0 && error.value() != EAGAIN)
        asio::reactor_operation(handler.state);
}

}  // namespace coroscope::asio

namespace coroscope {

/// Asio's promise needs its own awaitables unchanged.
template <class Operand>
    requires asio::is_asio_awaitable<std::remove_cvref_t<Operand>>
inline constexpr bool passes_through<Operand> = true;

}  // namespace coroscope

// Asio expands these; asio/detail/handler_tracking.hpp documents when. The coroutine traits are for
// Asio's awaitable if it is a std coroutine. Because of the constraint, the compiler prefers them
// to Asio's own.
#if COROSCOPE_ENABLED
#define COROSCOPE_ASIO_TRAITS(asio_namespace)                                                      \
    template <class Value, class Executor, class... Arguments>                                     \
        requires true                                                                              \
    struct std::coroutine_traits<asio_namespace::awaitable<Value, Executor>, Arguments...> {       \
        using promise_type =                                                                       \
            ::coroscope::asio::promise<asio_namespace::detail::awaitable_frame<Value, Executor>>;  \
    };                                                                                             \
    template <class Executor, class... Arguments>                                                  \
        requires true                                                                              \
    struct std::coroutine_traits<                                                                  \
        asio_namespace::awaitable<asio_namespace::detail::awaitable_thread_entry_point, Executor>, \
        Arguments...> {                                                                            \
        using promise_type =                                                                       \
            ::coroscope::asio::entry_promise<asio_namespace::detail::awaitable_frame<              \
                asio_namespace::detail::awaitable_thread_entry_point, Executor>>;                  \
    };                                                                                             \
    template <class Value, class Executor, class Function, class Handler>                          \
        requires true                                                                              \
    struct std::coroutine_traits<asio_namespace::awaitable<void, Executor>,                        \
                                 asio_namespace::awaitable<Value, Executor>*, Executor, Function,  \
                                 Handler> { /* Boost 1.74 */                                       \
        using promise_type = ::coroscope::asio::entry_promise<                                     \
            asio_namespace::detail::awaitable_frame<void, Executor>>;                              \
    };
#endif

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER : public ::coroscope::asio::tracked_handler
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::coroscope::asio::tracked_handler
#define BOOST_ASIO_HANDLER_TRACKING_INIT ::coroscope::asio::scheduler_created(*this)
#define BOOST_ASIO_HANDLER_LOCATION(args) const ::coroscope::asio::location coroscope_location args
#define BOOST_ASIO_HANDLER_CREATION(args) ::coroscope::asio::creation args
#define BOOST_ASIO_HANDLER_COMPLETION(args) ::coroscope::asio::completion coroscope_completion args
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) coroscope_completion.invocation_begin args
#define BOOST_ASIO_HANDLER_INVOCATION_END coroscope_completion.invocation_end()
#define BOOST_ASIO_HANDLER_OPERATION(args) ::coroscope::asio::operation_called args
#define BOOST_ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_READ_EVENT 1
#define BOOST_ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define BOOST_ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define BOOST_ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define BOOST_ASIO_HANDLER_REACTOR_OPERATION(args) ::coroscope::asio::reactor_performed args
#endif

#if defined(ASIO_CUSTOM_HANDLER_TRACKING)
#define ASIO_INHERIT_TRACKED_HANDLER : public ::coroscope::asio::tracked_handler
#define ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::coroscope::asio::tracked_handler
#define ASIO_HANDLER_TRACKING_INIT ::coroscope::asio::scheduler_created(*this)
#define ASIO_HANDLER_LOCATION(args) const ::coroscope::asio::location coroscope_location args
#define ASIO_HANDLER_CREATION(args) ::coroscope::asio::creation args
#define ASIO_HANDLER_COMPLETION(args) ::coroscope::asio::completion coroscope_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args) coroscope_completion.invocation_begin args
#define ASIO_HANDLER_INVOCATION_END coroscope_completion.invocation_end()
#define ASIO_HANDLER_OPERATION(args) ::coroscope::asio::operation_called args
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 1
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::coroscope::asio::reactor_performed args
#endif

#if COROSCOPE_ENABLED && defined(BOOST_ASIO_HAS_CO_AWAIT)
namespace boost::system {
class system_error;
}  // namespace boost::system
namespace boost::asio {
#if defined(BOOST_ASIO_INLINE_NAMESPACE_BEGIN)
BOOST_ASIO_INLINE_NAMESPACE_BEGIN
#endif
template <typename Value, typename Executor>
class awaitable;
namespace detail {
template <typename Value, typename Executor>
class awaitable_frame;
struct awaitable_thread_entry_point;
class detached_handler;
}  // namespace detail
#if defined(BOOST_ASIO_INLINE_NAMESPACE_BEGIN)
BOOST_ASIO_INLINE_NAMESPACE_END
#endif
}  // namespace boost::asio
template <>
inline constexpr bool coroscope::asio::is_detached<::boost::asio::detail::detached_handler> = true;
template <class Value, class Executor>
struct coroscope::asio::thrown_error<::boost::asio::detail::awaitable_frame<Value, Executor>> {
    using type = ::boost::system::system_error;
};
COROSCOPE_ASIO_TRAITS(::boost::asio)
#endif

#if COROSCOPE_ENABLED && defined(ASIO_HAS_CO_AWAIT)
namespace asio {
#if defined(ASIO_INLINE_NAMESPACE_BEGIN)
ASIO_INLINE_NAMESPACE_BEGIN
#endif
template <typename Value, typename Executor>
class awaitable;
namespace detail {
template <typename Value, typename Executor>
class awaitable_frame;
struct awaitable_thread_entry_point;
class detached_handler;
}  // namespace detail
#if defined(ASIO_INLINE_NAMESPACE_BEGIN)
ASIO_INLINE_NAMESPACE_END
#endif
}  // namespace asio
template <>
inline constexpr bool coroscope::asio::is_detached<::asio::detail::detached_handler> = true;
template <class Value, class Executor>
struct coroscope::asio::thrown_error<::asio::detail::awaitable_frame<Value, Executor>> {
    using type = std::system_error;
};
COROSCOPE_ASIO_TRAITS(::asio)
#endif
