// SPDX-License-Identifier: Apache-2.0
#include "perfetto_writer.hpp"

#include "../text/utf8.hpp"

namespace coroscope::analysis::inline exports {
void perfetto_writer::intern(perfetto::interned_data what, std::uint32_t iid,
                             std::string_view text) {
    packet([&](message<perfetto::packet>& written) {
        message<perfetto::interned_data> data(written, perfetto::packet::interned_data);
        message<perfetto::interned> one(data, what);
        one.add_uint32(perfetto::interned::iid, iid);
        one.add_string(perfetto::interned::text, well_formed(text));
    });
}

void perfetto_writer::event(const perfetto_event& what) {
    using perfetto::packet;
    using perfetto::track_event;
    const auto type = static_cast<std::uint64_t>(what.type);
    std::size_t event_bytes = raw_fields::size(track_event::type, type) +
                              raw_fields::size(track_event::track_uuid, what.track) +
                              what.details.size();
    if (what.category != 0)
        event_bytes += raw_fields::size(track_event::category_iids, what.category);
    if (what.name != 0) event_bytes += raw_fields::size(track_event::name_iid, what.name);
    const std::size_t packet_bytes =
        raw_fields::size(packet::timestamp, what.time_ns) +
        raw_fields::size(packet::sequence_id, sequence) +
        raw_fields::size(packet::sequence_flags, perfetto::sequence_needs_state) +
        raw_fields::size(packet::track_event, event_bytes) + event_bytes;

    raw_fields to = room_for(packet_bytes);
    to.length(perfetto::trace_file::packet, packet_bytes)
        .number(packet::timestamp, what.time_ns)
        .number(packet::sequence_id, sequence)
        .number(packet::sequence_flags, perfetto::sequence_needs_state)
        .length(packet::track_event, event_bytes)
        .number(track_event::type, type)
        .number(track_event::track_uuid, what.track);
    if (what.category != 0) to.number(track_event::category_iids, what.category);
    if (what.name != 0) to.number(track_event::name_iid, what.name);
    written_to(to.fields(what.details));
}

void perfetto_writer::append_packet() {
    raw_fields to = room_for(packet_.size());
    written_to(to.length(perfetto::trace_file::packet, packet_.size()).fields(packet_));
}

raw_fields perfetto_writer::room_for(std::size_t bytes) {
    bytes += raw_fields::size(perfetto::trace_file::packet, bytes);
    if (buffer_.size() - used_ < bytes) {
        flush();
        if (buffer_.size() < bytes) buffer_.resize(bytes);
    }
    return raw_fields(buffer_.data() + used_);
}

void perfetto_writer::written_to(const raw_fields& last) {
    used_ = static_cast<std::size_t>(last.end() - buffer_.data());
}

bool perfetto_writer::flush() {
    if (!failed_ && used_ != 0) failed_ = !sink_(std::string_view(buffer_.data(), used_));
    used_ = 0;
    return !failed_;
}

}  // namespace coroscope::analysis::inline exports
