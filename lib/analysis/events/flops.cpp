// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/flops.hpp>

#include <charconv>
#include <set>
#include <string>
#include <utility>

#include <coroscope/analysis/function_event.hpp>

namespace coroscope::analysis {
namespace {

std::vector<std::int64_t> integers_in(std::string_view text) {
    std::vector<std::int64_t> found;
    for (const char* at = text.data(); at != text.data() + text.size();) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
        if (error == std::errc()) found.push_back(number);
        at = end == at ? at + 1 : end;
    }
    return found;
}

// The text of each element of the outermost JSON array: "[[2, 3], []]" has "[2, 3]" and "[]".
std::vector<std::string> elements_of(std::string_view array) {
    std::vector<std::string> found;
    int depth = 0;
    bool in_string = false;
    std::string element;
    const auto finish = [&found, &element] {
        while (!element.empty() && element.back() == ' ') element.pop_back();
        if (!element.empty()) found.push_back(std::exchange(element, {}));
    };
    for (std::size_t at = 0; at < array.size(); ++at) {
        const char c = array[at];
        if (in_string && c == '\\' && at + 1 < array.size()) element += array[at++];
        if (c == '"') in_string = !in_string;
        const bool is_structure = !in_string && c != '"';
        if (is_structure && c == ']' && --depth == 0) break;
        if (is_structure && c == '[' && ++depth == 1) continue;
        if (is_structure && c == ',' && depth == 1)
            finish();
        else if (c != ' ' || !element.empty())
            element += array[at];
    }
    finish();
    return found;
}

std::string without_quotes(const std::string& element) {
    return element.size() >= 2 && element.front() == '"' ? element.substr(1, element.size() - 2)
                                                         : element;
}

flops_inputs inputs_of(const function_event& of) {
    flops_inputs inputs;
    for (const std::string& shape : elements_of(of.input_shapes()))
        inputs.shapes.push_back(integers_in(shape));
    for (const std::string& value : elements_of(of.concrete_inputs()))
        inputs.values.push_back(without_quotes(value));
    return inputs;
}

double real(std::int64_t number) { return static_cast<double>(number); }

// The FLOPs of a product of matrices: [batch ×] M × K by [batch ×] K × N.
std::optional<double> product(const flops_inputs& in, std::size_t first, std::size_t dimensions) {
    const auto* left = in.shape(first, dimensions);
    const auto* right = in.shape(first + 1, dimensions);
    if (left == nullptr || right == nullptr) return std::nullopt;
    double flops = 2 * real(right->back());
    for (const std::int64_t extent : *left) flops *= real(extent);
    return flops;
}

std::int64_t at(const std::vector<std::int64_t>& values, std::size_t position,
                std::int64_t otherwise) {
    if (values.empty()) return otherwise;
    return position < values.size() ? values[position] : values.back();
}

std::optional<double> conv2d(const flops_inputs& in) {
    const auto* input = in.shape(0, 4);
    const auto* weight = in.shape(1, 4);
    if (input == nullptr || weight == nullptr) return std::nullopt;
    constexpr std::size_t bias = 2, stride = bias + 1, padding = 4, dilation = 5, group = 6;
    const std::int64_t groups = at(in.integers(group), 0, 1);
    if (groups <= 0) return std::nullopt;
    double flops = 2 * real((*input)[0]) * real((*input)[1]) * real((*weight)[0]) / real(groups);
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
        const std::int64_t kernel = (*weight)[2 + axis];
        const std::int64_t step = at(in.integers(stride), axis, 1);
        if (step <= 0) return std::nullopt;
        const std::int64_t reach = at(in.integers(dilation), axis, 1) * (kernel - 1) + 1;
        const std::int64_t room =
            (*input)[2 + axis] + 2 * at(in.integers(padding), axis, 0) - reach;
        if (room < 0) return std::nullopt;
        flops *= real(room / step + 1) * real(kernel);
    }
    return flops;
}

}  // namespace

const std::vector<std::int64_t>* flops_inputs::shape(std::size_t argument,
                                                     std::size_t dimensions) const {
    if (argument >= shapes.size() || shapes[argument].size() != dimensions) return nullptr;
    return &shapes[argument];
}

std::optional<double> flops_inputs::elements(std::size_t argument) const {
    if (argument >= shapes.size() || shapes[argument].empty()) return std::nullopt;
    double count = 1;
    for (const std::int64_t extent : shapes[argument]) count *= real(extent);
    return count;
}

std::vector<std::int64_t> flops_inputs::integers(std::size_t argument) const {
    return argument < values.size() ? integers_in(values[argument]) : std::vector<std::int64_t>();
}

flops_registry flops_registry::shipped() {
    const std::pair<const char*, formula> torchs[] = {
        {"conv2d", conv2d},
        {"mm", [](const flops_inputs& in) { return product(in, 0, 2); }},
        {"addmm", [](const flops_inputs& in) { return product(in, 1, 2); }},
        {"bmm", [](const flops_inputs& in) { return product(in, 0, 3); }},
        {"baddbmm", [](const flops_inputs& in) { return product(in, 1, 3); }},
        {"mul", [](const flops_inputs& in) { return in.elements(0); }},
        {"add", [](const flops_inputs& in) { return in.elements(0); }},
    };
    flops_registry registry;
    for (const auto& [label, computes] : torchs) {
        registry.add(label, computes);
        registry.add(std::string("aten::") + label, computes);
    }
    return registry;
}

void flops_registry::add(std::string label, formula computes) {
    formulas_.insert_or_assign(std::move(label), std::move(computes));
}

const flops_registry::formula* flops_registry::find(std::string_view label) const {
    const auto found = formulas_.find(label);
    return found == formulas_.end() ? nullptr : &found->second;
}

void compute_flops(event_list& events, const flops_registry& formulas) {
    std::set<std::string, std::less<>> without_data;
    bool has_formula = events.empty();
    for (std::uint32_t index = 0; index < events.size(); ++index) {
        const function_event each(events, index);
        if (each.device_type() != device_kind::cpu) continue;
        const flops_registry::formula* computes = formulas.find(each.name());
        if (computes == nullptr) continue;
        has_formula = true;
        const std::optional<double> flops = (*computes)(inputs_of(each));
        if (!flops) without_data.emplace(each.name());
        if (flops || events.rows[index].extra != none)
            events.extra_of(events.rows[index]).flops = flops.value_or(0);
    }
    for (const std::string& label : without_data)
        events.health.warnings.push_back(
            "FLOPs of \"" + label +
            "\": shapes or values that its formula needs were not recorded; counted as 0");
    if (!has_formula)
        events.health.warnings.emplace_back(
            "FLOPs: no scope has a label with a formula; add one with flops_registry::add");
    events.flops = true;
}

}  // namespace coroscope::analysis
