// SPDX-License-Identifier: Apache-2.0
// Attributes of scopes on a thread to which an executor's job brought a task.
#include <coroscope/analysis/load.hpp>

#include <cstring>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

#include "../loading.hpp"
#include "trace_builder.hpp"
#include <coroscope/analysis/model.hpp>

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::uint32_t red = 1, blue = 2;

/// A trace that describes tenant red and tenant blue.
struct tenants : trace_builder {
    tenants() {
        define(red, "red");
        define(blue, "blue");
    }

    /// Records on thread `id` that `task` (0: code outside tasks) carries attribute `serial` from
    /// here on.
    thread_writer carries(std::uint32_t id, std::int64_t at, std::uint64_t task,
                          std::uint32_t serial) {
        return on(id).raw(ticks(at), trace::make_tag(trace::record_kind::carries, serial, 0),
                          {task, 0});
    }

    thread_writer installs(std::uint32_t id, std::int64_t at, std::uint64_t task,
                           std::uint32_t serial, std::uint64_t previous, std::uint32_t flags = 0) {
        return on(id).raw(ticks(at), trace::make_tag(trace::record_kind::context, serial, flags),
                          {task, previous});
    }

private:
    static std::uint64_t ticks(std::int64_t at) { return base_ticks + std::uint64_t(at); }

    void define(std::uint32_t serial, std::string_view value) {
        constexpr std::string_view key = "tenant";
        const trace::attribute_body body{0, std::uint8_t(key.size()), std::uint8_t(value.size()),
                                         0};
        std::string payload(reinterpret_cast<const char*>(&body), sizeof body);
        payload.append(key).append(value);
        std::vector<std::uint64_t> words(trace::padded_payload(payload.size()) /
                                         sizeof(std::uint64_t));
        std::memcpy(words.data(), payload.data(), payload.size());
        on(1).raw(ticks(0), trace::make_tag(trace::record_kind::attribute, serial, payload.size()),
                  words);
    }
};

std::string tenant_of(const analysis::trace& loaded, std::string_view scope) {
    const std::uint32_t value =
        analysis::attribute_value(loaded, event(loaded, scope).attribute, "tenant");
    return value == analysis::none ? "" : loaded.strings[value];
}

}  // namespace

TEST_CASE("a task keeps its attributes when it hops to an executor, and the thread that it leaves "
          "does not") {
    tenants built;
    const auto before = built.site("before"), after = built.site("after");
    built.on(1).spawn(0, 1, 0, trace::spawn_started);
    built.carries(1, 10, 1, red)
        .scope(before, 20, 30)
        .suspend(40, 1)
        .spawn(50, 2, 0, trace::spawn_job, 1);
    built.carries(1, 51, 2, red).scope(after, 100, 110);
    built.on(2).resume(90, 2).resume(91, 1, 2).finish(120, 1, 2).finish(130, 2);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "before") == "red");
    CHECK(tenant_of(loaded, "after").empty());
    CHECK(loaded.strings[analysis::attribute_value(loaded, task(loaded, 1).attribute, "tenant")] ==
          "red");
}

TEST_CASE("a scope of a job that resumes a task has the attributes with which the job was posted") {
    tenants built;
    const auto first = built.site("first"), later = built.site("later"),
               of_task = built.site("of task"), outside = built.site("outside");
    built.on(1).spawn(0, 1).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red);
    built.carries(2, 50, 0, blue)
        .resume(100, 2)
        .scope(first, 110, 120)
        .resume(130, 1, 2)
        .scope(of_task, 140, 150)
        .suspend(160, 1, 0, 2)
        .scope(later, 170, 180)
        .finish(190, 2)
        .scope(outside, 200, 210);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "first") == "red");
    CHECK(tenant_of(loaded, "of task").empty());
    CHECK(tenant_of(loaded, "later") == "red");
    CHECK(tenant_of(loaded, "outside") == "blue");
}

TEST_CASE(
    "an attribute set in a job that resumes a task holds until the job sets it again or ends") {
    tenants built;
    const auto own = built.site("own"), again = built.site("again"),
               outside = built.site("outside");
    built.on(1).spawn(0, 1).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red);
    built.on(2).resume(100, 2);
    built.carries(2, 105, 2, blue).scope(own, 110, 120);
    built.carries(2, 125, 2, red).scope(again, 130, 140).resume(150, 1, 2).finish(160, 1, 2);
    built.carries(2, 170, 2, blue).finish(180, 2).scope(outside, 200, 210);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "own") == "blue");
    CHECK(tenant_of(loaded, "again") == "red");
    CHECK(tenant_of(loaded, "outside").empty());
}

TEST_CASE("a task keeps its attributes while a job that resumes another task runs on top of it") {
    tenants built;
    const auto inside = built.site("inside"), after = built.site("after");
    built.on(1).spawn(0, 3).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red).spawn(20, 1, 0, trace::spawn_started);
    built.carries(1, 30, 1, blue)
        .resume(100, 2, 1)
        .scope(inside, 110, 120)
        .resume(130, 3, 2)
        .finish(140, 3, 2)
        .finish(150, 2, 1)
        .scope(after, 160, 170)
        .finish(200, 1);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "inside") == "red");
    CHECK(tenant_of(loaded, "after") == "blue");
}

TEST_CASE(
    "a context installed in a job that resumes a task hides the job's attributes while it lasts") {
    tenants built;
    const auto inside = built.site("inside"), after = built.site("after");
    built.on(1).spawn(0, 1).spawn(5, 4).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red);
    built.on(2).resume(100, 2).resume(101, 1, 2).finish(102, 1, 2);
    built.installs(2, 105, 4, blue, 2).scope(inside, 110, 120);
    built.installs(2, 125, 2, red, 4, trace::context_restored)
        .scope(after, 130, 140)
        .finish(190, 2);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "inside") == "blue");
    CHECK(tenant_of(loaded, "after") == "red");
}

TEST_CASE("a context of a job that resumed a task has the attribute with which it was installed") {
    tenants built;
    const auto inside = built.site("inside");
    built.on(1).spawn(0, 1).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red);
    built.on(2).resume(100, 2).resume(101, 1, 2).finish(102, 1, 2).finish(110, 2);
    built.installs(3, 205, 2, blue, 0).scope(inside, 210, 220);
    built.installs(3, 225, 0, 0, 2, trace::context_restored);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "inside") == "blue");
}

TEST_CASE("a job whose end was lost ends when a chunk of its thread opens outside tasks") {
    tenants built;
    const auto inside = built.site("inside"), after = built.site("after");
    built.on(1).spawn(0, 1).spawn(10, 2, 0, trace::spawn_job);
    built.carries(1, 11, 2, red);
    built.thread(2).dropped_newest = 1;
    built.on(2)
        .resume(100, 2)
        .scope(inside, 110, 120)
        .resume(130, 1, 2)
        .suspend(140, 1, 0, 2)
        .next_chunk(300)
        .scope(after, 310, 320);
    const auto loaded = load(built);
    CHECK(tenant_of(loaded, "inside") == "red");
    CHECK(tenant_of(loaded, "after").empty());
}
