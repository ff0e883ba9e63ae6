// SPDX-License-Identifier: Apache-2.0
// Rows of bars: stretches of time that follow one another, sorted, with the row of the table that each of them shows.
import {GrowingColumn, groupRows, lowerBound, rowsOf, sortRows} from './order.js';
import {pause} from './recording.js';
import {NO_TASK} from './words.js';

/** @typedef {import('./work.js').Work} Work */
/**
 * `values` are kinds of time if `look` is "kind", else indices of names. `rows` are rows of the table `source`.
 * @typedef {{source: string, look: "kind" | "name", height: number, starts: ArrayLike<number>, ends: ArrayLike<number>,
 *   rows: ArrayLike<number>, values: ArrayLike<number>}} BarRow
 */

export const STRIP = 13, NAMED = 18;
/** A thread and a task show that many levels of scopes. */
const LEVELS_OF_THREAD = 6, LEVELS_OF_TASK = 16;
const BLOCKED = 1;

/** Collects bars one by one. */
export class BarList {
  /** @param {string} source @param {"kind" | "name"} look @param {number} height */
  constructor(source, look, height) {
    this.source = source;
    this.look = look;
    this.height = height;
    this.starts = new GrowingColumn();
    this.ends = new GrowingColumn();
    this.rows = new GrowingColumn();
    this.values = new GrowingColumn();
  }

  /** @param {number} start @param {number} end @param {number} row @param {number} value */
  add(start, end, row, value) {
    if (end <= start) return;
    this.starts.push(start);
    this.ends.push(end);
    this.rows.push(row);
    this.values.push(value);
  }

  get lastEnd() {
    return this.ends.length === 0 ? -1 : this.ends.values[this.ends.length - 1];
  }

  /** @returns {BarRow} */
  done() {
    const { source, look, height } = this;
    return { source, look, height, starts: this.starts.done(), ends: this.ends.done(), rows: this.rows.done(), values: this.values.done() };
  }
}

/** @param {Work} work @param {number} thread @param {BarRow} slices @returns {BarRow} the states of a thread; it has no task if it is blocked outside tasks and scopes */
export function stateBars(work, thread, slices) {
  const { states } = work.tables, bars = new BarList("states", "kind", STRIP), busy = busyTimes(work, thread, slices);
  const start = states.column("start_ns"), length = states.column("length_ns"), state = states.column("state");
  for (const row of rowsOf(work.by("states", "thread", work.index.threads.length), thread)) {
    const kind = work.stateKinds[state[row]] ?? 3, end = start[row] + length[row];
    if (kind === BLOCKED) addBlocked(bars, row, start[row], end, busy);
    else bars.add(start[row], end, row, kind);
  }
  return bars.done();
}

/** Divides a blocked stretch at the begins and ends of work. @param {BarList} bars @param {number} row @param {number} start @param {number} end @param {BarRow} busy */
function addBlocked(bars, row, start, end, busy) {
  let at = start;
  for (let i = lowerBound(busy.ends, start + 1); i < busy.starts.length && busy.starts[i] < end; ++i) {
    bars.add(at, busy.starts[i], row, NO_TASK);
    bars.add(Math.max(at, busy.starts[i]), Math.min(end, busy.ends[i]), row, BLOCKED);
    at = Math.min(end, busy.ends[i]);
  }
  bars.add(at, end, row, NO_TASK);
}

/** @param {Work} work @param {number} thread @param {BarRow} slices @returns {BarRow} the times in which a task, or a scope outside tasks, was on the thread */
function busyTimes(work, thread, slices) {
  const { scopes } = work.tables, start = scopes.column("start_ns"), length = scopes.column("length_ns"), task = scopes.column("task");
  const outside = rowsOf(work.by("scopes", "thread", work.index.threads.length), thread).filter((row) => task[row] < 0);
  if (outside.length === 0) return slices;
  const bars = new BarList("scopes", "name", 0), starts = slices.starts;
  for (let i = 0, j = 0; i < starts.length || j < outside.length;) {
    const isSlice = j === outside.length || (i < starts.length && starts[i] <= start[outside[j]]);
    const begin = isSlice ? starts[i] : start[outside[j]], end = isSlice ? slices.ends[i++] : begin + length[outside[j++]];
    bars.add(Math.max(begin, bars.lastEnd), end, 0, 0);
  }
  return bars.done();
}

/** @param {Work} work @param {number} thread @returns {BarRow} the tasks that ran on a thread */
export function sliceBars(work, thread) {
  const { slices, tasks } = work.tables, bars = new BarList("slices", "name", NAMED);
  const start = slices.column("start_ns"), length = slices.column("length_ns"), task = slices.column("task"), name = tasks.column("name");
  for (const row of sortRows(start, rowsOf(work.by("slices", "thread", work.index.threads.length), thread).slice())) {
    bars.add(Math.max(start[row], bars.lastEnd), start[row] + length[row], row, task[row] < 0 ? -1 : name[task[row]]);
  }
  return bars.done();
}

