// SPDX-License-Identifier: Apache-2.0

// Move-only and awaitable senders, senders from namespaces with functions of our names, and senders
// that declare their values by nested templates.

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/senders.hpp>

#include <coroutine>

#include "../runtime/support/foreign.hpp"
#include "support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

struct plain_receiver {
    int* into;
    void set_value(int value) && noexcept { *into = value; }
    void set_done() && noexcept { *into = -1; }
    void set_next(int value) & noexcept { *into += value; }
};

template <class Receiver>
struct plain_operation {
    Receiver to;
    int value;
    void start() noexcept { std::move(to).set_value(value); }
};

/// Sends the number of the connect() that was called. Only the one for rvalues is noexcept.
struct by_category {
    using sender_concept = void;
    template <class Receiver>
    auto connect(Receiver to) && noexcept {
        return plain_operation<Receiver>{std::move(to), 1};
    }
    template <class Receiver>
    auto connect(Receiver to) & {
        return plain_operation<Receiver>{std::move(to), 2};
    }
    template <class Receiver>
    auto connect(Receiver to) const& {
        return plain_operation<Receiver>{std::move(to), 3};
    }
};
struct only_rvalue {
    using sender_concept = void;
    only_moves kept = only_moves(4);
    template <class Receiver>
    auto connect(Receiver to) && {
        return plain_operation<Receiver>{std::move(to), *kept.value};
    }
};

template <class Sender>
concept connects = requires(Sender&& sender, plain_receiver to) {
    static_cast<Sender&&>(sender).connect(static_cast<plain_receiver&&>(to));
};

template <class Sender>
int result_of(Sender&& sender) {
    int result = 0;
    auto operation = static_cast<Sender&&>(sender).connect(plain_receiver{&result});
    operation.start();
    return result;
}

/// Throws once, as receivers of some libraries may. The operation then completes it with the error.
struct throwing_receiver {
    int* errors;
    void set_value(int) && { throw an_error("refused"); }
    void set_error(std::exception_ptr) && noexcept { ++*errors; }
};
struct tells_errors {
    using sender_concept = void;
    template <class Receiver>
    struct operation {
        Receiver to;
        void start() noexcept {
            try {
                std::move(to).set_value(1);
            } catch (...) {
                std::move(to).set_error(std::current_exception());
            }
        }
    };
    template <class Receiver>
    auto connect(Receiver to) const {
        return operation<Receiver>{std::move(to)};
    }
};

/// Gives the handle of the awaiting coroutine to the test.
struct plain_awaitable {
    std::coroutine_handle<>* waits;
    struct awaiter {
        std::coroutine_handle<>* waits;
        bool await_ready() const noexcept { return waits == nullptr; }
        void await_suspend(std::coroutine_handle<> coroutine) const noexcept { *waits = coroutine; }
        only_moves await_resume() const { return only_moves(6); }
    };
    awaiter operator co_await() const noexcept { return {waits}; }
};

/// Declares its values like libunifex's senders.
struct with_value_types {
    template <template <class...> class Variant, template <class...> class Tuple>
    using value_types = Variant<Tuple<int>>;
    template <template <class...> class Variant, template <class...> class Tuple>
    using next_types = Variant<Tuple<int>>;
    template <template <class...> class Variant>
    using error_types = Variant<>;
    static constexpr bool sends_done = true;
    static constexpr int blocking = 2;
    static constexpr bool is_always_scheduler_affine = true;
    template <class Receiver>
    struct operation {
        Receiver to;
        void start() noexcept {
            to.set_next(20);
            std::move(to).set_done();
        }
    };
    template <class Receiver>
    auto connect(Receiver to) const {
        return operation<Receiver>{std::move(to)};
    }
};
template <class...>
struct list {};

}  // namespace

// A library that uses each of our names for other functions.
namespace hostile {
template <class... Any>
void connect(Any&&...) = delete;
template <class... Any>
void start(Any&&...) = delete;
template <class... Any>
void set_value(Any&&...) = delete;
template <class... Any>
void set_error(Any&&...) = delete;
template <class... Any>
void set_stopped(Any&&...) = delete;
template <class... Any>
void get_env(Any&&...) = delete;
template <class... Any>
void traced(Any&&...) = delete;
template <class... Any>
void moved(Any&&...) = delete;
template <class... Any>
void get_awaiter(Any&&...) = delete;
template <class... Any>
void resume_value(Any&&...) = delete;
template <class Any>
void operator&(Any&&) = delete;
template <class One, class Other>
void operator,(One&&, Other&&) = delete;

struct receiver {
    int* into;
    void set_value(int value) && noexcept { *into = value; }
    void set_stopped() && noexcept { *into = -1; }
    int get_env() const noexcept { return 7; }
};
struct sender {
    using sender_concept = void;
    template <class Receiver>
    struct operation {
        Receiver to;
        void start() noexcept { std::move(to).set_value(to.get_env()); }
    };
    template <class Receiver>
    auto connect(Receiver to) const noexcept {
        return operation<Receiver>{std::move(to)};
    }
    int get_env() const noexcept { return 8; }
};
struct awaitable {
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    int await_resume() const noexcept { return 9; }
};
}  // namespace hostile

