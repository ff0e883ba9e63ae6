// SPDX-License-Identifier: Apache-2.0
// Tests of the timeline: pointer, wheel, keys, search, selection, requests.
import assert from "node:assert/strict";

async function openTimeline(bench, address = "#timeline") {
  const opened = await bench.open(address);
  await opened.page.page.focus("#canvas");
  return { ...opened, start: await opened.page.shown() };
}

async function wheel(page, deltaY, key) {
  await page.page.mouse.move(700, 400);
  if (key) await page.page.keyboard.down(key);
  const turned = page.page.$eval("#canvas", (canvas) => new Promise((done) => canvas.addEventListener("wheel", () => done(), { once: true })));
  await page.page.mouse.wheel({ deltaY });
  await turned;
  if (key) await page.page.keyboard.up(key);
  return page.shown();
}

function addValues({ timeline, tables }) {
  const kernel = timeline.names.push("kernel") - 1, length = timeline.names.push("queue.length") - 1;
  timeline.devices.push({ id: 0, name: "GPU 0" });
  tables.values = { time_ns: [1000, 2e6, 5e6], number: [1, 7.5, 0], name: [length, length, length] };
  tables.activities = { start_ns: [10000, 90000], length_ns: [50000, 60000], name: [kernel, kernel], kind: [0, 0], device: [0, 0], stream: [7, 7], scope: [-1, -1], task: [-1, -1] };
}

async function press(page, title) {
  await page.page.evaluate((text) => [...document.querySelectorAll(".bar-of-tools button")].find((each) => each.textContent === text).click(), title);
  await page.frame();
}

function length({ from, to }) {
  return to - from;
}

