// SPDX-License-Identifier: Apache-2.0

// The wakes of awaits that no reactor reports: timers, and cancellations.

#include <memory>
#include <vector>

#include "recorded_coroutine.hpp"

namespace {

using analysis::wake_reason;

// The only await of the named coroutine.
analysis::await_info await_of(const analysis::trace& loaded, const std::string& name) {
    const analysis::task_info& task = task_named(loaded, name);
    REQUIRE(task.awaits.size() == 1);
    return loaded.awaits[*task.awaits.begin()];
}

analysis::task_info waker_of(const analysis::trace& loaded, const analysis::await_info& await) {
    REQUIRE(await.waker != analysis::none);
    return loaded.tasks[await.waker];
}

// Whether the await's wake lies in the scope, which the waker began before the wake and ended
// after it.
bool woke_in(const analysis::trace& loaded, const analysis::await_info& await,
             const std::string& scope) {
    const analysis::event& around = scope_named(loaded, scope);
    REQUIRE(await.wake_ns);
    return around.start_ns <= *await.wake_ns && *await.wake_ns <= around.end_ns;
}

using timer_clock = net::steady_timer::clock_type;

void spin_until(timer_clock::time_point moment) {
    while (timer_clock::now() < moment) {
    }
}

// Whether what must come before the expiry of a timer did. On a busy machine the thread may lose
// its processor until after the expiry.
bool in_time = true;

// Records program(until_expiry) again, with ever longer times until the expiry, until it was in
// time.
template <class Program>
analysis::trace record_in_time(Program program) {
    for (std::chrono::milliseconds until_expiry = 3ms;; until_expiry *= 2) {
        in_time = true;
        analysis::trace loaded = record([&] { program(until_expiry); });
        if (in_time || until_expiry > 10s) return loaded;
    }
}

template <class Timer>
net::awaitable<void> waits_for(Timer& timer) {
    COROSCOPE_FUNCTION();
    try {
        co_await timer.async_wait(net::use_awaitable);
    } catch (const net_error::system_error&) {  // cancelled
    }
}

// Keeps its thread until some time after the expiry.
net::awaitable<void> is_busy(net::steady_timer& timer) {
    COROSCOPE_FUNCTION();
    {
        COROSCOPE("over the expiry");
        in_time = timer_clock::now() + 100us < timer.expiry();
        spin_until(timer.expiry() + 2ms);
    }
    COROSCOPE("after the expiry");
    busy(5ms);
    co_return;
}

net::awaitable<void> cancels(net::steady_timer& timer) {
    COROSCOPE_FUNCTION();
    {
        COROSCOPE("cancelling");
        timer.cancel();
    }
    in_time = timer_clock::now() < timer.expiry();
    COROSCOPE("after the cancelling");
    const bool expires_soon = timer.expiry() < timer_clock::now() + 30min;
    spin_until(expires_soon ? timer.expiry() + 1ms : timer_clock::now() + 2ms);
    co_return;
}

using tcp_stream = net::ip::tcp::socket;

net::awaitable<void> reads(tcp_stream& from) {
    COROSCOPE_FUNCTION();
    char byte = 0;
    try {
        co_await from.async_read_some(net::buffer(&byte, 1), net::use_awaitable);
    } catch (const net_error::system_error&) {  // cancelled
    }
}

// A connection to oneself.
struct loopback {
    explicit loopback(net::io_context& io) : near(io), far(io) {
        net::ip::tcp::acceptor acceptor(io, {net::ip::address_v4::loopback(), 0});
        near.connect(acceptor.local_endpoint());
        acceptor.accept(far);
    }
    tcp_stream near, far;
};

template <class End>
net::awaitable<void> ends_read(tcp_stream& of, End end) {
    COROSCOPE_FUNCTION();
    COROSCOPE("ending the read");
    end(of);
    co_return;
}

template <class End>
analysis::trace record_ended_read(End end) {
    return record([end] {
        net::io_context io;
        loopback made(io);
        net::co_spawn(io, reads(made.near), net::detached);
        net::co_spawn(io, ends_read(made.near, end), net::detached);
        io.run();
    });
}

void check_ended_read(const analysis::trace& loaded) {
    const analysis::await_info& read = await_of(loaded, "reads");
    CHECK(read.reason == wake_reason::cancellation);
    CHECK(woke_in(loaded, read, "ending the read"));
    CHECK(waker_of(loaded, read).id == task_named(loaded, "ends_read").id);
    check_all_add_up(loaded);
}

// Every await is woken by its timer, inside the await.
void check_woken_by_timers(const analysis::trace& loaded, std::size_t expected) {
    std::size_t timers = 0;
    for (const analysis::await_info& await : loaded.awaits) {
        if (loaded.sites[await.site].label != "deadline_timer.async_wait") continue;
        ++timers;
        CHECK(await.reason == wake_reason::timer);
        CHECK(await.waker == analysis::none);
        REQUIRE(await.wake_ns);
        CHECK(*await.wake_ns >= await.suspend_ns);
        CHECK(*await.wake_ns <= *await.resume_ns);
    }
    CHECK(timers == expected);
}

template <class Executor>
net::awaitable<void> naps_on(Executor executor, int rounds) {
    net::steady_timer timer(executor);
    for (int round = 0; round < rounds; ++round) {
        timer.expires_after(std::chrono::microseconds(100 * (round % 5)));
        co_await timer.async_wait(net::use_awaitable);
    }
}

// Never suspends. Work that it posts keeps the pool busy after its end.
net::awaitable<void> answers_at_once(net::thread_pool& pool) {
    COROSCOPE_FUNCTION();
    net::post(pool, [] {
        COROSCOPE("in front of the answer");
        busy(5ms);
    });
    co_return;
}

net::awaitable<void> awaits_answer(net::thread_pool& pool) {
    COROSCOPE_FUNCTION();
    co_await net::co_spawn(pool, answers_at_once(pool), net::use_awaitable);
}

net::awaitable<void> answers_nothing() {
    COROSCOPE_FUNCTION();
    co_return;
}

net::awaitable<void> awaits_system() {
    COROSCOPE_FUNCTION();
    co_await net::co_spawn(net::system_executor(), answers_nothing(), net::use_awaitable);
}

enum class second_turn : bool { no, yes };

void check_answered(const analysis::trace& loaded, second_turn turn) {
    const analysis::await_info& await = await_of(loaded, "awaits_answer");
    REQUIRE(await.wake_ns);
    const std::int64_t busy_end = scope_named(loaded, "in front of the answer").end_ns;
    CHECK((*await.wake_ns >= busy_end) == (turn == second_turn::yes));
    CHECK(await.reason == (turn == second_turn::yes ? wake_reason::result : wake_reason::unknown));
    CHECK(waker_of(loaded, await).id == task_named(loaded, "answers_at_once").id);
    check_all_add_up(loaded);
}

}  // namespace

