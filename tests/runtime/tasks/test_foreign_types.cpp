// SPDX-License-Identifier: Apache-2.0

// Coroutine types of other libraries, each instrumented in its declaration and from outside: they
// behave as before, and each coroutine is a task.

#include <coroscope/instrumented.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/recording.hpp"

// A library whose namespace has the name of a namespace in std: inside std the library's namespace
// would be hidden.
namespace chrono {
template <class T>
struct once {
    struct promise_type {
        once get_return_object() noexcept { return once(handle::from_promise(*this)); }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_always final_suspend() const noexcept { return {}; }
        void unhandled_exception() const noexcept {}
        void return_value(T result) noexcept { value = result; }
        T value{};
    };
    using handle = std::coroutine_handle<promise_type>;
    explicit once(handle of) noexcept : coroutine_(of) {}
    once(const once&) = delete;
    once& operator=(const once&) = delete;
    ~once() { coroutine_.destroy(); }
    T value() const { return coroutine_.promise().value; }

private:
    handle coroutine_;
};
}  // namespace chrono
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), chrono::once<T>);

// A library whose coroutine types have no promise_type. It specialises the traits, with a special
// case for one parameter list.
namespace own_traits {
template <class T>
struct result {
    explicit result(T& of) noexcept : value(&of) {}
    T* value;
};
struct on_its_own {};
template <class T>
struct promise {
    result<T> get_return_object() noexcept { return result<T>(into); }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void unhandled_exception() const noexcept {}
    void return_value(T value) noexcept { into = value; }
    static inline T into{};
};
template <class T>
struct other_promise : promise<T> {
    void return_value(T value) noexcept { this->into = -value; }
};
}  // namespace own_traits
template <class T, class... Parameters>
struct std::coroutine_traits<own_traits::result<T>, Parameters...> {
    using promise_type = own_traits::promise<T>;
};
template <class T, class... Parameters>
struct std::coroutine_traits<own_traits::result<T>, own_traits::on_its_own, Parameters...> {
    using promise_type = own_traits::other_promise<T>;
};
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), own_traits::result<T>);
COROSCOPE_INSTRUMENT_COROUTINE_TEMPLATE((class T), own_traits::result<T>, own_traits::on_its_own);

using namespace coroscope;
using namespace coroscope::test;

namespace {

chrono::once<int> once() { co_return 3; }

own_traits::result<int> by_its_traits(int value) { co_return value; }
own_traits::result<int> by_others(own_traits::on_its_own, int value) { co_return value; }

template <class Way>
foreign::lazy<int, Way> lazy_leaf(int value) {
    COROSCOPE("leaf");
    if (value < 0) throw std::runtime_error("negative");
    co_return value;
}
template <class Way>
foreign::lazy<std::string, Way> lazy_root() {
    COROSCOPE("root");
    int sum = co_await lazy_leaf<Way>(1);
    sum += co_await lazy_leaf<Way>(2);
    try {
        sum += co_await lazy_leaf<Way>(-1);
    } catch (const std::runtime_error&) {
        sum += 10;
    }
    const int depth = co_await foreign::own_depth;
    co_return std::to_string(sum) + "/" + std::to_string(depth);
}

template <class Way>
foreign::eager<int, Way> eager_source(slot& into) {
    COROSCOPE("source");
    co_await suspend_into(into);
    co_return 5;
}
template <class Way>
foreign::eager<std::unique_ptr<int>, Way> eager_user(slot& into) {
    COROSCOPE("user");
    auto source = eager_source<Way>(into);
    co_return std::make_unique<int>(co_await source + 1);
}
template <class Way>
foreign::eager<int, Way> eager_failure() {
    throw std::runtime_error("eagerly");
    co_return 1;
}

struct pair_of {
    pair_of() noexcept {}
    pair_of(int left_value, int right_value) noexcept : left(left_value), right(right_value) {}
    int left = 0;
    int right = 0;
};
template <class Way>
foreign::generator<pair_of, Way> pairs(int count) {
    COROSCOPE("pairs");
    for (int each = 0; each < count; ++each) co_yield {each, -each};
    co_yield pair_of(100, 100);
}
template <class Way>
foreign::generator<int, Way> failing_generator() {
    co_yield 1;
    throw std::runtime_error("generated");
}

foreign::fire_and_forget detached(slot& into, int& sum) {
    COROSCOPE("detached");
    sum += 1;
    co_await suspend_into(into);
    sum += 1;
}

template <class Way>
foreign::manual<Way> consumes_generator(int& sum) {
    auto all = pairs<Way>(3);
    while (all.next()) sum += all.value().left;
    co_return;
}

/// Resumes another coroutine, then its own one, before its await_suspend returns, like an operation
/// that starts others and completes at once.
struct completes_inside {
    std::coroutine_handle<> other;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> self) const {
        other.resume();
        self.resume();
    }
    void await_resume() const noexcept {}
};
template <class Way>
foreign::manual<Way> completed_inside(std::coroutine_handle<> other) {
    COROSCOPE("whole");
    co_await completes_inside{other};
    COROSCOPE("behind");
}
template <class Way>
foreign::manual<Way> suspended_inside(slot& into) {
    co_await suspend_into(into);
}

