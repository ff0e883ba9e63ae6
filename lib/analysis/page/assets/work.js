// SPDX-License-Identifier: Apache-2.0
// The tables of the timeline, with the indices that its lanes need. They are made once, for all views.
import {pause, readTables, summary, timeline} from './recording.js';
import {groupRows, rowsOf} from './order.js';
import {kindNamed} from './words.js';

/** @typedef {import('./recording.js').Table} Table */
/** @typedef {import('./recording.js').Timeline} Timeline */
/** @typedef {{starts: Uint32Array, order: Uint32Array}} Groups */

const TABLES = ["requests", "segments", "states", "queues", "busy", "tasks", "slices", "awaits", "scopes", "request_tasks", "blames", "waits", "locks",
  "resources", "blocking", "values", "activities"];

/** All that the timeline shows. */
export class Work {
  /** @param {Timeline} index @param {Record<string, Table>} tables */
  constructor(index, tables) {
    this.index = index;
    this.tables = tables;
    /** @type {Map<string, Groups>} */
    this.groups = new Map();
    this.segmentKinds = this.kindsOf("segments", "kind");
    this.stateKinds = this.kindsOf("states", "state");
  }

  get end() {
    return this.index.duration_ns;
  }

  /** @param {string} table @param {string} column @returns {number[]} the kind of time of each value of the column */
  kindsOf(table, column) {
    const list = this.tables[table].listOf(column);
    return (this.index.kinds[list ?? column] ?? []).map((name) => (table === "states" && name === "unknown" ? 3 : kindNamed(name)));
  }

  /** @param {string} table @param {string} column @param {number} row @returns {string} the value as a word */
  word(table, column, row) {
    const value = this.tables[table].at(column, row);
    const list = this.tables[table].listOf(column);
    return value < 0 ? "unknown" : this.index.kinds[list ?? column]?.[value] ?? "unknown";
  }

  /** @param {number} name @returns {string} */
  name(name) {
    return this.index.names[name] ?? "unknown";
  }

  /** @param {string} table @param {string} column @param {number} groups @returns {Groups} the rows of a table by the value of a column */
  by(table, column, groups) {
    const key = `${table} ${column}`;
    let found = this.groups.get(key);
    if (found === undefined) this.groups.set(key, (found = groupRows(this.tables[table].column(column), groups)));
    return found;
  }

  /** @param {string} table @param {number} task @returns {Uint32Array} the task's rows in that table */
  ofTask(table, task) {
    return rowsOf(this.by(table, "task", this.tables.tasks.rows), task);
  }

  /** @param {string} table @param {number} request @returns {Uint32Array} */
  ofRequest(table, request) {
    return rowsOf(this.by(table, "request", this.tables.requests.rows), request);
  }

  /** @param {string} table @param {number} id @returns {number} the row with that id, or -1 */
  rowOf(table, id) {
    return this.tables[table].column("id").indexOf(id);
  }

  /** @param {number} task @returns {string} */
  taskName(task) {
    return task < 0 ? "no task" : `${this.name(this.tables.tasks.at("name", task))} (task ${this.tables.tasks.at("id", task)})`;
  }

  /** @param {number} thread @returns {string} */
  threadName(thread) {
    return this.index.threads[thread]?.name ?? "unknown thread";
  }

  /** @param {number} request @returns {string} */
  requestName(request) {
    const { requests } = this.tables;
    return this.name(requests.at("name", request)) || summary().requests.types[requests.at("type", request)]?.name || "request";
  }
}

/** @type {Promise<Work> | null} */
let loading = null;

/** @returns {Promise<Work>} */
export function work() {
  loading ??= load();
  return loading;
}

async function load() {
  const index = await timeline();
  await pause();
  return new Work(index, await readTables(TABLES));
}
