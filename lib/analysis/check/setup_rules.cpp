// SPDX-License-Identifier: Apache-2.0
#include "setup_rules.hpp"

#include <algorithm>
#include <map>

#include <coroscope/analysis/units.hpp>
#include <coroscope/trace/file_header.hpp>
#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "../words/health.hpp"
#include "../words/places.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

// Eight pages: such a frame holds a buffer or a table, not the state of a computation.
constexpr std::uint32_t large_frame_bytes = 32 * 1024;
// Recording changes what it measures if it takes this part of the processor time.
constexpr double least_overhead = 0.1;

std::int64_t on_cpu_ns(const trace& loaded) {
    std::int64_t sum_ns = 0;
    for (std::uint32_t at = 0; at < loaded.threads.size(); ++at)
        add_to(sum_ns, loaded.states.sums_of(at).on_cpu_ns);
    return sum_ns;
}

finding trouble(std::string title, std::vector<std::string> lines) {
    finding made;
    made.cause.label = "recording";
    made.count = 1;
    made.title = std::move(title);
    made.explanation = std::move(lines);
    return made;
}

}  // namespace

std::string lacks_frames(const check_input& input) {
    const bool is_known = std::ranges::any_of(
        input.loaded().sites, [](const site_info& each) { return each.frame_bytes != 0; });
    return is_known ? std::string() : "sizes of coroutine frames: instrumented coroutines";
}

void find_large_frames(rule_context& context, std::vector<finding>& to) {
    const trace& loaded = context.loaded();
    std::map<std::uint32_t, std::uint64_t> tasks;  // by spawn site
    for (const task_info& each : loaded.tasks)
        if (each.spawn_site < loaded.sites.size() &&
            loaded.sites[each.spawn_site].frame_bytes >= large_frame_bytes)
            ++tasks[each.spawn_site];
    for (const auto& [site, count] : tasks) {
        finding made;
        made.cause = {site_name(loaded, site), site};
        made.count = count;
        const std::uint32_t bytes = loaded.sites[site].frame_bytes;
        made.title =
            fmt::format("the frame of the coroutine `{}` takes {}, {}", printable(made.cause.label),
                        format_bytes(bytes), times_text(count));
        made.explanation = {"each call allocates and frees so much, and live tasks keep it",
                            "locals that live across a co_await are in the frame"};
        made.victims = {{made.cause, count, 0}};
        to.push_back(std::move(made));
    }
}

void find_recording_trouble(rule_context& context, std::vector<finding>& to) {
    const trace& loaded = context.loaded();
    const trace_health& health = loaded.health;
    if (health.lost_records() || health.lost_device_records != 0 || health.damaged_chunks != 0)
        to.push_back(trouble("records were lost, so that other findings may be incomplete",
                             health_notes(health)));
    using coroscope::trace::asio_tracking;
    if (health.asio == asio_tracking::mixed || health.asio == asio_tracking::missing)
        to.push_back(trouble("Asio is tracked in parts only: wakes and executors are missing",
                             {"compile all of the target with coroscope-asio"}));
    const double cost_ns = loaded.scope_cost_ns * static_cast<double>(loaded.events.size()) +
                           loaded.await_cost_ns * static_cast<double>(loaded.awaits.size());
    const auto all_ns = static_cast<double>(on_cpu_ns(loaded));
    if (all_ns > 0 && cost_ns > least_overhead * all_ns)
        to.push_back(trouble(
            fmt::format("recording took about {:.0f} % of the processor time",
                        100 * cost_ns / all_ns),
            {fmt::format("{} scopes and {} awaits", loaded.events.size(), loaded.awaits.size()),
             "short scopes look longer than they are; record fewer of them"}));
}

}  // namespace coroscope::analysis::inline checks
