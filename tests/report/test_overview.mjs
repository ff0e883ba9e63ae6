// SPDX-License-Identifier: Apache-2.0
// Tests of the overview, of names that look like markup, of themes, and of all views together.
import assert from "node:assert/strict";
import fs from "node:fs";

const VIEWS = ["#overview", "#timeline", "#timeline?request=891", "#flames", "#flames?kind=path&request=891", "#flames?kind=off_cpu&difference=1",
  "#tables?table=types&row=GET%20%2Fitem", "#tables?table=requests", "#tables?table=scopes"];
const HOSTILE = "</script><img src=x onerror=\"document.title='taken'\">";

function empty(data) {
  const { summary } = data;
  Object.assign(summary, { requests: { guessed: false, types: [] }, why: [], paths: [], tables: {}, has_states: false, overhead: null });
  summary.findings = { basis: "tasks", requests: 0, whole_requests: 0, request_ns: 0, machine_ns: 0, idle_ns: 0, findings: [], not_run: [] };
  for (const name of Object.keys(data.tables)) {
    if (name !== "frames") data.tables[name] = Object.fromEntries(Object.keys(data.tables[name]).map((column) => [column, []]));
  }
}

export const OVERVIEW_TESTS = {
  "the overview answers its four questions in order": async (bench) => {
    const { page, data } = await bench.open("#overview");
    const heads = await page.page.$$eval("h2", (all) => all.map((each) => each.innerText));
    assert.deepEqual(heads, ["Is it healthy?", "What is slow?", "Why?", "Show me"]);
    const text = await page.text("main");
    assert.ok(text.includes("costs 70.0 ms") && text.includes("Give slow jobs a pool of their own."));
    for (const type of data.summary.requests.types) assert.ok(text.includes(type.name));
  },

  "queued time without a recorded task is not said to be a busy machine": async (bench) => {
    const report = bench.report({ requests: 50 }, ({ summary }) => {
      summary.has_states = true;
      Object.assign(summary.findings, { request_ns: 1000, machine_ns: 0, idle_ns: 400 });
    });
    const { page } = await bench.open("#overview", { report });
    const text = await page.text("main");
    assert.match(text, /Queued for threads without a task: 40 %/);
    assert.doesNotMatch(text, /No free processor: /);
  },

  "the pieces of a bar add up to its width": async (bench) => {
    const { page } = await bench.open("#overview");
    const sums = await page.page.$$eval(".bar", (bars) => bars.map((bar) => [...bar.children].reduce((sum, each) => sum + parseFloat(each.style.width), 0)));
    assert.ok(sums.length >= 4);
    for (const sum of sums) assert.ok(Math.abs(sum - 100) < 0.01, `${sum} %`);
  },

  "a bar of a percentile and a moment of evidence lead to the timeline": async (bench) => {
    const { page, data } = await bench.open("#overview");
    await page.page.click(".type .percentile");
    await page.settled();
    assert.match(await page.text("aside h2"), /^Request \d+$/);
    await page.go("#overview");
    await page.page.click(".evidence a");
    await page.page.waitForSelector("#canvas[data-shown]", { timeout: 60_000 });
    const [evidence] = data.summary.findings.findings[0].evidence, { from, to } = await page.shown();
    assert.ok(from <= evidence.start_ns && to >= evidence.start_ns + evidence.ns);
  },

  "names that look like markup are text in every view": async (bench) => {
    const names = { "GET /item": HOSTILE, "sqlite.search": "\u2028<b>&amp;'\"", "db.get": "=cmd|' /C calc'!A0", executor: HOSTILE, title: HOSTILE };
    const report = bench.report({ requests: 900, names });
    for (const address of ["#overview", "#timeline", "#timeline?request=891", "#flames?kind=all", "#tables?table=scopes", "#tables?table=types"]) {
      const { page } = await bench.open(address, { report });
      const state = await page.page.evaluate(() => ({ images: document.images.length, bold: document.querySelectorAll("main b b").length, title: document.title, text: document.body.innerText }));
      assert.equal(state.images, 0, address);
      assert.equal(state.title, HOSTILE, "the title of the page is the name as text");
      if (!address.startsWith("#timeline")) assert.ok(state.text.includes("onerror"), address);
    }
  },

  "an address with unknown or hostile parts opens a view": async (bench) => {
    for (const address of ["#nothing", "#timeline?request=999999", "#timeline?from=x&for=-1", "#tables?table=__proto__", "#flames?kind=%3Cb%3E&type=none", "#tables?row=%3Cimg%20src%3Dx%3E"]) {
      const { page } = await bench.open(address);
      assert.ok((await page.text("main")).length > 20, address);
    }
  },

  "no view has a serious problem of accessibility in either theme": async (bench) => {
    for (const dark of [false, true]) {
      for (const address of VIEWS) {
        const { page } = await bench.open(address, { dark });
        assert.deepEqual(await page.problems(), [], `${address}, ${dark ? "dark" : "light"}`);
        await bench.finish();
      }
    }
  },

  "the theme follows the system and the button": async (bench) => {
    const { page } = await bench.open("#overview", { dark: true });
    const background = () => page.page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await background();
    await page.page.click("#theme");
    const light = await background();
    await page.page.click("#theme");
    assert.equal(await background(), dark);
    assert.notEqual(dark, light);
  },

  "each view fits a narrow window and paper": async (bench) => {
    for (const address of VIEWS) {
      const { page } = await bench.open(address, { width: 420 });
      const wide = await page.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${address} is ${wide} pixels too wide`);
      await page.page.emulateMediaType("print");
      assert.equal(await page.page.$eval("#tools", (tools) => getComputedStyle(tools).display), "none");
      await bench.finish();
    }
  },

  "a recording without requests shows the other views": async (bench) => {
    const report = bench.report({ requests: 50 }, empty);
    for (const address of ["#overview", "#timeline", "#flames", "#flames?kind=path", "#tables"]) {
      const { page } = await bench.open(address, { report });
      const text = await page.text("main");
      assert.ok(text.length > 40, address);
      if (address === "#overview") assert.match(text, /marks no requests/);
      assert.deepEqual(await page.problems(), [], address);
    }
  },

  "data of another version of the page is an error with a remedy": async (bench) => {
    const report = { ...bench.report({ requests: 50 }) }, text = fs.readFileSync(report.file, "utf8");
    report.file = report.file.replace(".html", "-later.html");
    fs.writeFileSync(report.file, text.replace('"coding":"delta"', '"coding":"later"'));
    const { page } = await bench.open("#overview", { report });
    await page.page.waitForSelector("[role=alert]", { timeout: 60_000 });
    assert.match(await page.text("[role=alert]"), /Write the report again with the same version/);
    page.complaints = page.complaints.filter((each) => !each.startsWith("error:"));
  },
};
