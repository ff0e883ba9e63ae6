// SPDX-License-Identifier: Apache-2.0
#include "trace_builder.hpp"

#include <cstring>
#include <string>

namespace coroscope::test {

using trace::make_tag;
using trace::record_kind;

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
                                      std::uint64_t next, std::uint32_t object) {
    return raw(ticks_of(at), make_tag(record_kind::suspend, site, object), {task, next});
}

thread_writer& thread_writer::plain_suspend(std::int64_t at, std::uint64_t task,
                                            std::uint32_t site) {
    return raw(ticks_of(at), trace::make_plain_suspend(site, task));
}

thread_writer& thread_writer::plain_resume(std::int64_t at, std::uint64_t task) {
    return raw(ticks_of(at), trace::make_plain_resume(task));
}

thread_writer& thread_writer::outcome(std::int64_t at, std::uint64_t task,
                                      trace::await_outcome outcome) {
    const std::uint32_t id =
        trace::fact_id(trace::fact_kind::await_outcome, static_cast<std::uint32_t>(outcome));
    return raw(ticks_of(at), make_tag(record_kind::fact, id, sizeof(trace::await_outcome_body)),
               {task, 0});
}

thread_writer& thread_writer::mark(std::int64_t at, trace::mark_kind what) {
    const std::uint32_t id =
        trace::fact_id(trace::fact_kind::mark, static_cast<std::uint32_t>(what));
    return raw(ticks_of(at), make_tag(record_kind::fact, id, sizeof(trace::mark_body)), {0, 0});
}

thread_writer& thread_writer::resume(std::int64_t at, std::uint64_t task, std::uint64_t previous,
                                     std::uint32_t flags, std::uint32_t executor) {
    return raw(ticks_of(at), make_tag(record_kind::resume, executor, flags), {task, previous});
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
                                   std::uint32_t waker_thread, std::uint32_t executor) {
    return raw(ticks_of(at), make_tag(record_kind::wake, executor, waker_thread), {task, waker});
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

thread_writer& thread_writer::resource_wait(std::int64_t start, std::int64_t end,
                                            const resource_values& values) {
    trace::resource_wait_body body{};
    body.site = values.site;
    body.instance = values.instance;
    body.start = ticks_of(start);
    body.waiter = values.waiter;
    body.holder = values.holder;
    body.releaser = values.releaser;
    body.released = values.released < 0 ? 0 : ticks_of(values.released);
    std::vector<std::uint64_t> words(sizeof body / sizeof(std::uint64_t));
    std::memcpy(words.data(), &body, sizeof body);
    return raw(ticks_of(end),
               trace::make_tag(trace::record_kind::fact,
                               trace::make_resource_wait_id(values.flags, values.capacity),
                               sizeof body),
               words);
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
    opened.thread = opened.writer = thread_;
    opened.current_task = current_task;
    opened.opened_ticks = ticks_of(opened_at);
    return *this;
}

thread_writer& thread_writer::takes_over(std::uint32_t from, std::int64_t at,
                                         std::uint64_t current_task) {
    const std::uint64_t words[] = {current_task, 0};
    trace_builder::chunk& left = owner_->chunk_of(from, trace::record_unit_bytes + sizeof(words));
    owner_->write_record(left, ticks_of(at), make_tag(record_kind::next_thread, thread_, 0), words,
                         sizeof(words));
    left.writer = thread_;
    return *this;
}

}  // namespace coroscope::test
