// SPDX-License-Identifier: Apache-2.0

// Control sequences in the texts of a trace, in each view that a terminal shows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <coroscope/analysis/views.hpp>
#include <coroscope/trace/blocking_format.hpp>
#include <coroscope/trace/lock_format.hpp>
#include <coroscope/trace/value_format.hpp>
#include <doctest/doctest.h>

#include "../loading.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

std::uint64_t fact_tag(std::uint32_t id, std::size_t bytes) {
    return trace::make_tag(trace::record_kind::fact, id, bytes);
}

// Requests of 350 ns in tasks on thread 1. The last one waits for a thread that runs another task.
// The trace also has a saturated executor, waits for a lock and a resource, a blocking call and a
// value.
class varied_trace {
public:
    varied_trace() {
        add_executor();
        for (std::uint64_t task = 1; task <= 20; ++task) add_request(task, task == 20 ? 5000 : 0);
        add_waits();
        built_.kernel().enters(1, 1).leaves(1, now_ - 500).enters(1, now_ - 100);
        built_.lasts(now_ + 1000);
    }

    [[nodiscard]] const trace_builder& built() const { return built_; }

private:
    void add_executor() {
        built_.executor(1, trace::executor_kind::thread_pool, "workers")
            .object(1, trace::object_kind::other, "object");
        const auto work = built_.site("resize", "jobs.cpp", 3, trace::site_kind::job);
        const auto scope = built_.site("scale", "jobs.cpp", 4);
        auto poster = built_.on(9);
        auto worker = built_.on(8);
        for (std::uint64_t job = 901; job <= 904; ++job)
            poster.spawn(100, job, work, trace::spawn_ready | trace::spawn_on(1));
        for (std::int64_t each = 0; each < 4; ++each) {
            const auto job = static_cast<std::uint64_t>(901 + each);
            worker.resume(200 + 100 * each, job)
                .long_scope(scope, 210 + 100 * each, 290 + 100 * each, 0, job)
                .finish(300 + 100 * each, job);
        }
    }

    void add_request(std::uint64_t task, std::int64_t audit_ns) {
        const std::int64_t start = now_;
        auto on = built_.on(1);
        on.spawn(start, task, serve_, trace::spawn_started)
            .suspend(start + 100, task, query_, 0, 1);
        built_.on(2).wake(start + 300, task, 0, 2);
        std::int64_t resume = start + 300;
        if (audit_ns != 0) {
            resume = start + 200 + audit_ns;
            on.spawn(start + 200, 1000 + task, audit_, trace::spawn_started)
                .long_scope(flush_, start + 250, resume - 10, 0, 1000 + task)
                .finish(resume, 1000 + task);
        }
        on.resume(resume, task)
            .long_scope(handle_, start, resume + 40, trace::scope_in_frame | trace::scope_exact,
                        task)
            .finish(resume + 50, task);
        now_ = resume + 1000;
    }

    void add_waits() {
        auto on = built_.on(1);
        const auto value = built_.site("depth", "a.cpp", 3, trace::site_kind::value);
        on.raw(ticks_of(now_), fact_tag(trace::make_value_id(value, false), 16),
               {7, trace::make_mark(0, 1)});
        on.raw(ticks_of(now_ + 10),
               fact_tag(trace::make_lock_wait_id(trace::lock_kind::mutex, 0),
                        sizeof(trace::lock_wait_body)),
               {200, ticks_of(now_ + 205), 0x1000, trace::make_mark(0, 1), trace::make_mark(0, 2),
                1002});
        on.resource_wait(now_ + 220, now_ + 240,
                         {.site = built_.site("pool", "pool.cpp", 4, trace::site_kind::scope,
                                              "function", "connections"),
                          .waiter = trace::make_mark(0, 1),
                          .holder = trace::make_mark(0, 2)});
        on.raw(ticks_of(now_ + 300),
               fact_tag(trace::make_blocking_id(trace::blocked_function::fsync,
                                                trace::descriptor_kind::file),
                        sizeof(trace::blocking_call_body)),
               {50, trace::make_mark(0, 1)});
        on.scope(flush_, now_, now_ + 400);
        built_.on(2).scope(built_.site("hold"), now_, now_ + 400);
        now_ += 1000;
    }

    trace_builder built_;
    std::uint32_t serve_ = built_.site("serve", "server.cpp", 1, trace::site_kind::coroutine);
    std::uint32_t audit_ = built_.site("audit", "audit.cpp", 2, trace::site_kind::coroutine);
    std::uint32_t query_ = built_.site("query", "store.cpp", 3, trace::site_kind::await);
    std::uint32_t handle_ = built_.site("GET", "server.cpp", 9, trace::site_kind::request);
    std::uint32_t flush_ = built_.site("flush", "audit.cpp", 9);
    std::int64_t now_ = 2000;
};

