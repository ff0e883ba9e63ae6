#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Drives the page of a report in a browser, with simulated data. usage: test_page.mjs FOLDER [WORD…]
// FOLDER has node_modules with the packages of package.json. With words, only the tests whose sentences contain one of them run.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Browser, browserPath, joinFrame } from "./browser.mjs";
import { writeReport } from "./pack_report.mjs";
import { sampleData } from "./sample_data.mjs";
import { FLAME_TESTS } from "./test_flames.mjs";
import { LARGE_TESTS } from "./test_large.mjs";
import { OVERVIEW_TESTS } from "./test_overview.mjs";
import { TABLE_TESTS } from "./test_tables.mjs";
import { TIMELINE_TESTS } from "./test_timeline.mjs";

const TESTS = { ...OVERVIEW_TESTS, ...TIMELINE_TESTS, ...FLAME_TESTS, ...TABLE_TESTS, ...LARGE_TESTS };

function skip(reason) {
  console.log(`SKIP: ${reason}`);
  process.exit(77);
}

/** What a test needs: reports by their options, and the browser. */
class Bench {
  constructor(browser, folder) {
    this.browser = browser;
    this.folder = folder;
    this.frame = joinFrame(folder);
    this.made = new Map();
    this.opened = [];
  }

  /** @param {object} options of sampleData() @param {(data: any) => void} [change] @returns {{file: string, data: any}} */
  report(options, change) {
    const key = JSON.stringify(options) + String(change ?? "");
    if (!this.made.has(key)) {
      const data = sampleData(options), file = path.join(this.folder, `report${this.made.size}.html`);
      change?.(data);
      writeReport(this.frame, data, file);
      this.made.set(key, { file, data });
    }
    return this.made.get(key);
  }

  /** Opens a small report. */
  async open(address, options = {}) {
    const { file, data } = options.report ?? this.report({ requests: 2000, against: true });
    const page = await this.browser.open(file, address, options);
    this.opened.push(page);
    return { page, data };
  }

  /** Closes the pages of a test, and fails if one of them complained. */
  async finish() {
    const complaints = this.opened.flatMap((page) => page.complaints);
    for (const page of this.opened) await page.close();
    this.opened = [];
    assert.deepEqual(complaints, []);
  }
}

async function runTest(bench, sentence, test) {
  try {
    await test(bench);
    await bench.finish();
    console.log(`ok      ${sentence}`);
    return true;
  } catch (error) {
    const complaints = bench.opened.flatMap((page) => page.complaints);
    bench.opened = [];
    console.log(`FAILED  ${sentence}\n        ${String(error.stack ?? error).replaceAll("\n", "\n        ")}\n        ${complaints.join("\n        ")}`);
    return false;
  }
}

const [packages, ...words] = process.argv.slice(2);
if (browserPath() === undefined) skip("no Chromium; Debian has it as chromium");
for (const name of ["puppeteer-core", "axe-core"]) {
  if (!fs.existsSync(path.join(packages ?? ".", "node_modules", name))) skip(`the package ${name} of tests/report/package.json is missing in ${packages}`);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "coroscope-report-"));
const browser = await Browser.start(packages);
let passed = 0, failed = 0;
try {
  const bench = new Bench(browser, folder);
  for (const [sentence, test] of Object.entries(TESTS)) {
    if (words.length > 0 && !words.some((word) => sentence.includes(word))) continue;
    if (await runTest(bench, sentence, test)) ++passed;
    else ++failed;
  }
} finally {
  await browser.stop();
  fs.rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
