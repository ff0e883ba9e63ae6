#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of coroscope check: its forms of output, its exit codes, its messages."""

import json
import re

import tool
import trace_builder
from tool import ToolTest, coroscope

SEVERITIES = ["note", "warning", "error"]


class Check(ToolTest):
    def setUp(self):
        super().setUp()
        self.trace = trace_builder.service().write(self.folder / "service.cst")

    def check(self, *options):
        done = coroscope("check", self.trace, *options)
        self.assert_success(done)
        return done.stdout

    def rules(self):
        done = coroscope("check", "--explain", "no-such-rule")
        self.assertEqual(done.returncode, 2)
        return re.search(r"the rules are (.*)", done.stderr)[1].strip().split(", ")

    def test_json_has_the_fixed_members(self):
        found = json.loads(self.check("--json"))
        self.assertIn(found["basis"], ("requests", "guessed requests", "tasks"))
        for each in found["findings"]:
            self.assertLessEqual({"rule", "severity", "title", "cause", "victims", "cost_ns", "share", "evidence", "advice"},
                                 set(each))
            self.assertLessEqual({"label", "file", "line"}, set(each["cause"]))
            self.assertIn(each["severity"], SEVERITIES)
        for each in found["not_run"]:
            self.assertEqual(set(each), {"rule", "needs"})
            self.assertTrue(each["needs"])

    def test_rules_that_could_not_run_are_named_with_the_missing_facts(self):
        self.assertIn("device-idle", [each["rule"] for each in json.loads(self.check("--json"))["not_run"]])
        self.assertRegex(self.check(), r"(?m)^not run: .*device-idle.* \(without activities of devices.*\)$")

    def test_sarif_has_all_rules_and_the_findings(self):
        found = json.loads(self.check("--sarif"))
        self.assertEqual(found["version"], "2.1.0")
        run = found["runs"][0]
        self.assertEqual([each["id"] for each in run["tool"]["driver"]["rules"]], self.rules())
        self.assertEqual([each["ruleId"] for each in run["results"]],
                         [each["rule"] for each in json.loads(self.check("--json"))["findings"]])

    def test_each_rule_is_explained_without_a_trace(self):
        for rule in self.rules():
            done = coroscope("check", "--explain", rule)
            self.assert_success(done)
            self.assertTrue(done.stdout.startswith(rule + " ("), done.stdout)
            for word in ("Threshold: ", "Needs: ", "Try: ", "When it is wrong: "):
                self.assertIn(word, done.stdout)

    def test_each_rule_has_a_section_in_the_documents(self):
        document = (tool.pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "findings.md").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"(?m)^### (.*)$", document), self.rules())

    def test_each_rule_is_named_in_a_test_of_the_analysis(self):
        folder = tool.pathlib.Path(__file__).resolve().parents[1] / "analysis" / "check"
        tests = "".join(path.read_text(encoding="utf-8") for path in folder.glob("test_*.cpp"))
        self.assertEqual([rule for rule in self.rules() if f'"{rule}"' not in tests], [])

    def test_the_exit_code_follows_the_worst_finding(self):
        worst = max((SEVERITIES.index(each["severity"]) for each in json.loads(self.check("--json"))["findings"]), default=-1)
        for least in ("warning", "error"):
            done = coroscope("check", self.trace, "--fail-on", least)
            self.assertEqual(done.returncode, 3 if worst >= SEVERITIES.index(least) else 0)

    def test_wrong_usage_is_one_line(self):
        self.assert_one_error(coroscope("check"), 2, r".*FILE.*")
        self.assert_one_error(coroscope("check", self.trace, "--fail-on", "note"), 2, r".*--fail-on.*")
        self.assert_one_error(coroscope("check", self.folder / "no.cst"), 1, r".*no\.cst.*")


if __name__ == "__main__":
    tool.main()
