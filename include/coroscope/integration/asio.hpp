// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the asynchronous operations of an Asio or Boost.Asio program tasks, without an edit of the
// program. The build defines, for every translation unit of a target,
//
//   BOOST_ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>    (Boost.Asio)
//   ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>          (Asio)
//
// (Meson: dependency('coroscope-asio')). A target that mixes translation units with and without it
// breaks the one-definition rule. Asio includes this header at global scope before its own types.
//
// A co_spawn is a task; what its coroutines await suspends it (asio_awaitable.hpp). Any other operation is a
// task that runs its handler. docs/integrations.md says what is exact.

#include <cerrno>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/await.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/integration/asio_awaitable.hpp>
#include <coroscope/integration/asio_kind.hpp>
#include <coroscope/integration/asio_task.hpp>

namespace coroscope::asio {

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || defined(ASIO_CUSTOM_HANDLER_TRACKING)
/// Says that the program has translation units whose Asio is tracked; the runtime's check looks for it.
extern "C" [[gnu::used, gnu::visibility("default")]] inline const char coroscope_asio_tracked = 1;
#endif

/// Base of each of Asio's operations. Touched by whoever holds the operation.
class tracked_handler {
protected:
    tracked_handler() noexcept = default;
    tracked_handler(const tracked_handler&) = delete;
    tracked_handler& operator=(const tracked_handler&) = delete;
    ~tracked_handler() = default;

public:
    operation_state state;  ///< read by the runtime only
};

/// Around the completion of one operation: constructed when it completes or is destroyed. The short way is that of an
/// operation that somebody awaits, without attributes.
class completion {
public:
    // Where nothing is active only the stage is touched.
    explicit completion(const tracked_handler& handler) noexcept {
        const purpose& whose = handler.state.whose;
        if (whose.is(purpose_step | purpose_back))
            take_plain(handler.state);
        else if (whose.which != 0 || is_active())
            take(handler.state);
    }
    ~completion() {
        if (stage_ != stage::absent) drop();
    }
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    template <class... Results>
    void invocation_begin(const Results&...) noexcept {
        if (stage_ != stage::absent && !(stage_ == stage::plain && push_plain())) begin();
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
    void end_any(bool failed) noexcept;

    // Word by word: read as one vector they would wait for the words as which they were stored.
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
    COROSCOPE_CONTEXT_SWITCH bool push_plain() noexcept {
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
        stage_ = stage::absent;
        return true;
    }

    stage stage_ = stage::absent;
    bool handles_;  ///< a task runs its handler. From here on set by take()
    union {
        frame frame_;  // NOLINT(readability-identifier-naming): private as the union is
    };
    std::uint64_t carried_;  ///< what an operation that is awaited carries (counted)
    union {
        // NOLINTNEXTLINE(readability-identifier-naming): private as the union is
        tracked_task handler_;  ///< where handles_
    };
    std::uint64_t carried_before_;  ///< of the thread, where carried_ has attributes
};

/// One of Asio's schedulers, the heart of an io_context or thread_pool, is made by tracked code.
COROSCOPE_API void scheduler_created() noexcept;

COROSCOPE_API COROSCOPE_NO_PLT void create_operation(operation_state& created, const char* type,
                                                     const char* operation,
                                                     operation_kind kind) noexcept;
COROSCOPE_API void reactor_operation(operation_state& performed) noexcept;

template <class Context>
[[gnu::always_inline]] inline void creation(Context&, tracked_handler& handler, const char* type,
                                            const void*, std::uintmax_t,
                                            const char* operation) noexcept {
    if (is_active())
        create_operation(handler.state, type, operation, kind_of_created(type, operation));
}

/// The reactor tried an operation. One that would have blocked stays with the reactor and is tried again.
template <class Error, class... Results>
void reactor_performed(tracked_handler& handler, const char*, const Error& error,
                       const Results&...) noexcept {
    if (handler.state.whose.which != 0 && error.value() != EAGAIN) reactor_operation(handler.state);
}

}  // namespace coroscope::asio

namespace coroscope {

/// Asio's promise wants its own awaitables unchanged.
template <class Operand>
    requires asio::is_asio_awaitable<std::remove_cvref_t<Operand>>
inline constexpr bool passes_through<Operand> = true;

}  // namespace coroscope

// Asio expands these; see asio/detail/handler_tracking.hpp for when. The coroutine traits are for Asio's
// awaitable where that is std's kind of coroutine: with a constraint they win over Asio's own.
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
#define BOOST_ASIO_HANDLER_TRACKING_INIT ::coroscope::asio::scheduler_created()
#define BOOST_ASIO_HANDLER_LOCATION(args) const ::coroscope::asio::location coroscope_location args
#define BOOST_ASIO_HANDLER_CREATION(args) ::coroscope::asio::creation args
#define BOOST_ASIO_HANDLER_COMPLETION(args) ::coroscope::asio::completion coroscope_completion args
#define BOOST_ASIO_HANDLER_INVOCATION_BEGIN(args) coroscope_completion.invocation_begin args
#define BOOST_ASIO_HANDLER_INVOCATION_END coroscope_completion.invocation_end()
#define BOOST_ASIO_HANDLER_OPERATION(args) (void)0
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
#define ASIO_HANDLER_TRACKING_INIT ::coroscope::asio::scheduler_created()
#define ASIO_HANDLER_LOCATION(args) const ::coroscope::asio::location coroscope_location args
#define ASIO_HANDLER_CREATION(args) ::coroscope::asio::creation args
#define ASIO_HANDLER_COMPLETION(args) ::coroscope::asio::completion coroscope_completion args
#define ASIO_HANDLER_INVOCATION_BEGIN(args) coroscope_completion.invocation_begin args
#define ASIO_HANDLER_INVOCATION_END coroscope_completion.invocation_end()
#define ASIO_HANDLER_OPERATION(args) (void)0
#define ASIO_HANDLER_REACTOR_REGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_DEREGISTRATION(args) (void)0
#define ASIO_HANDLER_REACTOR_READ_EVENT 1
#define ASIO_HANDLER_REACTOR_WRITE_EVENT 2
#define ASIO_HANDLER_REACTOR_ERROR_EVENT 4
#define ASIO_HANDLER_REACTOR_EVENTS(args) (void)0
#define ASIO_HANDLER_REACTOR_OPERATION(args) ::coroscope::asio::reactor_performed args
#endif

#if COROSCOPE_ENABLED && defined(BOOST_ASIO_HAS_CO_AWAIT)
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
COROSCOPE_ASIO_TRAITS(::asio)
#endif
