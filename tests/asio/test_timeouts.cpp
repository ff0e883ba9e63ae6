// SPDX-License-Identifier: Apache-2.0

// The label of an await that starts more than one operation.

#include <string>

#include "recorded_coroutine.hpp"

namespace {

// The first operation of a kind takes another path than the later ones.
constexpr int rounds = 3;

// A composed operation: a wait for a timer, or a turn on the executor that the same timer guards.
// It starts the timer first, like Beast's streams.
class rest_or_turn {
public:
    rest_or_turn(net::steady_timer& timer, bool rests) : timer_(&timer), rests_(rests) {}

    template <class Self>
    void operator()(Self& self, net_error::error_code = {}) {
        if (started_) {
            timer_->cancel();
            return self.complete({});
        }
        started_ = true;
        timer_->expires_after(rests_ ? std::chrono::nanoseconds(1ms) : 1h);
        if (rests_) return timer_->async_wait(std::move(self));
        timer_->async_wait([](net_error::error_code) {});
        net::post(timer_->get_executor(), std::move(self));
    }

private:
    net::steady_timer* timer_;
    bool rests_;
    bool started_ = false;
};

// Waits for the timer once, and then takes guarded turns, in the same place.
net::awaitable<void> rest_and_take_turns() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor);
    for (int round = 0; round <= rounds; ++round)
        co_await net::async_compose<const net::use_awaitable_t<>, void(net_error::error_code)>(
            rest_or_turn(timer, round == 0), net::use_awaitable, timer);
}

net::awaitable<void> nap_often() {
    COROSCOPE_FUNCTION();
    net::steady_timer timer(co_await net::this_coro::executor);
    for (int round = 0; round < rounds; ++round) {
        timer.expires_after(1ms);
        co_await timer.async_wait(net::use_awaitable);
    }
}

}  // namespace

TEST_CASE("an operation that a timer guards names its await, although the timer is started first "
          "and was awaited in the same place") {
    const analysis::trace loaded = record_coroutine(rest_and_take_turns);
    const analysis::task_info& task = task_named(loaded, "rest_and_take_turns");
    REQUIRE(task.awaits.size() == 1 + rounds);
    const auto label_of = [&](std::size_t round) {
        return loaded.sites[loaded.awaits[task.awaits[round]].site].label;
    };
    CHECK(label_of(0) == "deadline_timer.async_wait");
    for (std::size_t round = 1; round <= rounds; ++round) {
        const analysis::await_info& turn = loaded.awaits[task.awaits[round]];
        CHECK(label_of(round).find("execute") != std::string::npos);
        CHECK(turn.wake_ns == turn.suspend_ns);
    }
}

TEST_CASE("a timer that guards no operation names its await, each time") {
    const analysis::trace loaded = record_coroutine(nap_often);
    const analysis::task_info& task = task_named(loaded, "nap_often");
    REQUIRE(task.awaits.size() == rounds);
    for (const std::uint32_t index : task.awaits) {
        const analysis::await_info& wait = loaded.awaits[index];
        const analysis::site_info& site = loaded.sites[wait.site];
        CHECK(site.label == "deadline_timer.async_wait");
        CHECK(site.file.ends_with("test_timeouts.cpp"));
        CHECK(wait.reason == analysis::wake_reason::timer);
    }
}
