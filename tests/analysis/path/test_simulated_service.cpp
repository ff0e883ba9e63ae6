// SPDX-License-Identifier: Apache-2.0

// The paths of a simulated service, and their charges, are those that the simulation knows.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../runtime/support/build.hpp"
#include "loaded_trace.hpp"
#include "path_texts.hpp"
#include "simulated_service.hpp"

using namespace coroscope;
using analysis::path_kind;
using test::loaded;
using test::path_of;
using test::simulated_service;
using part = simulated_service::part;

namespace {

part part_of(const analysis::trace& from, const analysis::path_segment& segment) {
    return {segment.kind, segment.start_ns, segment.end_ns, from.tasks[segment.task].id};
}

std::string text_of(const std::vector<part>& parts) {
    std::string text;
    for (const part& each : parts)
        text += std::to_string(each.from_ns) + '-' + std::to_string(each.to_ns) + ' ' +
                std::string(analysis::name_of(each.kind)) + ' ' + std::to_string(each.task) + '\n';
    return text;
}

// Joins neighbours of one kind and task, as the simulation does.
std::vector<part> parts_of(const analysis::trace& from, const analysis::critical_path& path) {
    std::vector<part> parts;
    for (const analysis::path_segment& each : path.segments) {
        const part next = part_of(from, each);
        if (!parts.empty() && parts.back().kind == next.kind && parts.back().task == next.task)
            parts.back().to_ns = next.to_ns;
        else
            parts.push_back(next);
    }
    return parts;
}

simulated_service::charges charges_of(const analysis::trace& from,
                                      const analysis::critical_path& path,
                                      const analysis::path_segment& segment) {
    simulated_service::charges made;
    for (const std::uint32_t at : segment.blame) {
        const analysis::path_blame& each = path.blame[at];
        if (each.charged_ns == 0) continue;
        const std::uint64_t task = each.task == analysis::none ? 0 : from.tasks[each.task].id;
        made[{from.threads[each.thread].id, task}] += each.charged_ns;
    }
    return made;
}

std::string text_of(const simulated_service::charges& all) {
    std::string text;
    for (const auto& [of, time_ns] : all)
        text += "thread " + std::to_string(of.first) + ", task " + std::to_string(of.second) +
                ": " + std::to_string(time_ns) + '\n';
    return text;
}

}  // namespace

TEST_SUITE("a simulated service") {
    TEST_CASE("the paths of ten thousand simulated services and their charges are the true ones") {
        std::array<std::size_t, 9> kinds{};
        const std::uint32_t services = test::library_sanitized ? 1'000 : 10'000;
        for (std::uint32_t seed = 1; seed <= services; ++seed) {
            const simulated_service service(seed);
            const analysis::trace from = loaded(service.built());
            for (const std::uint64_t request : service.requests()) {
                CAPTURE(seed);
                CAPTURE(request);
                const analysis::critical_path path = path_of(from, request);
                REQUIRE(text_of(parts_of(from, path)) == text_of(service.path_of(request)));
                for (const analysis::path_segment& each : path.segments) {
                    ++kinds[static_cast<std::size_t>(each.kind)];
                    if (each.kind != path_kind::queued) continue;
                    REQUIRE(text_of(charges_of(from, path, each)) ==
                            text_of(service.charges_of(part_of(from, each))));
                }
            }
        }
        for (const path_kind kind :
             {path_kind::running, path_kind::queued, path_kind::suspended, path_kind::waiting})
            CHECK(kinds[static_cast<std::size_t>(kind)] > 100);
    }
}
