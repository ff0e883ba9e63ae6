// SPDX-License-Identifier: Apache-2.0

// The options of a session, its statistics, and switching its collection off and on.

#include <coroscope/profile.hpp>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/awaitables.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

const char* chosen_id() noexcept { return "run 7"; }

foreign::manual<foreign::declared> pauses_once(slot& into) {
    COROSCOPE("in frame");
    co_await suspend_into(into);
}

foreign::manual<foreign::declared> switches_within(profile& session) {
    {
        COROSCOPE("before");
    }
    session.toggle_collection(false);
    session.toggle_collection(true);
    COROSCOPE("after");
    co_return;
}

// The periods in which collection is on: the number of the current period, and the number of scopes
// that were completely within one period.
struct windows {
    std::atomic<int> number{0};  // 0: collection is off, or is switched off soon
    std::atomic<std::uint64_t> within{0};
};

// Records until the end of the block.
class busy_thread {
public:
    static constexpr int at_least = 100;

    explicit busy_thread(windows& on) : on_(on), thread_([this] { work(); }) {}
    busy_thread(const busy_thread&) = delete;
    busy_thread& operator=(const busy_thread&) = delete;
    ~busy_thread() {
        over_ = true;
        thread_.join();
    }
    void await_more() const {
        const std::uint64_t wanted = within_ + at_least;
        while (within_ < wanted) std::this_thread::yield();
    }

private:
    void work() {
        for (std::uint64_t done = 1; !over_; ++done) {
            if (done % at_least == 0)
                std::this_thread::yield();  // gives the switching thread a turn
            const int window = on_.number;
            record(window);
            if (window == 0 || on_.number != window) continue;
            ++within_;
            ++on_.within;
        }
    }

    static void record(int window) {
        if (window == 0) {
            COROSCOPE("outside");
        } else {
            COROSCOPE("begun within");
        }
    }

    windows& on_;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> within_{0};
    std::thread thread_;
};

}  // namespace

TEST_SUITE("profile options") {
    TEST_CASE("a trace has an id of its own, of 32 upper-case hexadecimal digits") {
        const recorded first = recording().stop();
        const recorded second = recording().stop();
        CHECK(first.trace.trace_id.size() == 32);
        CHECK(first.trace.trace_id.find_first_not_of("0123456789ABCDEF") == std::string::npos);
        CHECK(first.trace.trace_id[12] == '4');
        CHECK(first.trace.trace_id != second.trace.trace_id);
    }

    TEST_CASE("the trace's id is the value of the callback") {
        CHECK(recording({.trace_id = chosen_id}).stop().trace.trace_id == "run 7");
    }

    TEST_CASE("the node of a distributed run is in the trace, and so is its absence") {
        CHECK(recording({.node_id = 0}).stop().trace.node_id == 0);
        CHECK(recording({.node_id = 12}).stop().trace.node_id == 12);
        CHECK(recording(profile_options{}).stop().trace.node_id == -1);
    }

    TEST_CASE("with_flops implies record_shapes") {
        const std::uint64_t asked = recording({.with_flops = true}).stop().trace.asked_for;
        CHECK(asked == (trace::feature_flops | trace::feature_shapes));
        CHECK(recording(profile_options{}).stop().trace.asked_for == 0);
    }

    TEST_CASE("a feature without the program's help has no data, and the trace says so") {
        profile_options options;
        options.record_arguments = true;
        options.with_modules = true;
        options.profile_memory = true;
        recording session(options);
        {
            COROSCOPE_ARGS("with an argument", 7);
        }
        const analysis::trace_health health = session.stop().trace.health;
        CHECK(health.without_data == (trace::feature_modules | trace::feature_memory));
        CHECK(health.with_data == trace::feature_arguments);
    }

    TEST_CASE("an unknown device, or one that cannot be recorded, is a warning, and the session "
              "records") {
        profile cuda({.use_device = "cuda"});
        CHECK(cuda.status().state == session_state::recording);
        CHECK(std::string(cuda.status().message)
                  .starts_with("Devices are not recorded: no recorder for that device"));
        cuda.stop();
        profile none({.use_device = "abacus"});
        CHECK(none.status().state == session_state::recording);
        CHECK(std::string(none.status().message)
                  .starts_with("Devices are not recorded: use_device is none of"));
    }

    TEST_CASE("a session measures its duration, and the time of its start and stop") {
        profile session;
        CHECK(session.statistics().window_ns > 0);
        CHECK(session.statistics().enable_ns > 0);
        CHECK(session.statistics().disable_ns == 0);
        session.stop();
        const profile_statistics took = session.statistics();
        CHECK(took.window_ns > 0);
        CHECK(took.disable_ns > 0);
        CHECK(session.statistics().window_ns == took.window_ns);
        CHECK(profile({.enabled = false}).statistics().window_ns == 0);
    }
}

