// SPDX-License-Identifier: Apache-2.0

// The traces of a schedule: written for torch's tools, accumulated, or read with a time limit.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include <coroscope/analysis/accumulate.hpp>
#include <coroscope/analysis/averages.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/load_events.hpp>
#include <coroscope/analysis/trace_handler.hpp>
#include <coroscope/scheduled_profile.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
namespace fs = std::filesystem;

namespace {

class scratch_folder {
public:
    scratch_folder()
        : path_(fs::temp_directory_path() / ("coroscope_cycles_" + std::to_string(::getpid()))) {}
    ~scratch_folder() { fs::remove_all(path_); }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;

    std::string inner() const { return (path_ / "of" / "runs").string(); }
    std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& each : fs::recursive_directory_iterator(path_))
            if (each.is_regular_file()) found.push_back(each.path().filename().string());
        std::sort(found.begin(), found.end());
        return found;
    }

private:
    fs::path path_;
};

template <class Handler>
void record_cycles(Handler handler, int cycles) {
    scheduled_profile profiler({.node_id = 2}, schedule({.warmup = 1, .active = 1}), handler);
    profiler.start();
    for (int step = 0; step < 2 * cycles; ++step) {
        profiler.step();
    }
}

trace::buffer record_scopes(int count) {
    profile session;
    for (int at = 0; at < count; ++at) {
        COROSCOPE("work");
    }
    return session.stop();
}

}  // namespace

TEST_SUITE("trace_handler") {
    TEST_CASE("each cycle becomes a file with torch's name, which can be read back") {
        const scratch_folder folder;
        analysis::trace_handler handler(folder.inner());
        record_cycles(std::ref(handler), 2);
        CHECK(handler.last_error().empty());
        const auto names = folder.names();
        REQUIRE(names.size() == 2);
        char host[256] = {};
        ::gethostname(host, sizeof host - 1);
        const std::string worker = std::string(host) + "_" + std::to_string(::getpid()) + ".";
        for (const std::string& name : names) {
            CHECK(name.starts_with(worker));
            CHECK(name.ends_with(".pt.trace.json"));
        }
        const auto read = analysis::load_events(handler.last_path());
        REQUIRE(read);
        CHECK(read->size() == 1);
        CHECK(analysis::function_event(*read, 0).name() == "ProfilerStep*");
        std::ifstream file(handler.last_path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        CHECK(text.find("\"trace_id\":\"") != std::string::npos);
        CHECK(text.find("\"distributedInfo\":{\"rank\":2}") != std::string::npos);
    }

    TEST_CASE("with gzip the file is compressed, and all events can be read back") {
        const scratch_folder folder;
        analysis::trace_handler handler(folder.inner(), {.worker_name = "a/b", .use_gzip = true});
        const auto path = handler.write(record_scopes(20'000));
        REQUIRE(path);
        CHECK(fs::path(*path).filename().string().starts_with("a_b."));
        CHECK(path->ends_with(".pt.trace.json.gz"));
        const auto read = analysis::load_events(*path);
        REQUIRE(read);
        CHECK(read->size() == 20'000);
        std::ifstream file(*path, std::ios::binary);
        CHECK(file.get() == 0x1f);  // the magic number of gzip
        CHECK(file.get() == 0x8b);
    }

    TEST_CASE(
        "a folder that cannot be made, and bytes that are no trace, are errors and leave no file") {
        const scratch_folder folder;
        fs::create_directories(fs::path(folder.inner()).parent_path());
        std::ofstream(folder.inner()) << "in the way";
        analysis::trace_handler handler(folder.inner());
        record_cycles(std::ref(handler), 1);
        CHECK(handler.last_error().starts_with(folder.inner()));
        CHECK(handler.last_path().empty());
        CHECK_FALSE(analysis::trace_handler(folder.inner() + "2").write(trace::buffer{}));
        CHECK(folder.names().size() == 1);
    }
}

TEST_SUITE("accumulate") {
    TEST_CASE("cycles add up: averages count all of them, and each keeps its times") {
        analysis::event_list all;
        std::int64_t total_ns = 0;
        const auto keep = [&](finished_cycle& cycle) {
            const recorded found = load(cycle.trace);
            for (const analysis::event& each : found.trace.events)
                total_ns += each.end_ns - each.start_ns;
            analysis::accumulate(all, analysis::events_of(found.trace));
        };
        record_cycles(keep, 3);
        CHECK(all.size() == 3);
        CHECK(all.threads.size() == 1);
        const auto rows = analysis::key_averages(all);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0].name == "ProfilerStep*");
        CHECK(rows[0].count == 3);
        std::int64_t sum_ns = 0;
        for (const analysis::function_event each : all) sum_ns += each.cpu_time_total_ns();
        CHECK(sum_ns == total_ns);
        CHECK(analysis::function_event(all, 0).trace_name() == "ProfilerStep#1");
        CHECK(analysis::function_event(all, 2).trace_name() == "ProfilerStep#5");
        CHECK(all.rows[0].end_ns <= all.rows[1].start_ns);
    }

    TEST_CASE("accumulated events keep their parents, texts and losses") {
        const auto list_of = [](const char* outer) {
            recording session({.with_modules = true});
            {
                const record_function range(outer);
                COROSCOPE("inner");
            }
            return analysis::events_of(session.stop().trace);
        };
        analysis::event_list all, first = list_of("one"), second = list_of("two");
        second.health.dropped_newest = 5;
        second.health.warnings.emplace_back("a warning");
        analysis::accumulate(all, first);
        analysis::accumulate(all, second);
        REQUIRE(all.size() == 4);
        CHECK(analysis::function_event(all, 1).cpu_parent()->name() == "one");
        CHECK(analysis::function_event(all, 3).cpu_parent()->name() == "two");
        CHECK(all.health.dropped_newest == 5);
        CHECK(all.health.warnings.size() == 1);
        CHECK(all.rows[2].start_ns >= all.rows[0].end_ns);
    }
}

TEST_SUITE("post-processing") {
    TEST_CASE("when its time is over, reading stops, reports its progress, and marks the result as "
              "partial") {
        const auto loaded = analysis::load(record_scopes(1000), {.post_processing_timeout_s = 0.0});
        REQUIRE(loaded);
        CHECK(loaded->health.partial);
        CHECK(loaded->events.empty());
        REQUIRE_FALSE(loaded->health.warnings.empty());
        CHECK(loaded->health.warnings.back().find("results are partial; events read: 0") !=
              std::string::npos);
    }

    TEST_CASE(
        "with enough time, and without a limit, all events are read and the time is measured") {
        for (const analysis::trace_load_options& options :
             {analysis::trace_load_options{}, analysis::trace_load_options{3600.0}}) {
            const auto loaded = analysis::load(record_scopes(1000), options);
            REQUIRE(loaded);
            CHECK_FALSE(loaded->health.partial);
            CHECK(loaded->events.size() == 1000);
            CHECK(loaded->took.parse_ns > 0);
            CHECK(loaded->took.tree_build_ns > 0);
        }
    }

    TEST_CASE("a negative time is an error") {
        const auto loaded = analysis::load(record_scopes(1), {.post_processing_timeout_s = -1.0});
        REQUIRE_FALSE(loaded);
        CHECK(loaded.error().message == "post_processing_timeout_s must not be negative");
    }
}
