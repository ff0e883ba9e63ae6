// SPDX-License-Identifier: Apache-2.0
#include "perfetto_canvas.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "../text/utf8.hpp"
#include "losses.hpp"
#include "raw_fields.hpp"

namespace coroscope::analysis::inline exports {
namespace {

using perfetto::annotation;
using perfetto::event_type;
using perfetto::packet;
using perfetto::track;
using perfetto::track_event;

/// The number of the first track for bars drawn apart. Other lanes have smaller numbers.
constexpr std::uint64_t first_track_apart = std::uint64_t{1} << 32;
constexpr std::uint64_t first_counter = std::uint64_t{2} << 32;

/// Converts an id or a rank to the signed number that the format has.
std::int32_t as_signed(std::uint32_t value) {
    return static_cast<std::int32_t>(
        std::min<std::uint32_t>(value, std::numeric_limits<std::int32_t>::max()));
}

std::uint32_t key_iid(argument key) { return static_cast<std::uint32_t>(key) + 1; }

bool knows_realtime(const trace& from) {
    return from.start_realtime_ns > 0 && from.start_realtime_ns <= latest_ns;
}

/// Appends an annotation with a number.
void add_annotation(std::string& to, argument key, annotation value_field, std::uint64_t value) {
    const std::size_t bytes =
        raw_fields::size(annotation::name_iid, key_iid(key)) + raw_fields::size(value_field, value);
    std::array<char, 32> added;
    const raw_fields last = raw_fields(added.data())
                                .length(track_event::annotations, bytes)
                                .number(annotation::name_iid, key_iid(key))
                                .number(value_field, value);
    to.append(added.data(), last.end());
}

void add_annotation(std::string& to, argument key, std::string_view text) {
    message<track_event> event(to);
    message<annotation> added(event, track_event::annotations);
    added.add_uint32(annotation::name_iid, key_iid(key));
    added.add_string(annotation::string_value, well_formed(text));
}

}  // namespace

perfetto_canvas::perfetto_canvas(const trace& from, const byte_sink& sink)
    : from_(from),
      texts_(from),
      out_(sink),
      has_process_(from.process_id != 0 &&
                   from.process_id <= std::numeric_limits<std::int32_t>::max()),
      processes_(count_processes(from)),
      names_(texts_.count()),
      categories_(texts_.categories()),
      places_(from.sites.size()) {
    write_first_packet();
    if (knows_realtime(from_)) write_clocks();
    const bool has_holders = !from_.lock_waits.empty() || !from_.resource_waits.empty();
    const std::size_t arguments = from_.states.any() || has_holders
                                      ? std::size(argument_names)
                                      : static_cast<std::size_t>(first_argument_of_states);
    for (std::size_t at = 0; at < arguments; ++at)
        out_.intern(perfetto::interned_data::annotation_names, key_iid(static_cast<argument>(at)),
                    argument_names[at]);
}

/// Begins the interned data, and names the clock of the events. If the real time is unknown, the
/// events use the trace's default clock, which is related to no other clock.
void perfetto_canvas::write_first_packet() {
    const auto fill = [this](message<packet>& written) {
        written.add_bool(packet::first_on_sequence, true);
        if (!knows_realtime(from_)) return;
        message<packet> defaults(written, packet::defaults);
        defaults.add_uint32(packet::timestamp_clock_id, perfetto::first_own_clock);
    };
    out_.packet(fill, perfetto::sequence_cleared);
}

/// The session's start, which is zero in the sequence's own clock.
void perfetto_canvas::write_clocks() {
    out_.packet([this](message<packet>& written) {
        message<perfetto::clock_snapshot> clocks(written, packet::clock_snapshot);
        const auto add = [&clocks](std::uint32_t id, std::int64_t time_ns) {
            message<perfetto::clock> one(clocks, perfetto::clock_snapshot::clocks);
            one.add_uint32(perfetto::clock::id, id);
            one.add_uint64(perfetto::clock::timestamp, static_cast<std::uint64_t>(time_ns));
        };
        add(perfetto::first_own_clock, 0);
        add(perfetto::realtime_clock, from_.start_realtime_ns);
        clocks.add_enum(perfetto::clock_snapshot::primary_clock,
                        static_cast<std::int32_t>(perfetto::realtime_clock));
    });
}

std::uint64_t perfetto_canvas::track_of(process which) const {
    return 1 + static_cast<std::uint64_t>(which);
}

std::uint64_t perfetto_canvas::track_of(const lane_ref& where) const {
    return 1 + processes_.size() + where.number;
}

void perfetto_canvas::name_process(process which, std::string_view name, std::uint32_t rank) {
    processes_[static_cast<std::size_t>(which)] = true;
    if (which == process::threads && has_process_) return write_process(name);
    // The tracks of devices are no part of the process.
    const bool is_part = which == process::tasks || which == requests_process(from_) ||
                         which == waits_process(from_);
    write_track(track_of(which), is_part ? track_of(process::threads) : 0, name, rank);
}

void perfetto_canvas::write_process(std::string_view name) {
    out_.packet([&](message<packet>& written) {
        message<track> described(written, packet::track_descriptor);
        described.add_uint64(track::uuid, track_of(process::threads));
        message<perfetto::process_descriptor> process(described, track::process);
        process.add_int32(perfetto::process_descriptor::pid, as_signed(from_.process_id));
        process.add_string(perfetto::process_descriptor::name, well_formed(name));
    });
}

void perfetto_canvas::name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) {
    if (!processes_[static_cast<std::size_t>(where.in)]) name_process(where.in, "tasks", 1);
    if (where.number >= lanes_.size()) lanes_.resize(where.number + 1);
    lanes_[where.number] = true;
    if (has_process_ && where.number < from_.threads.size()) return write_thread(where, name);
    write_track(track_of(where), track_of(where.in), name, rank);
}

