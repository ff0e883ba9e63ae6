// SPDX-License-Identifier: Apache-2.0
#include "trace_builder.hpp"

#include <coroscope/trace/fact_format.hpp>

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace coroscope::test {

using trace::make_tag;
using trace::record_kind;

trace_builder::trace_builder(std::size_t chunk_bytes) : chunk_bytes_(chunk_bytes) {
    header.magic = trace::file_magic;
    header.version = trace::format_version;
    header.header_bytes = trace::file_header_bytes;
    header.chunk_bytes = static_cast<std::uint32_t>(chunk_bytes);
    header.clock = trace::clock_source::monotonic_ns;
    header.process_id = 42;
    header.session_id = 7;
    header.start = {base_ticks, 5'000'000, 1'700'000'000'000'000'000};
    header.finished = 1;
    std::strcpy(header.process_name, "test");
    lasts(1000);
}

trace_builder& trace_builder::lasts(std::int64_t duration) {
    header.last = {ticks_of(duration), header.start.monotonic_ns + duration,
                   header.start.realtime_ns + duration};
    return *this;
}

std::uint32_t trace_builder::site(std::string_view label, std::string_view file, std::uint32_t line,
                                  trace::site_kind kind, std::string_view function,
                                  std::string_view category) {
    sites_.push_back({std::string(label), std::string(function), std::string(file),
                      std::string(category), line, kind});
    return static_cast<std::uint32_t>(sites_.size() * 16);
}

trace::thread_body& trace_builder::thread(std::uint32_t id) {
    const auto [place, is_new] = threads_.try_emplace(id);
    if (is_new) {
        place->second = {};
        place->second.os_thread_id = 1000 + id;
        const std::string name = "thread " + std::to_string(id);
        std::memcpy(place->second.name, name.data(), name.size());
    }
    return place->second;
}

trace_builder& trace_builder::joins(std::uint32_t id, std::int64_t at) {
    thread(id);
    joined_[id] = ticks_of(at);
    return *this;
}

thread_writer trace_builder::on(std::uint32_t id) {
    thread(id);
    return {*this, id};
}

kernel_writer trace_builder::kernel() {
    header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::switches);
    return kernel_writer(*this);
}

trace_builder& trace_builder::clock_point(std::uint64_t ticks, std::int64_t monotonic_ns) {
    clock_points_.push_back({ticks, monotonic_ns, 0});
    return *this;
}

trace_builder& trace_builder::live_task(const trace::task_slot& slot) {
    live_tasks_.push_back(slot);
    return *this;
}

trace_builder& trace_builder::open_scope(std::uint32_t thread, std::uint32_t site,
                                         std::int64_t start, std::uint64_t task,
                                         std::uint32_t flags) {
    trace::open_scope place{ticks_of(start), 0, task, thread,
                            static_cast<std::uint32_t>(open_scopes_.size())};
    place.tag = trace::make_open_tag(make_tag(record_kind::scope, site, flags), place);
    return open_place(place);
}

trace_builder& trace_builder::open_place(const trace::open_scope& place) {
    header.asked_for |= trace::feature_open_scopes;
    open_scopes_.push_back(place);
    return *this;
}

trace_builder& trace_builder::leave_open() {
    open_ = true;
    header.finished = 0;
    return *this;
}

trace_builder& trace_builder::forget_sites() {
    sites_forgotten_ = true;
    return *this;
}

trace_builder::chunk& trace_builder::chunk_of(std::uint32_t thread, std::size_t bytes) {
    const auto last =
        std::find_if(chunks_.rbegin(), chunks_.rend(),
                     [thread](const chunk& candidate) { return candidate.writer == thread; });
    const std::size_t room = chunk_bytes_ - trace::chunk_header_bytes;
    if (last != chunks_.rend() && last->content.size() + bytes <= room) return *last;
    chunk& opened = chunks_.emplace_back();
    opened.thread = opened.writer = thread;
    return opened;
}

void trace_builder::append(chunk& to, const void* data, std::size_t size) const {
    if (size == 0) return;
    const auto* first = static_cast<const unsigned char*>(data);
    to.content.insert(to.content.end(), first, first + size);
}

