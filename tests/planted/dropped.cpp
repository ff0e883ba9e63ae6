// SPDX-License-Identifier: Apache-2.0

// The owner of some uploads is destroyed before they have ended.

#include <coroutine>
#include <utility>

#include <coroscope/instrumented.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::dropped {
namespace {

// A task that its owner starts, and destroys.
class owned {
public:
    struct plain_promise {
        owned get_return_object() {
            return owned(std::coroutine_handle<plain_promise>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    using promise_type = coroscope::instrumented<plain_promise>;

    explicit owned(std::coroutine_handle<> handle) : handle_(handle) {}
    owned(owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    owned& operator=(owned&&) = delete;
    ~owned() {
        if (handle_) handle_.destroy();
    }

private:
    std::coroutine_handle<> handle_;
};

struct never {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) noexcept {}
    void await_resume() const noexcept {}
};

owned upload(bool waits) {
    COROSCOPE("upload");
    compute_for(50us);
    if (waits) co_await never();
}

awaitable<void> answer(int number) {
    COROSCOPE_REQUEST("PUT /file");
    const owned file = upload(is_chosen(number));
    co_await pause_for(2ms);
}

}  // namespace

void run() {
    asio::io_context io;
    serve(io, answer);
}

}  // namespace planted::dropped
