// SPDX-License-Identifier: Apache-2.0
#pragma once

// FLOPs: floating-point operations of an event, computed from its recorded shapes by a formula per label.
//
//     analysis::flops_registry formulas = analysis::flops_registry::shipped();
//     formulas.add("softmax", [](const flops_inputs& in) { return 5 * in.elements(0); });
//     analysis::compute_flops(events, formulas);
//
// A formula gives nothing where what it needs was not recorded: the event then has 0, and the list one warning
// per label. Labels without a formula have 0. Figures are doubles, as torch's are.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/event_list.hpp>
#include <coroscope/detail/export.hpp>

namespace coroscope::analysis {

/// An event's arguments, by position from 0.
struct flops_inputs {
    std::vector<std::vector<std::int64_t>> shapes;  ///< empty of what has no dimensions
    std::vector<std::string> values;                ///< empty of what has dimensions

    /// The shape of an argument with so many dimensions, null where it has others or is missing.
    [[nodiscard]] COROSCOPE_API const std::vector<std::int64_t>*
    shape(std::size_t argument, std::size_t dimensions) const;
    /// How many elements an argument has; none without dimensions.
    [[nodiscard]] COROSCOPE_API std::optional<double> elements(std::size_t argument) const;
    /// The integers in an argument's value, "3" or "[1, 2]"; empty where there are none.
    [[nodiscard]] COROSCOPE_API std::vector<std::int64_t> integers(std::size_t argument) const;
};

class flops_registry {
public:
    using formula = std::function<std::optional<double>(const flops_inputs&)>;

    /// Those that torch computes, each under its name with and without "aten::":
    ///   conv2d             2 · N · outH · outW · kH · kW · Cin · Cout / groups
    ///                      (input, weight, bias, stride, padding, dilation, groups; four dimensions)
    ///   mm, addmm          2 · M · K · N (addmm: of its second and third argument)
    ///   bmm, baddbmm       the same times the batch
    ///   mul, add           the elements of the first argument
    [[nodiscard]] COROSCOPE_API static flops_registry shipped();

    /// Replaces the label's formula.
    COROSCOPE_API void add(std::string label, formula computes);
    [[nodiscard]] COROSCOPE_API const formula* find(std::string_view label) const;

private:
    std::map<std::string, formula, std::less<>> formulas_;
};

/// Sets the FLOPs of each event whose name has a formula. Not thread-safe on one list. Throws what a formula
/// throws, and std::bad_alloc.
COROSCOPE_API void compute_flops(event_list& events, const flops_registry& formulas);

}  // namespace coroscope::analysis