void trace_builder::write_record(chunk& to, std::uint64_t first, std::uint64_t tag,
                                 const void* rest, std::size_t size) const {
    append(to, &first, sizeof(first));
    append(to, &tag, sizeof(tag));
    append(to, rest, size);
    to.content.resize((to.content.size() + trace::record_unit_bytes - 1) /
                      trace::record_unit_bytes * trace::record_unit_bytes);
    ++to.records;
}

std::uint32_t trace_builder::string(std::string_view text, chunk& metadata) const {
    if (text.empty()) return 0;
    const std::uint32_t id = metadata.records + 1;
    write_record(metadata, 0, make_tag(record_kind::string, id, text.size()), text.data(),
                 text.size());
    return id;
}

std::vector<trace_builder::chunk> trace_builder::metadata() const {
    chunk described;
    described.kind = trace::chunk_kind::metadata;
    for (std::size_t index = 0; index < sites_.size() && !sites_forgotten_; ++index) {
        const site_entry& entry = sites_[index];
        trace::site_body body{};
        body.label = string(entry.label, described);
        body.function = string(entry.function, described);
        body.file = string(entry.file, described);
        body.category = string(entry.category, described);
        body.line = entry.line;
        body.kind = static_cast<std::uint8_t>(entry.kind);
        body.frame_bytes = entry.frame_bytes;
        const auto id = static_cast<std::uint32_t>((index + 1) * 16);
        write_record(described, 0, make_tag(record_kind::site, id, 0), &body, sizeof(body));
    }
    for (const auto& [id, body] : threads_)
        write_record(described, joined_.contains(id) ? joined_.at(id) : base_ticks,
                     make_tag(record_kind::thread, id, sizeof(body)), &body, sizeof(body));
    for (const trace::clock_point& point : clock_points_)
        write_record(described, point.ticks, make_tag(record_kind::clock, 0, 0),
                     &point.monotonic_ns, 2 * sizeof(std::int64_t));
    for (const object_entry& entry : objects_)
        write_record(described, 0,
                     make_tag(record_kind::fact,
                              trace::fact_id(trace::fact_kind::object,
                                             static_cast<std::uint32_t>(entry.kind)),
                              entry.payload.size()),
                     entry.payload.data(), entry.payload.size());
    for (const std::string& payload : executors_)
        write_record(
            described, 0,
            make_tag(record_kind::fact, trace::fact_id(trace::fact_kind::executor), payload.size()),
            payload.data(), payload.size());
    for (const trace::spawn_place_body& each : spawn_places_)
        write_record(
            described, 0,
            make_tag(record_kind::fact, trace::fact_id(trace::fact_kind::spawn_place), sizeof each),
            &each, sizeof each);
    for (const auto& [id, name] : devices_)
        write_record(described, 0, make_tag(record_kind::device_name, id, name.size()), name.data(),
                     name.size());
    for (const auto& [place, name] : streams_)
        write_record(described, std::uint64_t{place.first} + 1,
                     make_tag(record_kind::device_name, place.second, name.size()), name.data(),
                     name.size());
    for (const module_entry& entry : modules_)
        write_record(described, entry.load_address,
                     make_tag(record_kind::module, 1, entry.payload.size()), entry.payload.data(),
                     entry.payload.size());
    std::vector<chunk> all{described};
    if (!live_tasks_.empty()) {
        chunk table;
        table.kind = trace::chunk_kind::tasks;
        append(table, live_tasks_.data(), live_tasks_.size() * sizeof(trace::task_slot));
        all.push_back(table);
    }
    if (!open_scopes_.empty()) {
        chunk table;
        table.kind = trace::chunk_kind::open;
        append(table, open_scopes_.data(), open_scopes_.size() * sizeof(trace::open_scope));
        all.push_back(table);
    }
    return all;
}

trace_builder& trace_builder::frame_of(std::uint32_t site, std::uint32_t bytes) {
    sites_[site / 16 - 1].frame_bytes = bytes;
    return *this;
}

trace_builder& trace_builder::object(std::uint32_t number, trace::object_kind kind,
                                     std::string_view name) {
    const trace::object_body body{number, static_cast<std::uint8_t>(name.size()), {}};
    std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
    objects_.push_back({kind, payload.append(name)});
    return *this;
}

