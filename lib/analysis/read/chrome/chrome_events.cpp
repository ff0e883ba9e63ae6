// SPDX-License-Identifier: Apache-2.0
#include "chrome_events.hpp"

#include <coroscope/analysis/memory_records.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../../text/json_tokens.hpp"
#include "../../text/number_text.hpp"
#include "../../text/warnings.hpp"
#include "make_room.hpp"

namespace coroscope::analysis::inline chrome {
namespace {

constexpr std::string_view memory_name = "\"[memory]\"";
constexpr std::string_view out_of_memory_name = "\"[OutOfMemory]\"";

template <class Integer>
Integer number_or(std::string_view token, Integer otherwise) {
    return integer<Integer>(unquoted(token)).value_or(otherwise);
}

/// Returns whether add_row() handles events of the phase.
bool has_row(char phase) { return phase == 'X' || phase == 'B' || phase == 'b' || phase == 'S'; }

}  // namespace

bool chrome_events::take(const chrome_fields& event) {
    problem_ = nullptr;
    if (event.empty) return true;  // some writers put {} behind their last comma
    if (take_known(event)) {
        ++taken_;
        return true;
    }
    if (problem_ == nullptr || odd_.are_refused()) return false;
    odd_.add(problem_, byte_of_(event.where));
    return true;
}

bool chrome_events::take_known(const chrome_fields& event) {
    if (!is_string(event.phase)) return wrong("an event without \"ph\", its phase");
    const char phase = event.phase.size() == 3 ? event.phase[1] : '?';
    if (event.has_arguments && !has_row(phase) && !inputs_are_json(event.arguments)) return false;
    return take_phase(event, phase);
}

bool chrome_events::take_phase(const chrome_fields& event, char phase) {
    switch (phase) {
        case 'X': return take_complete(event);
        case 'B': return take_begin(event);
        case 'E': return take_end(event);
        case 'b':
        case 'S': return take_async_begin(event);
        case 'e':
        case 'F': return take_async_end(event);
        case 'i':
        case 'I': return take_mark(event);
        case 's':
        case 't':
        case 'f': return take_flow(event, phase);
        case 'M': return take_metadata(event);
        case 'C':
        case 'R':
        case 'n':
        case 'T':
        case 'p': ++without_interval_; return true;
        default: ++other_phases_; return true;
    }
}

bool chrome_events::take_complete(const chrome_fields& event) {
    std::int64_t duration = 0;
    if (!event.duration.empty() && !read_nanoseconds(unquoted(event.duration), duration))
        return wrong("\"dur\" is no number of microseconds, or too large a one");
    event_row* const row = add_row(event);
    if (row == nullptr) return false;
    if (event.duration.empty()) {
        row->flags |= row_unfinished;
        without_duration_.push_back(static_cast<std::uint32_t>(list_.rows.size() - 1));
    }
    std::int64_t end_ns = row->start_ns;
    if (duration < 0)
        ++negative_durations_;
    else if (__builtin_add_overflow(row->start_ns, duration, &end_ns) ||
             (!event.duration.empty() &&
              !add_finer(unquoted(event.time), unquoted(event.duration), end_ns))) {
        list_.rows.pop_back();
        return wrong("\"ts\" and \"dur\" together are too large");
    }
    note_end(*row, end_ns);
    return true;
}

bool chrome_events::take_begin(const chrome_fields& event) {
    const event_row* const row = add_row(event);
    if (row == nullptr) return false;
    lanes_.begin(row->thread, row->start_ns, static_cast<std::uint32_t>(list_.rows.size() - 1));
    return true;
}

bool chrome_events::take_end(const chrome_fields& event) {
    std::int64_t end_ns = 0;
    if (!read_time(event, end_ns)) return false;
    const std::uint32_t row = lanes_.end(names_.lane(event.process, event.thread), end_ns);
    if (row == none) return true;
    note_end(list_.rows[row], end_ns);
    if (keep_) keep_rest(event, list_.rows[row]);
    return true;
}

async_key chrome_events::key_of(const chrome_fields& event) {
    async_key key;
    key.category = names_.category(event.category).number;
    key.id = names_.text(event.id2.empty() ? event.id : event.id2);
    key.scope = names_.text(event.scope);
    if (event.local_id) key.process = names_.text(event.process);
    if (!event.name.empty()) key.name = names_.text(event.name);
    return key;
}

bool chrome_events::take_async_begin(const chrome_fields& event) {
    event_row* const row = add_row(event);
    if (row == nullptr) return false;
    row->flags |= row_async;
    open_.begin(key_of(event), static_cast<std::uint32_t>(list_.rows.size() - 1));
    return true;
}

bool chrome_events::take_async_end(const chrome_fields& event) {
    std::int64_t end_ns = 0;
    if (!read_time(event, end_ns)) return false;
    const std::uint32_t index = open_.end(key_of(event));
    if (index == none) {
        ++ends_without_beginning_;
        return true;
    }
    event_row& row = list_.rows[index];
    note_end(row, end_ns);
    if (keep_) keep_rest(event, row);
    const std::uint32_t lane = names_.lane(event.process, event.thread);
    if (lane != row.thread) extra_of(row).end_thread = lane;
    return true;
}

bool chrome_events::take_mark(const chrome_fields& event) {
    const bool failed = event.name == out_of_memory_name;
    if (!failed && event.name != memory_name) {
        ++without_interval_;
        return true;
    }
    std::int64_t time = 0;
    if (!read_time(event, time)) return false;
    const chrome_arguments& arguments = event.arguments;
    make_room(list_.memory, progress_);
    memory_record& record = list_.memory.emplace_back();
    record.time_ns = time;
    record.bytes = number_or<std::int64_t>(arguments.bytes, 0);
    record.address = id_number(unquoted(arguments.address)).value_or(0);
    record.total_allocated = number_or<std::int64_t>(arguments.total_allocated, 0);
    record.total_reserved = number_or<std::int64_t>(arguments.total_reserved, 0);
    record.device = number_or(arguments.device_type, 0) == 0 ? device_kind::cpu : device_kind::cuda;
    record.device_index = number_or<std::int32_t>(arguments.device_id, -1);
    record.thread = names_.lane(event.process, event.thread);
    record.out_of_memory = failed;
    list_.memory_profile = true;
    return true;
}

bool chrome_events::take_flow(const chrome_fields& event, char phase) {
    event_flow flow;
    if (!read_time(event, flow.time_ns)) return false;
    const std::string_view token = event.id2.empty() ? event.id : event.id2;
    const auto number = id_number(unquoted(token));
    constexpr std::uint64_t of_text = std::uint64_t{1} << 63;  // marks an id that is not a number
    flow.id = number ? *number : names_.text(token) | of_text;
    flow.category = names_.category(event.category).number;
    flow.thread = names_.lane(event.process, event.thread);
    if (is_string(event.name)) flow.name = names_.text(event.name);
    flow.start = phase == 's';
    flow.step = phase == 't';
    flow.enclosing = event.bind_point == "\"e\"";
    make_room(list_.flows, progress_);
    list_.flows.push_back(flow);
    return true;
}

bool chrome_events::take_metadata(const chrome_fields& event) {
    const bool of_thread = event.name == "\"thread_name\"";
    if (!of_thread && event.name != "\"process_name\"") return keep_metadata(event);
    lane_name name;
    name.process = names_.text(event.process);
    if (of_thread) name.thread = names_.text(event.thread);
    name.name = unescaped(unquoted(event.arguments.name));
    lane_names_.push_back(std::move(name));
    return true;
}

bool chrome_events::read_time(const chrome_fields& event, std::int64_t& into) {
    if (event.time.empty()) return wrong("an event without \"ts\", its time");
    if (!read_nanoseconds(unquoted(event.time), into))
        return wrong("\"ts\" is no number of microseconds, or too large a one");
    return true;
}

void chrome_events::finish(bool of_native) {
    if (of_native) recorded_.give_to(list_);
    if (lanes_.sort_out(list_))
        for (const event_row& row : list_.rows) last_ns_ = std::max(last_ns_, row.end_ns);
    std::vector<std::uint32_t> rows = open_.left();
    lanes_.append_open(rows);
    rows.insert(rows.end(), without_duration_.begin(), without_duration_.end());
    if (last_ns_ >= first_ns_) list_.duration_ns = saturated_difference(last_ns_, first_ns_);
    name_devices();
    std::vector<std::string>& warnings = list_.health.warnings;
    warn(warnings, "events without an end, each taken to last as long as the enclosing event",
         rows.size());
    warn(warnings, "ends of events without a beginning, left out",
         ends_without_beginning_ + lanes_.ends_without_beginning());
    warn(warnings, "events with a negative duration, taken as 0", negative_durations_);
    warn(warnings, "events of a kind that has no interval, left out", other_phases_);
    list_.left_out_events = without_interval_ + other_phases_;
    if (!rows.empty()) end_unfinished(rows);
    list_.memory = by_time(list_.memory);
    name_lanes();
}

void chrome_events::note_device(const category_meaning& of) {
    const bool on_device = of.device != device_kind::cpu;
    has_devices_ = has_devices_ || on_device;
    std::string_view& name = on_device ? device_name_ : called_device_;
    if (name.empty()) name = of.device_name;
}

// Finds the name of the device. Kernels of several kinds of devices share one category; then the
// name is taken from their calls.
void chrome_events::name_devices() {
    if (!has_devices_ || !list_.use_device.empty()) return;
    for (const std::string_view name : {device_name_, called_device_, std::string_view("cuda")})
        if (list_.use_device.empty()) list_.use_device = name;
}

// Sets the end of each unfinished event: the end of the innermost finished event around its
// beginning, else the trace's end.
void chrome_events::end_unfinished(const std::vector<std::uint32_t>& rows) {
    std::vector<bool> wanted(list_.threads.size());  // lanes
    for (const std::uint32_t each : rows) {
        event_row& row = list_.rows[each];
        row.flags |= row_unfinished;
        row.end_ns = last_ns_;
        wanted[row.thread] = true;
    }
    std::vector<std::uint32_t> order;
    for (std::uint32_t at = 0; at < list_.rows.size(); ++at)
        if (wanted[list_.rows[at].thread] && (list_.rows[at].flags & row_async) == 0)
            order.push_back(at);
    const auto place = [this](std::uint32_t at) {
        const event_row& row = list_.rows[at];
        return std::tuple(row.thread, row.start_ns, row.flags & row_unfinished, at);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t left, std::uint32_t right) { return place(left) < place(right); });
    std::uint32_t lane = none;
    std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> open;  // ends
    for (const std::uint32_t each : order) {
        event_row& row = list_.rows[each];
        if (row.thread != lane) open = {};
        lane = row.thread;
        while (!open.empty() && open.top() <= row.start_ns) open.pop();
        if ((row.flags & row_unfinished) == 0)
            open.push(row.end_ns);
        else if (!open.empty())
            row.end_ns = open.top();
    }
}

void chrome_events::name_lanes() {
    std::unordered_map<std::uint64_t, const lane_name*> known;
    const auto key = [](std::uint32_t process, std::uint32_t thread) {
        return std::uint64_t{process} << 32 | thread;
    };
    for (const lane_name& each : lane_names_) known[key(each.process, each.thread)] = &each;
    for (event_thread& lane : list_.threads) {
        const auto process = known.find(key(lane.process, none));
        if (process != known.end()) lane.process_name = process->second->name;
        const auto thread = known.find(key(lane.process, lane.thread));
        if (thread != known.end()) lane.name = thread->second->name;
    }
}

}  // namespace coroscope::analysis::inline chrome
