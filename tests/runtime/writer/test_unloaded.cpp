// SPDX-License-Identifier: Apache-2.0

// The records of a library keep their names after the library is unloaded and other data is at its
// addresses.

#include <algorithm>
#include <string>
#include <string_view>

#include <coroscope/analysis/averages.hpp>

#include "../../support/skip.hpp"
#include "../support/program_runs.hpp"
#include "../support/session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// The names of a site. `function` is a part of the signature, which each compiler spells
// differently.
struct site_names {
    std::string_view label;
    std::string_view function;
    std::string_view category = {};
    std::string_view arguments = {};
};
constexpr site_names library_sites[] = {
    {"library arguments", "library_parent", "", "number"},
    {"library categorised", "library_child", "library category"},
    {"library await", "library_parent"},
    {"co_await in library_parent", "library_parent"},
    {"library_parent", "library_parent"},
    {"library_child", "library_child"},
};

bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

bool is_named(const analysis::site_info& site, const site_names& wanted) {
    return site.label == wanted.label && holds(site.function, wanted.function) &&
           site.file.ends_with("unloaded_names.cpp") && site.line != 0 &&
           site.category == wanted.category && site.arguments == wanted.arguments;
}

void check_sites(const analysis::trace& trace) {
    for (const site_names& each : library_sites) {
        CAPTURE(std::string(each.label));
        CHECK(std::any_of(trace.sites.begin(), trace.sites.end(),
                          [&each](const auto& site) { return is_named(site, each); }));
    }
}

std::string arguments_of(const analysis::trace& trace, const analysis::event& event) {
    if (event.detail == analysis::none) return {};
    const std::uint32_t text = trace.details[event.detail].arguments;
    return text == analysis::none ? std::string() : trace.strings[text];
}

}  // namespace

TEST_SUITE("unloaded libraries") {
    TEST_CASE("scopes, arguments, ranges, attributes, tasks and awaits of a library keep their "
              "names after other data is at its addresses, also in a session that begins later") {
        const scratch_file file;
        const scratch_file later_file;
        const program_end end =
            run_program({UNLOADED_NAMES, file.path(), later_file.path()}, {}, UNLOAD_PROGRAM);
        if (end.exit_code() == 77) {
            COROSCOPE_SKIP("the library stays loaded");
            return;
        }
        REQUIRE(end.exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        check_sites(trace);
        CHECK(count(trace, "library categorised") == 2);
        CHECK(count(trace, "library range") == 1);
        CHECK(count_steps(trace) == 5);
        const analysis::event* const event = find(trace, "library arguments");
        REQUIRE(event != nullptr);
        CHECK(holds(arguments_of(trace, *event), "21"));
        const std::uint32_t value =
            analysis::attribute_value(trace, event->attribute, "library key");
        REQUIRE(value != analysis::none);
        CHECK(trace.strings[value] == "library value");
        REQUIRE(trace.tasks.size() == 3);
        for (const analysis::task_info& task : trace.tasks)
            CHECK(trace.sites[task.spawn_site].label.starts_with("library_"));
        REQUIRE(trace.awaits.size() == 2);
        for (const analysis::await_info& await : trace.awaits)
            CHECK(holds(trace.sites[await.site].function, "library_parent"));

        const analysis::trace later = load(std::string(later_file.path()));
        check_sites(later);
        CHECK(count_steps(later) == 5);
    }
}
