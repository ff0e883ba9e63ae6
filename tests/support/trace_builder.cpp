// SPDX-License-Identifier: Apache-2.0
#include "trace_builder.hpp"

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

thread_writer trace_builder::on(std::uint32_t id) {
    thread(id);
    return {*this, id};
}

trace_builder& trace_builder::clock_point(std::uint64_t ticks, std::int64_t monotonic_ns) {
    clock_points_.push_back({ticks, monotonic_ns, 0});
    return *this;
}

trace_builder& trace_builder::live_task(const trace::task_slot& slot) {
    live_tasks_.push_back(slot);
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
                     [thread](const chunk& candidate) { return candidate.thread == thread; });
    const std::size_t room = chunk_bytes_ - trace::chunk_header_bytes;
    if (last != chunks_.rend() && last->content.size() + bytes <= room) return *last;
    chunk& opened = chunks_.emplace_back();
    opened.thread = thread;
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
        const auto id = static_cast<std::uint32_t>((index + 1) * 16);
        write_record(described, 0, make_tag(record_kind::site, id, 0), &body, sizeof(body));
    }
    for (const auto& [id, body] : threads_)
        write_record(described, base_ticks, make_tag(record_kind::thread, id, sizeof(body)), &body,
                     sizeof(body));
    for (const trace::clock_point& point : clock_points_)
        write_record(described, point.ticks, make_tag(record_kind::clock, 0, 0),
                     &point.monotonic_ns, 2 * sizeof(std::int64_t));
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
    return all;
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

std::vector<unsigned char> trace_builder::bytes() const {
    std::vector<chunk> all = metadata();
    all.insert(all.end(), chunks_.begin(), chunks_.end());
    trace::file_header written = header;
    written.chunk_count = all.size();
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
