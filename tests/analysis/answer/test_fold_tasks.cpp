// SPDX-License-Identifier: Apache-2.0
// Tasks that are folded into the task above them: the remaining tasks, and the figures that the
// folded tasks leave.

#include <doctest/doctest.h>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/views.hpp>

#include <string>
#include <utility>
#include <vector>

#include "../small_traces.hpp"

namespace analysis = coroscope::analysis;
using analysis::none;
using coroscope_tests::scope_at;

namespace {

constexpr std::uint8_t coroutine = 3;
enum sites : std::uint32_t { handle, gather, fetch, store, in_handle, in_gather, in_fetch };
enum tasks : std::uint32_t { handler, gatherer, fetcher, storer };

void add_task(analysis::trace& to, std::uint32_t site, std::uint32_t above,
              const std::vector<std::pair<std::int64_t, std::int64_t>>& runs,
              const std::vector<analysis::await_info>& awaits) {
    const auto at = static_cast<std::uint32_t>(to.tasks.size());
    analysis::task_info& task = to.tasks.emplace_back();
    task.id = at + 1;
    task.spawn_site = site;
    task.parent = task.awaiter = above;
    task.first_wake_ns = runs.front().first;
    task.end_ns = runs.back().second;
    task.state = analysis::task_state::finished;
    task.slices = {static_cast<std::uint32_t>(to.slices.size()),
                   static_cast<std::uint32_t>(runs.size())};
    task.awaits = {static_cast<std::uint32_t>(to.awaits.size()),
                   static_cast<std::uint32_t>(awaits.size())};
    for (const auto& [from, until] : runs) {
        to.slices.push_back({from, until, at, 0});
        task.time.running_ns += until - from;
    }
    for (analysis::await_info each : awaits) {
        each.task = at;
        to.awaits.push_back(each);
        task.time.suspended_ns += *each.resume_ns - each.suspend_ns;
    }
}

analysis::await_info await_of(std::uint32_t site, std::uint32_t awaited, std::uint32_t waker,
                              std::int64_t from, std::int64_t until) {
    analysis::await_info made;
    made.site = site;
    made.awaited = awaited;
    made.waker = waker;
    made.suspend_ns = from;
    made.wake_ns = made.resume_ns = until;
    return made;
}

/// A handler awaits a library's coroutine, which awaits a fetcher and a storer one after the other.
analysis::trace gathering() {
    analysis::trace made = coroscope_tests::empty_trace();
    made.duration_ns = 1000;
    made.sites = {{"app::handle", "", "app.cpp", 1, "", "", coroutine},
                  {"async_simple::coro::collectAll", "", "Collect.h", 2, "", "", coroutine},
                  {"app::fetch", "", "app.cpp", 3, "", "", coroutine},
                  {"app::store", "", "app.cpp", 4, "", "", coroutine},
                  {"co_await in app::handle", "", "app.cpp", 5, "", "", 2},
                  {"co_await in async_simple::coro::collectAll", "", "Collect.h", 6, "", "", 2},
                  {"co_await in app::fetch", "", "app.cpp", 7, "", "", 2}};
    add_task(made, handle, none, {{0, 100}, {900, 1000}},
             {await_of(in_handle, gatherer, gatherer, 100, 900)});
    add_task(made, gather, handler, {{100, 120}, {800, 810}, {880, 900}},
             {await_of(in_gather, fetcher, fetcher, 120, 800),
              await_of(in_gather, storer, storer, 810, 880)});
    add_task(made, fetch, gatherer, {{120, 200}, {700, 800}},
             {await_of(in_fetch, none, none, 200, 700)});
    add_task(made, store, gatherer, {{810, 880}}, {});
    return made;
}

std::vector<std::string> names_of(const analysis::trace& loaded) {
    std::vector<std::string> names;
    for (const auto& each : loaded.tasks) names.push_back(loaded.sites[each.spawn_site].label);
    return names;
}

// Checks that each slice and each await is in the range of its task.
void check_ranges(const analysis::trace& loaded) {
    std::size_t slices = 0, awaits = 0;
    for (std::uint32_t at = 0; at < loaded.tasks.size(); ++at) {
        for (const std::uint32_t each : loaded.tasks[at].slices)
            CHECK(loaded.slices[each].task == at);
        for (const std::uint32_t each : loaded.tasks[at].awaits)
            CHECK(loaded.awaits[each].task == at);
        slices += loaded.tasks[at].slices.size();
        awaits += loaded.tasks[at].awaits.size();
    }
    CHECK(slices == loaded.slices.size());
    CHECK(awaits == loaded.awaits.size());
}

}  // namespace

