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
#include <coroscope/integration/asio_task.hpp>

namespace coroscope::asio {

#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING) || defined(ASIO_CUSTOM_HANDLER_TRACKING)
/// Says that the program has translation units whose Asio is tracked; the runtime's check looks for it.
extern "C" [[gnu::used, gnu::visibility("default")]] inline const char coroscope_asio_tracked = 1;
#endif

/// What an operation is to the tasks.
enum class role : std::uint8_t {
    untracked,  ///< nobody saw its creation
    handler,    ///< its handler is a task of its own
    await,      ///< a coroutine awaits it
    turn,       ///< the same, and that waits only for its turn: it was ready when it suspended
    back,       ///< carries a finished co_spawn's result to whoever awaits it
};

/// What follows an operation from its creation to its handler. Set as a whole when its creation is seen; until then
/// it has nothing but a role.
struct operation_state {
    std::uint64_t task;     ///< id: of the handler's own task, or of the one that awaits it
    std::uint64_t wake;     ///< ticks when it became ready, 0 where nobody saw that
    std::uint64_t waker;    ///< mark of whoever made it ready
    std::uint64_t carried;  ///< session and attributes for its handler (counted)
    std::uint32_t serial;   ///< which of the task's awaits it belongs to
    std::uint16_t announced;
    asio::role role = asio::role::untracked;
};

/// Base of each of Asio's operations. Touched by whoever holds the operation.
class tracked_handler {
protected:
    tracked_handler() noexcept = default;
    tracked_handler(const tracked_handler&) = delete;
    tracked_handler& operator=(const tracked_handler&) = delete;
    ~tracked_handler() = default;

public:
    operation_state state_;  ///< read by the runtime only
};

/// One invocation of a handler on a thread's stack. They nest.
struct frame {
    purpose created{};
    frame* outer = nullptr;
    std::uint64_t wake = 0;   ///< ticks: how whoever goes on in it became ready; 0: nobody saw it
    std::uint64_t waker = 0;  ///< mark
    std::uint32_t depth = 0;  ///< tasks that run in it, one in another
};

/// Around the completion of one operation: constructed when it completes or is destroyed.
class completion {
public:
    // Where nothing is active only the stage is touched.
    explicit completion(const tracked_handler& handler) noexcept {
        if (handler.state_.role != role::untracked || is_active()) take(handler.state_);
    }
    ~completion() {
        if (stage_ != stage::absent) drop();
    }
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    template <class... Results>
    void invocation_begin(const Results&...) noexcept {
        if (stage_ != stage::absent) begin();
    }
    void invocation_end() noexcept {
        if (stage_ != stage::absent) end();
    }

private:
    enum class stage : std::uint8_t { absent, taken, began };

    COROSCOPE_API COROSCOPE_NO_PLT void take(const operation_state& operation) noexcept;
    COROSCOPE_API COROSCOPE_NO_PLT void begin() noexcept;
    COROSCOPE_API COROSCOPE_NO_PLT void end() noexcept;
    COROSCOPE_API void drop() noexcept;

    void take_handler(const operation_state& operation) noexcept;
    bool is_plain() const noexcept;
    void push() noexcept;
    void pop() noexcept;
    void begin_any() noexcept;
    void end_any(bool failed) noexcept;

    stage stage_ = stage::absent;
    role role_;              ///< from here on set by take()
    std::uint64_t carried_;  ///< what an operation that is awaited carries (counted)
    union {
        frame frame_;
    };
    union {
        tracked_task handler_;  ///< for role::handler
    };
    std::uint64_t carried_before_;  ///< of the thread, where carried_ has attributes
};

/// One of Asio's schedulers, the heart of an io_context or thread_pool, is made by tracked code.
COROSCOPE_API void scheduler_created() noexcept;

COROSCOPE_API COROSCOPE_NO_PLT void create_operation(operation_state& created, const char* type,
                                                     const char* operation) noexcept;
COROSCOPE_API void reactor_operation(operation_state& performed) noexcept;

template <class Context>
void creation(Context&, tracked_handler& handler, const char* type, const void*, std::uintmax_t,
              const char* operation) noexcept {
    if (is_active()) create_operation(handler.state_, type, operation);
}

/// The reactor tried an operation. One that would have blocked stays with the reactor and is tried again.
template <class Error, class... Results>
void reactor_performed(tracked_handler& handler, const char*, const Error& error,
                       const Results&...) noexcept {
    if (handler.state_.role != role::untracked && error.value() != EAGAIN)
        reactor_operation(handler.state_);
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
}  // namespace detail
#if defined(BOOST_ASIO_INLINE_NAMESPACE_BEGIN)
BOOST_ASIO_INLINE_NAMESPACE_END
#endif
}  // namespace boost::asio
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
}  // namespace detail
#if defined(ASIO_INLINE_NAMESPACE_BEGIN)
ASIO_INLINE_NAMESPACE_END
#endif
}  // namespace asio
COROSCOPE_ASIO_TRAITS(::asio)
#endif