trace_builder& trace_builder::executor(std::uint32_t number, trace::executor_kind kind,
                                       std::string_view name, std::uint32_t inner) {
    const trace::executor_body body{number, inner, kind, 0, static_cast<std::uint16_t>(name.size()),
                                    0};
    std::string payload(sizeof body, '\0');
    std::memcpy(payload.data(), &body, sizeof body);
    executors_.push_back(payload.append(name));
    return *this;
}

trace_builder& trace_builder::spawn_place(std::uint32_t site, std::uint64_t inside,
                                          std::uint64_t caller) {
    spawn_places_.push_back({site, 0, inside, caller});
    return *this;
}

trace_builder& trace_builder::device_name(std::uint32_t id, std::string_view name) {
    devices_[id] = name;
    return *this;
}

trace_builder& trace_builder::stream_name(std::uint32_t context, std::uint32_t stream,
                                          std::string_view name) {
    streams_[{context, stream}] = name;
    return *this;
}

trace_builder& trace_builder::module(std::uint64_t load_address, std::uint64_t bytes,
                                     std::string_view path, std::string_view build_id) {
    const trace::module_body body{bytes, static_cast<std::uint8_t>(build_id.size()), {}};
    std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
    modules_.push_back({load_address, payload.append(build_id).append(path)});
    return *this;
}

// A chunk that was handed on has the place of each further thread's description, which is in the
// first chunk.
void trace_builder::name_descriptions(std::vector<chunk>& all) {
    const auto each_record = [](chunk& in, auto visit) {
        for (std::size_t at = 0; at < in.content.size();) {
            std::uint64_t tag;
            std::memcpy(&tag, in.content.data() + at + sizeof(tag), sizeof(tag));
            visit(at, tag);
            const std::size_t bytes = trace::record_bytes(tag);
            if (bytes == 0) return;
            at += bytes;
        }
    };
    std::map<std::uint32_t, std::uint64_t> places;
    each_record(all.front(), [&places](std::size_t at, std::uint64_t tag) {
        if (trace::tag_kind(tag) == record_kind::thread)
            places[trace::tag_id(tag)] = trace::file_header_bytes + trace::chunk_header_bytes + at +
                                         trace::record_unit_bytes;
    });
    for (chunk& in : all)
        each_record(in, [&](std::size_t at, std::uint64_t tag) {
            if (trace::tag_kind(tag) != record_kind::next_thread) return;
            constexpr std::size_t last_word = 24;
            std::memcpy(in.content.data() + at + last_word, &places[trace::tag_id(tag)],
                        sizeof(std::uint64_t));
        });
}

std::vector<unsigned char> trace_builder::bytes() const {
    std::vector<chunk> all = metadata();
    all.insert(all.end(), chunks_.begin(), chunks_.end());
    name_descriptions(all);
    trace::file_header written = header;
    written.chunk_count = all.size();
    if (written.finished != 0) written.chunks_in_use = all.size();
    std::vector<unsigned char> bytes(trace::file_header_bytes + all.size() * chunk_bytes_);
    std::memcpy(bytes.data(), &written, sizeof(written));
    for (std::size_t index = 0; index < all.size(); ++index) {
        const chunk& from = all[index];
        trace::chunk_header head{};
        head.magic = trace::chunk_magic;
        head.kind = from.kind;
        head.state = open_ ? trace::chunk_state::open : trace::chunk_state::sealed;
        head.number = index + 1;
        head.thread = from.thread;
        head.current_task = from.current_task;
        head.opened_ticks = from.opened_ticks;
        if (!open_) {
            head.records = from.records;
            head.used_bytes = static_cast<std::uint32_t>(from.content.size());
            head.checksum = XXH3_64bits(from.content.data(), from.content.size());
        }
        unsigned char* to = bytes.data() + trace::file_header_bytes + index * chunk_bytes_;
        std::memcpy(to, &head, sizeof(head));
        std::copy(from.content.begin(), from.content.end(), to + sizeof(head));
    }
    return bytes;
}

trace::buffer trace_builder::finish() const {
    const std::vector<unsigned char> all = bytes();
    return trace::buffer::copy(all.data(), all.size());
}

}  // namespace coroscope::test