/// Puts a sequence that a terminal executes before each text of the trace.
void make_hostile(analysis::trace& loaded) {
    std::vector<std::string*> texts{&loaded.process_name, &loaded.clock, &loaded.policy,
                                    &loaded.trace_id};
    for (std::string& each : loaded.strings) texts.push_back(&each);
    for (analysis::site_info& each : loaded.sites)
        for (std::string* part :
             {&each.label, &each.function, &each.file, &each.category, &each.arguments})
            texts.push_back(part);
    for (analysis::thread_info& each : loaded.threads) texts.push_back(&each.name);
    for (analysis::executor_info& each : loaded.executors) texts.push_back(&each.name);
    for (analysis::object_info& each : loaded.objects) texts.push_back(&each.name);
    for (std::string& each : loaded.health.warnings) texts.push_back(&each);
    for (std::string* each : texts) each->insert(0, "\x1b[31m");
}

using view_text = std::pair<std::string_view, std::string>;

std::vector<view_text> listings_of(const analysis::trace& from) {
    using namespace analysis;
    const auto executors = statistics_of_executors(from);
    std::vector<view_text> texts{
        {"task sites", to_text(list_task_sites(from, task_statistics(from)))},
        {"task tree", to_text(list_task_tree(from))},
        {"await sites", to_text(list_await_sites(from, await_statistics(from)))},
        {"await chains", to_text(list_await_chains(from, await_chains(from)))},
        {"resources", to_text(list_resources(from, statistics_of_resources(from)))},
        {"values", to_text(list_values(from, statistics_of_values(from)))},
        {"executors", to_text(list_executors(from, executors))},
        {"saturation", saturation_notes(from, executors)},
        {"blocking", to_text(list_blocking_calls(from, statistics_of_blocking_calls(from)))},
        {"locks", to_text(list_locks(from, statistics_of_locks(from)))},
        {"threads", to_text(list_threads(from))}};
    return texts;
}

std::vector<view_text> requests_of_views(const analysis::trace& from) {
    using namespace analysis;
    const request_list list = requests_of(from);
    REQUIRE(!list.requests.empty());
    const auto types = statistics_of_requests(from, list);
    std::vector<view_text> texts{
        {"request types", to_text(list_request_types(from, list, types))},
        {"request percentiles", to_text(list_request_percentiles(from, types))},
        {"slowest requests", to_text(list_slowest_requests(from, list, -1))}};
    for (std::size_t at = 0; at < list.requests.size(); ++at)
        texts.emplace_back("request", request_text(from, list, at));
    for (const critical_path& each : critical_paths(from, list.requests))
        texts.emplace_back("path", path_text(from, each));
    const auto slow = compare_slow_requests(from, list);
    REQUIRE(slow);
    REQUIRE(slow->differ());
    texts.emplace_back("why", slow_requests_text(from, *slow));
    texts.emplace_back("why, in one sentence", slow_requests_sentence(from, *slow));
    return texts;
}

std::vector<view_text> stories_of(const analysis::trace& from) {
    using namespace analysis;
    std::vector<view_text> texts{{"info", info_text(from)},
                                 {"losses", loss_notes(from)},
                                 {"summary", summary(from, {}, "trace.cst")}};
    if (const auto slowest = slowest_request(from))
        texts.emplace_back("slowest request", slow_request_sentence(from, *slowest));
    for (std::uint32_t task = 0; task < from.tasks.size(); ++task) {
        texts.emplace_back("task", task_text(from, task));
        texts.emplace_back("path of a task", path_text(from, critical_path_of_task(from, task)));
    }
    return texts;
}

bool is_printable(std::string_view text) {
    return std::ranges::none_of(text, [](char each) {
        return each != '\n' && (static_cast<unsigned char>(each) < 0x20 || each == 0x7f);
    });
}

}  // namespace

TEST_CASE("no view passes control characters of a trace on to the terminal") {
    analysis::trace loaded = load(varied_trace().built());
    make_hostile(loaded);
    std::vector<view_text> texts = listings_of(loaded);
    for (auto& more : {requests_of_views(loaded), stories_of(loaded)})
        texts.insert(texts.end(), more.begin(), more.end());
    std::size_t with_names = 0;
    for (const auto& [view, text] : texts) {
        CAPTURE(view);
        CAPTURE(text);
        CHECK(is_printable(text));
        with_names += text.find("\\x1b[31m") != std::string::npos ? 1 : 0;
    }
    CHECK(with_names > texts.size() / 2);
}
