// SPDX-License-Identifier: Apache-2.0

// Promise types that use less common parts of the language: parameters, and starts that fail or do
// not suspend.

#include <coroscope/instrumented.hpp>

#include <coroutine>
#include <stdexcept>
#include <string>

#include "../support/promises.hpp"
#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// --- constructed from the coroutine's parameters ----------------------------------------------------

struct from_parameters : lazy_base<from_parameters> {
    from_parameters(const std::string& name, int& count) : name_seen(name), count_seen(&count) {
        ++count;
    }
    owner<from_parameters> get_return_object() {
        return owner<from_parameters>(std::coroutine_handle<from_parameters>::from_promise(*this));
    }
    std::string name_seen;
    int* count_seen;
};
owner<from_parameters> takes_name([[maybe_unused]] std::string name, [[maybe_unused]] int& count) {
    co_return;
}

struct has_member_coroutine {
    int seen = 0;
    owner<struct from_object> member(int value);
};
struct from_object : lazy_base<from_object> {
    from_object(has_member_coroutine& object, int value) { object.seen = value; }
    owner<from_object> get_return_object() {
        return owner<from_object>(std::coroutine_handle<from_object>::from_promise(*this));
    }
};
owner<from_object> has_member_coroutine::member([[maybe_unused]] int value) { co_return; }

// --- exceptions around the start --------------------------------------------------------------------

struct throws_at_start : lazy_base<throws_at_start> {
    struct start {
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<>) const {
            throw std::runtime_error("cannot start");
        }
        void await_resume() const noexcept {}
    };
    start initial_suspend() const noexcept { return {}; }
    owner<throws_at_start> get_return_object() { return owner<throws_at_start>(nullptr); }
};
owner<throws_at_start> cannot_start() { co_return; }

struct conditional_start : lazy_base<conditional_start> {
    struct start {
        bool await_ready() const noexcept { return false; }
        bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
        void await_resume() const noexcept {}
    };
    start initial_suspend() const noexcept { return {}; }
    owner<conditional_start> get_return_object() {
        return owner<conditional_start>(
            std::coroutine_handle<conditional_start>::from_promise(*this));
    }
};
owner<conditional_start> starts_after_all() {
    COROSCOPE("started after all");
    co_return;
}

}  // namespace

TEST_SUITE("promises") {
    TEST_CASE("a promise may be constructed from the coroutine's parameters") {
        int count = 0;
        auto coroutine = takes_name("given", count);
        CHECK(coroutine.handle.promise().name_seen == "given");
        CHECK(coroutine.handle.promise().count_seen == &count);
        CHECK(count == 1);
        has_member_coroutine object;
        auto member = object.member(8);
        CHECK(object.seen == 8);
        run(member);
    }

    TEST_CASE("a coroutine whose start throws is a cancelled task") {
        recording session;
        CHECK_THROWS_AS(cannot_start(), std::runtime_error);
        CHECK(current_context().task == 0);
        const recorded found = session.stop();
        CHECK(found.task("cannot_start").state == analysis::task_state::cancelled);
    }

    TEST_CASE("an initial awaiter that does not suspend starts the task") {
        recording session;
        {
            auto coroutine = starts_after_all();
            CHECK(coroutine.handle.done());
            CHECK(current_context().task == 0);
        }
        const recorded found = session.stop();
        CHECK(found.task("starts_after_all").state == analysis::task_state::finished);
        CHECK(found.event("started after all").task == found.task_index("starts_after_all"));
    }
}
