// SPDX-License-Identifier: Apache-2.0

// The sizes of packed traces. The traces are built here, tick by tick, so that they are the same on
// every machine: the size of a real recording depends on the machine's clock and load, and is a row
// of ./dev bench.

#include <coroscope/trace/pack.hpp>

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <string_view>

#include "trace_builder.hpp"

namespace trace = coroscope::trace;
using coroscope::test::thread_writer;
using coroscope::test::trace_builder;

namespace {

std::size_t packed_bytes(const trace_builder& built) {
    const auto done = trace::pack(built.finish(), [](std::string_view) { return true; });
    REQUIRE(done);
    return done->packed_bytes;
}

/// A clock that advances by at most `most_steps` steps between two times, of `ticks_per_step` ticks
/// each. A coarse clock shows whole steps.
struct clock_shape {
    std::uint32_t most_steps = 4096;  // 40 microseconds of a clock of 100 MHz
    std::uint32_t ticks_per_step = 1;
    bool fine = false;

    /// The information in a time that does not follow from the time before it.
    [[nodiscard]] double bits_per_time() const {
        return std::log2(most_steps) + (fine ? std::log2(ticks_per_step) : 0);
    }
};

class uneven_clock {
public:
    explicit uneven_clock(const clock_shape& shape) : shape_(shape) {}

    std::int64_t next() {
        ticks_ += std::int64_t{shape_.ticks_per_step} * (1 + random(shape_.most_steps));
        return ticks_ + (shape_.fine ? random(shape_.ticks_per_step) : 0);
    }

private:
    std::uint32_t random(std::uint32_t below) {
        state_ = state_ * 1664525 + 1013904223;
        return static_cast<std::uint32_t>((std::uint64_t{state_} * below) >> 32);
    }

    clock_shape shape_;
    std::uint32_t state_ = 1;
    std::int64_t ticks_ = 1000;
};

constexpr int awaits_per_request = 3;
constexpr int scopes_per_stretch = 3;  // before, between and after the awaits
constexpr int scopes_per_request = 1 + (awaits_per_request + 1) * scopes_per_stretch;
// A task has a begin, a first resume and an end; an await has a suspend, a wake and a resume; a
// scope has two ends.
constexpr int times_per_request =
    3 + 3 * awaits_per_request + 2 * (awaits_per_request + 1) * scopes_per_stretch;

struct service_sites {
    explicit service_sites(trace_builder& in)
        : request(in.site("request", "service.cpp", 1, trace::site_kind::coroutine)),
          handle(in.site("handle", "service.cpp", 2)) {
        for (std::uint32_t& each : awaits)
            each = in.site("await", "service.cpp", next_line++, trace::site_kind::await);
        for (std::uint32_t& each : scopes) each = in.site("scope", "service.cpp", next_line++);
    }
    std::uint32_t next_line = 3;
    std::uint32_t request, handle;
    std::uint32_t awaits[awaits_per_request];
    std::uint32_t scopes[scopes_per_request - 1];
};

/// A task with its awaits and, around and between them, scopes in its frame.
void write_request(thread_writer& to, std::uint64_t task, const service_sites& sites,
                   uneven_clock& clock) {
    constexpr std::uint32_t flags = trace::scope_in_frame | trace::scope_exact;
    const std::int64_t begin = clock.next();
    to.spawn(begin, task, sites.request).wake(begin, task).resume(clock.next(), task);
    const std::uint32_t* scope = sites.scopes;
    for (int stretch = 0; stretch <= awaits_per_request; ++stretch) {
        for (int each = 0; each < scopes_per_stretch; ++each) {
            const std::int64_t start = clock.next();
            to.long_scope(*scope++, start, clock.next(), flags, task);
        }
        if (stretch == awaits_per_request) break;
        to.suspend(clock.next(), task, sites.awaits[stretch]);
        to.wake(clock.next(), task);
        to.resume(clock.next(), task);
    }
    const std::int64_t end = clock.next();
    to.long_scope(sites.handle, begin, end, flags, task).finish(end, task);
}

/// The recording of a service of one thread.
trace_builder service_trace(std::uint64_t requests, const clock_shape& shape) {
    uneven_clock clock(shape);
    trace_builder built(std::size_t{32} << 10);
    const service_sites sites(built);
    auto thread = built.on(1);
    for (std::uint64_t task = 1; task <= requests; ++task)
        write_request(thread, task, sites, clock);
    return built;
}

double bytes_per_scope(std::uint64_t requests, const clock_shape& shape) {
    return static_cast<double>(packed_bytes(service_trace(requests, shape))) /
           static_cast<double>(requests * scopes_per_request);
}

double bytes_of_times_per_scope(const clock_shape& shape) {
    return shape.bits_per_time() / 8 * times_per_request / scopes_per_request;
}

constexpr clock_shape fine_clock{.ticks_per_step = 26, .fine = true};

}  // namespace

TEST_CASE(
    "a packed trace of a service takes at most a quarter more than the information in its times") {
    constexpr clock_shape clocks[] = {{}, {.ticks_per_step = 26}, fine_clock};
    for (const clock_shape& clock : clocks) {
        for (const std::uint64_t requests : {600, 2000, 6000}) {
            CAPTURE(clock.bits_per_time());
            CAPTURE(requests);
            CHECK(bytes_per_scope(requests, clock) < 1.25 * bytes_of_times_per_scope(clock));
        }
    }
}

TEST_CASE("a packed trace of a service takes 5 bytes per scope, with tasks and awaits, if times "
          "have 12 bits") {
    CHECK(bytes_per_scope(6000, {}) < 5);
    CHECK(bytes_per_scope(6000, {.ticks_per_step = 26}) < 5);
}

TEST_CASE("a finer clock makes a packed trace larger, since each time has more bits") {
    CHECK(bytes_per_scope(2000, fine_clock) > 1.3 * bytes_per_scope(2000, {.ticks_per_step = 26}));
}

TEST_CASE("a service whose requests are all alike is packed into a tenth of a byte per scope") {
    CHECK(bytes_per_scope(6000, {.most_steps = 1, .ticks_per_step = 26}) < 0.1);
}
