// SPDX-License-Identifier: Apache-2.0
#include "native_notes.hpp"

#include <string_view>

#include <coroscope/trace/format.hpp>

namespace coroscope::analysis::inline events {
namespace {

constexpr std::uint32_t not_looked_up = none - 1;
constexpr std::string_view module_key = "module";  // the key that the runtime's module_guard uses

}  // namespace

native_notes::native_notes(const trace& from, event_list& to,
                           const std::vector<std::uint32_t>& lanes)
    : from_(from),
      to_(to),
      lanes_(lanes),
      symbols_(from),
      next_note_(from.notes.begin()),
      has_modules_((from.asked_for & coroscope::trace::feature_modules) != 0),
      values_(from, module_key),
      stacks_(from.stacks.size(), not_looked_up),
      modules_(has_modules_ ? from.attributes.size() : 0, not_looked_up) {
    to.shapes = (from.asked_for & coroscope::trace::feature_shapes) != 0;
    to.stacks = (from.asked_for & coroscope::trace::feature_stacks) != 0;
    to.memory_profile = (from.asked_for & coroscope::trace::feature_memory) != 0;
}

void native_notes::add(const event& each, event_row& row) {
    if (next_note_ != from_.notes.end() && next_note_->event == next_event_)
        add_note(*next_note_++, row);
    ++next_event_;
    if (each.site == none) name_step(each, row);
    if (from_.node_id >= 0) to_.extra_of(row).node_id = from_.node_id;
    if (!has_modules_ || each.attribute == none) return;
    const std::uint32_t modules = modules_of(each.attribute);
    if (modules != none) to_.extra_of(row).modules = modules;
}

void native_notes::name_step(const event& each, event_row& row) {
    if (each.name >= from_.strings.size()) return;
    const std::string_view name = from_.strings[each.name];
    if (!name.starts_with("ProfilerStep#")) return;
    to_.extra_of(row).trace_name = row.name;
    row.name = to_.intern("ProfilerStep*");
}

void native_notes::add_note(const event_note& note, event_row& row) {
    event_extra& extra = to_.extra_of(row);
    extra.input_shapes = text_of(note.input_shapes);
    extra.input_strides = text_of(note.input_strides);
    extra.input_dtypes = text_of(note.input_types);
    extra.concrete_inputs = text_of(note.concrete_inputs);
    extra.stack = stack_of(note.stack);
    if (note.sequence_number < 0) return;
    row.what = activity::cpu_op;
    extra.sequence_number = note.sequence_number;
    if (note.forward_thread < from_.threads.size())
        extra.forward_thread = from_.threads[note.forward_thread].id;
}

std::uint32_t native_notes::text_of(std::uint32_t string) {
    return string < from_.strings.size() ? to_.intern(from_.strings[string]) : none;
}

std::uint32_t native_notes::stack_of(std::uint32_t stack) {
    if (stack >= stacks_.size()) return none;
    if (stacks_[stack] == not_looked_up)
        stacks_[stack] = to_.intern(symbols_.stack(from_.stacks[stack]));
    return stacks_[stack];
}

std::uint32_t native_notes::modules_of(std::uint32_t attribute) {
    if (attribute >= modules_.size()) return none;
    if (modules_[attribute] == not_looked_up) modules_[attribute] = text_of(values_.of(attribute));
    return modules_[attribute];
}

void native_notes::add_memory() {
    to_.memory.reserve(from_.memory.size());
    for (const memory_event& each : from_.memory) {
        memory_record record;
        record.time_ns = each.time_ns;
        record.bytes = each.bytes;
        record.address = each.address;
        record.total_allocated = each.total_allocated;
        record.total_reserved = each.total_reserved;
        record.thread = each.thread < lanes_.size() ? lanes_[each.thread] : none;
        record.out_of_memory = each.out_of_memory;
        to_.memory.push_back(record);
    }
}

}  // namespace coroscope::analysis::inline events
