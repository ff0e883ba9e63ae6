// SPDX-License-Identifier: Apache-2.0

// Hundreds of trees of work at once on four threads, each with an attribute of its own. Every tree
// goes through coroutine, thread pool, future, fiber, Asio timer and coroutine again, ten times.
// Each step checks that it has the context of its tree.
//
// Built twice: with Asio's handler tracking, which makes each post and timer a task, and without.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <coroscope/coroscope.hpp>
#include <coroscope/future.hpp>
#include <coroscope/integration/boost_context.hpp>

#include "../runtime/support/build.hpp"
#include "../runtime/support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace net = boost::asio;

namespace {

constexpr int trees = thread_sanitized ? 200 : 1000;
constexpr int rounds = 10;
constexpr unsigned threads = 4;
constexpr int checks_per_round = 12;

std::atomic<int> checks{0};
std::atomic<int> wrong{0};

// Checks that this is the context of tree `id`.
void check(int id) {
    const attribute_value found = current_attribute("tree");
    int carried = -1;
    if (found) std::from_chars(found.data(), found.data() + found.size(), carried);
    if (carried != id || current_context().task == 0) wrong.fetch_add(1);
    checks.fetch_add(1);
}

struct poster {
    net::thread_pool* pool;
    template <class Job>
    void post(Job&& job) {
        net::post(*pool, static_cast<Job&&>(job));
    }
};
using executor = executor_adaptor<poster>;

// A coroutine type of another library, without an awaiter.
struct detached {
    struct promise_type {
        detached get_return_object() const noexcept { return {}; }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { wrong.fetch_add(1); }
    };
};

}  // namespace

COROSCOPE_INSTRUMENT_COROUTINE(detached);

namespace {

// Resumes its coroutine after a fiber, which runs half here and half in the pool.
class fiber_hop {
public:
    fiber_hop(executor& pool, int id)
        : pool_(&pool), work_([id](fiber::handle& self) {
              check(id);
              self.suspend();
              check(id);
          }) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
        work_.resume();
        work_.ready();
        pool_->execute([this, waiter] {
            work_.resume();
            waiter.resume();
        });
    }
    void await_resume() const noexcept {}

private:
    executor* pool_;
    fiber work_;
};

class timer_hop {
public:
    timer_hop(net::thread_pool& pool, int id)
        : timer_(pool, std::chrono::microseconds(50)), id_(id) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
        timer_.async_wait(propagate([id = id_, waiter](const boost::system::error_code&) {
            check(id);
            waiter.resume();
        }));
    }
    void await_resume() const noexcept {}

private:
    net::steady_timer timer_;
    int id_;
};

task<int> leaf(int id) {
    COROSCOPE("leaf");
    check(id);
    co_return id;
}

task<int> asks_a_future(executor& pool, int id) {
    COROSCOPE("asks a future");
    check(id);
    auto answer = std::make_shared<promise<int>>();
    future<int> pending = answer->get_future();
    pool.execute([answer, id] {
        COROSCOPE("answers");
        check(id);
        answer->set_value(id);
    });
    const range query("query");
    const int result = co_await call_end_callbacks_on_future(query, std::move(pending));
    check(id);
    co_return result;
}

task<void> grow(net::thread_pool& threads_of, executor& pool, int id) {
    COROSCOPE("tree");
    for (int round = 0; round < rounds; ++round) {
        co_await pool.schedule();
        check(id);
        if (co_await asks_a_future(pool, id) != id) wrong.fetch_add(1);
        check(id);
        co_await fiber_hop(pool, id);
        check(id);
        co_await timer_hop(threads_of, id);
        check(id);
        if (co_await leaf(id) != id) wrong.fetch_add(1);
        check(id);
    }
}

detached plant(net::thread_pool& threads_of, executor& pool, int id) {
    const attribute tree("tree", id);
    check(id);
    co_await pool.schedule();
    check(id);
    co_await grow(threads_of, pool, id);
    check(id);
}

// A task and its descendants as one line: their sites, in an order that does not depend on time.
// The job that answers a future is left out: it is a task of its own only if it was done before the
// await.
class outline {
public:
    explicit outline(const recorded& found) : found_(found), children_(found.trace.tasks.size()) {
        for (std::uint32_t task = 0; task < found.trace.tasks.size(); ++task) {
            const std::uint32_t parent = found.trace.tasks[task].parent;
            if (parent != analysis::none) children_[parent].push_back(task);
        }
    }

    std::string of(std::uint32_t task) {
        ++seen_;
        if (tree_of(task) != tree_) ++strangers_;
        std::vector<std::string> below;
        for (const std::uint32_t child : children_[task]) below.push_back(of(child));
        std::sort(below.begin(), below.end());
        if (found_.trace.tasks[task].job) {
            if (!children_[task].empty()) ++strangers_;
            return "";
        }
        std::string line = found_.site_label(found_.trace.tasks[task].spawn_site) + "(";
        for (const std::string& each : below) line += each;
        return line + ")";
    }

    std::string of_tree(std::uint32_t root) {
        tree_ = tree_of(root);
        return of(root);
    }

    std::string tree_of(std::uint32_t task) const {
        const std::uint32_t value =
            analysis::attribute_value(found_.trace, found_.trace.tasks[task].attribute, "tree");
        return value == analysis::none ? "" : found_.trace.strings[value];
    }

    std::size_t seen() const { return seen_; }
    std::size_t strangers() const { return strangers_; }

private:
    const recorded& found_;
    std::vector<std::vector<std::uint32_t>> children_;
    std::string tree_;
    std::size_t seen_ = 0;
    std::size_t strangers_ = 0;
};

}  // namespace

TEST_SUITE("matrix") {
    TEST_CASE("hundreds of trees of work keep their contexts through every kind of hop") {
        recording session;
        {
            net::thread_pool threads_of(threads);
            executor pool(poster{&threads_of});
            for (int id = 0; id < trees; ++id) plant(threads_of, pool, id);
            CHECK(!current_attribute("tree"));
            threads_of.join();
        }
        CHECK(wrong.load() == 0);
        CHECK(checks.load() == trees * (3 + rounds * checks_per_round));
        CHECK(checks.load() >= trees * 100);

        const recorded found = session.stop();
        outline lines(found);
        std::map<std::string, int> shapes;
        std::map<std::string, int> names;
        const std::vector<std::uint32_t> roots = found.tasks("plant");
        REQUIRE(roots.size() == trees);
        for (const std::uint32_t root : roots) {
            CHECK(found.trace.tasks[root].parent == analysis::none);
            ++names[lines.tree_of(root)];
            ++shapes[lines.of_tree(root)];
        }
        CHECK(names.size() == trees);
        CHECK(lines.strangers() == 0);
        CHECK(lines.seen() == found.trace.tasks.size());
        CAPTURE(shapes.begin()->first);
        CHECK(shapes.size() == 1);
        for (const analysis::task_info& task : found.trace.tasks) {
            CHECK(task.state == analysis::task_state::finished);
            CHECK(task.time.wall_ns() == *task.end_ns - *task.first_wake_ns);
        }
        CHECK(found.count("query") == trees * rounds);
        CHECK(found.count("leaf") == trees * rounds);
    }
}
