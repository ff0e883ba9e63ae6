// SPDX-License-Identifier: Apache-2.0
#include "task_op_reader.hpp"

#include <coroscope/trace/await_format.hpp>
#include <utility>

#include "kernel_records.hpp"

namespace coroscope::analysis::inline records {

using coroscope::trace::record_kind;
using coroscope::trace::record_view;

std::uint32_t task_op_reader::task(std::uint64_t id) {
    if (id == 0) return none;
    const std::uint32_t number = ids_.insert(id);
    if (number == loaded_.tasks.size()) {
        task_info added;
        added.id = id;
        loaded_.tasks.append(added);
    }
    return number;
}

task_op task_op_reader::begin(const coroscope::trace::chunk_view& chunk) {
    task_op op;
    op.time_ns = clock_.to_ns(chunk.header.opened_ticks);
    current_.begin(chunk.header.current_task);
    op.task = task(chunk.header.current_task);
    return op;
}

task_op task_op_reader::read(const record_view& record) {
    task_op op;
    op.kind = record.kind();
    op.value = op.kind == record_kind::spawn ? spawn_flags(record.value()) : record.value();
    op.task = task(record.word(2));
    op.other = task(record.word(3));
    const bool names_a_site = op.kind == record_kind::suspend || op.kind == record_kind::transfer ||
                              op.kind == record_kind::spawn;
    if (names_a_site) op.site = names_.optional_site(record.id());
    if (op.kind == record_kind::spawn) note_spawn_place(op.task, record.id());
    if (op.kind == record_kind::suspend) op.value = op.value == 0 ? none : names_.object(op.value);
    if (op.kind == record_kind::wake || op.kind == record_kind::resume)
        op.site = names_.executor(record.id());
    op.time_ns =
        op.kind == record_kind::spawn ? spawn_time(record.word(0)) : clock_.to_ns(record.word(0));
    if (op.kind == record_kind::wake) read_wake(record, op);
    current_.follow(record);
    return op;
}

std::optional<task_op> task_op_reader::read_plain_await(const record_view& record) {
    const bool resumes = coroscope::trace::is_plain_resume(record.tag);
    const std::uint64_t id = resumes ? current_.resume(record.tag) : current_.suspend(record.tag);
    if (id == 0) {
        ++unknown_awaits_;
        return std::nullopt;
    }
    task_op op;
    op.kind = resumes ? record_kind::resume : record_kind::suspend;
    op.time_ns = clock_.to_ns(record.word(0));
    op.task = task(id);
    op.value =
        resumes ? coroscope::trace::make_outcome(coroscope::trace::await_outcome::value) : none;
    if (!resumes) op.site = names_.optional_site(coroscope::trace::plain_site(record.tag));
    return op;
}

task_op task_op_reader::restated(const coroscope::trace::task_slot& slot) {
    task_op op;
    op.kind = record_kind::spawn;
    op.task = task(slot.task);
    op.other = task(slot.parent);
    op.site = names_.optional_site(slot.site);
    note_spawn_place(op.task, slot.site);
    op.value = spawn_flags(slot.flags | std::uint32_t{coroscope::trace::spawn_adopted});
    op.time_ns = spawn_time(slot.spawn_ticks);
    return op;
}

void task_op_reader::note_spawn_place(std::uint32_t task, std::uint32_t site) {
    if (task == none) return;
    const std::uint32_t place = names_.spawn_place(site);
    if (place == none) return;
    task_info placed = std::as_const(loaded_).tasks[task];
    placed.spawn_place = place;
    loaded_.tasks.set(task, placed);
}

void task_op_reader::read_wake(const record_view& record, task_op& op) {
    const std::uint32_t thread = record.value() & coroscope::trace::mark_thread_unknown;
    op.value = thread == 0 ? none : names_.known_thread(thread);
    if ((record.value() & coroscope::trace::wake_cancel) != 0) op.cause = op_cause::cancellation;
    if ((record.value() & coroscope::trace::wake_returned) != 0) op.cause = op_cause::result;
    if ((record.value() & coroscope::trace::wake_timer) == 0) return;
    op.cause = op_cause::timer;
    op.time_ns = session_ns(input_, static_cast<std::int64_t>(record.word(0)));
}

// A repeated spawn record starts nothing.
std::uint32_t task_op_reader::spawn_flags(std::uint32_t value) {
    const std::uint32_t executor = names_.executor(coroscope::trace::spawn_executor_of(value));
    const std::uint32_t flags = value & ~coroscope::trace::spawn_executor_mask;
    const bool adopted = (flags & coroscope::trace::spawn_adopted) != 0;
    return (adopted ? flags & ~std::uint32_t{coroscope::trace::spawn_started} : flags) |
           coroscope::trace::spawn_on(executor == none ? 0 : executor + 1);
}

std::int64_t task_op_reader::spawn_time(std::uint64_t ticks) {
    return ticks == 0 ? unknown_time : clock_.to_signed_ns(ticks);
}

}  // namespace coroscope::analysis::inline records
