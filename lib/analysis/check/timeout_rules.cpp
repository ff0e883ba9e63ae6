// SPDX-License-Identifier: Apache-2.0
#include "timeout_rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <tuple>

#include <coroscope/analysis/await_statistics.hpp>
#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>

#include "../words/places.hpp"
#include "request_flow.hpp"
#include "rule_context.hpp"

namespace coroscope::analysis::inline checks {
namespace {

constexpr std::uint64_t fewest_timeouts = 5;

/// A wait by its place and its innermost scope.
using wait_place = std::tuple<std::uint32_t, std::uint32_t>;  // site, name of the scope

wait_place wait_place_of(const trace& loaded, const await_info& await) {
    return {await.site,
            await.scope < loaded.events.size() ? loaded.events[await.scope].name : none};
}

/// Waits that one kind of work cancelled.
struct cancelled_waits {
    std::uint64_t count = 0;
    std::uint64_t by_timer = 0;   // a timer woke the canceller
    std::uint64_t of_others = 0;  // the cancelled wait was not for a timer
    std::int64_t time_ns = 0;
    finding_place canceller;
    finding_place place;
    evidence_list evidence;
};

// Whether it is known that the wait was for something else than a timer.
bool waits_for_other(const trace& loaded, const await_info& await) {
    return await.object < loaded.objects.size() && !loaded.objects[await.object].undescribed &&
           loaded.objects[await.object].kind != coroscope::trace::object_kind::timer;
}

// Returns the last await of the canceller that ended before it cancelled.
std::optional<await_info> await_before(const trace& loaded, const await_info& cancelled) {
    if (cancelled.waker >= loaded.tasks.size()) return std::nullopt;
    std::optional<await_info> found;
    for (const std::uint32_t at : loaded.tasks[cancelled.waker].awaits) {
        const await_info& each = loaded.awaits[at];
        if (!each.resume_ns || *each.resume_ns > *cancelled.wake_ns) break;
        found = each;
    }
    return found;
}

// Whether the name says that it bounds other work. Asio's own name of a timer does not.
bool is_named_as_timeout(std::string_view label) {
    if (label.starts_with("deadline_timer.")) return false;
    std::string lower;
    for (const char each : label)
        if (std::isalnum(static_cast<unsigned char>(each)) != 0)
            lower += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    constexpr std::array<std::string_view, 4> words{"timeout", "deadline", "expir", "watchdog"};
    return std::ranges::any_of(
        words, [&](std::string_view each) { return lower.find(each) != std::string::npos; });
}

class timeout_finder {
public:
    explicit timeout_finder(check_input& input) : input_(input), loaded_(input.loaded()) {
        for (std::uint32_t at = 0; at < loaded_.awaits.size(); ++at) {
            const await_info& each = loaded_.awaits[at];
            if (!each.resume_ns) continue;
            ++ended_[wait_place_of(loaded_, each)];
            if (each.reason == wake_reason::cancellation && each.wake_ns) add(each, at);
        }
    }

    void find(std::vector<finding>& to) {
        for (auto& [places, waits] : cancelled_) {
            const std::uint64_t attempts = ended_.at(places.first);
            if (waits.count < fewest_timeouts || waits.count * 2 < attempts ||
                !is_timeout(places, waits) || !input_.is_worth(waits.time_ns, least_share))
                continue;
            to.push_back(finding_of(waits, attempts));
        }
    }

private:
    using places = std::pair<wait_place, wait_place>;  // the cancelled wait, the canceller's wait

    void add(const await_info& await, std::uint32_t index) {
        const std::optional<await_info> before = await_before(loaded_, await);
        if (!before) return;
        const wait_place canceller = wait_place_of(loaded_, *before);
        cancelled_waits& of = cancelled_[{wait_place_of(loaded_, await), canceller}];
        const std::int64_t time_ns = *await.wake_ns - await.suspend_ns;
        of.canceller = input_.wait_at(*before);
        of.place = input_.wait_at(await);
        ++of.count;
        of.by_timer += before->reason == wake_reason::timer ? 1 : 0;
        of.of_others += waits_for_other(loaded_, await) ? 1 : 0;
        add_to(of.time_ns, time_ns);
        of.evidence.add({.text = "was cancelled",
                         .place = of.place,
                         .task = await.task,
                         .await = index,
                         .start_ns = await.suspend_ns,
                         .length_ns = time_ns});
    }

    // Whether the canceller is the time-out, and not the result that made the time-out needless:
    // a timer ended a wait for something else; or the timer ends later than the results that cancel
    // it; or it is named so.
    [[nodiscard]] bool is_timeout(const places& of, const cancelled_waits& waits) const {
        if (waits.by_timer * 2 < waits.count) return false;
        if (waits.of_others * 2 > waits.count) return true;
        const auto reverse = cancelled_.find({of.second, of.first});
        if (reverse != cancelled_.end()) {
            const cancelled_waits& other = reverse->second;
            return waits.time_ns / static_cast<std::int64_t>(waits.count) >
                   other.time_ns / static_cast<std::int64_t>(other.count);
        }
        return is_named_as_timeout(waits.canceller.label);
    }

    finding finding_of(cancelled_waits& waits, std::uint64_t attempts) const {
        finding made;
        made.cause = waits.canceller;
        made.count = waits.count;
        made.cost_ns = waits.time_ns;
        made.victims = {{waits.place, waits.count, waits.time_ns}};
        made.title = fmt::format("the time-out `{}` ends {} of {} attempts `{}`, {}",
                                 label_text(made.cause), waits.count, attempts,
                                 label_text(waits.place), share_text(input_, made.cost_ns));
        made.explanation = {
            fmt::format("each of these attempts waited {} on average and was cancelled",
                        format_span(waits.time_ns / static_cast<std::int64_t>(waits.count))),
            "either the attempts take longer than they may, or the time-out is too short"};
        made.evidence = waits.evidence.take();
        return made;
    }

    check_input& input_;
    const trace& loaded_;
    std::map<wait_place, std::uint64_t> ended_;
    std::map<places, cancelled_waits> cancelled_;
};

}  // namespace

std::string lacks_outcomes(const check_input& input) {
    return knows_outcomes(input.loaded())
               ? std::string()
               : "outcomes of awaits: Asio's tracking, or instrumented awaiters";
}

void find_timeouts(rule_context& context, std::vector<finding>& to) {
    timeout_finder(context.input()).find(to);
}

}  // namespace coroscope::analysis::inline checks
