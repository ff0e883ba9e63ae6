// SPDX-License-Identifier: Apache-2.0
#pragma once

// The table of rules.

#include <span>
#include <string>
#include <vector>

#include <coroscope/analysis/findings.hpp>

#include "rule_test.hpp"

namespace coroscope::analysis::inline checks {

/// A rule with its code.
struct rule_entry {
    finding_rule rule;
    /// Returns the missing facts and how to record them; empty if the rule can run.
    std::string (*lacks)(const check_input&);
    /// Adds the findings of the rule.
    void (*test)(rule_context&, std::vector<finding>&);
};

/// The table.
[[nodiscard]] std::span<const rule_entry> rule_table() noexcept;

}  // namespace coroscope::analysis::inline checks