export const TIMELINE_TESTS = {
  "the wheel scrolls, zooms with Ctrl, and moves with Shift": async (bench) => {
    const { page, start } = await openTimeline(bench);
    const scrolled = await wheel(page, 200);
    assert.ok(scrolled.scroll > start.scroll && length(scrolled) === length(start));
    const zoomed = await wheel(page, -400, "Control");
    assert.ok(length(zoomed) < length(start) * 0.8);
    const moved = await wheel(page, 300, "Shift");
    assert.ok(moved.from > zoomed.from && Math.abs(length(moved) - length(zoomed)) <= 2);
  },

  "the wheel with Ctrl keeps the moment below the pointer": async (bench) => {
    const { page, start } = await openTimeline(bench);
    const at = ({ from, to }) => page.page.$eval("#canvas", (canvas, [first, last]) => first + ((700 - canvas.getBoundingClientRect().left - 190) / (canvas.clientWidth - 190)) * (last - first), [from, to]);
    const before = await at(start), zoomed = await wheel(page, -400, "Control");
    assert.ok(Math.abs((await at(zoomed)) - before) < length(zoomed) / 200);
  },

  "a drag moves the view, and selects a range with Shift": async (bench) => {
    const { page } = await openTimeline(bench);
    await page.key("+", "+");
    const start = await page.shown();
    const drag = async () => {
      await page.page.mouse.move(700, 400);
      await page.page.mouse.down();
      await page.page.mouse.move(600, 400, { steps: 4 });
      await page.page.mouse.up();
    };
    await drag();
    const moved = await page.shown();
    assert.ok(moved.from > start.from);
    await page.page.keyboard.down("Shift");
    await drag();
    await page.page.keyboard.up("Shift");
    assert.equal(await page.text("aside h2"), "Range of time");
    await page.page.click("aside a");
    await page.settled();
    assert.match(await page.page.evaluate(() => location.hash), /^#flames\?kind=on_cpu&from=\d+&to=\d+$/);
    await page.page.waitForSelector(".flame, #no-frames");
  },

  "keys zoom, move and show all": async (bench) => {
    const { page, start } = await openTimeline(bench);
    await page.key("+", "w");
    const zoomed = await page.shown();
    assert.ok(length(zoomed) < length(start) / 2);
    await page.key("ArrowRight");
    assert.ok((await page.shown()).from > zoomed.from);
    await page.key("ArrowLeft", "ArrowLeft");
    assert.ok((await page.shown()).from < zoomed.from);
    await page.key("0");
    assert.ok(length(await page.shown()) >= length(start));
    await page.key("ArrowDown");
    assert.ok((await page.shown()).scroll > 0);
  },

  "N goes through the slow requests, and Escape closes them": async (bench) => {
    const { page, data } = await openTimeline(bench);
    const { id, start_ns: start, length_ns: wall } = data.tables.requests;
    for (const row of [0, 1, 2]) {
      await page.key("n");
      assert.equal(await page.text("aside h2"), `Request ${id[row]}`);
      const { from, to } = await page.shown();
      assert.ok(from <= start[row] && to >= start[row] + wall[row]);
    }
    await page.key("N");
    assert.equal(await page.text("aside h2"), `Request ${id[1]}`);
    assert.match(await page.said(), new RegExp(`^Request ${id[1]}, `));
    await page.key("Escape");
    assert.equal(await page.text("aside h2"), "Nothing selected");
  },

  "an opened request names the work to blame for each segment": async (bench) => {
    const { data } = await openTimeline(bench);
    const { tables, timeline } = data, queued = timeline.kinds.kind.indexOf("queued");
    const segment = tables.segments.kind.findIndex((kind, row) => kind === queued && tables.segments.blames[row] > 0 && tables.segments.length_ns[row] > 5e6);
    const { page } = await openTimeline(bench, `#timeline?request=${tables.requests.id[tables.segments.request[segment]]}`);
    const text = await page.text("aside");
    const cause = timeline.names[tables.blames.name[tables.segments.blame[segment]]];
    assert.ok(text.includes("queued") && text.includes(`because of ${cause} on database`), text);
  },

  "an opened request names the lock for which another task waited": async (bench) => {
    const report = bench.report({ requests: 400 }, ({ timeline, tables }) => tables.waits.held = tables.waits.name.map(() => timeline.names.push("the lock of the cache") - 1));
    const { page } = await bench.open("#timeline", { report });
    await page.page.focus("#canvas");
    await page.key("n");
    const text = await page.text("aside");
    assert.match(text, /held the lock of the cache, for which db\.get waited/);
  },

  "the steps of an opened request add up to its length": async (bench) => {
    const { data } = await openTimeline(bench), { requests, segments } = data.tables;
    const row = 0, sum = segments.request.reduce((total, request, at) => total + (request === row ? segments.length_ns[at] : 0), 0);
    assert.equal(sum, requests.length_ns[row]);
    const { page } = await openTimeline(bench, `#flames?kind=path&request=${requests.id[row]}`).catch(() => bench.open(`#flames?kind=path&request=${requests.id[row]}`));
    assert.match(await page.text("#flame-total"), /^Total 26\.\d ms$/);
  },

  "a click selects a bar and shows its times and its source": async (bench) => {
    const { page, data } = await openTimeline(bench, "#timeline?request=891");
    await page.page.mouse.click(700, 150);
    assert.match(await page.text("aside h2"), /queued|on-CPU/);
    const text = await page.text("aside");
    assert.ok(text.includes("Lane") && text.includes("Critical path") && text.includes("shop/database.cpp"));
    assert.ok(data.summary.editor.startsWith("vscode:"));
    assert.match(await page.page.$eval("aside a.code", (anchor) => anchor.href), /^vscode:\/\/file\/\/src\/shop\/database\.cpp:\d+$/);
  },

  "brackets move between bars, and Enter reaches the details": async (bench) => {
    const { page } = await openTimeline(bench);
    await page.key("]");
    const first = await page.said();
    await page.key("]");
    const second = await page.said();
    await page.key("[");
    assert.equal(await page.said(), first);
    assert.notEqual(first, second);
    await page.key("}");
    assert.notEqual(await page.said(), first);
    await page.key("Enter");
    assert.equal(await page.page.evaluate(() => document.activeElement.tagName), "ASIDE");
  },

  "a search counts the scopes and goes from one to the next": async (bench) => {
    const { page, data } = await openTimeline(bench);
    const name = data.timeline.names.indexOf("sqlite.search"), number = data.tables.scopes.name.filter((each) => each === name).length;
    await page.key("/");
    await page.page.keyboard.type("SQLite.sea");
    assert.ok((await page.text(".bar-of-tools")).includes(`${number} scopes`));
    await page.key("Enter");
    assert.match(await page.said(), /^sqlite\.search – /);
    const before = await page.shown();
    await page.key("Enter");
    assert.notDeepEqual(await page.shown(), before);
    assert.ok((await page.text(".bar-of-tools")).includes(`2 of ${number} scopes`));
    await page.page.keyboard.type("zzz");
    assert.ok((await page.text(".bar-of-tools")).includes("0 scopes"));
  },

  "the list of keys opens and closes by keys": async (bench) => {
    const { page } = await openTimeline(bench);
    await page.key("?");
    assert.match(await page.text("dialog"), /next or previous slow request/);
    assert.deepEqual(await page.problems(), []);
    await page.key("Escape");
    assert.equal(await page.text("dialog"), null);
    assert.equal(await page.page.evaluate(() => document.activeElement.id), "canvas");
  },

  "recorded values and the work of devices have lanes": async (bench) => {
    const report = bench.report({ requests: 300 }, addValues);
    const { page } = await bench.open("#timeline", { report });
    const image = () => page.page.$eval("#canvas", (canvas) => canvas.toDataURL());
    for (const title of ["Requests", "Threads", "Executors"]) await press(page, title);
    const both = await image();
    await press(page, "Values");
    const devices = await image();
    await press(page, "Devices");
    assert.ok(both !== devices && devices !== (await image()));
    await press(page, "Devices");
    await page.page.focus("#canvas");
    await page.key("]");
    assert.match(await page.said(), /^kernel – 50\.0 µs, from 10\.0 µs on, in GPU 0, stream 7$/);
    for (const title of ["Requests", "Threads", "Executors", "Values"]) await press(page, title);
  },

  "a timeline of a part says what it leaves out": async (bench) => {
    const report = bench.report({ requests: 400 }, (data) => (data.summary.left_out = [{ what: "scopes", shown: 1, of: 2, sentence: "The timeline has 1 of 2 scopes." }]));
    for (const address of ["#overview", "#timeline"]) {
      const { page } = await bench.open(address, { report });
      assert.ok((await page.text("main")).includes("The timeline has 1 of 2 scopes."), address);
    }
  },

  "buttons choose the groups of lanes": async (bench) => {
    const { page } = await openTimeline(bench);
    const image = () => page.page.$eval("#canvas", (canvas) => canvas.toDataURL());
    const before = await image();
    const press = (title) => page.page.evaluate((text) => [...document.querySelectorAll(".bar-of-tools button")].find((each) => each.textContent === text).click(), title);
    await press("Requests");
    await page.frame();
    assert.notEqual(await image(), before);
    await press("Requests");
    await page.frame();
    assert.equal(await image(), before);
    await press("Tasks");
    await press("Tasks");
  },
};