// The frame of a coroutine handle that a library makes from the address of its own handle.
template <class Way>
foreign::manual<Way> nothing_to_do() {
    co_return;
}

}  // namespace

TYPE_TO_STRING_AS("plain", foreign::plain);
TYPE_TO_STRING_AS("declared", foreign::declared);
TYPE_TO_STRING_AS("outside", foreign::outside);

TEST_SUITE("foreign coroutine types") {
    TEST_CASE_TEMPLATE("a lazy type behaves as without instrumentation", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        {
            auto root = lazy_root<Way>();
            CHECK(foreign::lazy_frames.live <= 1);  // none if the compiler elided it
            root.start();
            REQUIRE(root.done());
            CHECK(root.take() == "13/3");
        }
        CHECK(foreign::lazy_frames.live == 0);
    }

    TEST_CASE_TEMPLATE("a lazy type's coroutines are tasks with scopes and awaits", Way,
                       foreign::declared, foreign::outside) {
        recording session;
        {
            auto root = lazy_root<Way>();
            root.start();
            CHECK(root.take() == "13/3");
        }
        const recorded found = session.stop();
        const std::uint32_t root = found.task_index("lazy_root");
        const auto leaves = found.tasks("lazy_leaf");
        REQUIRE(leaves.size() == 3);
        CHECK(found.trace.tasks[leaves[0]].state == analysis::task_state::finished);
        CHECK(found.trace.tasks[leaves[2]].state == analysis::task_state::failed);
        CHECK(found.trace.tasks[root].state == analysis::task_state::finished);
        for (const std::uint32_t leaf : leaves) CHECK(found.trace.tasks[leaf].parent == root);
        CHECK(found.trace.tasks[root].slices.size() == 4);
        const auto awaits = found.awaits(found.trace.tasks[root]);
        REQUIRE(awaits.size() == 3);
        for (const auto& each : awaits) CHECK(each.wake_ns == each.resume_ns);  // by transfer
        CHECK(found.event("root").task == root);
        const auto scopes = found.events("leaf");
        REQUIRE(scopes.size() == 3);
        for (std::size_t at = 0; at < 3; ++at) CHECK(scopes[at]->task == leaves[at]);
        const auto& scope = found.event("root");
        CHECK((scope.flags & analysis::event_suspension_unknown) == 0);
        CHECK(found.split(scope).waiting_ns == 0);
        CHECK(found.split(scope).suspended_ns > 0);
    }

    TEST_CASE_TEMPLATE("an eager type behaves as without instrumentation", Way, foreign::plain,
                       foreign::declared, foreign::outside) {
        slot into;
        auto user = eager_user<Way>(into);
        CHECK_FALSE(user.done());
        into.resume();
        REQUIRE(user.done());
        CHECK(*user.await_resume() == 6);
        CHECK_THROWS_AS(eager_failure<Way>().await_resume(), std::runtime_error);
    }

    TEST_CASE_TEMPLATE(
        "an eager type's coroutines are tasks, and a coroutine that starts another is its parent",
        Way, foreign::declared, foreign::outside) {
        recording session;
        slot into;
        auto user = eager_user<Way>(into);
        CHECK(current_context().task == 0);
        into.resume();
        CHECK(current_context().task == 0);
        CHECK_THROWS_AS(eager_failure<Way>().await_resume(), std::runtime_error);
        const recorded found = session.stop();
        const std::uint32_t user_task = found.task_index("eager_user");
        const std::uint32_t source_task = found.task_index("eager_source");
        CHECK(found.trace.tasks[source_task].parent == user_task);
        CHECK(found.trace.tasks[user_task].state == analysis::task_state::finished);
        CHECK(found.trace.tasks[source_task].state == analysis::task_state::finished);
        CHECK(found.task("eager_failure").state == analysis::task_state::failed);
        CHECK(found.event("user").task == user_task);
        CHECK(found.event("source").task == source_task);
        // The user resumes inside the completion of the source, which goes on afterwards.
        const auto& outer = found.trace.slices[found.trace.tasks[source_task].slices.back()];
        const auto& inner = found.trace.slices[found.trace.tasks[user_task].slices.back()];
        CHECK(inner.end_ns <= outer.start_ns);
    }

    TEST_CASE_TEMPLATE("a generator behaves as without instrumentation, with braces, too", Way,
                       foreign::plain, foreign::declared, foreign::outside) {
        auto all = pairs<Way>(2);
        REQUIRE(all.next());
        CHECK(all.value().right == 0);
        REQUIRE(all.next());
        CHECK(all.value().right == -1);
        REQUIRE(all.next());
        CHECK(all.value().left == 100);
        CHECK_FALSE(all.next());
        auto fails = failing_generator<Way>();
        REQUIRE(fails.next());
        CHECK_THROWS_AS(fails.next(), std::runtime_error);
    }

    TEST_CASE_TEMPLATE(
        "a generator's coroutine is a task that runs while its consumer is suspended", Way,
        foreign::declared, foreign::outside) {
        recording session;
        int sum = 0;
        consumes_generator<Way>(sum).resume();
        CHECK(sum == 103);
        const recorded found = session.stop();
        const auto& consumer = found.task("consumes_generator");
        const auto& produced = found.task("pairs");
        CHECK(produced.parent == found.task_index("consumes_generator"));
        CHECK(produced.slices.size() == 5);
        CHECK(produced.state == analysis::task_state::finished);
        CHECK(consumer.slices.size() == 6);
        CHECK(consumer.time.suspended_ns == produced.time.running_ns);
        CHECK(found.event("pairs").task == found.task_index("pairs"));
        CHECK(found.awaits(produced).size() == 4);
    }

    TEST_CASE_TEMPLATE("a generator that lets an exception through has failed, and its thread runs "
                       "no task afterwards",
                       Way, foreign::declared, foreign::outside) {
        recording session;
        {
            auto fails = failing_generator<Way>();
            CHECK(fails.next());
            CHECK_THROWS_AS(fails.next(), std::runtime_error);
            CHECK(current_context().task == 0);
            COROSCOPE("afterwards");
        }
        const recorded found = session.stop();
        CHECK(found.task("failing_generator").state == analysis::task_state::failed);
        CHECK(found.event("afterwards").task == analysis::none);
    }

    TEST_CASE("a coroutine that frees its own frame is a task until its end") {
        recording session;
        slot into;
        int sum = 0;
        detached(into, sum);
        into.resume();
        CHECK(sum == 2);
        const recorded found = session.stop();
        CHECK(found.task("detached").state == analysis::task_state::finished);
        CHECK(found.task("detached").slices.size() == 2);
        CHECK(found.event("detached").task == found.task_index("detached"));
    }

    TEST_CASE_TEMPLATE(
        "a handle of the library's own promise type finds the promise in an instrumented frame",
        Way, foreign::declared, foreign::outside) {
        using promise = typename foreign::manual<Way>::promise;
        auto coroutine = nothing_to_do<Way>();
        const auto again = std::coroutine_handle<promise>::from_address(coroutine.handle.address());
        const auto ours =
            std::coroutine_handle<instrumented<promise>>::from_address(coroutine.handle.address());
        CHECK(static_cast<void*>(&again.promise()) == static_cast<void*>(&ours.promise()));
        CHECK(&again.promise() == &ours.coroscope_promise().promise());
        CHECK(std::coroutine_handle<promise>::from_promise(again.promise()) == coroutine.handle);
        coroutine.resume();
        CHECK(again.done());
    }

    TEST_CASE_TEMPLATE("a coroutine that is resumed inside its own await_suspend loses nothing",
                       Way, foreign::declared, foreign::outside) {
        recording session;
        slot into;
        auto other = suspended_inside<Way>(into);
        auto coroutine = completed_inside<Way>(other.handle);
        coroutine.resume();
        CHECK(coroutine.done());
        into.resume();
        const recorded found = session.stop();
        for (const char* name : {"completed_inside", "suspended_inside"}) {
            const auto& task = found.task(name);
            CHECK_FALSE(task.losses);
            CHECK(task.state == analysis::task_state::finished);
            CHECK(task.slices.size() == 2);
            check_sum(task, found.trace.duration_ns);
        }
        CHECK(found.event("behind").task == found.task_index("completed_inside"));
    }

    TEST_CASE("a type whose library specialises the traits is instrumented from outside, too") {
        recording session;
        CHECK(*by_its_traits(4).value == 4);
        CHECK(*by_others({}, 5).value == -5);
        const recorded found = session.stop();
        CHECK(found.task("by_its_traits").state == analysis::task_state::finished);
        CHECK(found.task("by_others").state == analysis::task_state::finished);
    }

    TEST_CASE("a type is instrumented from outside with any name of its namespace") {
        recording session;
        CHECK(once().value() == 3);
        CHECK(session.stop().task("once").state == analysis::task_state::finished);
    }
}