TEST_SUITE("toggling collection") {
    TEST_CASE("a scope that begins while collection is off is neither recorded nor lost") {
        for (const bool all_threads : {false, true}) {
            profile session({.all_threads = all_threads});
            {
                COROSCOPE("before");
            }
            session.toggle_collection(false);
            {
                COROSCOPE("off");
            }
            CHECK(session.status().lost_records == 0);
            session.toggle_collection(true);
            {
                COROSCOPE("after");
            }
            const recorded found = load(session.stop());
            CHECK(found.count("before") == 1);
            CHECK(found.count("off") == 0);
            CHECK(found.count("after") == 1);
        }
    }

    TEST_CASE("a scope that is open across an interruption is recorded completely") {
        profile session;
        {
            COROSCOPE("around");
            session.toggle_collection(false);
            session.toggle_collection(true);
        }
        CHECK(load(session.stop()).count("around") == 1);
    }

    TEST_CASE("while collection is off the session still exists, and another session is refused") {
        profile session;
        session.toggle_collection(false);
        CHECK(session.status().state == session_state::recording);
        CHECK(profile(profile_options{}).status().state == session_state::refused);
    }

    TEST_CASE("toggling twice in the same way changes nothing, and toggling a stopped session does "
              "no harm") {
        profile session;
        session.toggle_collection(true);
        {
            COROSCOPE("one");
        }
        session.toggle_collection(false);
        session.toggle_collection(false);
        const recorded found = load(session.stop());
        session.toggle_collection(true);
        {
            COROSCOPE("two");
        }
        CHECK(found.count("one") == 1);
    }

    TEST_CASE("a task that is suspended while collection is off has correct scopes afterwards") {
        recording whole;
        static_cast<void>(whole.stop());
        profile session({.all_threads = true});
        slot into;
        auto coroutine = pauses_once(into);
        coroutine.resume();
        session.toggle_collection(false);
        session.toggle_collection(true);
        into.resume();
        const recorded found = load(session.stop());
        const auto& event = found.event("in frame");
        CHECK(event.task == found.task_index("pauses_once"));
        CHECK(found.split(event).wall_ns() == event.end_ns - event.start_ns);
    }

    TEST_CASE("a switch takes some bytes of the trace, not a chunk") {
        constexpr int rounds = 200;
        profile session;
        for (int round = 0; round < rounds; ++round) {
            session.toggle_collection(false);
            session.toggle_collection(true);
            COROSCOPE("switched");
        }
        const trace::buffer bytes = session.stop();
        CHECK(bytes.size() < 8 * 32768);  // names and records
        CHECK(load(bytes).count("switched") == rounds);
    }

    TEST_CASE("a task that switches collection off and on keeps its later scopes, and the thread "
              "keeps its own") {
        profile session({.all_threads = true});
        auto coroutine = switches_within(session);
        coroutine.resume();
        {
            COROSCOPE("outside");
        }
        const recorded found = load(session.stop());
        CHECK(found.event("before").task == found.task_index("switches_within"));
        CHECK(found.event("after").task == found.task_index("switches_within"));
        CHECK(found.event("outside").task != found.event("after").task);
    }

    TEST_CASE("threads that record during the switches lose no scope that lies within a time of "
              "collection") {
        constexpr int rounds = 50;
        profile session({.all_threads = true, .policy = overflow::wait});
        windows on;
        {
            const busy_thread first(on);
            const busy_thread second(on);
            for (int round = 1; round <= rounds; ++round) {
                on.number = round;
                first.await_more();
                second.await_more();
                on.number = 0;
                session.toggle_collection(false);
                std::this_thread::yield();
                session.toggle_collection(true);
                COROSCOPE("switched");
            }
        }
        const recorded found = load(session.stop());
        CHECK(found.count("switched") == rounds);
        CHECK(on.within >= 2 * rounds * busy_thread::at_least);
        CHECK(found.count("begun within") >= on.within);
        CHECK(found.count("begun within") <= on.within + 2 * rounds);  // some end after it
    }
}
