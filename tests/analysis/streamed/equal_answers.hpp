// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares answers about a trace that were computed from all of its events with those that were
// computed without.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/fold_tasks.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/load_averages.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/analysis/task_statistics.hpp>
#include <coroscope/analysis/views.hpp>

namespace coroscope::test {

// Checks the whole table in all its forms. Returns whether it was computed without events.
inline bool check_table(const trace::buffer& bytes, analysis::average_key key, unsigned jobs) {
    auto whole = analysis::load(bytes);
    REQUIRE(whole);
    const analysis::trace loaded = analysis::fold_tasks(*std::move(whole));
    const auto found = analysis::load_averages(bytes, {.key = key, .jobs = jobs});
    REQUIRE(found);
    const auto& averages = std::get<analysis::trace_averages>(*found);
    const analysis::table_input expected = analysis::table_of(loaded, key);
    const analysis::table_input streamed = analysis::table_of(averages, key);
    CHECK(*analysis::table_csv(streamed) == *analysis::table_csv(expected));
    CHECK(*analysis::table_json(streamed) == *analysis::table_json(expected));
    for (const bool top_level : {false, true}) {
        const analysis::table_options options{.top_level_events_only = top_level};
        CHECK(*analysis::table(streamed, options) == *analysis::table(expected, options));
    }
    CHECK(averages.loaded.health.warnings == loaded.health.warnings);
    return averages.loaded.events.empty() && !loaded.events.empty();
}

inline std::string answers(const analysis::trace& loaded) {
    std::string text = analysis::info_text(loaded) + analysis::info_json(loaded);
    text += analysis::to_csv(analysis::list_threads(loaded));
    const analysis::trace folded = analysis::fold_tasks(loaded);
    text +=
        analysis::to_csv(analysis::list_await_sites(folded, analysis::await_statistics(folded)));
    text += analysis::to_csv(analysis::list_await_chains(folded, analysis::await_chains(folded)));
    text += analysis::to_csv(analysis::list_task_sites(folded, analysis::task_statistics(folded)));
    text += analysis::to_csv(analysis::list_task_tree(folded));
    return text;
}

// The names of the scopes of the awaits, and of the scopes around these.
inline std::string scopes_of_awaits(const analysis::trace& loaded) {
    std::string text;
    for (const analysis::await_info& each : loaded.awaits) {
        for (std::uint32_t at = each.scope; at != analysis::none; at = loaded.events[at].parent)
            text += loaded.strings[loaded.events[at].name] + " at " +
                    std::to_string(loaded.events[at].start_ns) + ", ";
        text += '\n';
    }
    return text;
}

inline analysis::trace around_awaits(const trace::buffer& bytes, unsigned jobs) {
    auto loaded =
        analysis::load(bytes, {.scopes = analysis::scopes_to_load::around_awaits, .jobs = jobs});
    REQUIRE(loaded);
    return *std::move(loaded);
}

// Returns the number of scopes that were left out.
inline std::uint64_t check_answers(const trace::buffer& bytes) {
    const auto whole = analysis::load(bytes);
    REQUIRE(whole);
    std::uint64_t left_out = 0;
    for (const unsigned jobs : {1U, 4U}) {
        const analysis::trace few = around_awaits(bytes, jobs);
        CHECK(answers(few) == answers(*whole));
        CHECK(scopes_of_awaits(few) == scopes_of_awaits(*whole));
        CHECK(few.health.warnings == whole->health.warnings);
        left_out = 0;
        for (const analysis::thread_info& each : few.threads) left_out += each.scopes_left_out;
        CHECK(left_out + few.events.size() == whole->events.size());
    }
    return left_out;
}

}  // namespace coroscope::test