/// Makes the track of a lane that has no name yet. Events without a thread are on such a lane.
void perfetto_canvas::know_lane(const lane_ref& where) {
    if (where.number < lanes_.size() && lanes_[where.number]) return;
    name_lane(where, "unknown thread", where.number);
}

void perfetto_canvas::write_thread(const lane_ref& where, std::string_view name) {
    out_.packet([&](message<packet>& written) {
        message<track> described(written, packet::track_descriptor);
        described.add_uint64(track::uuid, track_of(where));
        described.add_uint64(track::parent_uuid, track_of(where.in));
        message<perfetto::thread_descriptor> thread(described, track::thread);
        thread.add_int32(perfetto::thread_descriptor::pid, as_signed(from_.process_id));
        thread.add_int32(perfetto::thread_descriptor::tid, as_signed(where.tid));
        thread.add_string(perfetto::thread_descriptor::name, well_formed(name));
    });
}

void perfetto_canvas::write_track(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                                  std::uint32_t rank) {
    out_.packet([&](message<packet>& written) {
        message<track> described(written, packet::track_descriptor);
        described.add_uint64(track::uuid, uuid);
        if (parent != 0) described.add_uint64(track::parent_uuid, parent);
        described.add_string(track::name, well_formed(name));
        described.add_enum(track::child_ordering, perfetto::order_by_rank);
        described.add_int32(track::order_rank, as_signed(rank));
        described.add_enum(track::merge_behavior, perfetto::never_merge);
    });
}

void perfetto_canvas::draw(const bar& drawn) {
    know_lane(drawn.where);
    draw_on(track_of(drawn.where), drawn);
}

void perfetto_canvas::draw_apart(const bar& drawn) {
    const std::uint32_t taken = apart_.take(drawn.what);
    const std::uint64_t track = first_track_apart + taken;
    if (taken == lanes_apart_) {
        ++lanes_apart_;
        write_track(track, track_of(process::threads),
                    "between threads " + std::to_string(lanes_apart_), taken);
    }
    draw_on(track, drawn);
}

