// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tools with which the tests of rules build findings.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/analysis/findings.hpp>

#include "check_input.hpp"

namespace coroscope::analysis::inline checks {

class rule_context;

/// Causes of less than this share of the request time that the program explains are not worth a
/// look: the next change of the load moves more.
inline constexpr double least_share = 0.05;

/// The victims of one cause.
class victim_sums {
public:
    void add(const check_input& input, std::uint32_t request, std::int64_t time_ns);

    /// The number of different requests.
    [[nodiscard]] std::uint64_t count() const { return requests_.size(); }
    [[nodiscard]] std::int64_t time_ns() const noexcept { return time_ns_; }
    /// By type, the largest time first, at most five.
    [[nodiscard]] std::vector<finding_victim> list() const;

private:
    struct sum {
        std::set<std::uint32_t> requests;
        std::int64_t time_ns = 0;
    };
    std::map<std::pair<std::string, std::uint32_t>, sum> types_;  // by name and site
    std::set<std::uint32_t> requests_;
    std::int64_t time_ns_ = 0;
};

/// The place with the largest sum.
class place_sums {
public:
    void add(const finding_place& place, std::int64_t time_ns);
    [[nodiscard]] finding_place largest() const;
    [[nodiscard]] std::int64_t largest_ns() const;
    /// The share of the largest place in all sums, 0 to 1.
    [[nodiscard]] double largest_share() const;

private:
    std::map<std::pair<std::string, std::uint32_t>, std::int64_t> sums_;
    std::int64_t all_ns_ = 0;
};

/// Keeps the longest moments.
class evidence_list {
public:
    void add(finding_evidence moment);
    [[nodiscard]] std::vector<finding_evidence> take() { return std::move(moments_); }

private:
    std::vector<finding_evidence> moments_;  // the longest first
};

/// "12 of 40 requests".
[[nodiscard]] std::string victims_text(const check_input& input, std::uint64_t count);
/// "38 % of all request time".
[[nodiscard]] std::string share_text(const check_input& input, std::int64_t cost_ns);
/// "log.write"; "code outside tasks" without a name.
[[nodiscard]] std::string label_text(const finding_place& place);
/// "4 times", "once".
[[nodiscard]] std::string times_text(std::uint64_t count);

}  // namespace coroscope::analysis::inline checks
