// SPDX-License-Identifier: Apache-2.0
#pragma once

// FLOPs: floating-point operations of an event, computed from its recorded shapes by a formula per
// label.
//
//     analysis::flops_registry formulas = analysis::flops_registry::shipped();
//     formulas.add("softmax", [](const flops_inputs& in) { return 5 * in.elements(0); });
//     analysis::compute_flops(events, formulas);
//
// A formula returns nothing if its inputs were not recorded. The event then has 0, and the list
// gets one warning per label. Labels without a formula have 0. Figures are doubles, as in torch.

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
    std::vector<std::vector<std::int64_t>> shapes;  ///< empty for an argument without dimensions
    std::vector<std::string> values;                ///< empty for an argument with dimensions

    /// Returns the shape of an argument; null if it has another number of dimensions or is missing.
    [[nodiscard]] COROSCOPE_API const std::vector<std::int64_t>*
    shape(std::size_t argument, std::size_t dimensions) const;
    /// Returns the number of an argument's elements; none if it has no dimensions.
    [[nodiscard]] COROSCOPE_API std::optional<double> elements(std::size_t argument) const;
    /// Returns the integers in an argument's value, "3" or "[1, 2]"; empty if it has none.
    [[nodiscard]] COROSCOPE_API std::vector<std::int64_t> integers(std::size_t argument) const;
};

/// The formulas by label. Const access is safe on any thread.
class flops_registry {
public:
    using formula = std::function<std::optional<double>(const flops_inputs&)>;

    /// Returns torch's formulas, each under its name with and without "aten::":
    ///   conv2d             2 · N · outH · outW · kH · kW · Cin · Cout / groups
    ///                      (input, weight, bias, stride, padding, dilation, groups; 4 dimensions)
    ///   mm, addmm          2 · M · K · N (addmm: of its second and third argument)
    ///   bmm, baddbmm       the same times the batch
    ///   mul, add           the elements of the first argument
    [[nodiscard]] COROSCOPE_API static flops_registry shipped();

    /// Adds a formula, or replaces the label's formula.
    COROSCOPE_API void add(std::string label, formula computes);
    [[nodiscard]] COROSCOPE_API const formula* find(std::string_view label) const;

private:
    std::map<std::string, formula, std::less<>> formulas_;
};

/// Sets the FLOPs of each event whose name has a formula. Must not run concurrently on one list.
/// Throws the exceptions of the formulas, and std::bad_alloc.
COROSCOPE_API void compute_flops(event_list& events, const flops_registry& formulas);

}  // namespace coroscope::analysis
