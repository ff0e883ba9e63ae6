// SPDX-License-Identifier: Apache-2.0
// Writes the blocks of a report, as docs/contributing/report_data.md describes them, around the page of the sources.
import fs from "node:fs";
import zlib from "node:zlib";

const ESCAPED = { "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029" };

function json(value) {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (each) => ESCAPED[each]);
}

function block(type, id, text) {
  return `<script type="${type}" id="${id}">${text}</script>\n`;
}

class Bytes {
  constructor() {
    this.bytes = Buffer.alloc(1 << 16);
    this.length = 0;
  }

  byte(value) {
    if (this.length === this.bytes.length) this.bytes = Buffer.concat([this.bytes, Buffer.alloc(this.length)]);
    this.bytes[this.length++] = value;
  }

  varint(value) {
    for (; value > 127; value = Math.floor(value / 128)) this.byte(128 + (value % 128));
    this.byte(value);
  }

  double(value) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    for (const each of bytes) this.byte(each);
  }
}

const CODINGS = {
  byte: (out, values) => values.forEach((value) => out.byte(value)),
  count: (out, values) => values.forEach((value) => out.varint(value)),
  maybe: (out, values) => values.forEach((value) => out.varint(value + 1)),
  double: (out, values) => values.forEach((value) => out.double(value)),
  back: (out, values) => values.forEach((value, row) => out.varint(value < 0 ? 0 : row - value)),
  delta: (out, values) => {
    let before = 0;
    values.forEach((value) => {
      const step = value - before;
      out.varint(step < 0 ? -2 * step - 1 : 2 * step);
      before = value;
    });
  },
};

function codingOf(name, values) {
  if (name === "number") return "double";
  if (name === "flags" || name === "state") return values.every((value) => value >= 0 && value < 256) ? "byte" : "maybe";
  if (name === "start_ns" || name === "id" || name === "time_ns") return "delta";
  return name === "parent" && values.every((value, row) => value < row) ? "back" : values.every((value) => value >= 0) ? "count" : "maybe";
}

function arrayOf(values) {
  let least = 0, most = 0, whole = true;
  for (const value of values) {
    if (value < least) least = value;
    if (value > most) most = value;
    whole &&= Number.isInteger(value);
  }
  if (!whole || most > 0x7fffffff) return "Float64Array";
  return least < 0 || most > 255 ? "Int32Array" : "Uint8Array";
}

/** The block of a table, and its form. */
function packTable(name, columns) {
  const out = new Bytes(), forms = [];
  let rows = 0;
  for (const [column, values] of Object.entries(columns)) {
    const coding = codingOf(column, values);
    CODINGS[coding](out, values);
    forms.push({ name: column, coding, array: arrayOf(values) });
    rows = values.length;
  }
  const packed = zlib.gzipSync(out.bytes.subarray(0, out.length), { level: 6 }).toString("base64");
  const text = rows === 0 ? "" : block("application/octet-stream", `coroscope-columns-${name}`, packed);
  return { form: { rows, columns: forms }, text };
}

/** @param {{summary: object, timeline: object, tables: Record<string, Record<string, number[]>>}} data @returns the two texts */
export function packBlocks({ summary, timeline, tables }) {
  const forms = {}, texts = [];
  for (const [name, columns] of Object.entries(tables)) {
    const { form, text } = packTable(name, columns);
    forms[name] = form;
    texts.push(text);
  }
  return {
    summary: block("application/json", "coroscope-summary", json(summary)),
    timeline: block("application/json", "coroscope-timeline", json({ ...timeline, tables: forms })) + texts.join(""),
  };
}

/** @param {string} frame the joined page, as join.py writes it, @param {object} data @param {string} file */
export function writeReport(frame, data, file) {
  const blocks = packBlocks(data);
  const title = data.summary.title.replace(/[<>&"']/g, (each) => `&#${each.charCodeAt(0)};`);
  const page = fs.readFileSync(frame, "utf8").replace("{{title}}", () => title)
    .replace("{{summary}}", () => blocks.summary).replace("{{timeline}}", () => blocks.timeline);
  fs.writeFileSync(file, page);
}
