// SPDX-License-Identifier: Apache-2.0

// One event's row: its name, place and arguments.

#include <algorithm>
#include <limits>

#include "../../text/json_tokens.hpp"
#include "../../text/number_text.hpp"
#include "chrome_events.hpp"
#include "make_room.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

constexpr std::string_view step_prefix = "\"ProfilerStep#";
constexpr std::string_view any_step = "ProfilerStep*";

bool is_zero_or_absent(std::string_view token) { return token.empty() || token == "0"; }

}  // namespace

event_row* chrome_events::add_row(const chrome_fields& event) {
    std::int64_t start_ns = 0;
    if (!read_time(event, start_ns)) return nullptr;
    make_room(list_.rows, progress_);
    const category_entry& category = names_.category(event.category);
    event_row& row = list_.rows.emplace_back();
    row.start_ns = row.end_ns = start_ns;
    row.category = category.number;
    row.what = category.meaning.what;
    row.device = category.meaning.device;
    row.flags = category.meaning.flags;
    row.thread = names_.lane(event.process, event.thread);
    if (name_row(event, row) && (!event.has_arguments || read_arguments(event, row))) {
        if (keep_) keep_rest(event, row);
        if (event.has_arguments) recorded_.take(event.arguments, list_.rows.size() - 1);
        first_ns_ = std::min(first_ns_, start_ns);
        last_ns_ = std::max(last_ns_, start_ns);
        note_device(category.meaning);
        return &row;
    }
    list_.rows.pop_back();
    return nullptr;
}

bool chrome_events::name_row(const chrome_fields& event, event_row& row) {
    if (!event.name.empty() && !is_string(event.name)) return wrong("\"name\" is no text");
    if (event.process == "\"Spans\"") row.flags |= row_hidden;
    if (!event.name.starts_with(step_prefix)) {
        row.name = names_.text(event.name);
        return true;
    }
    row.name = list_.intern(any_step);
    extra_of(row).trace_name = names_.text(event.name);
    return true;
}

bool chrome_events::read_arguments(const chrome_fields& event, event_row& row) {
    const chrome_arguments& arguments = event.arguments;
    read_links(arguments, row);
    if (row.device != device_kind::cpu) read_device(arguments, row);
    if (!read_inputs(arguments, row)) return false;
    if (!arguments.call_stack.empty()) read_stack(arguments.call_stack, row);
    return true;
}

void chrome_events::read_links(const chrome_arguments& arguments, event_row& row) {
    row.external_id = id_number(unquoted(arguments.external_id)).value_or(0);
    row.correlation = integer<std::uint32_t>(unquoted(arguments.correlation)).value_or(0);
    const auto sequence = integer<std::int64_t>(unquoted(arguments.sequence_number));
    if (sequence && *sequence >= 0) extra_of(row).sequence_number = *sequence;
    if (!is_zero_or_absent(arguments.forward_thread))
        extra_of(row).forward_thread = id_number(unquoted(arguments.forward_thread)).value_or(0);
}

void chrome_events::read_device(const chrome_arguments& arguments, event_row& row) {
    const auto index = integer<std::int32_t>(unquoted(arguments.device));
    const auto stream = integer<std::int64_t>(unquoted(arguments.stream));
    if (!index && !stream) return;
    event_extra& extra = extra_of(row);
    extra.device_index = index.value_or(-1);
    extra.device_resource = stream.value_or(-1);
}

bool chrome_events::inputs_are_json(const chrome_arguments& arguments) {
    const auto inputs = inputs_of(arguments);
    return std::all_of(inputs.begin(), inputs.end(), [this](std::string_view each) {
        return each.empty() || names_.json(each).has_value();
    });
}

bool chrome_events::read_inputs(const chrome_arguments& arguments, event_row& row) {
    using field = std::pair<std::string_view, std::uint32_t event_extra::*>;
    const std::array<field, 5> fields = {{
        {arguments.input_dims, &event_extra::input_shapes},
        {arguments.input_strides, &event_extra::input_strides},
        {arguments.input_type, &event_extra::input_dtypes},
        {arguments.concrete_inputs, &event_extra::concrete_inputs},
        {arguments.keyword_inputs, &event_extra::keyword_inputs},
    }};
    for (const auto& [token, member] : fields) {
        if (token.empty()) continue;
        const auto text = names_.json(token);
        if (!text) return false;
        extra_of(row).*member = *text;
    }
    if (!arguments.input_dims.empty()) list_.shapes = true;
    if (!unquoted(arguments.overload_name).empty())
        extra_of(row).overload_name = names_.text(arguments.overload_name);
    if (!unquoted(arguments.module_hierarchy).empty())
        extra_of(row).modules = names_.text(arguments.module_hierarchy);
    return true;
}

void chrome_events::read_stack(std::string_view token, event_row& row) {
    std::string stack = unescaped(unquoted(token));
    if (stack.empty()) return;
    std::replace(stack.begin(), stack.end(), ';', '\n');
    extra_of(row).stack = list_.intern(stack);
    list_.stacks = true;
}

void chrome_events::note_end(event_row& row, std::int64_t end_ns) {
    if (end_ns < row.start_ns) ++negative_durations_;
    row.end_ns = std::max(row.start_ns, end_ns);
    last_ns_ = std::max(last_ns_, row.end_ns);
}

event_extra& chrome_events::extra_of(event_row& row) {
    if (row.extra == none) make_room(list_.extras, progress_);
    return list_.extra_of(row);
}

}  // namespace coroscope::analysis::inline chrome
