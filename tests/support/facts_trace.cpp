// SPDX-License-Identifier: Apache-2.0
#include "facts_trace.hpp"

#include <bit>

#include <coroscope/trace/blocking_format.hpp>
#include <coroscope/trace/lock_format.hpp>
#include <coroscope/trace/request_format.hpp>
#include <coroscope/trace/value_format.hpp>

namespace coroscope::test {
namespace {

constexpr std::uint32_t unknown_kind = 15, unknown_later_kind = 34;
constexpr std::uint32_t futex_call = 202;
constexpr std::uint64_t lock_address = 0x7f10;

std::uint64_t fact_tag(std::uint32_t id, std::size_t bytes) {
    return trace::make_tag(trace::record_kind::fact, id, bytes);
}

struct request_values {
    trace::request_form form;
    std::uint64_t mark;
    std::uint32_t site;
    std::uint64_t deadline_ns = 0;
    std::uint32_t flags = 0;
};

void add_request(thread_writer& to, std::int64_t at, const request_values& values) {
    to.raw(ticks_of(at),
           fact_tag(trace::make_request_id(values.form, values.flags), sizeof(trace::request_body)),
           {values.mark, values.deadline_ns, values.site, 0});
}

void add_value(thread_writer& to, std::int64_t at, std::uint32_t site, bool is_double,
               std::uint64_t bits) {
    to.raw(ticks_of(at), fact_tag(trace::make_value_id(site, is_double), sizeof(trace::value_body)),
           {bits, trace::make_mark(1, 1)});
}

void add_call(thread_writer& to, std::int64_t at, std::uint64_t duration) {
    to.raw(ticks_of(at),
           fact_tag(trace::make_blocking_id(trace::blocked_function::read,
                                            trace::descriptor_kind::socket),
                    sizeof(trace::blocking_call_body)),
           {duration, trace::make_mark(1, 1)});
}

void add_lock_wait(thread_writer& to, trace::lock_kind kind, std::uint32_t bits, std::int64_t at,
                   std::int64_t released) {
    constexpr std::uint64_t length = 20, holder = 1002;
    to.raw(ticks_of(at),
           fact_tag(trace::make_lock_wait_id(kind, bits), sizeof(trace::lock_wait_body)),
           {length, released == 0 ? 0 : ticks_of(released), lock_address, trace::make_mark(1, 1),
            trace::make_mark(2, 2), holder});
}

void add_kernel_facts(kernel_writer kernel) {
    const std::uint64_t unknown_body[3]{1, 2, 3};
    kernel.created(2, 5)
        .enters(2, 8)
        .times(1, 10, 100, 0)
        .enters(1, 12)
        .leaves(1, 300)
        .blocked(320, 300, {1, futex_call, 0, lock_address, 0, 2, 1})
        .enters(1, 340)
        .preempted(1, 345)
        .enters(1, 347)
        .lost(555, 560, 4)
        .fact(562, unknown_kind, unknown_body, sizeof unknown_body)
        .next_chunk(570)
        .leaves(1, 575)
        .enters(1, 600)
        .times(1, 700, 650, 9);
}

}  // namespace

trace_builder facts_trace() {
    trace_builder built;
    const auto outer = built.site("around", "facts.cpp", 2);
    const auto asked = built.site("GET /item", "facts.cpp", 3, trace::site_kind::request);
    const auto depth = built.site("queue.length", "facts.cpp", 4, trace::site_kind::value);
    const auto pool = built.site("connections", "facts.cpp", 5);
    const auto serve = built.site("", "facts.cpp", 6, trace::site_kind::coroutine, "serve");
    const auto awaited = built.site("reply", "facts.cpp", 7, trace::site_kind::await);
    built.header.thread_states = static_cast<std::uint64_t>(trace::thread_state_source::switches);
    built.header.processors = 2;
    built.header.quota_percent = 150;
    built.executor(1, trace::executor_kind::thread_pool, "workers")
        .executor(2, trace::executor_kind::strand, "", 1)
        .object(3, trace::object_kind::timer)
        .object(4, trace::object_kind::other, "a gate")
        .frame_of(serve, 96);
    auto first = built.on(1);
    first.spawn(20, 1, serve, trace::spawn_ready | trace::spawn_on(2))
        .resume(30, 1, 0, 0, 1)
        .suspend(40, 1, awaited, 0, 3)
        .wake(60, 1, 0, 2, 1)
        .resume(70, 1, 0, trace::make_outcome(trace::await_outcome::error), 1)
        .plain_suspend(80, 1, awaited)
        .plain_resume(90, 1)
        .outcome(95, 1, trace::await_outcome::cancelled);
    add_call(first, 100, 30);
    add_value(first, 140, depth, false, 7);
    add_value(first, 150, depth, true, std::bit_cast<std::uint64_t>(2.5));
    first.scope(asked, 160, 250);
    add_request(first, 160, {trace::request_form::scope, trace::make_mark(1, 1), asked, 50});
    first.label(260, 1, "job")
        .long_scope(1, 260, 400, trace::scope_dynamic | trace::scope_explicit | trace::scope_range);
    add_request(first, 260,
                {trace::request_form::range, trace::make_mark(1, 1), 1, 0, trace::request_failed});
    add_request(first, 410, {trace::request_form::task, trace::make_mark(1, 1), asked});
    add_lock_wait(first, trace::lock_kind::mutex, 0, 420, 435);
    add_lock_wait(first, trace::lock_kind::condition, trace::lock_wait_began_before, 450, 465);
    add_lock_wait(first, trace::lock_kind::write, trace::lock_wait_gave_up, 480, 0);
    first
        .resource_wait(510, 530,
                       {.site = pool,
                        .waiter = trace::make_mark(1, 1),
                        .holder = trace::make_mark(2, 2),
                        .releaser = trace::make_mark(2, 2),
                        .released = 528,
                        .capacity = 4})
        .raw(ticks_of(535), fact_tag(unknown_later_kind, 16), {1, 2})
        .mark(540, trace::mark_kind::end_of_service)
        .finish(550, 1, 0, trace::finish_destroyed | trace::finish_with_service);
    built.on(2).spawn(25, 2, serve, trace::spawn_started).scope(outer, 410, 500).finish(580, 2);
    add_kernel_facts(built.kernel());
    return std::move(built.lasts(1000));
}

}  // namespace coroscope::test
