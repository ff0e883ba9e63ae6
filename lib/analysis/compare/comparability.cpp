// SPDX-License-Identifier: Apache-2.0
#include "comparability.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline compare {
namespace {

class recording_checks {
public:
    recording_checks(std::span<const run_summary> before, std::span<const run_summary> after)
        : before_(before), after_(after) {
        for (const auto& side : {before, after})
            for (const run_summary& each : side) all_.push_back(&each);
    }

    comparability take() && {
        check_gaps();
        check_options();
        check_sampling();
        check_requests();
        return std::move(found_);
    }

private:
    void check_gaps() {
        for (const run_summary* each : all_) {
            const std::string title = printable(each->title);
            if (each->damaged) {
                note(fmt::format("{} is damaged or was not read in whole", title));
                found_.why_no_times = "a trace is damaged";
                found_.why_no_absence = found_.why_no_times;
            }
            if (each->lost != 0) {
                note(fmt::format("{} lost {} records; a row that may be among them is unclear",
                                 title, each->lost));
                found_.why_no_absence = "a trace lost records";
            }
            if (each->overwritten != 0) {
                note(fmt::format("{} has only the newest part of its run: {} older records were "
                                 "overwritten",
                                 title, each->overwritten));
                found_.why_no_absence = "a trace has a part of its run only";
            }
            if (!each->finished) {
                note(fmt::format("the session of {} was not stopped", title));
                found_.why_no_absence = "a session was not stopped";
            }
        }
    }

    void check_options() {
        if (differs(&run_summary::features)) {
            note("the sessions were asked for different facts (coroscope info shows them), which "
                 "cost different times");
            found_.why_no_times = "the sessions recorded different facts";
        }
        if (differs(&run_summary::categories) || differs(&run_summary::all_threads) ||
            differs(&run_summary::asio_tracked)) {
            note("the sessions recorded different categories, threads or libraries");
            found_.why_no_absence = "the sessions recorded different things";
        }
        if (differs(&run_summary::process_name)) note("the programs have different names");
        if (differs(&run_summary::clock))
            note("the sessions used different clocks; short scopes are uncertain");
        if (differs(&run_summary::states_known))
            note("only some traces have each context switch; in the others the times of scopes "
                 "include the time in which their threads were preempted");
    }

    void check_sampling() {
        if (std::ranges::none_of(all_, &run_summary::samples_requests)) return;
        note("requests were sampled: scopes and awaits are those of requests in full");
        found_.why_no_absence = "requests were sampled";
        if (differs(&run_summary::samples_requests))
            note("only some sessions sampled requests, and the sampling itself takes time");
    }

    void check_requests() {
        found_.requests_guessed = std::ranges::any_of(all_, &run_summary::requests_guessed);
        if (differs(&run_summary::requests_guessed))
            note("some traces mark requests, in others they are guessed");
        else if (all_.front()->requests_guessed)
            note("no request is marked; guessed ones are compared");
    }

    template <class Value>
    [[nodiscard]] bool differs(Value run_summary::* of) const {
        return std::ranges::any_of(
            all_, [&](const run_summary* each) { return each->*of != all_.front()->*of; });
    }

    void note(std::string text) { found_.notes.push_back(std::move(text)); }

    std::span<const run_summary> before_;
    std::span<const run_summary> after_;
    std::vector<const run_summary*> all_;
    comparability found_;
};

}  // namespace

comparability check_comparability(std::span<const run_summary> before,
                                  std::span<const run_summary> after) {
    return recording_checks(before, after).take();
}

bool may_have_lost_calls(const run_row& row, const run_summary& run) noexcept {
    constexpr double tolerable_share = 0.02;
    const auto lost = static_cast<double>(run.lost);
    return lost > tolerable_share * (row.calls + lost);
}

}  // namespace coroscope::analysis::inline compare
