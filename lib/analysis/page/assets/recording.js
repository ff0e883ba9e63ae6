// SPDX-License-Identifier: Apache-2.0
// The blocks of the page: the summary at once, the timeline and its tables when a view needs them.
import {ColumnReader, bytesOfBase64, gunzip, makeColumn} from './unpack.js';

/** @typedef {import('./unpack.js').Column} Column */
/** @typedef {import('./unpack.js').ColumnForm} ColumnForm */
/** @typedef {{label: string | null, function: string, file: string, line: number, category: string, name: string, place: string}} Site */
/**
 * @typedef {{
 *   names: string[], sites: Site[],
 *   threads: {id: number, os_id: number, name: string, on_cpu_ns: number, blocked_ns: number, preempted_ns: number, unknown_ns: number}[],
 *   executors: {number: number, kind: string, name: string, inner: number | null, threads: number[]}[],
 *   devices: {id: number, name: string}[], duration_ns: number,
 *   tables: Record<string, {rows: number, columns: ColumnForm[]}>, kinds: Record<string, string[]>
 * }} Timeline
 */

/** @param {string} id @returns {any} the JSON of a block, or null; the block's text is freed */
function readBlock(id) {
  const element = document.getElementById(id);
  if (element === null) return null;
  const value = JSON.parse(element.textContent ?? "null");
  element.remove();
  return value;
}

/** @type {any} */
let readSummary = null;

/** @returns {any} the block of the summary */
export function summary() {
  if (readSummary === null) readSummary = readBlock("coroscope-summary");
  return readSummary;
}

/** @type {Promise<Timeline> | null} */
let readTimeline = null;

/** @returns {Promise<Timeline>} */
export function timeline() {
  readTimeline ??= pageIsRead().then(() => readBlock("coroscope-timeline"));
  return readTimeline;
}

function pageIsRead() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((done) => document.addEventListener("DOMContentLoaded", () => done(undefined), { once: true }));
}

/** A table of the timeline, as columns. */
export class Table {
  /** @param {string} name @param {number} rows @param {Map<string, Column>} columns @param {ColumnForm[]} [forms] */
  constructor(name, rows, columns, forms = []) {
    this.name = name;
    this.rows = rows;
    this.columns = columns;
    this.forms = forms;
  }

  /** @param {string} name @returns {string | undefined} the list that the column's values are indices of */
  listOf(name) {
    return this.forms.find((each) => each.name === name)?.of;
  }

  /** @param {string} name @returns {Column} all -1 if the table has no such column */
  column(name) {
    let column = this.columns.get(name);
    if (column === undefined) this.columns.set(name, (column = new Int32Array(this.rows).fill(-1)));
    return column;
  }

  /** @param {string} name @param {number} row @returns {number} -1 outside the table */
  at(name, row) {
    return row >= 0 && row < this.rows ? this.column(name)[row] : -1;
  }
}

/** @type {Map<string, Promise<Table>>} */
const tables = new Map();

/** @param {string} name @returns {Promise<Table>} an empty one if the page has no such table */
export function table(name) {
  let found = tables.get(name);
  if (found === undefined) tables.set(name, (found = readTable(name)));
  return found;
}

/** @param {string[]} names @returns {Promise<Record<string, Table>>} */
export async function readTables(names) {
  /** @type {Record<string, Table>} */
  const all = {};
  for (const name of names) all[name] = await table(name);
  return all;
}

/** @param {string} name @returns {Promise<Table>} */
async function readTable(name) {
  const form = (await timeline()).tables[name];
  const element = document.getElementById(`coroscope-columns-${name}`);
  if (form === undefined || element === null) return new Table(name, 0, new Map());
  const bytes = bytesOfBase64((element.textContent ?? "").trim());
  element.remove();
  const reader = new ColumnReader(await gunzip(bytes));
  /** @type {Map<string, Column>} */
  const columns = new Map();
  for (const { name: column, coding, array } of form.columns) {
    const values = makeColumn(array, form.rows);
    reader.fill(values, coding);
    columns.set(column, values);
    if (form.rows > 100000) await pause();
  }
  return new Table(name, form.rows, columns, form.columns);
}

/** Lets the browser paint and answer input. */
export function pause() {
  return new Promise((done) => setTimeout(done, 0));
}