TEST_CASE("the awaiter of a co_spawn that never suspends is woken by its end, and is not ready "
          "before the result has passed the pool's queue") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::thread_pool pool(1);
        net::co_spawn(io, awaits_answer(pool), net::detached);
        io.run();
        pool.join();
    });
#if defined(COROSCOPE_TEST_ASIO_HAS_SECOND_TURN_LATER)
    check_answered(loaded, second_turn::yes);
#else
    check_answered(loaded, second_turn::no);
#endif
}

TEST_CASE("the awaiter of a co_spawn that runs to its end at once, on the awaiter's pool, is ready "
          "from its end on") {
    const analysis::trace loaded = record([] {
        net::thread_pool pool(1);
        net::co_spawn(pool, awaits_answer(pool), net::detached);
        pool.join();
    });
    const analysis::await_info& await = await_of(loaded, "awaits_answer");
    CHECK(await.wake_ns < scope_named(loaded, "in front of the answer").start_ns);
    CHECK(waker_of(loaded, await).id == task_named(loaded, "answers_at_once").id);
    check_all_add_up(loaded);
}

TEST_CASE("the result of a co_spawn that runs to its end at once, on another executor than the "
          "awaiter's, passes that executor's queue first") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::co_spawn(io, awaits_system(), net::detached);
        io.run();
    });
    const analysis::await_info& await = await_of(loaded, "awaits_system");
#if defined(COROSCOPE_TEST_ASIO_HAS_SECOND_TURN)
    CHECK(await.reason == wake_reason::result);
#else
    CHECK(await.reason == wake_reason::unknown);
#endif
    CHECK(await.wake_ns >= task_named(loaded, "answers_nothing").end_ns);
    CHECK(waker_of(loaded, await).id == task_named(loaded, "answers_nothing").id);
    check_all_add_up(loaded);
}

TEST_CASE("a timer that expires while its thread is busy wakes its awaiter at the expiry, not "
          "after the busy stretch") {
    const analysis::trace loaded = record_in_time([](auto until_expiry) {
        net::io_context io;
        net::steady_timer timer(io, until_expiry);
        net::co_spawn(io, waits_for(timer), net::detached);
        net::co_spawn(io, is_busy(timer), net::detached);
        io.run();
    });
    const analysis::await_info& wait = await_of(loaded, "waits_for");
    CHECK(wait.reason == wake_reason::timer);
    CHECK(wait.waker == analysis::none);
    CHECK(woke_in(loaded, wait, "over the expiry"));
    CHECK(*wait.resume_ns >= scope_named(loaded, "after the expiry").end_ns);
    CHECK(task_named(loaded, "waits_for").time.queued_ns >= *wait.resume_ns - *wait.wake_ns);
    check_all_add_up(loaded);
}

