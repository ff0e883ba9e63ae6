// SPDX-License-Identifier: Apache-2.0
#include "trace_builder.hpp"

#include <algorithm>
#include <cstring>
#include <xxhash.h>

namespace coroscope::test {

using trace::make_tag;
using trace::record_kind;

namespace {

std::uint64_t ticks_of(std::int64_t session_ns) {
    return trace_builder::base_ticks + static_cast<std::uint64_t>(session_ns);
}

}  // namespace

thread_writer& thread_writer::raw(std::uint64_t first, std::uint64_t tag,
                                  const std::vector<std::uint64_t>& words) {
    const std::size_t size = words.size() * sizeof(std::uint64_t);
    owner_->write_record(owner_->chunk_of(thread_, 2 * sizeof(std::uint64_t) + size), first, tag,
                         words.data(), size);
    return *this;
}

thread_writer& thread_writer::scope(std::uint32_t site, std::int64_t start, std::int64_t end) {
    return raw(ticks_of(start),
               make_tag(record_kind::scope, site, static_cast<std::uint64_t>(end - start)));
}

thread_writer& thread_writer::long_scope(std::uint32_t site, std::int64_t start, std::int64_t end,
                                         std::uint32_t flags, std::uint64_t task,
                                         std::uint32_t start_thread) {
    return raw(ticks_of(start), make_tag(record_kind::long_scope, site, flags),
               {static_cast<std::uint64_t>(end - start),
                trace::make_mark(task, start_thread == 0 ? thread_ : start_thread)});
}

thread_writer& thread_writer::suspend(std::int64_t at, std::uint64_t task, std::uint32_t site,
                                      std::uint64_t next) {
    return raw(ticks_of(at), make_tag(record_kind::suspend, site, 0), {task, next});
}

thread_writer& thread_writer::resume(std::int64_t at, std::uint64_t task, std::uint64_t previous,
                                     std::uint32_t flags) {
    return raw(ticks_of(at), make_tag(record_kind::resume, 0, flags), {task, previous});
}

thread_writer& thread_writer::transfer(std::int64_t at, std::uint64_t awaiter,
                                       std::uint64_t awaited, std::uint32_t site) {
    return raw(ticks_of(at), make_tag(record_kind::transfer, site, 0), {awaiter, awaited});
}

thread_writer& thread_writer::finish_transfer(std::int64_t at, std::uint64_t finished,
                                              std::uint64_t resumed, std::uint32_t flags) {
    return raw(ticks_of(at), make_tag(record_kind::finish_transfer, 0, flags), {finished, resumed});
}

thread_writer& thread_writer::cancel(std::int64_t at, std::uint64_t task) {
    return raw(ticks_of(at), make_tag(record_kind::cancel, 0, 0), {task, 0});
}

thread_writer& thread_writer::spawn(std::int64_t at, std::uint64_t task, std::uint32_t site,
                                    std::uint32_t flags, std::uint64_t parent) {
    return raw(ticks_of(at), make_tag(record_kind::spawn, site, flags), {task, parent});
}

thread_writer& thread_writer::adopt(std::uint64_t task, std::uint32_t site) {
    return raw(0, make_tag(record_kind::spawn, site, trace::spawn_adopted), {task, 0});
}

thread_writer& thread_writer::wake(std::int64_t at, std::uint64_t task, std::uint64_t waker,
                                   std::uint32_t waker_thread) {
    return raw(ticks_of(at), make_tag(record_kind::wake, 0, waker_thread), {task, waker});
}

thread_writer& thread_writer::finish(std::int64_t at, std::uint64_t task, std::uint64_t next,
                                     std::uint32_t flags) {
    return raw(ticks_of(at), make_tag(record_kind::finish, 0, flags), {task, next});
}

thread_writer& thread_writer::awaiting(std::int64_t at, std::uint64_t awaiter,
                                       std::uint64_t awaited) {
    return raw(ticks_of(at), make_tag(record_kind::awaiting, 0, 0), {awaiter, awaited});
}

thread_writer& thread_writer::context(std::int64_t at, std::uint64_t task, std::uint64_t previous) {
    return raw(ticks_of(at), make_tag(record_kind::context, 0, 0), {task, previous});
}

thread_writer& thread_writer::label(std::int64_t at, std::uint32_t serial, std::string_view text) {
    std::vector<std::uint64_t> words(trace::padded_payload(text.size()) / sizeof(std::uint64_t));
    std::memcpy(words.data(), text.data(), text.size());
    return raw(ticks_of(at), make_tag(record_kind::label, serial, text.size()), words);
}

thread_writer& thread_writer::item(std::int64_t at, std::uint32_t serial, std::uint64_t number,
                                   std::uint32_t start_thread) {
    return raw(ticks_of(at), make_tag(record_kind::item, serial, 0),
               {trace::make_mark(0, start_thread == 0 ? thread_ : start_thread), number});
}

thread_writer& thread_writer::note(std::int64_t scope_start, trace::note_kind what,
                                   std::string_view says) {
    const trace::note_body body{what, {}};
    std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
    payload.append(says);
    owner_->write_record(
        owner_->chunk_of(thread_, trace::record_unit_bytes + trace::padded_payload(payload.size())),
        ticks_of(scope_start), make_tag(record_kind::note, 0, payload.size()), payload.data(),
        payload.size());
    return *this;
}

thread_writer& thread_writer::memory(std::int64_t at, trace::memory_event what,
                                     std::uint64_t address, std::uint64_t bytes,
                                     std::uint64_t allocated, std::uint64_t reserved) {
    return raw(ticks_of(at), make_tag(record_kind::memory, 0, static_cast<std::uint64_t>(what)),
               {address, bytes, allocated, reserved});
}

thread_writer& thread_writer::arguments(std::int64_t scope_start, std::uint32_t site,
                                        std::string_view text) {
    std::vector<std::uint64_t> words(trace::padded_payload(text.size()) / sizeof(std::uint64_t));
    std::memcpy(words.data(), text.data(), text.size());
    return raw(ticks_of(scope_start), make_tag(record_kind::arguments, site, text.size()), words);
}

thread_writer& thread_writer::device(const device_values& values) {
    trace::device_body body{};
    body.end_ticks = ticks_of(values.end);
    body.task = values.task;
    body.os_thread_id = values.os_thread_id;
    body.bytes = values.bytes;
    body.queued_ticks = values.queued < 0 ? 0 : ticks_of(values.queued);
    body.address = values.address;
    body.correlation = values.correlation;
    body.device = values.device;
    body.context = values.context;
    body.stream = values.stream;
    body.what = values.what;
    body.awaited_context =
        values.awaited_stream == trace::device_unknown ? trace::device_unknown : values.context;
    body.awaited_stream = values.awaited_stream;
    body.awaited_correlation = values.awaited_correlation;
    owner_->write_record(
        owner_->chunk_of(thread_, trace::record_unit_bytes + sizeof(body)), ticks_of(values.start),
        make_tag(record_kind::device, values.site, sizeof(body)), &body, sizeof(body));
    return *this;
}

thread_writer& thread_writer::device_call(std::int64_t start, std::int64_t end,
                                          std::uint32_t correlation, std::uint32_t site,
                                          std::uint32_t id, std::uint64_t task) {
    device_values call{trace::device_activity::runtime_call, start, end, site, task, 1000 + id};
    call.correlation = correlation;
    call.device = call.context = call.stream = trace::device_unknown;
    return device(call);
}

thread_writer& thread_writer::device_wait(std::int64_t at, std::uint64_t task, std::uint32_t stream,
                                          std::uint32_t context) {
    return raw(ticks_of(at), make_tag(record_kind::device_wait, stream, 0), {task, context});
}

thread_writer& thread_writer::event_wait(std::int64_t at, std::uint64_t task,
                                         std::uint32_t correlation, std::uint32_t stream,
                                         std::uint32_t context) {
    const auto kind = static_cast<std::uint64_t>(trace::device_wait_kind::event);
    return raw(ticks_of(at), make_tag(record_kind::device_wait, stream, kind),
               {task, trace::device_wait_word(context, correlation)});
}

thread_writer& thread_writer::range_wait(std::int64_t at, std::uint32_t serial,
                                         std::uint32_t stream, std::uint32_t start_thread,
                                         std::uint32_t context) {
    const auto kind = static_cast<std::uint64_t>(trace::device_wait_kind::range);
    return raw(ticks_of(at), make_tag(record_kind::device_wait, stream, kind),
               {trace::make_mark(0, start_thread == 0 ? thread_ : start_thread),
                trace::device_wait_word(context, serial)});
}

thread_writer& thread_writer::dependency(std::int64_t at, std::uint32_t stream,
                                         std::uint32_t correlation, std::uint32_t awaited_stream,
                                         std::uint32_t awaited_correlation) {
    device_values made{trace::device_activity::dependency, at, at};
    made.stream = stream;
    made.correlation = correlation;
    made.awaited_stream = awaited_stream;
    made.awaited_correlation = awaited_correlation;
    return device(made);
}

thread_writer& thread_writer::next_chunk(std::int64_t opened_at, std::uint64_t current_task) {
    trace_builder::chunk& opened = owner_->chunks_.emplace_back();
    opened.thread = thread_;
    opened.current_task = current_task;
    opened.opened_ticks = ticks_of(opened_at);
    return *this;
}

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

trace::buffer truncated(const std::vector<unsigned char>& bytes, std::size_t size) {
    return trace::buffer::copy(bytes.data(), std::min(size, bytes.size()));
}

trace::buffer flipped(const std::vector<unsigned char>& bytes, std::size_t bit) {
    std::vector<unsigned char> changed = bytes;
    changed[bit / 8] = static_cast<unsigned char>(changed[bit / 8] ^ (1U << (bit % 8)));
    return trace::buffer::copy(changed.data(), changed.size());
}

trace_builder sample_trace() {
    trace_builder built;
    const auto function = built.site("", "handler.cpp", 10, trace::site_kind::function, "handle");
    const auto await = built.site("db.query", "handler.cpp", 12, trace::site_kind::await);
    const auto render =
        built.site("render", "handler.cpp", 14, trace::site_kind::scope, "handle", "view");
    const auto spawned = built.site("", "server.cpp", 30, trace::site_kind::coroutine, "serve");
    built.on(1)
        .spawn(100, 1, spawned, trace::spawn_started | trace::spawn_ready)
        .arguments(110, render, "rows=3")
        .scope(render, 110, 140)
        .device_wait(195, 1)
        .suspend(200, 1, await)
        .resume(400, 1)
        .scope(render, 410, 420)
        .long_scope(function, 105, 450, trace::scope_in_frame | trace::scope_exact, 1)
        .spawn(455, 2, spawned, 0, 1)
        .transfer(460, 1, 2, await)
        .finish_transfer(500, 2, 1)
        .suspend(510, 1, await)
        .cancel(515, 1)
        .context(520, 2, 1)
        .context(530, 1, 2)
        .note(540, trace::note_kind::inputs, "[[2]]\n[[1]]\n[\"int\"]\n[\"\"]")
        .note(540, trace::note_kind::stack, std::string(16, '\1'))
        .note(540, trace::note_kind::sequence, std::string(16, '\0'))
        .memory(545, trace::memory_event::allocated, 0x100, 64, 64, 64)
        .scope(render, 540, 550)
        .finish(600, 1);
    built.on(2)
        .label(250, 1, "worker")
        .long_scope(1, 250, 300, trace::scope_dynamic)
        .wake(300, 1, 0, 2)
        .awaiting(310, 1, 2);
    built.device_name(0, "a device");
    built.on(2)
        .device({.start = 210, .end = 290, .site = render, .task = 1, .correlation = 5})
        .device_call(120, 130, 5);
    built.module(0x1000, 0x200, "/bin/program", "build id");
    return built;
}

}  // namespace coroscope::test
