// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUDA's streams and events as asynchronous operations of Asio, for any completion token:
//
//   const cudaError_t outcome =
//       co_await coroscope::cuda::async_completion(stream, asio::use_awaitable);
//
// The awaited work, its answer and its errors are those of completion() (cuda_completion.hpp). The
// handler is posted to its associated executor, even if the answer is available at once; run() does
// not return in the meantime. If Asio is tracked (`coroscope-asio`), this is an await of the task
// with a known wake. If the handler's execution context is destroyed first, the stream or event is
// no longer looked at, and the handler does not run. There is no cancellation, because a device
// cannot be stopped.
//
// Uses Boost.Asio. For standalone Asio the whole program must define COROSCOPE_STANDALONE_ASIO.

#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#if defined(COROSCOPE_STANDALONE_ASIO)
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/execution_context.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/query.hpp>
#define COROSCOPE_DETAIL_ASIO asio
#else
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#define COROSCOPE_DETAIL_ASIO boost::asio
#endif

#include <coroscope/config.hpp>
#include <coroscope/context.hpp>
#include <coroscope/integration/asio_awaitable.hpp>
#include <coroscope/integration/cuda.hpp>
#include <coroscope/integration/cuda_work.hpp>

namespace coroscope::cuda {
namespace detail {

namespace asio_ = COROSCOPE_DETAIL_ASIO;

/// A wait that is abandoned if the execution context of its handler is destroyed first.
class asio_wait : public device_wait {
public:
    /// Destroys the handler without running it. On return the device's work is no longer used.
    virtual void abandon() noexcept = 0;

private:
    friend class asio_wait_list;
    asio_wait* after_ = nullptr;
    asio_wait** before_ = nullptr;  ///< null: not in the list
};

/// The waits of an execution context. A wait ends with its context; the list may outlive it.
class asio_wait_list {
public:
    void add(asio_wait& added) {
        const std::lock_guard lock(mutex_);
        added.after_ = first_;
        added.before_ = &first_;
        if (first_ != nullptr) first_->before_ = &added.after_;
        first_ = &added;
    }

    /// Calls `use` unless the context is destroyed. The destruction of the context waits until
    /// `use` has returned.
    template <class Use>
    void take(asio_wait& wait, const Use& use) {
        const std::lock_guard lock(mutex_);
        if (wait.before_ == nullptr) return;
        remove(wait);
        use();
    }

    void abandon_all() noexcept {
        for (;;) {
            std::unique_lock lock(mutex_);
            if (first_ == nullptr) return;
            first_->retain();
            const coroscope::detail::counted_ptr<asio_wait> wait(first_);
            remove(*wait);
            lock.unlock();
            wait->abandon();
        }
    }

private:
    static void remove(asio_wait& wait) noexcept {
        *wait.before_ = wait.after_;
        if (wait.after_ != nullptr) wait.after_->before_ = wait.before_;
        wait.before_ = nullptr;
    }

    std::mutex mutex_;
    asio_wait* first_ = nullptr;
};

/// The service by which an execution context announces its destruction.
class asio_waits final : public asio_::execution_context::service {
public:
    using key_type = asio_waits;
    static inline asio_::execution_context::id id;

    explicit asio_waits(asio_::execution_context& of) : service(of) {}

    const std::shared_ptr<asio_wait_list>& list() const noexcept { return list_; }

private:
    void shutdown() noexcept override { list_->abandon_all(); }

    std::shared_ptr<asio_wait_list> list_ = std::make_shared<asio_wait_list>();
};

/// One operation. `Handler` must be movable.
template <class Handler, class Executor>
class asio_operation final : public asio_wait {
public:
    asio_operation(Handler&& handler, const Executor& executor, awaited_work&& work)
        : work_(std::move(work)),
          pending_(new pending_handler{std::move(handler), asio_::make_work_guard(executor)}),
          waits_(asio_::use_service<asio_waits>(asio_::query(executor, asio_::execution::context))
                     .list()) {
        waits_->add(*this);
    }

    /// Returns the error of an immediate failure, the answer if it is available, or
    /// cudaErrorNotReady.
    static cudaError_t
    begin(const coroscope::detail::counted_ptr<asio_operation>& operation) noexcept {
        const int answer = operation->work_.look();
        if (answer != device_wait::pending) return static_cast<cudaError_t>(answer);
        cudaError_t failed = operation->work_.prepare();
        if (failed != cudaSuccess) return failed;
        operation->retain();
        device_wait_ptr told(operation.get());
        failed = operation->work_.is_stream()
                     ? detail::tell_by_callback(operation->work_.stream(), std::move(told))
                     : detail::tell_by_looking(std::move(told));
        return failed == cudaSuccess ? cudaErrorNotReady : failed;
    }

private:
    struct pending_handler {
        Handler handler;
        asio_::executor_work_guard<Executor> work;
    };

    int look() noexcept override { return work_.look_from_elsewhere(); }

    void when_told() noexcept override {
        waits_->take(*this, [this] {
            const context_guard guard(context_);
            work_.note_told(context_.task);
            const asio::await_step step(awaited_);
            const auto taken = std::move(pending_);
            const auto executor = taken->work.get_executor();
            asio_::post(executor,
                        [handler = std::move(taken->handler), answer = this->result()]() mutable {
                            std::move(handler)(static_cast<cudaError_t>(answer));
                        });
        });
    }

    void abandon() noexcept override {
        stop();
        pending_.reset();
    }

    awaited_work work_;
    std::unique_ptr<pending_handler> pending_;
    std::shared_ptr<asio_wait_list> waits_;
    context context_ = coroscope::current_context();
    asio::purpose awaited_ = asio::current_await();
};

/// `Told`: the session records the stream or event that one of Asio's coroutines waits for. The
/// suspension begins at the initiation of the operation, not at its creation.
template <bool Told>
struct initiate_wait {
    template <class Handler, class Work>
    void operator()(Handler handler, Work work) const {
        const noted_event_wait noted = note(work);
        const auto executor = asio_::get_associated_executor(handler);
        using operation = asio_operation<Handler, std::remove_const_t<decltype(executor)>>;
        const coroscope::detail::counted_ptr<operation> begun(
            new operation(std::move(handler), executor, awaited_work(work, noted)));
        const cudaError_t answer = operation::begin(begun);
        if (answer != cudaErrorNotReady) begun->tell(static_cast<int>(answer));
    }

private:
    template <class Work>
    static noted_event_wait note(Work work) noexcept {
        if constexpr (Told) {
            if (const std::uint64_t task = asio::suspending_task(); task != 0)
                return detail::note_wait(work, task);
        }
        return {};
    }
};

}  // namespace detail

inline namespace COROSCOPE_ABI {

/// See above. The handler must be callable as void(cudaError_t). Throws std::bad_alloc.
template <detail::awaitable Work, class Token>
auto async_completion(Work work, Token&& token) {
    using given = decltype(detail::asio_::async_initiate<Token, void(cudaError_t)>(
        detail::initiate_wait<false>(), token, work));
    constexpr bool is_told = COROSCOPE_ENABLED != 0 && asio::is_asio_awaitable<given>;
    return detail::asio_::async_initiate<Token, void(cudaError_t)>(detail::initiate_wait<is_told>(),
                                                                   token, work);
}

}  // namespace COROSCOPE_ABI
}  // namespace coroscope::cuda

#undef COROSCOPE_DETAIL_ASIO
