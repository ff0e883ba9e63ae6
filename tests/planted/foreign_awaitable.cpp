// SPDX-License-Identifier: Apache-2.0

// A thread that records nothing resumes the requests through an awaitable that is not tracked, some
// of them late. The trace does not show for what they waited.

#include <coroutine>
#include <thread>

#include <coroscope/task.hpp>

#include "programs.hpp"
#include "service.hpp"

namespace planted::foreign_awaitable {
namespace {

class reply {
public:
    explicit reply(milliseconds delay) : delay_(delay) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
        std::thread([delay = delay_, waiter] {
            block_for(delay);
            waiter.resume();
        }).detach();
    }
    void await_resume() const noexcept {}

private:
    milliseconds delay_;
};

coroscope::task<> answer(int number) {
    COROSCOPE_REQUEST("GET /foreign");
    compute_for(100us);
    co_await reply(is_chosen(number) ? 30ms : 1ms);
}

}  // namespace

void run() {
    for (int number = 0; number < requests; ++number) coroscope::sync_wait(answer(number));
}

}  // namespace planted::foreign_awaitable
