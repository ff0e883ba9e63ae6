// SPDX-License-Identifier: Apache-2.0
#pragma once

// fiber: a function on its own stack, built on Boost.Context, that is a task of the profiler.
//
//   coroscope::fiber work([](coroscope::fiber::handle& self) {
//       COROSCOPE("first half");
//       self.suspend();                 // back to the caller of resume()
//   });
//   work.resume();                      // starts it, and later goes on behind suspend()
//
// The fiber runs inside resume(), on the thread of that call. Different threads may call resume(),
// but only one at a time. An exception that leaves the function leaves the last resume(). If the
// fiber is destroyed while it is suspended, its stack is unwound by an exception that the function
// must not swallow. The task and everything that ran on the fiber then show as abandoned. The
// program must link Boost.Context.

#include <exception>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include <coroscope/config.hpp>
#include <coroscope/detail/sanitized_stack.hpp>
#include <coroscope/fiber.hpp>

namespace coroscope {
inline namespace COROSCOPE_ABI {

/// A fiber with its task; see above. One thread at a time must use it.
class fiber {
    struct body;

public:
    /// The fiber, as its function sees it. Valid while the function runs.
    class handle {
    public:
        handle(const handle&) = delete;
        handle& operator=(const handle&) = delete;

        /// Returns control to resume(), until the next resume().
        void suspend(std::source_location where = std::source_location::current()) {
            body_->task.switch_out(where);
            body_->switch_back();
        }
        /// As above; the wait has the name of `label`, which must be a site of kind await.
        void suspend(site& label) {
            body_->task.switch_out(label);
            body_->switch_back();
        }

    private:
        friend fiber;
        explicit handle(body& of) noexcept : body_(&of) {}
        body* body_;
    };

    fiber() noexcept = default;

    /// Creates a fiber for a function that takes a handle& or nothing. Throws the exceptions of the
    /// stack's allocation.
    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, fiber>)
    explicit fiber(Function&& function,
                   std::source_location where = std::source_location::current())
        : fiber(std::allocator_arg, boost::context::fixedsize_stack(),
                static_cast<Function&&>(function), where) {}

    /// As above, on a stack from one of Boost.Context's allocators.
    template <class Allocator, class Function>
    fiber(std::allocator_arg_t, Allocator allocator, Function&& function,
          std::source_location where = std::source_location::current())
        : body_(std::make_unique<body>(where)) {
        auto entry = [body = body_.get(), function = static_cast<Function&&>(function)](
                         boost::context::fiber&& caller) mutable {
            body->other = std::move(caller);
            body->run(std::move(function));
            return std::move(body->other);
        };
        const boost::context::stack_context space = allocator.allocate();
        const void* lowest = static_cast<const char*>(space.sp) - space.size;
        body_->task.set_stack(lowest, space.size);
        body_->stack.set(lowest, space.size);
        body_->stack.enter();
        body_->other = boost::context::fiber(
            std::allocator_arg, boost::context::preallocated(space.sp, space.size, space),
            std::move(allocator), std::move(entry));
        body_->stack.visited();
    }

    fiber(fiber&&) noexcept = default;
    fiber& operator=(fiber&& other) noexcept {
        fiber taken(std::move(other));
        body_.swap(taken.body_);
        return *this;
    }
    ~fiber() { destroy(); }

    bool valid() const noexcept { return body_ != nullptr; }
    /// Returns whether the function has ended. The fiber must be valid().
    bool done() const noexcept { return body_->done; }

    /// The fiber will be resumed soon: from now on it is queued and not suspended. Any thread may
    /// call it.
    void ready() noexcept { body_->task.ready(); }

    /// Runs the fiber until it suspends or ends. It must be valid(), not done() and not running. In
    /// the meantime this handle may be moved, but the fiber must not be destroyed.
    void resume() {
        body& running = *body_;  // this handle may be moved in the meantime
        running.task.switch_in();
        running.stack.enter();
        running.other = std::move(running.other).resume();
        running.stack.entered();
        if (running.error) std::rethrow_exception(std::exchange(running.error, nullptr));
    }

private:
    struct body {
        explicit body(std::source_location where) : task(where) {}

        void switch_back() {
            stack.leave();
            try {
                other = std::move(other).resume();
            } catch (...) {  // the fiber is destroyed
                stack.arrive();
                throw;
            }
            stack.arrive();
        }

        template <class Function>
        void run(Function&& function) {
            stack.arrive();
            started = true;
            try {
                std::decay_t<Function> body_of(static_cast<Function&&>(function));
                handle self(*this);
                if constexpr (std::is_invocable_v<std::decay_t<Function>&, handle&>) {
                    body_of(self);
                } else {
                    body_of();
                }
            } catch (const boost::context::detail::forced_unwind&) {
                stack.leave(true);
                throw;
            } catch (...) {
                error = std::current_exception();
            }
            task.finish(static_cast<bool>(error));
            done = true;
            stack.leave(true);
        }

        fiber_context task;
        detail::sanitized_stack stack;
        /// The fiber while it is suspended; while it runs, the caller of resume().
        boost::context::fiber other;
        std::exception_ptr error;
        bool started = false;
        bool done = false;
    };

    void destroy() noexcept {
        if (body_ != nullptr && body_->other) {
            body_->task.unwind([this] {
                body_->stack.enter();
                body_->other = boost::context::fiber();
                body_->started ? body_->stack.entered() : body_->stack.visited();
            });
        }
        body_.reset();
    }

    std::unique_ptr<body> body_;
};

}  // namespace COROSCOPE_ABI
}  // namespace coroscope