TEST_CASE("a timer on a strand wakes its awaiter at the expiry, although the strand was busy") {
    const analysis::trace loaded = record_in_time([](auto until_expiry) {
        net::io_context io;
        const auto strand = net::make_strand(io);
        net::steady_timer timer(strand, until_expiry);
        net::co_spawn(strand, waits_for(timer), net::detached);
        net::co_spawn(strand, is_busy(timer), net::detached);
        io.run();
    });
    const analysis::await_info& wait = await_of(loaded, "waits_for");
    CHECK(wait.reason == wake_reason::timer);
    CHECK(woke_in(loaded, wait, "over the expiry"));
}

TEST_CASE("a timer that has expired before the await makes the awaiter ready at once") {
    const analysis::trace loaded = record_coroutine([]() -> net::awaitable<void> {
        net::steady_timer timer(co_await net::this_coro::executor, -5ms);
        COROSCOPE_FUNCTION();
        co_await timer.async_wait(net::use_awaitable);
        timer.expires_at(net::steady_timer::time_point::min());
        co_await timer.async_wait(net::use_awaitable);
    });
    REQUIRE(loaded.awaits.size() == 2);
    for (const analysis::await_info& await : loaded.awaits) {
        CHECK(await.reason == wake_reason::timer);
        CHECK(await.wake_ns == await.suspend_ns);
    }
}

TEST_CASE("each wait for a timer of the steady clock has a wake within the wait, on one thread and "
          "on several") {
    for (const unsigned threads : {1U, 2U, 3U, 4U}) {
        CAPTURE(threads);
        const analysis::trace loaded = record([threads] {
            net::thread_pool pool(threads);
            for (int each = 0; each < 8; ++each) {
                net::co_spawn(pool, naps_on(pool.get_executor(), 20), net::detached);
                net::co_spawn(pool, naps_on(net::make_strand(pool), 20), net::detached);
            }
            pool.join();
        });
        check_woken_by_timers(loaded, 320);
        check_all_add_up(loaded);
    }
}

TEST_CASE("a handler of a timer was ready since the expiry, or since it was given") {
    const analysis::trace loaded = record_in_time([](auto until_expiry) {
        net::io_context io;
        net::steady_timer timer(io, until_expiry);
        timer.async_wait([](net_error::error_code) { COROSCOPE("late"); });
        net::steady_timer expired(io, -3ms);
        expired.async_wait([](net_error::error_code) { COROSCOPE("at once"); });
        net::co_spawn(io, is_busy(timer), net::detached);
        io.run();
    });
    const analysis::task_info& late = owner_of(loaded, "late");
    const analysis::event& over = scope_named(loaded, "over the expiry");
    REQUIRE(late.first_wake_ns);
    CHECK(*late.first_wake_ns >= over.start_ns);
    CHECK(*late.first_wake_ns <= over.end_ns);
    const analysis::task_info& at_once = owner_of(loaded, "at once");
    CHECK(at_once.first_wake_ns == at_once.spawn_ns);
    check_all_add_up(loaded);
}

TEST_CASE("the wake of a timer with another clock is unknown") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::system_timer timer(io, 1ms);
        net::co_spawn(io, waits_for(timer), net::detached);
        io.run();
    });
    CHECK_FALSE(await_of(loaded, "waits_for").wake_ns);
}

TEST_CASE("a coroutine that cancels a timer wakes its awaiter, even if the timer expires before "
          "the awaiter goes on") {
    const auto cancelled = [](auto expiry) {
        return record_in_time([expiry](auto until_expiry) {
            net::io_context io;
            net::steady_timer timer(io, expiry(until_expiry));
            net::co_spawn(io, waits_for(timer), net::detached);
            net::co_spawn(io, cancels(timer), net::detached);
            io.run();
        });
    };
    for (const analysis::trace& loaded :
         {cancelled([](auto) { return timer_clock::now() + 1h; }),
          cancelled([](auto) { return timer_clock::time_point::max(); }),
          cancelled([](auto until_expiry) { return timer_clock::now() + until_expiry; })}) {
        const analysis::await_info& wait = await_of(loaded, "waits_for");
        CHECK(wait.reason == wake_reason::cancellation);
        CHECK(woke_in(loaded, wait, "cancelling"));
        CHECK(waker_of(loaded, wait).id == task_named(loaded, "cancels").id);
        CHECK(*wait.resume_ns >= scope_named(loaded, "after the cancelling").end_ns);
        check_all_add_up(loaded);
    }
}

