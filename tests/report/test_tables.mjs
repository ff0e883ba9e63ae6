// SPDX-License-Identifier: Apache-2.0
// Tests of tables.
import assert from "node:assert/strict";

function cells(page, column) {
  return page.page.$$eval("tbody tr", (rows, index) => rows.map((row) => row.cells[index]?.innerText.replace("▸", "").trim()), column);
}

export const TABLE_TESTS = {
  "a table has the rows of the command in its order": async (bench) => {
    const { page, data } = await bench.open("#tables?table=scopes");
    assert.deepEqual(await cells(page, 0), data.summary.tables.scopes.rows.map((row) => row.name));
  },

  "a heading sorts by its column, and again in the other direction": async (bench) => {
    const { page, data } = await bench.open("#tables?table=scopes");
    const names = [...data.summary.tables.scopes.rows].sort((a, b) => b.total_ns - a.total_ns).map((row) => row.name);
    const sort = () => page.page.click("th:nth-child(3) button");
    await sort();
    assert.deepEqual(await cells(page, 0), names);
    assert.equal(await page.page.$eval("th:nth-child(3)", (head) => head.getAttribute("aria-sort")), "descending");
    await sort();
    assert.deepEqual(await cells(page, 0), names.toReversed());
  },

  "a filter leaves the rows that contain its text": async (bench) => {
    const { page } = await bench.open("#tables?table=scopes");
    await page.page.type("#filter", "SQL");
    await page.frame();
    assert.deepEqual((await cells(page, 0)).sort(), ["sqlite.get", "sqlite.search"]);
    assert.match(await page.text("main"), /2 of \d+ rows/);
  },

  "the copy has all rows as CSV, and no formula": async (bench) => {
    const report = bench.report({ requests: 300, names: { parse: "=1+1", "db.get": 'a "b", c' } });
    const { page, data } = await bench.open("#tables?table=scopes", { report });
    const copied = await page.copied();
    const lines = copied.trim().split("\r\n");
    assert.equal(lines.length, data.summary.tables.scopes.rows.length + 1);
    assert.equal(lines[0], "name,count,total_ns,mean_ns");
    assert.ok(copied.includes("\r\n'=1+1,") && copied.includes('"a ""b"", c",'));
  },

  "a row opens to its histogram, its source and its longest calls": async (bench) => {
    const { page } = await bench.open("#tables?table=scopes");
    await page.page.click("tbody button");
    await page.frame();
    assert.match(await page.text(".source"), /COROSCOPE_REQUEST/);
    assert.match(await page.page.$eval(".histogram", (svg) => svg.getAttribute("aria-label")), /^Histogram of GET \/item: 1.?950 lengths/);
    assert.deepEqual(await page.problems(), []);
    await page.page.click("tbody .row a");
    await page.settled();
    assert.match(await page.page.evaluate(() => location.hash), /^#timeline\?from=/);
  },

  "the requests are those of the timeline, the slowest first": async (bench) => {
    const { page, data } = await bench.open("#tables?table=requests");
    assert.deepEqual((await cells(page, 0)).slice(0, 20).map((each) => Number(each.replace(/\D/g, ""))), data.tables.requests.id.slice(0, 20));
  },
};