void perfetto_canvas::draw_on(std::uint64_t track, const bar& drawn) {
    details_.clear();
    const std::uint32_t category = category_of(drawn.category);
    const std::uint32_t name = name_of(drawn);
    add_arrows(drawn);
    for (const argument_value& each : drawn) add_argument(each);

    const auto start_ns = static_cast<std::uint64_t>(drawn.what.start_ns);
    const event_type type = drawn.is_moment ? event_type::instant : event_type::slice_begin;
    out_.event({type, start_ns, track, category, name, details_});
    if (drawn.is_moment) return;
    const auto end_ns = static_cast<std::uint64_t>(drawn.what.end_ns);
    out_.event({event_type::slice_end, end_ns, track});
}

void perfetto_canvas::draw_counter(const counter_point& point) {
    const std::uint64_t uuid = first_counter + point.track;
    if (point.track == counters_) {
        ++counters_;
        out_.packet([&](message<packet>& written) {
            message<track> described(written, packet::track_descriptor);
            described.add_uint64(track::uuid, uuid);
            described.add_uint64(track::parent_uuid, track_of(process::threads));
            described.add_string(track::name, well_formed(point.name));
            described.add_message(track::counter, std::string());
            described.add_enum(track::merge_behavior, perfetto::never_merge);
        });
    }
    details_.clear();
    message<track_event>(details_).add_double(track_event::double_counter_value, point.number);
    out_.event(
        {event_type::counter, static_cast<std::uint64_t>(point.time_ns), uuid, 0, 0, details_});
}

/// The number under which the name was interned. A bar's own name is in the details; 0 is no
/// number.
std::uint32_t perfetto_canvas::name_of(const bar& drawn) {
    if (drawn.name == none) {
        message<track_event>(details_).add_string(track_event::name, well_formed(drawn.own_name));
        return 0;
    }
    std::uint32_t& iid = names_[drawn.name];
    if (iid == 0) {
        iid = ++interned_;
        out_.intern(perfetto::interned_data::event_names, iid, texts_.text(drawn.name));
    }
    return iid;
}

std::uint32_t perfetto_canvas::category_of(std::uint32_t category) {
    std::uint32_t& iid = categories_[category];
    if (iid == 0) {
        iid = ++interned_;
        out_.intern(perfetto::interned_data::categories, iid, texts_.category_text(category));
    }
    return iid;
}

const std::string& perfetto_canvas::place_of(std::uint32_t site) {
    std::string& added = places_[site];
    if (added.empty()) {
        out_.intern(perfetto::interned_data::annotation_strings, ++interned_,
                    texts_.place_text(site));
        add_annotation(added, argument::at, annotation::string_value_iid, interned_);
    }
    return added;
}

void perfetto_canvas::add_arrows(const bar& drawn) {
    if (drawn.flow_out == 0 && drawn.flow_in == 0) return;
    message<track_event> event(details_);
    if (drawn.flow_out != 0) event.add_fixed64(track_event::flow_ids, drawn.flow_out);
    if (drawn.flow_in != 0) event.add_fixed64(track_event::terminating_flow_ids, drawn.flow_in);
}

void perfetto_canvas::add_argument(const argument_value& value) {
    const auto number = static_cast<std::uint64_t>(value.number);
    switch (value.is) {
        case argument_value::kind::integer:
            return add_annotation(details_, value.key, annotation::int_value, number);
        case argument_value::kind::flag:
            return add_annotation(details_, value.key, annotation::bool_value, number);
        case argument_value::kind::text: return add_annotation(details_, value.key, value.text);
        case argument_value::kind::site_place: break;
    }
    details_ += place_of(static_cast<std::uint32_t>(value.number));
}

bool perfetto_canvas::finish(const perfetto_totals& totals) {
    out_.packet([&](message<packet>& written) {
        message<perfetto::chrome_events> told(written, packet::chrome_events);
        for (const loss& each : losses_of(from_.health, totals)) {
            message<perfetto::metadata> one(told, perfetto::chrome_events::metadata);
            one.add_string(perfetto::metadata::name, each.name.data(), each.name.size());
            one.add_int64(perfetto::metadata::int_value, each.count);
        }
        message<perfetto::metadata> one(told, perfetto::chrome_events::metadata);
        one.add_string(perfetto::metadata::name, "finished");
        one.add_bool(perfetto::metadata::bool_value, from_.health.finished);
    });
    return out_.flush();
}

}  // namespace coroscope::analysis::inline exports
