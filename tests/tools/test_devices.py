#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the commands' output about devices: the owners of kernels, the tasks that waited for them, and the reason
if there are none."""

import csv
import io
import itertools
import json

import tool
import trace_builder
from tool import ToolTest, coroscope

LENGTHS = sum(n * 10_000 for n in range(1, 6))
PER_REQUEST = 500 + 500 + 500  # the copy, the second kernel and the set


class DevicesTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.pipeline().write(self.folder / "pipeline.cst")

    def text(self, *arguments):
        done = coroscope(*arguments, self.trace)
        self.assert_success(done)
        return done.stdout

    def data(self, *arguments):
        return json.loads(self.text(*arguments, "--json"))

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.text(*arguments, "--format", "csv"))))


class Tables(DevicesTest):
    def test_the_launching_scope_has_the_device_time(self):
        row = self.rows("table")[0]
        self.assertEqual((row["name"], row["count"]), ("handle", "5"))
        self.assertEqual(int(row["self_device_ns"]), LENGTHS + 5 * PER_REQUEST)
        self.assertEqual(row["device_total_ns"], row["self_device_ns"])
        text = self.text("table", "--sort-by", "self_cuda_time_total")
        for wanted in ("Self CUDA %", "100.00%", "Self CUDA time total: 157.500us"):
            self.assertIn(wanted, text)

    def test_device_lists_kernels_copies_and_sets(self):
        rows = {row["name"]: (row["category"], int(row["count"]), int(row["total_ns"]))
                for row in self.rows("table", "--device")}
        self.assertEqual(rows, {"gemm": ("kernel", 5, LENGTHS), "relu": ("kernel", 5, 2_500),
                                "Memcpy HtoD": ("gpu_memcpy", 5, 2_500), "Memset": ("gpu_memset", 5, 2_500)})
        self.assertIn("Self CUDA time total: 157.500us", self.text("table", "--device"))

    def test_table_torch_has_rows_of_calls_and_no_device_time_of_an_asynchronous_scope(self):
        rows = {row["name"]: row for row in self.rows("table", "--torch")}
        self.assertEqual((rows["cudaLaunchKernel"]["category"], rows["cudaLaunchKernel"]["count"]), ("runtime", "20"))
        self.assertEqual(rows["handle"]["device_total_ns"], "0")
        self.assertEqual(int(rows["cudaLaunchKernel"]["device_total_ns"]), LENGTHS + 5 * PER_REQUEST)

    def test_a_kineto_export_reads_back_to_the_same_device_rows(self):
        again = self.folder / "again.json"
        self.assert_success(coroscope("export", self.trace, "--torch", "-o", again))
        self.assertEqual(coroscope("table", again, "--device", "--format", "csv").stdout,
                         self.text("table", "--device", "--format", "csv"))

    def test_the_reason_for_missing_devices_is_above_the_table_once(self):
        made = trace_builder.service()
        made.devices, made.device_message = trace_builder.NOT_RECORDED, b"libcupti.so was not found"
        self.trace = made.write(self.folder / "none.cst")
        for arguments in (("table",), ("table", "--torch")):
            text = self.text(*arguments)
            self.assertEqual(text.count("Devices were not recorded: libcupti.so was not found.\n"), 1)
            self.assertLess(text.index("Devices were not"), text.index("handle"))
        self.assertIn("Devices were not recorded: libcupti.so was not found.", self.text("info"))
        health = self.data("info")["health"]
        self.assertEqual((health["devices"], health["device_message"]), ("not recorded", "libcupti.so was not found"))

    def test_devices_are_not_mentioned_if_the_session_did_not_ask_for_them(self):
        self.trace = trace_builder.service().write(self.folder / "plain.cst")
        for arguments in (("table",), ("info",), ("awaits",), ("tasks",), ("tasks", "--task", "3")):
            self.assertNotIn("evice", self.text(*arguments))

    def test_lost_records_of_devices_are_counted_in_every_text_view(self):
        made = trace_builder.pipeline()
        made.lost_device_records = 12
        self.trace = made.write(self.folder / "lossy.cst")
        for arguments in (("table",), ("table", "--device"), ("awaits",), ("tasks",), ("tasks", "--task", "3"), ("info",)):
            with self.subTest(arguments=arguments):
                self.assertIn("Lost records of devices: 12\n", self.text(*arguments))
        self.assertIn("Devices were not wholly recorded: lost records: 12.\n", self.text("table"))
        self.assertEqual(self.data("info")["health"]["lost_device_records"], 12)


class Waiting(DevicesTest):
    def test_a_task_s_story_names_the_device_work_that_it_waited_for(self):
        story = self.text("tasks", "--task", "2")
        self.assertIn("On devices  2 kernels 20.5 us (longest gemm 20.0 us), 1 copy 500 ns, 1 set 500 ns\n", story)
        self.assertIn("stream 7: 2 kernels 20.5 us (longest gemm 20.0 us), 1 copy 500 ns, 1 set 500 ns, queued on the "
                      "device 500 ns", story)
        task = self.data("tasks", "--task", "2")
        self.assertEqual(task["devices"], {"device_ns": 21_500, "kernels": 2, "kernels_ns": 20_500, "copies": 1,
                                           "copies_ns": 500, "sets": 1, "sets_ns": 500})
        await_ = task["awaits"][0]
        self.assertEqual((await_["device_ns"], await_["device_queued_ns"]), (21_500, 500))
        self.assertEqual(await_["device_end_ns"] - await_["device_start_ns"], 41_000)
        self.assertTrue(await_["waited_for"].startswith("stream 7: 2 kernels"))
        self.assertEqual(self.rows("tasks", "--task", "2")[0]["device_ns"], "21500")

    def test_awaits_by_place_have_the_part_that_devices_explain(self):
        row = self.rows("awaits")[0]
        self.assertEqual((row["name"], row["scope"]), ("gpu", "handle"))
        self.assertEqual(int(row["device_ns"]), LENGTHS + 5 * PER_REQUEST)
        self.assertEqual(int(row["suspended_ns"]), 2 * LENGTHS + 5 * 3_000)
        self.assertEqual(int(row["device_queued_ns"]), 2_500)
        self.assertIn("streams 7, 8: 10 kernels 152.5 us (longest gemm 50.0 us), 5 copies 2.5 us, 5 sets 2.5 us",
                      row["waited_for"])
        self.assertIn("streams 7, 8: 10 kernels", self.text("awaits", "--sort-by", "device"))
        self.assertEqual(self.rows("awaits", "--chains")[0]["device_ns"], row["device_ns"])

    def test_tasks_have_their_device_time_by_place_and_in_the_tree(self):
        self.assertEqual(int(self.rows("tasks")[0]["device_ns"]), LENGTHS + 5 * PER_REQUEST)
        self.assertEqual([int(row["device_ns"]) for row in self.rows("tasks", "--tree")],
                         [n * 10_000 + PER_REQUEST for n in range(1, 6)])

    def test_info_names_the_devices(self):
        self.assertIn("Devices     1: NVIDIA H100 80GB; 40 activities\n", self.text("info"))
        info = self.data("info")
        self.assertEqual(info["devices"], [{"device": 0, "name": "NVIDIA H100 80GB"}])
        self.assertEqual((info["device_activities"], info["device_waits"]), (40, 5))


class Ranges(DevicesTest):
    def test_a_range_that_ended_with_a_stream_has_start_end_time_and_queue_on_the_device(self):
        self.trace = trace_builder.uploads().write(self.folder / "uploads.cst")
        upload, unknown = self.data("ranges")
        self.assertEqual((upload["name"], upload["start_ns"], upload["total_ns"]), ("upload", 1_000, 8_000))
        self.assertEqual((upload["device_start_ns"], upload["device_end_ns"]), (3_000, 7_000))
        self.assertEqual((upload["device_ns"], upload["device_queued_ns"]), (3_000, 500))
        self.assertEqual(upload["asked_for"], "stream 7: 2 kernels 3.0 us (longest gemm 2.0 us), queued on the device 500 ns")
        self.assertEqual((unknown["device_ns"], unknown["asked_for"]), (None, "a stream that is not known"))
        text = self.text("ranges", "--sort-by", "device")
        self.assertIn("Device queue", text)
        self.assertIn("stream 7: 2 kernels", text)
        rows = {row["name"]: row for row in self.rows("table")}
        self.assertEqual((rows["upload"]["device_total_ns"], rows["upload"]["self_device_ns"]), ("3000", "0"))

    def test_a_trace_without_ranges_that_ended_with_a_stream_has_none(self):
        self.assertEqual(self.data("ranges"), [])
        self.assertEqual(self.text("ranges"), "no range ended with a device's stream; coroscope table shows all ranges\n")


class Export(DevicesTest):
    def test_the_export_has_lanes_of_streams_with_arrows_from_calls_and_to_tasks(self):
        events = json.loads(coroscope("export", self.trace, "-o", "-").stdout)["traceEvents"]
        lanes = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        self.assertLessEqual({"NVIDIA H100 80GB \u00b7 stream 7", "NVIDIA H100 80GB \u00b7 stream 8"}, lanes)
        self.assertEqual(sum(event.get("cat") == "kernel" for event in events), 10)
        out = sorted(event["bind_id"] for event in events if event.get("flow_out"))
        into = sorted(event["bind_id"] for event in events if event.get("flow_in"))
        self.assertEqual(out, into)
        self.assertEqual(len(out), len(set(out)))
        self.assertEqual(sum(event["name"] == "launch" for event in events), 20)
        self.assertEqual(sum(event["name"] == "awaited" for event in events), 5)
        waits = [event["args"] for event in events if event["name"] == "await gpu"]
        self.assertEqual([each["waited_for"] for each in waits][:2], ["stream 8", "stream 7"])
        self.assertEqual(waits[1]["device_ns"], 21_500)

    def test_no_two_complete_events_of_a_lane_overlap(self):
        uploads = trace_builder.uploads().write(self.folder / "uploads.cst")
        for trace, arguments in itertools.product((self.trace, uploads), ((), ("--torch",))):
            events = json.loads(coroscope("export", trace, *arguments, "-o", "-").stdout)["traceEvents"]
            lanes = {}
            for event in events:
                if event["ph"] == "X":
                    start = round(event["ts"] * 1000)
                    end = start + round(event["dur"] * 1000)
                    lanes.setdefault((event["pid"], event["tid"]), []).append((start, -end))
            for spans in lanes.values():
                ends = []
                for start, end in sorted(spans):
                    while ends and ends[-1] <= start:
                        ends.pop()
                    self.assertTrue(not ends or -end <= ends[-1])
                    ends.append(-end)


if __name__ == "__main__":
    tool.main()