TEST_CASE("a library's own coroutine is folded, and its children become children of its awaiter") {
    const analysis::trace folded = analysis::fold_tasks(gathering());
    CHECK(names_of(folded) == std::vector<std::string>{"app::handle", "app::fetch", "app::store"});
    CHECK(folded.tasks[0].parent == none);
    for (const std::size_t at : {1, 2}) {
        CHECK(folded.tasks[at].parent == 0);
        CHECK(folded.tasks[at].awaiter == 0);
    }
    CHECK(folded.tasks[1].id == 3);
    check_ranges(folded);
}

TEST_CASE(
    "an await of a folded task becomes an await of the task that the folded task awaited longest") {
    const analysis::trace folded = analysis::fold_tasks(gathering());
    REQUIRE(folded.awaits.size() == 2);
    CHECK(folded.awaits[0].awaited == 1);
    CHECK(folded.awaits[0].waker == 2);
    CHECK(analysis::split_of(folded, folded.awaits[0]).suspended_ns == 800);
    const auto chains = analysis::await_chains(folded);
    REQUIRE(chains.size() == 1);
    CHECK(chains[0].sites == std::vector<std::uint32_t>{handle, in_handle, fetch, in_fetch});
}

TEST_CASE("the times of folded tasks are added up, and the notes and the summary count the tasks") {
    analysis::trace whole = gathering();
    whole.tasks[gatherer].time.queued_ns = 7;
    whole.tasks[gatherer].time.waiting_ns = 9;
    const analysis::trace folded = analysis::fold_tasks(std::move(whole));
    CHECK(folded.health.folded_tasks == 1);
    CHECK(folded.health.folded_running_ns == 50);
    CHECK(folded.health.folded_queued_ns == 7);
    CHECK(folded.health.folded_waiting_ns == 9);
    const std::string notes = analysis::loss_notes(folded);
    CHECK(notes.starts_with("Folded tasks of async_simple: 1, "));
    CHECK(notes.find("--fold none") != std::string::npos);
    CHECK(analysis::summary(folded).find("collectAll") == std::string::npos);
    CHECK(analysis::summary(folded).find("Folded tasks of async_simple: 1, ") != std::string::npos);
}

TEST_CASE("scopes, item streams and device work of a folded task go to the task that awaits it") {
    analysis::trace whole = gathering();
    whole.events = {scope_at(0, 1000, handler), scope_at(100, 120, gatherer),
                    scope_at(120, 200, fetcher)};
    whole.streams.emplace_back().task = gatherer;
    whole.device_activities.emplace_back().task = gatherer;
    const analysis::trace folded = analysis::fold_tasks(std::move(whole));
    CHECK(folded.events[0].task == 0);
    CHECK(folded.events[1].task == 0);
    CHECK(folded.events[2].task == 1);
    CHECK(folded.streams[0].task == 0);
    CHECK(folded.device_activities[0].task == 0);
}

TEST_CASE("a device wait of a folded task moves to the await of its awaiter") {
    analysis::trace whole = gathering();
    whole.device_waits.resize(2);
    whole.device_waits[0].task = gatherer;
    whole.device_waits[0].await = 2;  // the second await of the gatherer
    whole.device_waits[1].task = fetcher;
    whole.device_waits[1].await = 3;
    const analysis::trace folded = analysis::fold_tasks(std::move(whole));
    CHECK(folded.device_waits[0].await == 0);
    CHECK(folded.device_waits[0].task == 0);
    CHECK(folded.device_waits[1].await == 1);
    CHECK(folded.device_waits[1].task == 1);
}

TEST_CASE("only tasks that patterns name are folded if libraries are not") {
    const analysis::trace whole = analysis::fold_tasks(gathering(), {.libraries = false});
    CHECK(whole.tasks.size() == 4);
    CHECK(whole.health.folded_tasks == 0);
    CHECK(analysis::loss_notes(whole).empty());
    const analysis::trace folded = analysis::fold_tasks(
        gathering(), {.libraries = false, .patterns = {"app::*e", "*::f?tch"}});
    CHECK(names_of(folded) == std::vector<std::string>{"async_simple::coro::collectAll"});
    CHECK(folded.health.folded_by == std::vector<std::string>{"*::f?tch", "app::*e"});
    check_ranges(folded);
}

TEST_CASE("a pattern matches whole names only") {
    for (const char* pattern : {"app::", "fetch", "app::fetch?", "*::fetch::*", "app::f*c"}) {
        CAPTURE(pattern);
        CHECK(analysis::fold_tasks(gathering(), {.libraries = false, .patterns = {pattern}})
                  .tasks.size() == 4);
    }
    for (const char* pattern : {"app::fetch", "*fetch", "a*f*h", "**app::?etch*"}) {
        CAPTURE(pattern);
        CHECK(analysis::fold_tasks(gathering(), {.libraries = false, .patterns = {pattern}})
                  .tasks.size() == 3);
    }
}

