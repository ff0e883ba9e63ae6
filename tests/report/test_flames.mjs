// SPDX-License-Identifier: Apache-2.0
// Tests of flame graphs.
import assert from "node:assert/strict";

function sum(values) {
  return values.reduce((total, each) => total + each, 0);
}

/** The text of a time, as the page writes it. */
function durationText(ns) {
  const [value, unit] = ns >= 1e9 ? [ns / 1e9, "s"] : [ns / 1e6, "ms"];
  return `${value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

export const FLAME_TESTS = {
  "the total of each graph is the sum of its frames": async (bench) => {
    for (const [kind, columns] of [["on_cpu", ["on_cpu_ns", "running_ns"]], ["queued", ["queued_ns"]], ["off_cpu", ["blocked_ns", "preempted_ns", "suspended_ns", "queued_ns", "waiting_ns"]]]) {
      const { page, data } = await bench.open(`#flames?kind=${kind}`);
      assert.equal(await page.text("#flame-total"), `Total ${durationText(sum(columns.map((each) => sum(data.tables.frames[each]))))}`, kind);
    }
  },

  "a graph of a type has the frames below that type only": async (bench) => {
    const { page } = await bench.open("#flames?kind=on_cpu&type=GET%20%2Fsearch");
    const labels = await page.page.$$eval(".flame button", (all) => all.map((each) => each.getAttribute("aria-label")));
    assert.ok(labels.some((each) => each.startsWith("GET /search")) && !labels.some((each) => each.startsWith("GET /item")));
  },

  "a graph without time says so": async (bench) => {
    const { page } = await bench.open("#flames?kind=blocked");
    assert.match(await page.text("#no-frames"), /has no blocked time/);
  },

  "a click zooms, Escape returns, and arrows move between frames": async (bench) => {
    const { page } = await bench.open("#flames?kind=on_cpu");
    const width = (name) => page.page.$$eval(".flame button", (all, wanted) => all.find((each) => each.getAttribute("aria-label").startsWith(wanted)).style.width, name);
    assert.notEqual(await width("shop::job"), "100%");
    await page.page.evaluate(() => [...document.querySelectorAll(".flame button")].find((each) => each.getAttribute("aria-label").startsWith("shop::job")).click());
    assert.equal(await width("shop::job"), "100%");
    assert.match(await page.text("#frame"), /^shop::job/);
    await page.key("ArrowDown");
    assert.match(await page.text("#frame"), /^sqlite\./);
    await page.key("ArrowUp", "Escape");
    assert.notEqual(await width("shop::job"), "100%");
  },

  "a search marks frames and adds up their time": async (bench) => {
    const { page } = await bench.open("#flames?kind=on_cpu");
    await page.page.type("main input[type=search]", "sqlite");
    await page.frame();
    assert.equal((await page.page.$$(".flame button.found")).length, 2);
    assert.match(await page.text("main"), /2 frames, \d+/);
  },

  "the difference to another recording has signs and both times": async (bench) => {
    const { page } = await bench.open("#flames?kind=on_cpu&difference=1");
    assert.match(await page.text("#flame-total"), /before .*: .* more$/);
    const texts = await page.page.$$eval(".flame button", (all) => all.map((each) => each.textContent).filter((each) => each !== ""));
    assert.ok(texts.length > 3 && texts.every((each) => /^[▲▼=] /.test(each)), texts.join());
  },
};
