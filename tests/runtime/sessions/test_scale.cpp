// SPDX-License-Identifier: Apache-2.0

// Large numbers of live tasks, threads and sites, and the records of a long life in bounded memory.
// ./dev test --soak runs the tests at full size and prints the figures.

#include <array>
#include <barrier>
#include <map>
#include <string>
#include <vector>

#include <coroscope/async_stack.hpp>

#include "../support/awaitables.hpp"
#include "../support/foreign.hpp"
#include "../support/long_life.hpp"
#include "../support/recording.hpp"
#include "../support/scale.hpp"
#include "../support/session_steps.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

using waiting_task = foreign::manual<foreign::declared>;

waiting_task waits_once(slot& place) {
    COROSCOPE("waits once");
    co_await suspend_into(place);
}

// A thousand places, each with a label of its own.
#define PLACE(number)                                                                              \
    {                                                                                              \
        COROSCOPE("place " #number);                                                               \
    }
#define TEN_PLACES(tens)                                                                           \
    PLACE(tens##0)                                                                                 \
    PLACE(tens##1)                                                                                 \
    PLACE(tens##2)                                                                                 \
    PLACE(tens##3)                                                                                 \
    PLACE(tens##4) PLACE(tens##5) PLACE(tens##6) PLACE(tens##7) PLACE(tens##8) PLACE(tens##9)
#define COROSCOPE_HUNDRED_PLACES(hundreds)                                                         \
    void hundred_places_##hundreds() {                                                             \
        TEN_PLACES(hundreds##0)                                                                    \
        TEN_PLACES(hundreds##1)                                                                    \
        TEN_PLACES(hundreds##2)                                                                    \
        TEN_PLACES(hundreds##3)                                                                    \
        TEN_PLACES(hundreds##4)                                                                    \
        TEN_PLACES(hundreds##5)                                                                    \
        TEN_PLACES(hundreds##6)                                                                    \
        TEN_PLACES(hundreds##7)                                                                    \
        TEN_PLACES(hundreds##8)                                                                    \
        TEN_PLACES(hundreds##9)                                                                    \
    }
COROSCOPE_HUNDRED_PLACES(1)
COROSCOPE_HUNDRED_PLACES(2)
COROSCOPE_HUNDRED_PLACES(3)
COROSCOPE_HUNDRED_PLACES(4)
COROSCOPE_HUNDRED_PLACES(5)
COROSCOPE_HUNDRED_PLACES(6)
COROSCOPE_HUNDRED_PLACES(7)
COROSCOPE_HUNDRED_PLACES(8)
COROSCOPE_HUNDRED_PLACES(9)
COROSCOPE_HUNDRED_PLACES(10)

constexpr auto thousand_places = std::to_array(
    {hundred_places_1, hundred_places_2, hundred_places_3, hundred_places_4, hundred_places_5,
     hundred_places_6, hundred_places_7, hundred_places_8, hundred_places_9, hundred_places_10});

void check_long_life(const long_life& life, const analysis::trace& found, std::uint64_t scopes,
                     std::uint64_t limit) {
    check_stayed_flat(life, found.file_bytes, limit);
    CHECK(found.events.size() + life.status.lost_records == scopes);
}

}  // namespace

TEST_SUITE("scale") {
    TEST_CASE("a million tasks that live at once are all in the trace, and all end") {
        const auto count = sized<std::size_t>(50'000, 1'000'000);
        recording session({.all_threads = true, .policy = overflow::wait});
        {
            std::vector<slot> places(count);
            std::vector<waiting_task> tasks;
            tasks.reserve(count);
            const std::uint64_t before = resident_bytes();
            for (slot& place : places) {
                tasks.push_back(waits_once(place));
                tasks.back().resume();
            }
            MESSAGE(count << " tasks live, " << (resident_growth(before) >> 20)
                          << " MiB for them and their records");
            for (slot& place : places) place.resume();
        }
        const recorded found = session.stop();
        CHECK(found.trace.tasks.size() == count);
        CHECK(found.trace.awaits.size() == count);
        CHECK(found.count("waits once") == count);
        std::size_t unfinished = 0;
        for (const auto& task : found.trace.tasks)
            unfinished += task.state == analysis::task_state::finished && !task.losses ? 0U : 1U;
        CHECK(unfinished == 0);
    }

    TEST_CASE("the table of live tasks counts the tasks that it has no room for, and is empty at "
              "the end") {
        const auto count = sized<std::size_t>(300'000, 1'000'000);
        REQUIRE(track_live_tasks(true));
        const std::uint64_t before = live_tasks().no_room;
        {
            std::vector<slot> places(count);
            std::vector<waiting_task> tasks;
            tasks.reserve(count);
            for (slot& place : places) tasks.push_back(waits_once(place));
            const live_tasks_status status = live_tasks();
            MESSAGE(status.tasks << " of " << count << " tasks are in the table");
            CHECK(status.tasks + (status.no_room - before) == count);
            for (waiting_task& task : tasks) task.resume();
            for (slot& place : places) place.resume();
        }
        CHECK(live_tasks().tasks == 0);
        track_live_tasks(false);
    }

    TEST_CASE("10,000 threads in one run, 1,000 of them at once, leave all their records") {
        const auto at_once = sized<std::size_t>(200, 1'000);
        const auto waves = sized<std::size_t>(5, 10);
        recording session({.all_threads = true, .policy = overflow::wait, .chunk_bytes = 4096});
        for (std::size_t wave = 0; wave < waves; ++wave) {
            std::barrier all_there(static_cast<std::ptrdiff_t>(at_once));
            on_threads(at_once, [&] {
                steps(5);
                all_there.arrive_and_wait();
                steps(5);
            });
        }
        const recorded found = session.stop();
        std::vector<std::size_t> of_thread(found.trace.threads.size(), 0);
        for (const analysis::event& each : found.trace.events) ++of_thread[each.thread];
        std::size_t whole = 0;
        for (const std::size_t events : of_thread) whole += events == 10 ? 1U : 0U;
        CHECK(whole == at_once * waves);
        CHECK(found.trace.events.size() == 10 * at_once * waves);
    }

    TEST_CASE("1,000 sites on 64 threads: each event has its site, and each thread has one event "
              "of each site") {
        constexpr std::size_t sites = 1'000;
        constexpr std::size_t threads = 64;
        recording session({.all_threads = true, .policy = overflow::wait, .chunk_bytes = 4096});
        std::barrier all_there(static_cast<std::ptrdiff_t>(threads));
        on_threads(threads, [&] {
            all_there.arrive_and_wait();
            for (const auto hundred_places : thousand_places) hundred_places();
        });
        const recorded found = session.stop();
        std::map<std::string, std::size_t> of_label;
        std::vector<std::size_t> of_site(found.trace.sites.size(), 0);
        std::vector<std::size_t> of_thread(found.trace.threads.size(), 0);
        for (const analysis::event& each : found.trace.events) {
            ++of_label[found.trace.strings[each.name]];
            ++of_site[each.site];
            ++of_thread[each.thread];
        }
        std::erase(of_site, std::size_t{0});
        std::erase(of_thread, std::size_t{0});
        CHECK(of_label.size() == sites);
        CHECK(of_site == std::vector<std::size_t>(sites, threads));
        CHECK(of_thread == std::vector<std::size_t>(threads, sites));
    }

    TEST_CASE("the records of an hour pass through a flight recorder while memory stays flat") {
        const auto scopes = sized<std::uint64_t>(4'000'000, 200'000'000);
        const auto limit = sized<std::uint64_t>(4, 64) * mebibyte;
        const long_life life = live_long(
            {.all_threads = true, .policy = overflow::overwrite_oldest, .limit_bytes = limit},
            scopes, "scopes", steps);
        auto found = analysis::load(life.bytes);
        REQUIRE(found);
        check_long_life(life, *found, scopes, limit);
        CHECK(found->events.size() > 100'000);  // the newest records are there
        CHECK(found->health.overwritten > 0);
    }

    TEST_CASE("the records of an hour after a file is full are counted, while memory stays flat") {
        const auto scopes = sized<std::uint64_t>(4'000'000, 200'000'000);
        const auto limit = sized<std::uint64_t>(4, 64) * mebibyte;
        const temporary_file file;
        const long_life life =
            live_long({.output = file.path().c_str(), .all_threads = true, .limit_bytes = limit},
                      scopes, "scopes", steps);
        auto found = analysis::load(file.path());
        REQUIRE(found);
        check_long_life(life, *found, scopes, limit);
        CHECK(found->events.size() > 100'000);  // the oldest records are there
        CHECK(found->health.dropped_newest > 0);
    }
}
