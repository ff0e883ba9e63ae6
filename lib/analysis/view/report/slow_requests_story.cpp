// SPDX-License-Identifier: Apache-2.0

// The comparison of slow requests with median ones, as text and as JSON.

#include <coroscope/analysis/views.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <coroscope/analysis/executor_statistics.hpp>
#include <fmt/format.h>

#include "../../text/json_writer.hpp"
#include "../../text/utf8.hpp"
#include "../../words/path_words.hpp"
#include "json_place.hpp"

namespace coroscope::analysis {
namespace {

// The conditions for a sentence: the part must be this share of the difference, and the slow
// requests must take a millisecond more and twice as long. The scheduler alone causes smaller
// differences.
constexpr double least_share = 0.2;
constexpr std::int64_t least_more_ns = 1'000'000;
constexpr std::int64_t least_times = 2;

// Returns whether the part is large enough, and the program's own work or waits explain it.
bool is_of_program(const request_difference& part) {
    return part.share >= least_share && part.is_explained() && part.kind != path_kind::preempted;
}

std::string subject_of(const slow_requests& of) {
    const std::string name = printable(of.name);
    if (of.slow.size() == 1)
        return fmt::format("request {} ({}, one of {})", of.slow.front(), name, of.requests);
    return fmt::format("the slowest {} of {} requests {}", of.slow.size(), of.requests, name);
}

template <class Difference>
std::string shares_text(const std::string& name, const Difference& each) {
    return fmt::format("{}: {:.0f} % of the slow ones, {:.0f} % of the median ones\n",
                       printable(name), 100 * each.slow_share, 100 * each.median_share);
}

// Returns a line for each attribute, thread and executor that is typical of the slow requests.
std::string shares_text(const trace& loaded, const slow_requests& of) {
    std::string text;
    for (const attribute_difference& each : of.attributes)
        text += shares_text(each.key + "=" + each.value, each);
    for (const use_difference& each : of.threads)
        text += shares_text("on thread " + thread_name(loaded, each.index), each);
    for (const use_difference& each : of.executors)
        text += shares_text("queued for " + name_of_executor(loaded, each.index), each);
    return text;
}

void write_cause(json_writer& json, const trace& loaded, const request_difference& of) {
    json.key("cause");
    if (!of.cause) {
        json.null();
        return;
    }
    json.begin_object(json_writer::layout::compact);
    json.key("label");
    if (analysis::is_work(of.cause->role) && !of.cause->label.empty())
        json.string(of.cause->label);
    else
        json.null();
    write_place(json, loaded, of.cause->site);
    json.key("thread");
    if (of.cause->thread < loaded.threads.size())
        json.integer(loaded.threads[of.cause->thread].id);
    else
        json.null();
    json.member("holds", of.cause->role == cause_role::held).member("ns", of.cause->time_ns);
    json.member("more_ns", of.cause->more_ns).member("role", name_of(of.cause->role));
    json.key("resource");
    if (of.cause->resource != none)
        json.string(site_name(loaded, of.cause->resource));
    else
        json.null();
    json.end();
}

void write_ids(json_writer& json, std::string_view key, const std::vector<std::uint64_t>& ids) {
    json.key(key).begin_array(json_writer::layout::compact);
    for (const std::uint64_t id : ids) json.integer(id);
    json.end();
}

void write_shares(json_writer& json, double slow, double median) {
    json.member("slow_share", slow).member("median_share", median);
    json.end();
}

void write_attributes(json_writer& json, const slow_requests& of) {
    json.key("attributes").begin_array();
    for (const attribute_difference& each : of.attributes) {
        json.begin_object(json_writer::layout::compact);
        json.member("key", each.key).member("value", each.value);
        write_shares(json, each.slow_share, each.median_share);
    }
    json.end();
}

void write_uses(json_writer& json, const trace& loaded, const slow_requests& of) {
    json.key("threads").begin_array();
    for (const use_difference& each : of.threads) {
        json.begin_object(json_writer::layout::compact);
        json.member("thread", loaded.threads[each.index].id);
        json.member("name", thread_name(loaded, each.index));
        write_shares(json, each.slow_share, each.median_share);
    }
    json.end();
    json.key("executors").begin_array();
    for (const use_difference& each : of.executors) {
        json.begin_object(json_writer::layout::compact);
        json.member("name", name_of_executor(loaded, each.index));
        write_shares(json, each.slow_share, each.median_share);
    }
    json.end();
}

void write_difference(json_writer& json, const trace& loaded, const request_difference& each) {
    json.begin_object(json_writer::layout::compact);
    json.member("kind", name_of(each.kind)).member("label", each.label);
    write_place(json, loaded, each.site);
    json.member("slow_ns", each.slow_ns).member("median_ns", each.median_ns);
    json.member("share", each.share).member("explained_ns", each.explained_ns);
    write_cause(json, loaded, each);
    json.key("scope");
    if (each.scope.empty()) {
        json.null();
    } else {
        json.begin_object(json_writer::layout::compact);
        json.member("label", each.scope);
        write_place(json, loaded, each.scope_site);
        json.end();
    }
    json.end();
}

}  // namespace

std::string slow_requests_text(const trace& loaded, const slow_requests& of,
                               const listing_options& options) {
    const bool is_one = of.slow.size() == 1;
    std::string text = fmt::format("{}: {}{}; {} median ones: {} on average\n", subject_of(of),
                                   format_span(of.slow_wall_ns), is_one ? "" : " on average",
                                   of.median.size(), format_span(of.median_wall_ns));
    if (!of.differ())
        return text + fmt::format("{} not differ: less than a quarter longer than the median\n",
                                  is_one ? "it does" : "they do");

    text += fmt::format("the parts of the difference of {}:\n",
                        format_span(of.slow_wall_ns - of.median_wall_ns));
    const listing all = list_differences(loaded, of, false);
    const auto chosen = arranged(all, options);
    if (chosen) text.append("\n").append(to_text(*chosen, options));
    if (chosen && chosen->rows.size() < all.rows.size())
        text += fmt::format("{} of {} rows\n", chosen->rows.size(), all.rows.size());
    text += fmt::format("\nunexplained: {:.1f} % of the difference\n", 100 * of.unexplained_share);
    text += fmt::format(
        "other requests in progress as {} began: {:.1f}; as the median ones began: {:.1f}\n",
        is_one ? "it" : "they", of.slow_in_progress, of.median_in_progress);
    if (const request_burst& burst = of.burst; burst.requests != 0)
        text += fmt::format(
            "{} of the {} slow ones began within {}, from {} on; of the {} median ones {}\n",
            burst.requests, of.slow.size(), format_span(burst.ns), format_span(burst.start_ns),
            of.median.size(), burst.median);
    return text + shares_text(loaded, of);
}

std::string slow_requests_sentence(const trace& loaded, const slow_requests& of) {
    const std::int64_t more_ns = of.slow_wall_ns - of.median_wall_ns;
    if (!of.differ() || of.differences.empty()) return {};
    if (more_ns < least_more_ns || of.slow_wall_ns / least_times < of.median_wall_ns) return {};
    const auto found = std::ranges::find_if(of.differences, is_of_program);
    if (found == of.differences.end()) return {};
    const request_difference& first = *found;
    const std::string place = site_place(loaded, first.site);
    const std::string cause =
        first.cause && is_work(first.cause->role) ? cause_title(loaded, first) : std::string();
    const std::string part = cause_share(first);
    return fmt::format("{} {} {} longer than the median: {:.0f} % of it {} in {}{}{}{}",
                       subject_of(of), of.slow.size() == 1 ? "takes" : "take", format_span(more_ns),
                       100 * first.share, name_of(first.kind), printable(first.label),
                       first.scope.empty() ? "" : " in " + printable(first.scope),
                       place.empty() ? "" : " at " + printable(place),
                       cause.empty()  ? ""
                       : part.empty() ? ", because of " + cause
                                      : fmt::format(", {} of that because of {}", part, cause));
}

std::string slow_requests_json(const trace& loaded, const slow_requests& of) {
    json_writer json;
    json.begin_object();
    json.member("name", of.name).member("requests", of.requests);
    write_ids(json, "slow", of.slow);
    write_ids(json, "median", of.median);
    json.member("slow_wall_ns", of.slow_wall_ns).member("median_wall_ns", of.median_wall_ns);
    json.member("differ", of.differ());
    json.key("differences").begin_array();
    if (of.differ())
        for (const request_difference& each : of.differences) write_difference(json, loaded, each);
    json.end();
    json.member("unexplained_share", of.unexplained_share);
    json.member("slow_in_progress", of.slow_in_progress);
    json.member("median_in_progress", of.median_in_progress);
    json.key("burst");
    if (of.burst.requests == 0) {
        json.null();
    } else {
        json.begin_object(json_writer::layout::compact);
        json.member("requests", of.burst.requests).member("median", of.burst.median);
        json.member("start_ns", of.burst.start_ns).member("ns", of.burst.ns);
        json.end();
    }
    write_attributes(json, of);
    write_uses(json, loaded, of);
    json.end();
    return std::move(json).take();
}

}  // namespace coroscope::analysis
