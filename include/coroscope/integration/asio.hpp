// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asio's custom handler tracking: makes the asynchronous operations of an Asio or Boost.Asio program
// tasks, without an edit of the program. The build defines, for every translation unit of a target,
//
//   BOOST_ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>    (Boost.Asio)
//   ASIO_CUSTOM_HANDLER_TRACKING=<coroscope/integration/asio.hpp>          (Asio)
//
// (Meson: dependency('coroscope-asio')). A target that mixes translation units with and without it
// breaks the one-definition rule. Asio includes this header at global scope before its own types.
//
// A coroutine started by co_spawn is a task; what it awaits by use_awaitable suspends it. Any other
// operation is a child task that runs its handler. docs/integrations.md says what is exact.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <coroscope/await.hpp>
#include <coroscope/config.hpp>
#include <coroscope/detail/export.hpp>
#include <coroscope/detail/task_state.hpp>

namespace coroscope::asio {

struct task;   // one coroutine or handler, shared by the operations that it waits for
struct frame;  // one invocation of a handler on a thread's stack

/// How an operation relates to its task.
enum class role : std::uint8_t {
    none,   ///< plumbing of an executor, or created while nothing recorded
    start,  ///< its invocation starts the task
    await,  ///< the task awaits it
    back,   ///< carries a finished co_spawn's result back to whoever awaits it
};

/// Base of each of Asio's operations. Touched by whoever holds the operation.
class tracked_handler {
protected:
    tracked_handler() noexcept = default;
    tracked_handler(const tracked_handler&) = delete;
    tracked_handler& operator=(const tracked_handler&) = delete;
    ~tracked_handler() = default;

public:
    // Read by the runtime only.
    task* task_ = nullptr;      ///< counted
    std::uint64_t wake_ = 0;    ///< ticks when the reactor completed it, 0 if it did not
    std::uint32_t serial_ = 0;  ///< which of the task's awaits it is
    role role_ = role::none;
    bool tracked_ = false;  ///< created while something recorded
    const char* type_ = "";
    const char* operation_ = "";
};

/// A stretch of source that starts an operation; they nest on a thread's stack.
class location {
public:
    location(const char* file, int line, const char* function) noexcept {
        if (detail::load_gate() != 0) enter(file, line, function);
    }
    ~location() {
        if (entered_) leave();
    }
    location(const location&) = delete;
    location& operator=(const location&) = delete;

    enum class kind : std::uint8_t { step, await, spawn, spawn_end };

    // Read by the runtime only.
    location* outer_ = nullptr;
    frame* inline_child_ = nullptr;  ///< a co_spawn's child that runs inside this very call
    std::uint64_t entered_ticks_ = 0;
    int line_ = 0;
    kind kind_ = kind::step;
    bool entered_ = false;
    bool used_ = false;  ///< an operation was created inside

private:
    COROSCOPE_API void enter(const char* file, int line, const char* function) noexcept;
    COROSCOPE_API void leave() noexcept;
};

/// One invocation of a handler.
struct frame {
    frame* outer = nullptr;
    location* locations = nullptr;  ///< of the code that this invocation interrupts
    task* running = nullptr;        ///< counted
    detail::task_state link{};  ///< the task as the thread's state knows it, and what to go back to
    bool continued = false;  ///< the task awaits something: it does not end with this invocation
    bool by_timer = false;   ///< and what it awaits is a timer, which a real operation may replace
    bool user_code = false;  ///< the task's own code has run in it
};

/// Around the completion of one operation: constructed when it completes or is destroyed.
class completion {
public:
    explicit completion(const tracked_handler& handler) noexcept {
        if (handler.tracked_ || detail::load_gate() != 0) take(handler);
    }
    ~completion() {
        if (taken_) drop();
    }
    completion(const completion&) = delete;
    completion& operator=(const completion&) = delete;

    template <class... Results>
    void invocation_begin(const Results&...) noexcept {
        if (taken_) begin();
    }
    void invocation_end() noexcept {
        if (taken_) end(false);
    }

private:
    COROSCOPE_API void take(const tracked_handler& handler) noexcept;
    COROSCOPE_API void begin() noexcept;
    COROSCOPE_API void end(bool failed) noexcept;
    COROSCOPE_API void drop() noexcept;

    task* task_ = nullptr;
    std::uint64_t wake_ = 0;
    std::uint32_t serial_ = 0;
    role role_ = role::none;
    bool taken_ = false;
    bool began_ = false;
    const char* type_ = "";
    const char* operation_ = "";
    frame frame_{};
};

COROSCOPE_API void create_operation(tracked_handler& handler, const char* type,
                                    const char* operation) noexcept;
COROSCOPE_API void reactor_operation(tracked_handler& handler) noexcept;

template <class Context>
void creation(Context&, tracked_handler& handler, const char* type, const void*, std::uintmax_t,
              const char* operation) noexcept {
    if (detail::load_gate() != 0) create_operation(handler, type, operation);
}

/// The reactor tried an operation. One that would have blocked stays with the reactor and is tried again.
template <class Error, class... Results>
void reactor_performed(tracked_handler& handler, const char*, const Error& error,
                       const Results&...) noexcept {
    if (handler.tracked_ && error.value() != EAGAIN) reactor_operation(handler);
}

}  // namespace coroscope::asio

namespace coroscope {
namespace asio {

/// Is it asio::awaitable<Value, Executor>, of whichever namespace Asio stands in?
template <class Operand>
concept is_asio_awaitable = requires(const Operand& operand) {
    typename Operand::value_type;
    typename Operand::executor_type;
    operand.await_ready();
};

}  // namespace asio

/// Asio's promise wants its own awaitables unchanged.
template <class Operand>
    requires asio::is_asio_awaitable<std::remove_cvref_t<Operand>>
inline constexpr bool passes_through<Operand> = true;

}  // namespace coroscope

// Asio expands these; see asio/detail/handler_tracking.hpp for when.
#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#define BOOST_ASIO_INHERIT_TRACKED_HANDLER : public ::coroscope::asio::tracked_handler
#define BOOST_ASIO_ALSO_INHERIT_TRACKED_HANDLER , public ::coroscope::asio::tracked_handler
#define BOOST_ASIO_HANDLER_TRACKING_INIT (void)0
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
#define ASIO_HANDLER_TRACKING_INIT (void)0
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