/** @param {Work} work @returns {Uint8Array} the number of scopes around each scope in its task, or on its thread outside tasks */
export function scopeDepths(work) {
  const { scopes } = work.tables, parent = scopes.column("parent"), task = scopes.column("task");
  const depths = new Uint8Array(scopes.rows);
  for (let row = 0; row < scopes.rows; ++row) {
    const above = parent[row];
    if (above >= 0 && task[above] === task[row]) depths[row] = Math.min(254, depths[above] + 1);
  }
  return depths;
}

/**
 * The pieces of scopes during which their task ran: scope, thread, start, end. A scope outside tasks is one piece.
 * @param {Work} work
 */
export async function scopePieces(work) {
  const { scopes, slices, tasks } = work.tables;
  const pieces = { scope: new GrowingColumn(), thread: new GrowingColumn(), start: new GrowingColumn(), end: new GrowingColumn() };
  const start = scopes.column("start_ns"), length = scopes.column("length_ns"), task = scopes.column("task"), thread = scopes.column("thread");
  for (let row = 0; row < scopes.rows; ++row) if (task[row] < 0) addPiece(pieces, row, thread[row], start[row], start[row] + length[row]);
  const scopesOfTasks = work.by("scopes", "task", tasks.rows), slicesOfTasks = work.by("slices", "task", tasks.rows);
  for (let each = 0; each < tasks.rows; ++each) {
    cutScopes(pieces, rowsOf(scopesOfTasks, each), rowsOf(slicesOfTasks, each), { start, length }, slices);
    if (each % 20000 === 19999) await pause();
  }
  return { scope: pieces.scope.done(), thread: pieces.thread.done(), start: pieces.start.done(), end: pieces.end.done() };
}

/** @param {Record<string, GrowingColumn>} pieces @param {number} scope @param {number} thread @param {number} start @param {number} end */
function addPiece(pieces, scope, thread, start, end) {
  pieces.scope.push(scope);
  pieces.thread.push(thread);
  pieces.start.push(start);
  pieces.end.push(end);
}

/**
 * Cuts the scopes of one task at the begins and ends of its slices. Both are sorted by start.
 * @param {Record<string, GrowingColumn>} pieces @param {Uint32Array} scopes @param {Uint32Array} slices
 * @param {{start: ArrayLike<number>, length: ArrayLike<number>}} times @param {import('./recording.js').Table} table
 */
function cutScopes(pieces, scopes, slices, { start, length }, table) {
  const begins = table.column("start_ns"), lengths = table.column("length_ns"), threads = table.column("thread");
  /** @type {number[]} */
  let open = [];
  let next = 0;
  for (const slice of slices) {
    const begin = begins[slice], end = begin + lengths[slice];
    while (next < scopes.length && start[scopes[next]] < end) open.push(scopes[next++]);
    open = open.filter((scope) => start[scope] + length[scope] > begin);
    for (const scope of open) {
      const from = Math.max(begin, start[scope]), to = Math.min(end, start[scope] + length[scope]);
      if (to > from) addPiece(pieces, scope, threads[slice], from, to);
    }
  }
}

/** @typedef {{scope: Float64Array, thread: Float64Array, start: Float64Array, end: Float64Array}} Pieces */

/** @param {Work} work @param {Pieces} pieces @returns {BarRow[][]} for each thread its rows of scopes, by depth */
export function scopeBarsByThread(work, pieces) {
  const depths = scopeDepths(work), groups = groupRows(pieces.thread, work.index.threads.length);
  return work.index.threads.map((_, thread) => scopeBars(work, pieces, sortRows(pieces.start, rowsOf(groups, thread).slice()), depths, LEVELS_OF_THREAD));
}

/** @param {Work} work @param {Pieces} pieces @param {Uint32Array} order @param {Uint8Array} depths @param {number} [most] levels @returns {BarRow[]} */
export function scopeBars(work, pieces, order, depths, most = LEVELS_OF_TASK) {
  /** @type {BarList[]} */
  const levels = [];
  const name = work.tables.scopes.column("name");
  for (const piece of order) {
    const scope = pieces.scope[piece];
    let level = depths[scope];
    while (level < most && (levels[level]?.lastEnd ?? -1) > pieces.start[piece]) ++level;
    if (level >= most) continue;
    while (levels.length <= level) levels.push(new BarList("scopes", "name", NAMED));
    levels[level].add(pieces.start[piece], pieces.end[piece], scope, name[scope]);
  }
  return levels.map((each) => each.done());
}
