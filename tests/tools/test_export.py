#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of `coroscope export`: its files, and its failures."""

import json
import subprocess

import tool
from sample_traces import DataTest
from tool import coroscope


def packets(content):
    """The packets of a Perfetto trace: each is field 1 of the file, with its length before it."""
    found, at = [], 0
    while at < len(content):
        assert content[at] == 0x0A, at
        size = shift = 0
        more = True
        while more:
            at += 1
            size |= (content[at] & 0x7F) << shift
            shift += 7
            more = content[at] >= 0x80
        found.append(content[at + 1:at + 1 + size])
        at += 1 + size
    assert at == len(content), "the last packet is cut"
    return found


class Export(DataTest):
    def test_the_export_is_valid_and_has_every_slice_task_and_arrow(self):
        target = self.folder / "out.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", target))
        document = json.loads(target.read_text(encoding="utf-8"))
        events = document["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "slice" for event in events), 40)
        self.assertEqual(sum(event.get("cat") == "task" for event in events), 20)
        out = sorted(event["bind_id"] for event in events if event.get("flow_out"))
        into = sorted(event["bind_id"] for event in events if event.get("flow_in"))
        self.assertEqual(out, into)
        self.assertEqual(len(out), 40)

    def test_python_s_own_json_tool_accepts_the_export(self):
        target = self.folder / "out.json"
        self.assert_success(coroscope("export", self.trace, "-o", target))
        subprocess.run(["python3", "-m", "json.tool", target], check=True, stdout=subprocess.DEVNULL)

    def test_no_two_complete_events_of_a_lane_overlap(self):
        events = json.loads(coroscope("export", self.trace, "-o", "-").stdout)["traceEvents"]
        lanes = {}
        for event in events:
            if event["ph"] == "X":
                start = round(event["ts"] * 1000)
                lanes.setdefault((event["pid"], event["tid"]), []).append((start, -(start + round(event["dur"] * 1000))))
        for spans in lanes.values():
            ends = []
            for start, end in sorted(spans):
                while ends and ends[-1] <= start:
                    ends.pop()
                self.assertTrue(not ends or -end <= ends[-1])
                ends.append(-end)

    def test_the_export_for_perfetto_consists_of_packets_with_every_name(self):
        target = self.folder / "out.pftrace"
        self.assert_success(coroscope("export", self.trace, "--to", "perfetto", "-o", target))
        content = target.read_bytes()
        self.assertGreater(len(packets(content)), 40)
        document = json.loads(coroscope("export", self.trace, "-o", "-").stdout)
        for name in {event["name"] for event in document["traceEvents"] if event["ph"] == "X"}:
            self.assertIn(b"\x12" + bytes([len(name)]) + name.encode(), content)

    def test_torch_s_form_is_refused_for_perfetto(self):
        done = coroscope("export", self.trace, "--torch", "--to", "perfetto", "-o", self.folder / "out")
        self.assert_one_error(done, 2, "--torch: .*use --to chrome")

    def test_a_path_that_cannot_be_written_is_named(self):
        target = self.folder / "none" / "out.json"
        self.assert_one_error(coroscope("export", self.trace, "-o", target), 1,
                              rf"{target}: No such file or directory")

    def test_a_full_disk_is_an_error(self):
        self.assert_one_error(coroscope("export", self.trace, "-o", "/dev/full"), 1,
                              r"/dev/full: No space left on device")

    def test_a_wrong_metric_is_refused_before_anything_is_written(self):
        target = self.folder / "stacks"
        target.write_text("kept")
        for to in ("stacks", "chrome"):
            done = coroscope("export", self.trace, "--to", to, "--metric", "colour", "-o", target)
            self.assert_one_error(done, 2, r'--metric: no stacks by "colour"; one of self_cpu_time_total.*')
        self.assertEqual(target.read_text(), "kept")

    def test_the_target_file_stays_unchanged_if_the_trace_cannot_be_read(self):
        target = self.folder / "out.json"
        target.write_text("kept")
        self.assertEqual(coroscope("export", self.folder / "none.cst", "-o", target).returncode, 1)
        self.assertEqual(target.read_text(), "kept")

    def test_an_export_of_nothing_is_an_empty_file(self):
        target = self.folder / "stacks"
        target.write_text("old")
        done = coroscope("export", self.trace, "--to", "stacks", "-o", target)
        self.assertEqual((done.returncode, target.read_text()), (0, ""))

    def test_an_export_of_nothing_names_the_option_that_records_it(self):
        for to, option in (("stacks", "with_stack"), ("memory-timeline", "profile_memory")):
            done = coroscope("export", self.trace, "--to", to, "-o", self.folder / "out")
            self.assertEqual(done.returncode, 0)
            self.assertIn(option, done.stderr)
            self.assertIn("coroscope run --record", done.stderr)

    def test_the_trace_itself_is_never_overwritten(self):
        before = self.trace.read_bytes()
        self.assertEqual(coroscope("export", self.trace, "-o", self.trace).returncode, 2)
        self.assertEqual(self.trace.read_bytes(), before)


if __name__ == "__main__":
    tool.main()
