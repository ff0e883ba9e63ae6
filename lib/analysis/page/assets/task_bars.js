// SPDX-License-Identifier: Apache-2.0
// The rows of one task and of one request: states over time, scopes by depth, the critical path.
import {BarList, NAMED, STRIP, scopeBars} from './bar_rows.js';
import {shortName} from './dom.js';
import {lowerBound, rowsOf} from './order.js';

/** @typedef {import('./work.js').Work} Work */
/** @typedef {import('./bar_rows.js').BarRow} BarRow */

const SUSPENDED = 4, QUEUED = 5, WAITING = 6;

/** @param {Work} work @param {number} task @returns {BarRow} running (by the states of the thread), suspended, queued and waiting */
export function taskStates(work, task) {
  const { tasks, slices, awaits } = work.tables, bars = new BarList("tasks", "kind", STRIP);
  const mySlices = work.ofTask("slices", task), myAwaits = work.ofTask("awaits", task);
  const wake = tasks.at("wake_ns", task), start = slices.column("start_ns"), length = slices.column("length_ns");
  if (mySlices.length > 0 && wake >= 0) bars.add(wake, start[mySlices[0]], task, QUEUED);
  let next = 0;
  for (const slice of mySlices) {
    for (; next < myAwaits.length && awaits.at("start_ns", myAwaits[next]) < start[slice]; ++next) addAwait(work, bars, myAwaits[next]);
    addRunning(work, bars, task, slices.at("thread", slice), Math.max(start[slice], bars.lastEnd), start[slice] + length[slice]);
  }
  for (; next < myAwaits.length; ++next) addAwait(work, bars, myAwaits[next]);
  return bars.done();
}

/** @param {Work} work @param {BarList} bars @param {number} row */
function addAwait(work, bars, row) {
  const { awaits, tasks } = work.tables;
  const start = Math.max(awaits.at("start_ns", row), bars.lastEnd), wake = awaits.at("wake_ns", row), task = awaits.at("task", row);
  const end = awaits.at("resume_ns", row) >= 0 ? awaits.at("resume_ns", row) : Math.max(start, tasks.at("end_ns", task));
  if (wake < 0) return bars.add(start, end, task, WAITING);
  bars.add(start, Math.min(wake, end), task, SUSPENDED);
  bars.add(Math.max(start, wake), end, task, QUEUED);
}

/** @param {Work} work @param {BarList} bars @param {number} task @param {number} thread @param {number} from @param {number} to */
function addRunning(work, bars, task, thread, from, to) {
  const { states } = work.tables, rows = rowsOf(work.by("states", "thread", work.index.threads.length), thread);
  const start = states.column("start_ns"), length = states.column("length_ns"), state = states.column("state");
  let low = 0, high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (start[rows[middle]] + length[rows[middle]] <= from) low = middle + 1;
    else high = middle;
  }
  let at = from;
  for (; low < rows.length && start[rows[low]] < to; ++low) {
    const begin = Math.max(at, start[rows[low]]), end = Math.min(to, start[rows[low]] + length[rows[low]]);
    bars.add(at, begin, task, 3);
    bars.add(begin, end, task, work.stateKinds[state[rows[low]]] ?? 3);
    at = Math.max(at, end);
  }
  bars.add(at, to, task, 3);
}

/** @param {Work} work @param {number} task @param {Uint8Array} depths @returns {BarRow[]} the scopes of a task, whole */
export function taskScopes(work, task, depths) {
  const { scopes } = work.tables, rows = work.ofTask("scopes", task);
  const pieces = {
    scope: Float64Array.from(rows), thread: new Float64Array(rows.length),
    start: Float64Array.from(rows, (row) => scopes.at("start_ns", row)), end: Float64Array.from(rows, (row) => scopes.at("start_ns", row) + scopes.at("length_ns", row)),
  };
  return scopeBars(work, pieces, Uint32Array.from(rows.keys()), depths);
}

/** @param {Work} work @param {number} request @param {number} height @returns {BarRow} the segments of a request's critical path */
export function pathBars(work, request, height) {
  const { segments } = work.tables, bars = new BarList("segments", "kind", height);
  const start = segments.column("start_ns"), length = segments.column("length_ns"), kind = segments.column("kind");
  for (const row of work.ofRequest("segments", request)) bars.add(start[row], start[row] + length[row], row, work.segmentKinds[kind[row]] ?? 6);
  return bars.done();
}

/** @param {Work} work @param {number} request @returns {BarRow} the work to blame for the segments */
export function blameBars(work, request) {
  const { segments } = work.tables, bars = new BarList("segments", "name", NAMED);
  const start = segments.column("start_ns"), length = segments.column("length_ns");
  for (const row of work.ofRequest("segments", request)) {
    const blame = mainBlame(work, row);
    if (blame >= 0) bars.add(start[row], start[row] + length[row], row, work.tables.blames.at("name", blame));
  }
  return bars.done();
}

/** @param {Work} work @param {number} segment @returns {number} the row of the work with the largest charge, or -1 */
export function mainBlame(work, segment) {
  const { segments, blames } = work.tables, first = segments.at("blame", segment);
  let most = -1;
  for (let row = first; row < first + segments.at("blames", segment); ++row) {
    if (most < 0 || blames.at("charged_ns", row) > blames.at("charged_ns", most)) most = row;
  }
  return most;
}

/** @param {Work} work @param {number} blame @returns {string} */
export function blameName(work, blame) {
  const { blames } = work.tables, name = blames.at("name", blame), thread = blames.at("thread", blame);
  const place = thread >= 0 ? ` on ${work.threadName(thread)}` : "";
  return name < 0 ? `no task${place}` : `${shortName(work.name(name))}${place}`;
}

/** @param {Work} work @param {number} request @returns {number[]} the tasks of a request, by the moment of their first part in it */
export function tasksOfRequest(work, request) {
  const { requests, segments, tasks, request_tasks: members } = work.tables;
  const all = new Set([requests.at("task", request)]);
  for (const row of work.ofRequest("segments", request)) all.add(segments.at("task", row));
  for (const row of work.ofRequest("request_tasks", request)) all.add(members.at("task", row));
  all.delete(-1);
  return [...all].sort((a, b) => tasks.at("spawn_ns", a) - tasks.at("spawn_ns", b) || a - b);
}

/** @param {BarRow} bars @param {number} time @returns {number} the bar at a time, or -1 */
export function barAt(bars, time) {
  const index = lowerBound(bars.ends, time + 1e-9);
  return index < bars.starts.length && bars.starts[index] <= time ? index : -1;
}
