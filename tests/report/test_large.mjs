// SPDX-License-Identifier: Apache-2.0
// A million events. The times are printed, not asserted, because they depend on the machine.
import assert from "node:assert/strict";
import fs from "node:fs";

const MANY = 168000;  // requests, of six scopes and awaits each

/** Moves along the time, one step for each frame. @returns the lengths of the frames in milliseconds */
function pan(steps) {
  return new Promise((done) => {
    const canvas = document.querySelector("#canvas"), lengths = [];
    let before = performance.now();
    const frame = (now) => {
      lengths.push(now - before);
      before = now;
      if (lengths.length > steps) return done(lengths.slice(1).sort((a, b) => a - b));
      canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: lengths.length % 80 < 40 ? 25 : -25, shiftKey: true, cancelable: true }));
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}

async function printFrames(page, title) {
  const lengths = await page.page.evaluate(pan, 120);
  console.log(`        ${title}: median frame ${lengths[60].toFixed(1)} ms, 95th percentile ${lengths[114].toFixed(1)} ms`);
}

export const LARGE_TESTS = {
  "a million events are drawn": async (bench) => {
    const report = bench.report({ requests: MANY });
    assert.ok(report.data.tables.scopes.name.length + report.data.tables.awaits.task.length >= 1e6);
    console.log(`        the file has ${(fs.statSync(report.file).size / 1e6).toFixed(1)} MB`);
    const { page } = await bench.open("#overview", { report });
    const paint = await page.page.evaluate(() => performance.getEntriesByType("paint").map((each) => `${each.name} after ${each.startTime.toFixed(0)} ms`).join(", "));
    console.log(`        ${paint}`);
    const before = Date.now();
    await page.go("#timeline");
    console.log(`        the timeline is there ${Date.now() - before} ms after the click`);
    await new Promise((done) => setTimeout(done, 3000));
    await printFrames(page, "the whole recording");
    await page.page.focus("#canvas");
    await page.key("+", "+", "+", "+", "+", "+", "+", "+");
    await printFrames(page, "a twenty-fifth of it");
    await page.key("n");
    await printFrames(page, "an opened request");
    assert.match(await page.text("aside h2"), /^Request \d+$/);
  },
};
