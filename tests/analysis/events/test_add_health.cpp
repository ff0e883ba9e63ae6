// SPDX-License-Identifier: Apache-2.0

// The health of several traces as one: of processes, and of a profile's cycles.

#include <coroscope/analysis/accumulate.hpp>
#include <coroscope/analysis/add_process.hpp>

#include <doctest/doctest.h>

#include "../three_tasks.hpp"

namespace {

using namespace coroscope::analysis;
using coroscope::trace::asio_tracking;
using coroscope::trace::device_recording;
using coroscope_tests::three_tasks;

// `sum` must be the sum of two traces of health `one`. The compiler refuses a member of
// trace_health that is not named here: check it, too.
void check_sum(const trace_health& one, const trace_health& sum) {
    const auto& [finished, dropped_newest, overwritten, late_records, tasks_without_slot,
                 open_ranges, open_scopes, open_scopes_unknown, unnamed_scopes, cut_texts,
                 attributes_without_room, places_without_room, unseen_wakes, damaged_chunks,
                 partial, write_error, devices, device_message, lost_device_records, crash_report,
                 asio, asio_version, boost_asio_version, warnings, folded_tasks, folded_running_ns,
                 folded_queued_ns, folded_waiting_ns, folded_by, being_recorded, left_out_requests,
                 with_data, without_data, part] = sum;
    CHECK_FALSE(finished);
    CHECK(being_recorded == one.being_recorded);
    CHECK(partial);
    CHECK(dropped_newest == 2 * one.dropped_newest);
    CHECK(overwritten == 2 * one.overwritten);
    CHECK(late_records == 2 * one.late_records);
    CHECK(tasks_without_slot == 2 * one.tasks_without_slot);
    CHECK(open_ranges == 2 * one.open_ranges);
    CHECK(cut_texts == 2 * one.cut_texts);
    CHECK(attributes_without_room == 2 * one.attributes_without_room);
    CHECK(places_without_room == 2 * one.places_without_room);
    CHECK(open_scopes == 2 * one.open_scopes);
    CHECK(open_scopes_unknown);
    CHECK(unnamed_scopes == 2 * one.unnamed_scopes);
    CHECK(unseen_wakes == 2 * one.unseen_wakes);
    CHECK(left_out_requests == 2 * one.left_out_requests);
    CHECK(damaged_chunks == 2 * one.damaged_chunks);
    CHECK(lost_device_records == 2 * one.lost_device_records);
    CHECK(folded_tasks == 2 * one.folded_tasks);
    CHECK(folded_running_ns == 2 * one.folded_running_ns);
    CHECK(folded_queued_ns == 2 * one.folded_queued_ns);
    CHECK(folded_waiting_ns == 2 * one.folded_waiting_ns);
    CHECK(warnings.size() == 2 * one.warnings.size());
    CHECK(write_error == one.write_error);
    CHECK(devices == one.devices);
    CHECK(device_message == one.device_message);
    CHECK(crash_report == one.crash_report);
    CHECK(asio == one.asio);
    CHECK(asio_version == one.asio_version);
    CHECK(boost_asio_version == one.boost_asio_version);
    CHECK(folded_by == one.folded_by);
    CHECK(left_out_requests == 2 * one.left_out_requests);
    CHECK(with_data == one.with_data);
    CHECK(without_data == one.without_data);
    CHECK(part.is_stretch);
    CHECK(part.from_ns == one.part.from_ns);
    CHECK(part.to_ns == one.part.to_ns);
    CHECK(part.whole_ns == one.part.whole_ns);
    CHECK(part.cut_scopes == 2 * one.part.cut_scopes);
    CHECK(part.cut_tasks == 2 * one.part.cut_tasks);
    CHECK(part.cut_requests == 2 * one.part.cut_requests);
    CHECK(part.where == one.part.where);
    CHECK(part.requests_only);
}

trace_health poor_health() {
    trace_health made;
    made.finished = false;
    made.dropped_newest = 1;
    made.overwritten = 2;
    made.late_records = 3;
    made.tasks_without_slot = 4;
    made.open_ranges = 5;
    made.cut_texts = 6;
    made.attributes_without_room = 14;
    made.places_without_room = 15;
    made.open_scopes = 16;
    made.open_scopes_unknown = true;
    made.unnamed_scopes = 17;
    made.left_out_requests = 18;
    made.unseen_wakes = 7;
    made.damaged_chunks = 8;
    made.partial = true;
    made.write_error = 28;
    made.devices = device_recording::not_recorded;
    made.device_message = "no driver";
    made.lost_device_records = 9;
    made.crash_report = "signal 11\n";
    made.asio = asio_tracking::untried;
    made.asio_version = 103'000;
    made.boost_asio_version = 108'100;
    made.warnings = {"odd"};
    made.folded_tasks = 10;
    made.folded_running_ns = 11;
    made.folded_queued_ns = 12;
    made.folded_waiting_ns = 13;
    made.folded_by = {"cppcoro"};
    made.being_recorded = true;
    made.with_data = coroscope::trace::feature_shapes;
    made.without_data = coroscope::trace::feature_memory;
    made.part = {.is_stretch = true,
                 .from_ns = 19,
                 .to_ns = 20,
                 .whole_ns = 21,
                 .cut_scopes = 22,
                 .cut_tasks = 23,
                 .cut_requests = 24,
                 .where = "name=work",
                 .requests_only = true};
    return made;
}

TEST_CASE("the sum of two processes, and of two cycles, has every loss of both") {
    trace process = three_tasks();
    process.health = poor_health();
    trace processes = three_tasks();
    add_process(processes, process);
    add_process(processes, process);
    check_sum(process.health, processes.health);

    event_list cycle;
    cycle.health = poor_health();
    event_list cycles;
    accumulate(cycles, cycle);
    accumulate(cycles, cycle);
    check_sum(cycle.health, cycles.health);
}

TEST_CASE("a feature that was asked for has data if one of two processes has data of it") {
    using coroscope::trace::feature_arguments;
    using coroscope::trace::feature_memory;
    trace all = three_tasks();
    all.health.without_data = feature_memory | feature_arguments;
    trace more = three_tasks();
    more.health.with_data = feature_memory;
    add_process(all, more);
    CHECK(all.health.with_data == feature_memory);
    CHECK(all.health.without_data == feature_arguments);
}

TEST_CASE("the sum of two processes has the worse state of Asio with its version, and both crash "
          "reports") {
    trace all = three_tasks();
    all.health.asio = asio_tracking::untried;
    all.health.asio_version = 103'000;
    all.health.crash_report = "signal 6\n";
    trace more = three_tasks();
    more.health = poor_health();
    more.health.asio = asio_tracking::missing;
    more.health.asio_version = 102'000;
    add_process(all, more);
    CHECK(all.health.asio == asio_tracking::untried);
    CHECK(all.health.asio_version == 103'000);
    CHECK(all.health.crash_report == "signal 6\nsignal 11\n");
}

}  // namespace
