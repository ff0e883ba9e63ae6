// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trace_builder.hpp"

namespace coroscope::test {

using trace::make_tag;
using trace::record_kind;

namespace {

constexpr std::uint32_t writer_of_facts = 0;  // the thread id of chunks of kind kernel

}  // namespace

kernel_writer& kernel_writer::enters(std::uint32_t id, std::int64_t at, std::uint32_t processor) {
    return switched(id, at, trace::processor_entered | processor << trace::processor_number_shift);
}

kernel_writer& kernel_writer::leaves(std::uint32_t id, std::int64_t at) {
    return switched(id, at, 0);
}

kernel_writer& kernel_writer::preempted(std::uint32_t id, std::int64_t at) {
    return switched(id, at, trace::processor_preempted);
}

kernel_writer& kernel_writer::created(std::uint32_t id, std::int64_t at) {
    return switched(id, at, trace::processor_created | trace::processor_preempted);
}

kernel_writer& kernel_writer::switched(std::uint32_t id, std::int64_t at, std::uint32_t flags) {
    trace_builder::chunk& to = owner_->chunk_of(writer_of_facts, trace::record_unit_bytes);
    to.kind = trace::chunk_kind::kernel;
    owner_->write_record(to, static_cast<std::uint64_t>(owner_->header.start.monotonic_ns + at),
                         make_tag(record_kind::processor, 1000 + id, flags), nullptr, 0);
    return *this;
}

kernel_writer& kernel_writer::fact(std::int64_t at, std::uint32_t id, const void* body,
                                   std::size_t bytes) {
    const std::size_t size = trace::record_unit_bytes + trace::padded_payload(bytes);
    trace_builder::chunk& to = owner_->chunk_of(writer_of_facts, size);
    to.kind = trace::chunk_kind::kernel;
    owner_->write_record(to, static_cast<std::uint64_t>(owner_->header.start.monotonic_ns + at),
                         make_tag(record_kind::fact, id, bytes), body, bytes);
    return *this;
}

kernel_writer& kernel_writer::times(std::uint32_t id, std::int64_t at, std::uint64_t on_cpu_ns,
                                    std::uint64_t delay_ns) {
    const trace::thread_times_body body{1000 + id, 0, on_cpu_ns, delay_ns, 1};
    return fact(at, trace::fact_id(trace::fact_kind::thread_times), &body, sizeof(body));
}

kernel_writer& kernel_writer::lost(std::int64_t since, std::int64_t at, std::uint64_t count) {
    const trace::switches_lost_body body{owner_->header.start.monotonic_ns + since, count};
    return fact(at, trace::fact_id(trace::fact_kind::switches_lost), &body, sizeof(body));
}

kernel_writer& kernel_writer::blocked(std::int64_t at, std::int64_t since,
                                      trace::blocked_body body) {
    if (body.thread != 0) body.thread += 1000;
    if (body.holder != 0) body.holder += 1000;
    body.since_ns = since < 0 ? 0 : owner_->header.start.monotonic_ns + since;
    return fact(at, trace::fact_id(trace::fact_kind::blocked), &body, sizeof(body));
}

kernel_writer& kernel_writer::next_chunk(std::int64_t opened_at) {
    trace_builder::chunk& opened = owner_->chunks_.emplace_back();
    opened.kind = trace::chunk_kind::kernel;
    opened.opened_ticks = ticks_of(opened_at);
    return *this;
}

}  // namespace coroscope::test
