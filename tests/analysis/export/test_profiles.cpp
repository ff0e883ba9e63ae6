// SPDX-License-Identifier: Apache-2.0

// The exports as profiles, read back: each must have the sums of the trace.

#include <coroscope/analysis/profile_exports.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/analysis/request_statistics.hpp>
#include <doctest/doctest.h>
#include <protozero/pbf_reader.hpp>
#include <zlib.h>

#include "../../support/json.hpp"
#include "../export_traces.hpp"

namespace {

using namespace coroscope;
using coroscope_tests::bytes_of;
using coroscope_tests::hostile_trace;
using coroscope_tests::json;
using coroscope_tests::trace_of_facts;

std::int64_t folded_sum(const analysis::trace& from, analysis::folded_time time) {
    const std::string lines = bytes_of(
        [&](const auto& sink) { return analysis::export_folded_stacks(from, time, sink); });
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t end = lines.find('\n', at);
        sum += std::stoll(lines.substr(lines.rfind(' ', end)));
        at = end + 1;
    }
    return sum;
}

json speedscope_of(const analysis::trace& from) {
    return coroscope_tests::json_parser(
               bytes_of([&](const auto& sink) { return analysis::export_speedscope(from, sink); }))
        .document();
}

/// The time of an evented profile in which a frame is open. Events must nest and be in order.
std::int64_t open_time(const json& profile) {
    std::vector<std::string> open;
    std::int64_t at = 0, sum = 0;
    for (const json& each : profile["events"].elements) {
        REQUIRE(each["at"].integer() >= at);
        if (!open.empty()) sum += each["at"].integer() - at;
        at = each["at"].integer();
        if (each["type"].text == "O") {
            open.push_back(each["frame"].text);
        } else {
            REQUIRE(!open.empty());
            REQUIRE(open.back() == each["frame"].text);
            open.pop_back();
        }
    }
    REQUIRE(open.empty());
    return sum;
}

const json& profile_named(const json& document, std::string_view beginning) {
    const auto& all = document["profiles"].elements;
    const auto found = std::ranges::find_if(
        all, [&](const json& each) { return each["name"].text.starts_with(beginning); });
    REQUIRE(found != all.end());
    return *found;
}