TEST_CASE("each awaiter of a timer that is set anew was woken by the coroutine that sets it") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::steady_timer event(io, net::steady_timer::time_point::max());
        const auto sets = [](net::steady_timer& timer) -> net::awaitable<void> {
            COROSCOPE("setting");
            timer.expires_after(1h);
            timer.cancel();
            co_return;
        };
        for (int each = 0; each < 3; ++each) net::co_spawn(io, waits_for(event), net::detached);
        net::co_spawn(io, sets(event), net::detached);
        io.run();
    });
    const analysis::task_info& setter = owner_of(loaded, "setting");
    REQUIRE(loaded.awaits.size() == 3);
    for (const analysis::await_info& await : loaded.awaits) {
        CHECK(await.reason == wake_reason::cancellation);
        CHECK(waker_of(loaded, await).id == setter.id);
        CHECK(woke_in(loaded, await, "setting"));
    }
}

TEST_CASE("a coroutine that cancels, closes or replaces a socket wakes the reader") {
    check_ended_read(record_ended_read([](tcp_stream& of) { of.cancel(); }));
    check_ended_read(record_ended_read([](tcp_stream& of) { of.close(); }));
    check_ended_read(record_ended_read([](tcp_stream& of) { of = tcp_stream(of.get_executor()); }));
}

TEST_CASE("a handler that cancels a callback's operation was the first to make it ready") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::steady_timer timer(io, 1h);
        timer.async_wait([](net_error::error_code) { COROSCOPE("cancelled"); });
        net::post(io, [&timer] {
            {
                COROSCOPE("cancelling");
                timer.cancel();
            }
            busy(2ms);
        });
        io.run();
    });
    const analysis::task_info& task = owner_of(loaded, "cancelled");
    const analysis::event& around = scope_named(loaded, "cancelling");
    REQUIRE(task.first_wake_ns);
    CHECK(*task.first_wake_ns >= around.start_ns);
    CHECK(*task.first_wake_ns <= around.end_ns);
}

namespace {

// A read that its own timer ends, as in libraries with timeouts.
class guarded_read {
public:
    guarded_read(tcp_stream& from, net::steady_timer& timer) : from_(&from), timer_(&timer) {}

    template <class Self>
    void operator()(Self& self, net_error::error_code = {}, std::size_t = 0) {
        if (started_) {
            timer_->cancel();
            return self.complete();
        }
        started_ = true;
        timer_->async_wait([from = from_](net_error::error_code error) {
            if (!error) from->cancel();
            busy(2ms);
        });
        from_->async_read_some(net::buffer(byte, 1), std::move(self));
    }

private:
    tcp_stream* from_;
    net::steady_timer* timer_;
    static inline char byte[1];
    bool started_ = false;
};

net::awaitable<void> reads_guarded(tcp_stream& from, net::steady_timer& timer) {
    COROSCOPE_FUNCTION();
    co_await net::async_compose<const net::use_awaitable_t<>, void()>(guarded_read(from, timer),
                                                                      net::use_awaitable, from);
}

}  // namespace

TEST_CASE("a read that its own timer ends is ready since the expiry") {
    const analysis::trace loaded = record_in_time([](auto until_expiry) {
        net::io_context io;
        loopback made(io);
        net::steady_timer timer(io, until_expiry);
        net::co_spawn(io, reads_guarded(made.near, timer), net::detached);
        net::co_spawn(io, is_busy(timer), net::detached);
        io.run();
    });
    const analysis::await_info& read = await_of(loaded, "reads_guarded");
    CHECK(read.reason == wake_reason::timer);
    CHECK(woke_in(loaded, read, "over the expiry"));
    check_all_add_up(loaded);
}

#if defined(COROSCOPE_TEST_ASIO_HAS_TIMEOUTS)

TEST_CASE("an operation that cancel_after ends is ready since the timeout's expiry, and one that "
          "ends before it is not cancelled") {
    const analysis::trace loaded = record_coroutine([]() -> net::awaitable<void> {
        net::steady_timer timer(co_await net::this_coro::executor, 1h);
        COROSCOPE_FUNCTION();
        co_await timer.async_wait(net::cancel_after(2ms, net::as_tuple(net::use_awaitable)));
        timer.expires_after(1ms);
        co_await timer.async_wait(net::cancel_after(1h, net::as_tuple(net::use_awaitable)));
    });
    REQUIRE(loaded.awaits.size() == 2);
    CHECK(loaded.awaits[0].reason == wake_reason::timer);
    CHECK(loaded.awaits[1].reason != wake_reason::cancellation);
    for (const analysis::await_info& await : loaded.awaits) CHECK(await.wake_ns);
}

