// SPDX-License-Identifier: Apache-2.0
#pragma once

// The parts of a check that several rules share. They are made when the first rule asks for them.

#include <optional>
#include <vector>

#include "check_input.hpp"
#include "flow_patterns.hpp"
#include "queue_groups.hpp"
#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

class rule_context {
public:
    /// `input` must outlive it.
    explicit rule_context(check_input& input) : input_(input) {}

    [[nodiscard]] check_input& input() noexcept { return input_; }
    [[nodiscard]] const trace& loaded() const noexcept { return input_.loaded(); }

    [[nodiscard]] std::vector<queue_group>& queue_groups() {
        if (!queue_groups_) queue_groups_ = queue_groups_of(input_);
        return *queue_groups_;
    }

    [[nodiscard]] flow_patterns& patterns() {
        if (!patterns_) patterns_ = flow_patterns_of(input_);
        return *patterns_;
    }

private:
    check_input& input_;
    std::optional<flow_patterns> patterns_;
    std::optional<std::vector<queue_group>> queue_groups_;
};

}  // namespace coroscope::analysis::inline checks