std::string inflated(const std::string& packed) {
    z_stream stream{};
    REQUIRE(inflateInit2(&stream, 15 + 16) == Z_OK);
    std::string out(std::size_t{1} << 20, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    return out;
}

/// A profile of pprof's format.
struct pprof_profile {
    std::vector<std::string> strings;
    std::vector<std::string> types;
    std::map<std::uint64_t, std::string> functions;  ///< names by id
    std::map<std::uint64_t, std::uint64_t> locations;
    std::map<std::string, std::int64_t> sums;    ///< by type
    std::map<std::string, std::int64_t> stacks;  ///< wall time by the names, outermost first
};

pprof_profile pprof_of(const analysis::trace& from) {
    const std::string bytes =
        inflated(bytes_of([&](const auto& sink) { return analysis::export_pprof(from, sink); }));
    pprof_profile read;
    std::vector<std::int64_t> types;
    std::map<std::uint64_t, std::int64_t> names;
    std::vector<std::pair<std::vector<std::uint64_t>, std::vector<std::int64_t>>> samples;
    protozero::pbf_reader file(bytes);
    while (file.next()) {
        if (file.tag() == 6) {
            read.strings.push_back(file.get_string());
            continue;
        }
        if (file.wire_type() != protozero::pbf_wire_type::length_delimited) {
            file.skip();
            continue;
        }
        const auto tag = file.tag();
        protozero::pbf_reader inner = file.get_message();
        std::uint64_t id = 0;
        if (tag == 2) samples.emplace_back();
        while (inner.next()) {
            if (tag == 1 && inner.tag() == 1)
                types.push_back(inner.get_int64());
            else if (tag == 2 && inner.tag() == 1)
                for (const auto each : inner.get_packed_uint64())
                    samples.back().first.push_back(each);
            else if (tag == 2 && inner.tag() == 2)
                for (const auto each : inner.get_packed_int64())
                    samples.back().second.push_back(each);
            else if ((tag == 4 || tag == 5) && inner.tag() == 1)
                id = inner.get_uint64();
            else if (tag == 5 && inner.tag() == 2)
                names[id] = inner.get_int64();
            else if (tag == 4 && inner.tag() == 4) {
                protozero::pbf_reader line = inner.get_message();
                REQUIRE(line.next(1));
                read.locations[id] = line.get_uint64();
            } else
                inner.skip();
        }
    }
    for (const std::int64_t each : types) read.types.push_back(read.strings.at(each));
    for (const auto& [id, name] : names) read.functions[id] = read.strings.at(name);
    for (const auto& [stack, values] : samples) {
        REQUIRE(values.size() == types.size());
        std::string text;
        for (auto each = stack.rbegin(); each != stack.rend(); ++each)
            text += (text.empty() ? "" : ";") + read.functions.at(read.locations.at(*each));
        read.stacks[text] += values.front();
        for (std::size_t at = 0; at < values.size(); ++at) read.sums[read.types[at]] += values[at];
    }
    return read;
}

TEST_SUITE("profiles") {
    TEST_CASE("pprof's values of all stacks add up to those of folded stacks") {
        for (const analysis::trace& from : {trace_of_facts(), hostile_trace()}) {
            const pprof_profile read = pprof_of(from);
            CHECK(read.strings.at(0).empty());
            CHECK(read.sums.at("wall") == folded_sum(from, analysis::folded_time::wall));
            CHECK(read.sums.at("wall") > 0);
            CHECK(read.sums.at("running") == folded_sum(from, analysis::folded_time::running));
            CHECK(read.sums.at("on-cpu") == folded_sum(from, analysis::folded_time::on_cpu));
            CHECK(read.sums.at("blocked") == folded_sum(from, analysis::folded_time::blocked));
            CHECK(read.sums.at("queued") == folded_sum(from, analysis::folded_time::queued));
            CHECK(read.sums.at("suspended") == folded_sum(from, analysis::folded_time::suspended));
            CHECK(read.sums.at("wall") == read.sums.at("running") + read.sums.at("queued") +
                                              read.sums.at("suspended") + read.sums.at("waiting"));
        }
    }

    TEST_CASE("a stack of pprof leads from the root task through its await to the awaited task") {
        const pprof_profile read = pprof_of(hostile_trace());
        std::int64_t below = 0;
        for (const auto& [stack, wall] : read.stacks)
            if (stack.find(";load") != std::string::npos) below += wall;
        CHECK(below == 500);  // task 2 from its first wake to its end
    }

    TEST_CASE("speedscope's sums are those of folded stacks") {
        for (const analysis::trace& from : {trace_of_facts(), hostile_trace()}) {
            const json document = speedscope_of(from);
            const json& sums = profile_named(document, "all tasks and threads");
            REQUIRE(sums["samples"].elements.size() == sums["weights"].elements.size());
            std::int64_t sum = 0;
            for (const json& each : sums["weights"].elements) sum += each.integer();
            CHECK(sum == folded_sum(from, analysis::folded_time::wall));
            CHECK(sums["endValue"].integer() == sum);
        }
    }

    TEST_CASE("each frame of speedscope's events is among the shared frames") {
        const json document = speedscope_of(trace_of_facts());
        const auto frames = static_cast<long long>(document["shared"]["frames"].elements.size());
        for (const json& profile : document["profiles"].elements) {
            if (profile["type"].text == "sampled") {
                for (const json& sample : profile["samples"].elements)
                    for (const json& frame : sample.elements) CHECK(frame.integer() < frames);
                continue;
            }
            for (const json& each : profile["events"].elements)
                CHECK(each["frame"].integer() < frames);
        }
    }

    TEST_CASE("the first profile of speedscope is the slowest request, in its whole length") {
        const analysis::trace from = trace_of_facts();
        const auto list = analysis::requests_of(from);
        const auto slowest = analysis::find_slowest(list);
        REQUIRE(slowest.has_value());
        const json document = speedscope_of(from);
        const json& first = document["profiles"][0];
        CHECK(first["name"].text.starts_with("slowest request: "));
        CHECK(document["activeProfileIndex"].integer() == 0);
        CHECK(open_time(first) == list.requests[*slowest].wall_ns());
    }

    TEST_CASE("a thread's timeline of speedscope has the slices and the scopes outside tasks") {
        const analysis::trace from = hostile_trace();
        const json document = speedscope_of(from);
        std::int64_t sum = 0;
        for (const json& each : document["profiles"].elements)
            if (each["name"].text.starts_with("work on ")) sum += open_time(each);
        std::int64_t expected = 20;  // the loop
        for (const analysis::slice& each : from.slices) expected += each.end_ns - each.start_ns;
        CHECK(sum == expected);
    }

    TEST_CASE("hostile names are valid text on one line in every profile") {
        const pprof_profile read = pprof_of(hostile_trace());
        for (const std::string& each : read.strings)
            if (each.find("a.cpp") == std::string::npos && each.find("</script>") == 0)
                CHECK(each.find('\xff') == std::string::npos);
        const json document = speedscope_of(hostile_trace());
        for (const json& frame : document["shared"]["frames"].elements) {
            CHECK(frame["name"].text.find('\n') == std::string::npos);
            CHECK(frame["name"].text.find('\x1b') == std::string::npos);
            CHECK(frame["name"].text.find('\xff') == std::string::npos);
        }
    }

    TEST_CASE("an export as a profile fails if its sink fails") {
        const analysis::trace from = hostile_trace();
        CHECK(coroscope_tests::fails_with_its_sink(
            [&](const auto& sink) { return analysis::export_speedscope(from, sink); }));
        CHECK(coroscope_tests::fails_with_its_sink(
            [&](const auto& sink) { return analysis::export_pprof(from, sink); }));
    }

    TEST_CASE("a trace without any element is exported as an empty profile") {
        const analysis::trace nothing;
        CHECK(speedscope_of(nothing)["profiles"].elements.size() == 1);
        CHECK(pprof_of(nothing).stacks.empty());
    }
}

}  // namespace
