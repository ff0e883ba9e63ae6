#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Opens reports that the command wrote, and compares their figures with the command's JSON. usage: test_command.mjs FOLDER COROSCOPE TRACE…
// FOLDER has node_modules with the packages of package.json.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Browser, browserPath } from "./browser.mjs";

const [packages, coroscope, ...traces] = process.argv.slice(2);

function run(...command) {
  const done = spawnSync(coroscope, command, { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.equal(done.status, 0, `${command.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** The rows of a CSV text, as objects. Numbers become numbers. */
function readCsv(text) {
  const [head, ...rows] = text.trim().split("\r\n").map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, -1)
    .map(([, cell]) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)));
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] !== "" && !Number.isNaN(Number(row[index])) ? Number(row[index]) : row[index]])));
}

/** Compares the numbers of a table with those of the command. */
async function compareTable(browser, file, table, expected) {
  const page = await browser.open(file, `#tables?table=${table}`);
  if (expected.length > 0) {
    const rows = readCsv(await page.copied());
    assert.equal(rows.length, expected.length, table);
    rows.forEach((row, index) => {
      for (const [key, value] of Object.entries(row)) if (typeof value === "number" && typeof expected[index][key] === "number") assert.equal(value, expected[index][key], `${table}, ${key}`);
    });
  }
  await finish(page, table);
}

async function finish(page, title) {
  assert.deepEqual(page.complaints, [], title);
  await page.close();
}

async function flameTotal(browser, file, address) {
  const page = await browser.open(file, address);
  await page.page.waitForSelector("#flame-total, #no-frames");
  const total = await page.page.evaluate(() => parseInt(document.querySelector("#flame-total")?.title ?? "0", 10));
  await finish(page, address);
  return total;
}

function foldedSum(trace, of, target) {
  run("export", trace, "--to", "folded", "--of", of, "-o", target);
  return fs.readFileSync(target, "utf8").split("\n").reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

async function compareFlames(browser, file, trace, folder) {
  const sum = (of) => foldedSum(trace, of, path.join(folder, "folded"));
  assert.equal(await flameTotal(browser, file, "#flames?kind=all"), sum("wall"), "all time");
  assert.equal(await flameTotal(browser, file, "#flames?kind=queued"), sum("queued"), "queued");
  assert.equal(await flameTotal(browser, file, "#flames?kind=blocked"), sum("blocked"), "blocked");
}

async function compareRequests(browser, file, trace) {
  const [slowest] = JSON.parse(run("requests", trace, "--json", "--show", "slowest")).filter((each) => ["completed", "failed"].includes(each.end));
  if (slowest === undefined) return;
  const path_ = JSON.parse(run("path", trace, "--json", "--request", String(slowest.request ?? slowest.id)));
  assert.equal(await flameTotal(browser, file, `#flames?kind=path&request=${slowest.request ?? slowest.id}`), path_.wall_ns, "the slowest request");
  const page = await browser.open(file, `#timeline?request=${slowest.request ?? slowest.id}`);
  assert.equal(await page.text("aside h2"), `Request ${slowest.request ?? slowest.id}`);
  await finish(page, "timeline");
}

async function testTrace(browser, trace, folder) {
  const file = path.join(folder, "report.html");
  run("report", trace, "-o", file, "--editor", "vscode");
  const page = await browser.open(file, "#overview");
  assert.ok((await page.text("main")).includes("Is it healthy?"));
  assert.deepEqual(await page.problems(), []);
  await finish(page, "overview");
  await compareTable(browser, file, "scopes", JSON.parse(run("table", trace, "--json")).rows);
  await compareTable(browser, file, "awaits", JSON.parse(run("awaits", trace, "--json")));
  await compareTable(browser, file, "executors", JSON.parse(run("executors", trace, "--json")));
  await compareFlames(browser, file, trace, folder);
  await compareRequests(browser, file, trace);
}

if (browserPath() === undefined || !fs.existsSync(path.join(packages, "node_modules/puppeteer-core"))) {
  console.log(`SKIP: Chromium, or the package puppeteer-core in ${packages}, is missing`);
  process.exit(77);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "coroscope-report-"));
const browser = await Browser.start(packages);
let failed = 0;
for (const trace of traces) {
  try {
    await testTrace(browser, trace, folder);
    console.log(`ok      the report of ${path.basename(trace)} has the command's figures`);
  } catch (error) {
    ++failed;
    console.log(`FAILED  ${trace}\n        ${String(error.stack).replaceAll("\n", "\n        ")}`);
  }
}
await browser.stop();
fs.rmSync(folder, { recursive: true, force: true });
console.log(`${traces.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
