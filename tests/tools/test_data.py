#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the output of the commands that read a trace, and of its forms."""

import json

import tool
import trace_builder
from sample_traces import PRINTING, DataTest
from tool import coroscope


class Content(DataTest):
    def test_table_adds_up_running_suspended_queued_and_waiting(self):
        done = coroscope("table", self.trace, "--format", "csv")
        self.assertTrue(done.stdout.startswith(
            "name,category,count,total_ns,self_ns,suspended_ns,queued_ns,waiting_ns,wall_ns,"))
        rows = {row["name"]: row for row in self.rows("table")}
        handle = rows["handle"]
        self.assertEqual(handle["category"], "http")
        self.assertEqual(int(handle["count"]), 20)
        self.assertEqual(int(handle["suspended_ns"]), sum(n * 10_000 for n in range(1, 21)))
        self.assertEqual(int(handle["queued_ns"]), 20 * 1_000)
        self.assertEqual(int(handle["total_ns"]), 20 * (1_400 + 2_500))
        self.assertEqual(int(rows["poll"]["total_ns"]), 20 * 300)
        for row in rows.values():
            parts = ("total_ns", "suspended_ns", "queued_ns", "waiting_ns")
            self.assertEqual(int(row["wall_ns"]), sum(int(row[part]) for part in parts))

    def test_table_has_its_options(self):
        done = coroscope("table", self.trace, "--sort-by", "count", "--limit", "1", "--time-unit", "us",
                         "--header", "before", "--top-level")
        self.assert_success(done)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], "^=+$")
        self.assertEqual(lines[1], "before")
        self.assertIn("top-level", lines[3])
        self.assertEqual(sum("us " in line for line in lines[4:] if not line.startswith("Running time total: ")), 1)
        self.assertNotIn("ms", done.stdout.replace("statistics", ""))

    def test_table_by_line_has_the_place_of_each_scope(self):
        rows = self.rows("table", "--group-by", "line")
        self.assertIn("src/server.cpp:12", [row["place"] for row in rows])

    def test_table_by_attribute_has_a_row_for_each_value(self):
        rows = self.rows("table", "--group-by", "attr:tenant")
        self.assertEqual({(row["name"], row["attr:tenant"]): int(row["count"]) for row in rows},
                         {("handle", "acme"): 10, ("handle", "initech"): 10, ("poll", ""): 20})
        values = [row["attribute"] for row in self.data("table", "--group-by", "attr:tenant")["rows"]]
        self.assertCountEqual(values, ["acme", "initech", None])
        text = coroscope("table", self.trace, "--group-by", "attr:tenant").stdout
        self.assertIn("tenant", text)
        self.assertIn("initech", text)

    def test_a_table_without_rows_says_so(self):
        empty = self.folder / "empty.json"
        empty.write_text("[]")
        self.assertEqual(coroscope("table", empty).stdout, "No scope or event is in the file\n")
        self.assertIn("No kernel, copy or set is in the file\n", coroscope("table", self.trace, "--device").stdout)

    def test_an_attribute_that_nothing_carries_makes_one_row_of_each_name(self):
        rows = self.rows("table", "--group-by", "attr:color")
        self.assertEqual([row["attr:color"] for row in rows], ["", ""])
        note = "\nNothing carried the attribute color; the attributes of the trace are tenant\n"
        self.assertIn(note, coroscope("table", self.trace, "--group-by", "attr:color").stdout)
        self.assertNotIn("Nothing carried", coroscope("table", self.trace, "--group-by", "attr:tenant").stdout)

    def test_an_unknown_grouping_is_refused_in_one_line(self):
        for wrong in ("attr:", "tenant"):
            done = coroscope("table", self.trace, "--group-by", wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("one of name, line, attr:KEY", done.stderr)

    def test_table_is_sorted_by_the_requested_column(self):
        for key in ("wall", "suspended", "self_cpu_time_total", "count"):
            column = {"wall": "wall_ns", "suspended": "suspended_ns", "self_cpu_time_total": "self_ns"}.get(key, key)
            figures = [int(row[column]) for row in self.rows("table", "--sort-by", key)]
            self.assertEqual(figures, sorted(figures, reverse=True))

    def test_awaits_name_site_scope_and_place(self):
        row = self.rows("awaits")[0]
        self.assertEqual((row["name"], row["scope"], row["place"], row["count"]),
                         ("db.query", "handle", "src/store.cpp:42", "20"))
        self.assertEqual(int(row["max_ns"]), 201_000)

    def test_streams_has_first_items_and_gaps_by_label(self):
        self.trace = trace_builder.streams().write(self.folder / "streams.cst")
        rows, pages = self.rows("streams")
        self.assertEqual((rows["name"], rows["count"], rows["items"], rows["unfinished"]), ("rows", "2", "5", "1"))
        self.assertEqual((rows["first_item_p50_ns"], rows["first_item_max_ns"]), ("1000", "3000"))
        self.assertEqual((rows["gap_p50_ns"], rows["gap_p95_ns"], rows["gap_max_ns"]), ("2000", "5000", "5000"))
        self.assertEqual((pages["name"], pages["items"], pages["gap_p50_ns"]), ("pages", "0", ""))
        self.assertIsNone(self.data("streams")[1]["first_item_p50_ns"])
        text = coroscope("streams", self.trace, "--sort-by", "items").stdout
        self.assertIn("Ranges that had not ended when the session did: 1", text)
        self.assertLess(text.index("rows"), text.index("pages"))

    def test_streams_prints_a_sentence_if_the_trace_has_no_item_stream(self):
        done = coroscope("streams", self.trace)
        self.assert_success(done)
        self.assertEqual(done.stdout, "no item stream was recorded; coroscope table shows all ranges\n")
        self.assertEqual(self.rows("streams"), [])
        self.assertEqual(self.data("streams"), [])

    def test_resources_have_their_waits_and_the_most_frequent_holder(self):
        self.trace = trace_builder.resources().write(self.folder / "resources.cst")
        cache, pool = self.rows("resources")
        self.assertEqual((cache["name"], cache["kind"], cache["waits"], cache["total_ns"], cache["max_ns"]),
                         ("cache", "mutex", "2", "6000", "5000"))
        self.assertEqual((cache["holder"], cache["holder_scope"], cache["holder_waits"], cache["unknown_holders"]),
                         ("", "flush", "2", "0"))
        self.assertEqual((pool["name"], pool["capacity"], pool["holder_waits"], pool["unknown_holders"]),
                         ("db", "8", "0", "1"))
        self.assertIsNone(self.data("resources")[1]["holder_scope"])
        text = coroscope("resources", self.trace, "--sort-by", "capacity", "--limit", "1").stdout
        self.assertIn("db", text)
        self.assertNotIn("cache", text)

    def test_a_suspended_task_that_waits_for_a_resource_does_not_wait_on_a_thread(self):
        made = trace_builder.Trace()
        cache = made.site(b"cache", kind=trace_builder.KIND_RESOURCE, category=b"mutex")
        made.thread(1, b"main", [trace_builder.task_record(trace_builder.RESUME, 1_000, 1),
                                 trace_builder.task_record(trace_builder.SUSPEND, 2_000, 1),
                                 trace_builder.task_record(trace_builder.RESUME, 3_000, 2),
                                 trace_builder.task_record(trace_builder.FINISH, 8_000, 2),
                                 trace_builder.task_record(trace_builder.RESUME, 9_000, 1),
                                 trace_builder.resource_wait(cache, 1_900, 9_100, (0, 2), waiter=(1, 1)),
                                 trace_builder.task_record(trace_builder.FINISH, 9_500, 1)])
        made.thread(2, b"flusher", [])
        for at, flags in ((0, trace_builder.ENTERED), (4_000, 0), (7_000, trace_builder.ENTERED)):
            made.switch(1, at, flags)
        path = made.write(self.folder / "suspended.cst")
        self.assertEqual(coroscope("resources", path, "--json").stdout.count('"cache"'), 1)
        for task in ("1", "2"):
            done = coroscope("tasks", path, "--task", task)
            self.assert_success(done)
            self.assertNotIn("in resource cache", done.stdout)

    def test_without_waits_for_resources_a_sentence_says_so(self):
        done = coroscope("resources", self.trace)
        self.assert_success(done)
        self.assertEqual(done.stdout, "no wait for a resource was recorded; docs/how-to/resources.md shows how\n")
        self.assertEqual(self.data("resources"), [])

    def test_requests_have_their_percentiles_and_the_parts_of_their_time(self):
        self.trace = trace_builder.requests().write(self.folder / "requests.cst")
        get, put = self.data("requests")
        self.assertEqual([get[key] for key in ("name", "count", "per_second", "failed", "late", "p50_ns", "p99_ns", "max_ns")],
                         ["GET", 10, 1000, 1, 1, 50_000, 100_000, 100_000])
        self.assertEqual((put["count"], put["late"], put["place"]), (1, None, "src/server.cpp:12"))
        self.assertEqual(self.rows("requests")[0]["p90_ns"], "90000")
        parts = self.rows("requests", "--show", "percentiles")
        self.assertEqual([(row["percentile"], row["request"], row["running_ns"]) for row in parts[:2]],
                         [("p50", "6", "50000"), ("p90", "2", "90000")])
        slowest = self.rows("requests", "--show", "slowest", "--limit", "2")
        self.assertEqual([(row["request"], row["end"], row["late"]) for row in slowest],
                         [("1", "completed", "yes"), ("2", "failed", "")])

    def test_the_text_of_requests_has_three_parts(self):
        self.trace = trace_builder.requests().write(self.folder / "requests.cst")
        done = coroscope("requests", self.trace, "--limit", "3")
        self.assert_success(done)
        self.assertRegex(done.stdout, "(?s)Per second.*parts of the time.*slowest requests.*3 of 11 rows")
        self.assertNotIn("guess", done.stdout)

    def test_one_request_has_its_steps_alone(self):
        self.trace = trace_builder.requests().write(self.folder / "requests.cst")
        (step,) = self.rows("requests", "--request", "11")
        self.assertEqual((step["name"], step["kind"], step["wall_ns"]), ("render", "scope", "400"))
        shown = self.data("requests", "--request", f"t1@{trace_builder.START_TICKS + 2_000_700}")
        self.assertEqual((shown["request"], shown["name"], len(shown["steps"])), (11, "PUT", 1))
        self.assertRegex(coroscope("requests", self.trace, "--request", "1").stdout, "Deadline *100.0 us, missed")
        for identity, message in ("12", "has no request 12"), ("t1@5", "no request was open at t1@5"):
            done = coroscope("requests", self.trace, "--request", identity)
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)
        self.assertEqual(coroscope("requests", self.trace, "--request", "x").returncode, 2)

    def test_the_text_of_one_request_has_a_limit_of_rows(self):
        trace = trace_builder.Trace()
        request = trace.site(b"GET", b"main.cpp", 1, trace_builder.KIND_REQUEST)
        step = trace.site(b"step", b"main.cpp", 2)
        steps = [trace_builder.scope(step, 1000 + 100 * each, 1050 + 100 * each) for each in range(250)]
        trace.thread(1, b"main", [*steps, trace_builder.scope(request, 900, 30_000)])
        self.trace = trace.write(self.folder / "steps.cst")
        for arguments, rows in ((), 200), (("--limit", "7"), 7), (("--limit", "-1"), 250):
            text = coroscope("requests", self.trace, "--request", "1", *arguments).stdout
            self.assertEqual(text.count("\nstep "), rows)
            self.assertEqual(f"\n{rows} of 250 rows; --limit -1 shows all\n" in text, rows != 250)
        self.assertEqual(len(self.rows("requests", "--request", "1")), 250)

    def test_requests_of_a_program_without_marks_are_named_as_a_guess(self):
        done = coroscope("requests", self.trace)
        self.assert_success(done)
        self.assertIn("The program marks no request", done.stdout)
        empty = trace_builder.Trace().write(self.folder / "empty.cst")
        self.assertIn("no request and no task was recorded", coroscope("requests", empty).stdout)

    def test_values_have_their_figures_by_scope_and_a_counter_track(self):
        self.trace = trace_builder.requests().write(self.folder / "requests.cst")
        within, outside = sorted(self.data("values"), key=lambda row: row["scope"] is None)
        self.assertEqual([within[key] for key in ("name", "scope", "count", "min", "mean", "p99", "max")],
                         ["queue", "GET", 10, 10, 55, 100, 100])
        self.assertEqual((outside["count"], outside["max"], outside["place"]), (10, 10, "src/server.cpp:40"))
        self.assertEqual(self.rows("values", "--sort-by", "max")[0]["max"], "100")
        exported = self.folder / "requests.json"
        self.assert_success(coroscope("export", self.trace, "--to", "chrome", "-o", exported))
        events = json.loads(exported.read_text())["traceEvents"]
        counters = [event["args"]["value"] for event in events if event["ph"] == "C"]
        self.assertEqual(sorted(counters), sorted([*range(1, 11), *range(10, 110, 10)]))
        self.assertEqual({event["cat"] for event in events if event["name"] == "GET"}, {"request", "request_lane"})

    def test_without_values_a_sentence_says_so(self):
        self.assertEqual(coroscope("values", self.trace).stdout,
                         "no value was recorded; docs/how-to/requests.md shows how\n")

    def test_the_table_of_ranges_outside_tasks_has_their_time(self):
        text = coroscope("table", trace_builder.streams().write(self.folder / "ranges.cst")).stdout
        heading, row = (next(line.split() for line in text.splitlines() if line.split()[:1] == [first]) for first in ("Name", "rows"))
        self.assertIn("Waiting", heading)
        self.assertEqual(row[-3:], ["9.997ms+", "9.997ms+", "2"])  # waiting, wall: 7 us and the range without an end

    def test_chains_lead_from_the_spawn_to_the_await(self):
        self.assertEqual(self.rows("awaits", "--chains")[0]["chain"], "session > db.query")

    def test_tasks_have_percentiles_by_spawn_site(self):
        row = self.rows("tasks")[0]
        self.assertEqual((row["name"], row["count"], row["states"]), ("session", "20", "20 finished"))
        # The 500 ns until the first resume belong to the wall time only if the first wake was seen.
        self.assertGreaterEqual(int(row["max_ns"]), 205_500)
        self.assertLessEqual(int(row["p50_ns"]), int(row["p99_ns"]))

    def test_the_tree_has_every_task(self):
        self.assertEqual([int(row["task"]) for row in self.rows("tasks", "--tree")], list(range(1, 21)))

    def test_one_task_has_its_awaits_and_slices(self):
        task = self.data("tasks", "--task", "3")
        self.assertEqual(task["task"], 3)
        self.assertEqual(len(task["awaits"]), 1)
        self.assertEqual(len(task["slices"]), 2)
        self.assertEqual(task["awaits"][0]["suspended_ns"], 30_000)

    def test_a_key_that_a_task_does_not_have_is_refused_in_every_form(self):
        for form in ("text", "csv", "json"):
            done = coroscope("tasks", self.trace, "--task", "3", "--sort-by", "bogus", "--format", form)
            self.assert_one_error(done, 2, r'--sort-by: cannot sort by "bogus"; one of .*suspended, .*')

    def test_an_unknown_key_of_a_table_is_refused_with_a_list_of_the_keys(self):
        self.assert_one_error(coroscope("table", self.trace, "--sort-by", "bogus"), 2, r"--sort-by: .*, wall, .*, preempted, self_preempted, p50, .*none")

    def test_info_shows_the_contents_of_the_trace(self):
        info = self.data("info")
        self.assertEqual(info["process"], "service")
        self.assertEqual((info["tasks"], info["awaits"], info["scopes"]), (20, 20, 40))
        self.assertEqual([thread["name"] for thread in info["threads"]], ["main", "worker"])

    def test_every_command_has_text_and_json(self):
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                self.data(*arguments)
                done = coroscope(*arguments, self.trace)
                self.assert_success(done)
                self.assertTrue(done.stdout)

    def test_every_output_is_the_same_for_any_number_of_threads(self):
        for arguments in PRINTING:
            if "--format" not in coroscope(arguments[0], "--help").stdout:
                continue
            for form in ("text", "csv", "json"):
                with self.subTest(arguments=arguments, form=form):
                    one, many = (coroscope(*arguments, self.trace, "--format", form, "--jobs", jobs) for jobs in "14")
                    self.assert_success(one)
                    self.assertEqual(one.stdout, many.stdout)
        for jobs in ("0", "-1", "many"):
            self.assertEqual(coroscope("table", self.trace, "--jobs", jobs).returncode, 2)

    def test_a_table_of_plain_scopes_reads_pipes_and_packed_traces(self):
        made = trace_builder.Trace()
        outer, inner = made.site(b"outer"), made.site(b"inner")
        made.thread(1, b"main", [trace_builder.scope(inner, 10, 20), trace_builder.scope(outer, 0, 500)])
        path = made.write(self.folder / "plain.cst")
        packed = self.folder / "packed.cst"
        self.assert_success(coroscope("pack", path, "-o", packed))
        expected = coroscope("table", path, "--format", "csv").stdout
        self.assertIn("outer,,1,500,490,", expected)
        self.assertEqual(coroscope("table", packed, "--format", "csv").stdout, expected)
        piped = coroscope("table", "/dev/stdin", "--format", "csv", stdin=path.open("rb"))
        self.assertEqual(piped.stdout, expected)

    def test_losses_are_in_every_text_view(self):
        made = trace_builder.service()
        made.thread(3, b"busy", [], dropped=7)
        lossy = made.write(self.folder / "lossy.cst")
        for arguments in PRINTING:
            with self.subTest(arguments=arguments):
                self.assertIn("Lost records: 7 dropped", coroscope(*arguments, lossy).stdout)

    def test_hostile_names_reach_no_terminal_and_stay_valid_json(self):
        made = trace_builder.Trace(process=b"\xff\x1b[31m")
        site = made.site(b'a"b\\c\nd\x01\x1b[31m\xff' + b"n" * 4000, b"x\ny.cpp", 1)
        made.thread(1, b"\x1b]0;t\x07", [trace_builder.scope(site, 0, 500)])
        path = made.write(self.folder / "hostile.cst")
        for arguments in PRINTING:
            if "--task" in arguments:
                continue
            done = coroscope(*arguments, path)
            self.assertNotIn("\x1b", done.stdout)
            json.loads(coroscope(*arguments, path, "--json").stdout)
            table = coroscope(*arguments, path, "--format", "csv").stdout
            self.assertFalse([each for each in table if each != "\n" and not each.isprintable()], arguments)
        json.loads(coroscope("export", path, "-o", "-").stdout)

    def test_csv_safe_guards_names_that_a_spreadsheet_would_calculate(self):
        made = trace_builder.Trace()
        made.thread(1, b"=t", [trace_builder.scope(made.site(b"=1+1"), 0, 500)])
        path = made.write(self.folder / "formula.cst")
        for command, name in (("table", "=1+1"), ("info", "=t")):
            self.assertNotIn("'" + name, coroscope(command, path, "--format", "csv").stdout)
            self.assertIn("'" + name, coroscope(command, path, "--format", "csv", "--csv-safe").stdout)


if __name__ == "__main__":
    tool.main()