namespace {
foreign::manual<foreign::declared> awaits(std::coroutine_handle<>* waits, int& result) {
    only_moves value = co_await traced(plain_awaitable{waits}, "operation");
    COROSCOPE("after it");
    result = *value.value;
}
foreign::manual<foreign::declared> awaits_hostile(int& result) {
    result = co_await coroscope::traced(hostile::awaitable(), "operation");
}
}  // namespace

TEST_SUITE("kinds of senders") {
    TEST_CASE(
        "a sender is connected with its value category: as an rvalue, an lvalue or a constant") {
        recording session;
        auto sender = traced(by_category(), "operation");
        CHECK(result_of(sender) == 2);
        CHECK(result_of(std::as_const(sender)) == 3);
        // NOLINTNEXTLINE(performance-move-const-arg): the value category is tested
        CHECK(result_of(std::move(sender)) == 1);
        CHECK(session.stop().count("operation") == 3);

        using with_range = range_sender<by_category>;
        static_assert(noexcept(std::declval<with_range>().connect(plain_receiver())));
        static_assert(!noexcept(std::declval<with_range&>().connect(plain_receiver())));

        static_assert(connects<range_sender<only_rvalue>>);
        static_assert(!connects<range_sender<only_rvalue>&>);
        static_assert(!connects<const range_sender<only_rvalue>&>);
        CHECK(result_of(traced(only_rvalue(), "operation")) == 4);
    }

    TEST_CASE("a receiver that throws and then gets the error has one range") {
        recording session;
        int errors = 0;
        auto operation = traced(tells_errors(), "operation").connect(throwing_receiver{&errors});
        operation.start();
        CHECK(errors == 1);
        CHECK((session.stop().event("operation").flags & analysis::event_open) == 0);
    }

    TEST_CASE(
        "a traced awaitable is an awaitable, and its range ends before the coroutine goes on") {
        recording session;
        int result = 0;
        std::coroutine_handle<> waits;
        auto waiting = awaits(&waits, result);
        waiting.resume();
        {
            const record_function meanwhile("meanwhile");
        }
        waits.resume();
        CHECK(result == 6);
        auto destroyed = std::make_unique<decltype(waiting)>(awaits(&waits, result));
        destroyed->resume();
        destroyed.reset();
        auto hostile = awaits_hostile(result);
        hostile.resume();
        CHECK(result == 9);

        const recorded found = session.stop();
        const auto ranges = found.events("operation");
        REQUIRE(ranges.size() == 3);
        for (const analysis::event* each : ranges) {
            CHECK((each->flags & analysis::event_open) == 0);
        }
        CHECK(ranges[0]->end_ns >= found.event("meanwhile").end_ns);
        CHECK(ranges[0]->end_ns <= found.event("after it").start_ns);
    }

    TEST_CASE(
        "the declarations of libunifex's senders are passed on, and so are set_next and set_done") {
        using with_range = range_sender<with_value_types>;
        static_assert(is_sender<with_value_types> && is_sender<with_range>);
        static_assert(std::is_same_v<with_range::value_types<list, list>, list<list<int>>>);
        static_assert(std::is_same_v<with_range::next_types<list, list>, list<list<int>>>);
        static_assert(std::is_same_v<with_range::error_types<list>, list<>>);
        static_assert(with_range::sends_done && with_range::blocking == 2 &&
                      with_range::is_always_scheduler_affine);
        CHECK(result_of(traced(with_value_types(), "operation")) == -1);
    }

    TEST_CASE(
        "functions with our names in the namespaces of senders and receivers are not called") {
        recording session;
        int result = 0;
        auto sender = coroscope::traced(hostile::sender(), "operation");
        CHECK(sender.get_env() == 8);
        auto operation = sender.connect(hostile::receiver{&result});
        operation.start();
        CHECK(result == 7);
        CHECK(session.stop().count("operation") == 1);
    }
}