TEST_CASE("folded tasks that await each other are folded together") {
    analysis::trace whole = gathering();
    whole.sites[fetch].label = "cppcoro::detail::make_when_all_task";
    const analysis::trace folded = analysis::fold_tasks(std::move(whole));
    CHECK(names_of(folded) == std::vector<std::string>{"app::handle", "app::store"});
    REQUIRE(folded.awaits.size() == 1);
    CHECK(folded.awaits[0].awaited == none);
    CHECK(folded.awaits[0].waker == 1);
    CHECK(folded.health.folded_by == std::vector<std::string>{"async_simple", "cppcoro"});
}

TEST_CASE(
    "a folded root's children become roots, and a root with scopes of its own is not folded") {
    analysis::trace whole = gathering();
    whole.sites[handle].label = "coro::detail::make_sync_wait_task";
    analysis::trace with_scope = whole;
    CHECK(names_of(analysis::fold_tasks(std::move(whole))) ==
          std::vector<std::string>{"app::fetch", "app::store"});
    with_scope.events = {scope_at(0, 100, handler)};
    const analysis::trace folded = analysis::fold_tasks(std::move(with_scope));
    CHECK(names_of(folded) == std::vector<std::string>{"coro::detail::make_sync_wait_task",
                                                       "app::fetch", "app::store"});
    CHECK(folded.events[0].task == 0);
}

TEST_CASE("a program's coroutine is shown even if its namespace resembles a library's, whose own "
          "is folded") {
    for (const char* name :
         {"coro::handle", "exec::run", "app::async_simple::run", "cppcoro_user::run", "std::run"}) {
        CAPTURE(name);
        analysis::trace whole = gathering();
        whole.sites[fetch].label = name;
        CHECK(analysis::fold_tasks(std::move(whole)).tasks.size() == 3);
    }
    for (const char* name :
         {"coro::thread_pool::schedule", "coro::when_any", "exec::__at_coroutine_exit::run",
          "concurrencpp::details::when_all_impl", "folly::coro::detail::start",
          "unifex::_task::run", "boost::cobalt::detail::run", "QCoro::detail::run",
          "std::__gen::_Promise_erased<int&&>::yield_value"}) {
        CAPTURE(name);
        analysis::trace whole = gathering();
        whole.sites[fetch].label = name;
        CHECK(analysis::fold_tasks(std::move(whole)).tasks.size() == 2);
    }
}

TEST_CASE(
    "folding ends if damage made folded tasks each other's parents, awaiters and awaited tasks") {
    analysis::trace whole = gathering();
    whole.sites[fetch].label = "cppcoro::run";
    whole.tasks[gatherer].parent = whole.tasks[gatherer].awaiter = fetcher;
    whole.tasks[fetcher].parent = whole.tasks[fetcher].awaiter = gatherer;
    whole.awaits[3].awaited = gatherer;
    whole.device_waits.emplace_back().await = 3;
    const analysis::trace folded = analysis::fold_tasks(std::move(whole));
    CHECK(names_of(folded) == std::vector<std::string>{"app::handle", "app::store"});
    CHECK(folded.tasks[1].parent == none);
    check_ranges(folded);
}

TEST_CASE("an operation that completed at once is not the waker of its folded task") {
    analysis::trace whole = gathering();
    analysis::await_info at_once = await_of(in_gather, none, none, 890, 890);
    at_once.task = gatherer;
    at_once.at_once = true;
    std::vector<analysis::await_info> awaits(whole.awaits.begin(), whole.awaits.end());
    awaits.insert(awaits.begin() + 3, at_once);
    whole.awaits = analysis::packed_list<analysis::await_info>(std::move(awaits));
    whole.tasks[gatherer].awaits = {1, 3};
    whole.tasks[fetcher].awaits = {4, 1};
    CHECK(analysis::fold_tasks(std::move(whole)).awaits[0].waker == 2);
}

TEST_CASE("the waker of a folded task is the last one before the shown task was woken") {
    analysis::trace whole = gathering();
    SUBCASE("the folded task was woken once more, later") {}
    SUBCASE("the folded task is still suspended at the end") { whole.awaits[2].resume_ns.reset(); }
    whole.awaits[0].wake_ns = 805;  // between the gatherer's two awaits
    CHECK(analysis::fold_tasks(std::move(whole)).awaits[0].waker == 1);
}
