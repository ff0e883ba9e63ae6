// SPDX-License-Identifier: Apache-2.0

// Awaiting a turn on an executor: the coroutine is ready at once, and queued until its turn.

#include "recorded_coroutine.hpp"

namespace {

enum class step { turn, rest };

// A composed operation: a turn on the executor and a wait of 20 ms, in either order.
class two_steps {
public:
    two_steps(net::steady_timer& timer, step first) : timer_(&timer), next_(first) {}

    template <class Self>
    void operator()(Self& self, net_error::error_code = {}) {
        net::steady_timer& timer = *timer_;
        if (++taken_ > 2) return self.complete();
        const step now = next_;
        next_ = now == step::turn ? step::rest : step::turn;
        if (now == step::turn) return net::post(timer.get_executor(), std::move(self));
        timer.expires_after(20ms);
        timer.async_wait(std::move(self));
    }

private:
    net::steady_timer* timer_;
    step next_;
    int taken_ = 0;
};

net::awaitable<void> take_two_steps(step first) {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor);
    auto both = net::async_compose<const net::use_awaitable_t<>, void()>(two_steps(timer, first),
                                                                         net::use_awaitable, timer);
    co_await std::move(both);
}

net::awaitable<void> give_up_turn() {
    COROSCOPE_FUNCTION();
    const auto executor = co_await net::this_coro::executor;
    net::post(executor, [] { busy(20ms); });
    co_await net::post(executor, net::use_awaitable);
}

// The only await of the named coroutine.
analysis::await_info only_await(const analysis::trace& loaded, const std::string& name) {
    const analysis::task_info& task = task_named(loaded, name);
    REQUIRE(task.awaits.size() == 1);
    return loaded.awaits[*task.awaits.begin()];
}

}  // namespace

TEST_CASE("a coroutine that gives up its turn is queued from then on, and is its own waker") {
    const analysis::trace loaded = record_coroutine(give_up_turn);
    const analysis::task_info& task = task_named(loaded, "give_up_turn");
    const analysis::await_info& turn = only_await(loaded, "give_up_turn");
    CHECK(turn.wake_ns == turn.suspend_ns);
    REQUIRE(turn.waker != analysis::none);
    CHECK(loaded.tasks[turn.waker].id == task.id);
    CHECK(turn.waker_thread != analysis::none);
    CHECK(task.time.queued_ns >= nearly(20 * ms));
    CHECK(task.time.waiting_ns == 0);
}

TEST_CASE(
    "an operation that begins with a turn and goes on with a timer was not ready all the time") {
    const analysis::trace loaded = record_coroutine([] { return take_two_steps(step::turn); });
    const analysis::await_info& both = only_await(loaded, "take_two_steps");
    CHECK(both.reason == analysis::wake_reason::timer);
    CHECK(task_named(loaded, "take_two_steps").time.suspended_ns >= nearly(20 * ms));
}

TEST_CASE("an operation whose last step is a turn is ready from that step on") {
    const analysis::trace loaded = record_coroutine([] { return take_two_steps(step::rest); });
    const analysis::await_info& both = only_await(loaded, "take_two_steps");
    REQUIRE(both.wake_ns);
    CHECK(*both.wake_ns > both.suspend_ns);
}