#endif
#if defined(COROSCOPE_TEST_ASIO_HAS_GROUPS)

namespace {

net::awaitable<void> wins(net::steady_timer& timer) {
    COROSCOPE_FUNCTION();
    co_await timer.async_wait(net::use_awaitable);
    COROSCOPE("winning");
    busy(1ms);
}

net::awaitable<void> loses(net::steady_timer& timer, bool clears) {
    COROSCOPE_FUNCTION();
    if (clears) co_await net::this_coro::reset_cancellation_state(net::enable_total_cancellation());
    co_await timer.async_wait(net::use_awaitable);
}

net::awaitable<void> first_of_two(bool clears) {
    COROSCOPE_FUNCTION();
    using namespace net::experimental::awaitable_operators;
    const auto executor = co_await net::this_coro::executor;
    net::steady_timer soon(executor, 2ms), never(executor, 1h);
    never.expires_after(2h);
    co_await (wins(soon) || loses(never, clears));
}

net::awaitable<void> gives_signal(net::cancellation_signal& given) {
    COROSCOPE_FUNCTION();
    COROSCOPE("giving the signal");
    given.emit(net::cancellation_type::terminal);
    co_return;
}

}  // namespace

TEST_CASE("the coroutine that wins in a || b wakes the other, and both wake the awaiter") {
    for (const bool clears : {false, true}) {
        CAPTURE(clears);
        const analysis::trace loaded = record_coroutine([clears] { return first_of_two(clears); });
        const analysis::task_info& winner = task_named(loaded, "wins");
        const analysis::await_info& lost = await_of(loaded, "loses");
        CHECK(lost.reason == wake_reason::cancellation);
        REQUIRE(lost.wake_ns);
        CHECK(waker_of(loaded, lost).id == winner.id);
        REQUIRE(winner.end_ns);
        CHECK(*lost.wake_ns >= *winner.end_ns);
        CHECK(await_of(loaded, "wins").reason == wake_reason::timer);
        CHECK(waker_of(loaded, await_of(loaded, "first_of_two")).id ==
              task_named(loaded, "loses").id);
    }
}

TEST_CASE("a coroutine that gives a cancellation signal to a co_spawn wakes its await") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::steady_timer timer(io, 1h);
        net::cancellation_signal given;
        net::co_spawn(io, waits_for(timer),
                      net::bind_cancellation_slot(given.slot(), net::detached));
        net::co_spawn(io, gives_signal(given), net::detached);
        io.run();
    });
    const analysis::await_info& wait = await_of(loaded, "waits_for");
    CHECK(wait.reason == wake_reason::cancellation);
    CHECK(waker_of(loaded, wait).id == task_named(loaded, "gives_signal").id);
    CHECK(woke_in(loaded, wait, "giving the signal"));
}

namespace {

// The second wait is cancelled by a signal of its own, right after this coroutine, and before it
// another one, has cancelled waits for the same timer.
net::awaitable<void> waits_for_signal(net::steady_timer& timer, net::cancellation_signal& given) {
    COROSCOPE_FUNCTION();
    timer.expires_after(0ms);
    co_await timer.async_wait(net::use_awaitable);
    timer.expires_after(1h);
    net::steady_timer later(timer.get_executor(), 3ms);
    later.async_wait(
        [&given](net_error::error_code) { given.emit(net::cancellation_type::terminal); });
    try {
        co_await timer.async_wait(net::bind_cancellation_slot(given.slot(), net::use_awaitable));
    } catch (const net_error::system_error&) {  // cancelled
    }
}

}  // namespace

TEST_CASE("an operation that a signal of its own cancels has no known wake, although operations on "
          "its timer were cancelled shortly before") {
    const analysis::trace loaded = record([] {
        net::io_context io;
        net::steady_timer timer(io, 1h);
        net::cancellation_signal given;
        timer.async_wait([](net_error::error_code) {});
        net::co_spawn(io, waits_for_signal(timer, given), net::detached);
        io.run();
    });
    const analysis::task_info& task = task_named(loaded, "waits_for_signal");
    REQUIRE(task.awaits.size() == 2);
    const analysis::await_info& wait = loaded.awaits[task.awaits.back()];
    CHECK(wait.reason == wake_reason::unknown);
    CHECK_FALSE(wait.wake_ns);
}

#endif
