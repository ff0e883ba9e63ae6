// SPDX-License-Identifier: Apache-2.0
// What is known about a row of a table: facts, its place in the source, its request, and rows that belong to it.
import {duration} from './dom.js';
import {rowsOf} from './order.js';

/** @typedef {import('./work.js').Work} Work */
/** @typedef {{facts: string[][], site: number, request: number, relations: {text: string, source: string, row: number}[]}} Described */

/** @type {Record<string, (work: Work, row: number) => Partial<Described>>} */
const DESCRIBERS = { scopes: scopeFacts, tasks: taskFacts, slices: sliceFacts, states: stateFacts, segments: segmentFacts, requests: requestFacts, activities: activityFacts };

/** @param {Work} work @param {string} source @param {number} row @returns {Described} */
export function describeRow(work, source, row) {
  return { facts: [], site: -1, request: -1, relations: [], ...DESCRIBERS[source]?.(work, row) };
}

/** @param {Work} work @param {number} task @returns {number} the slowest request that the task belongs to, or -1 */
function requestOfTask(work, task) {
  if (task < 0) return -1;
  const own = rowsOf(work.by("requests", "task", work.tables.tasks.rows), task)[0];
  if (own !== undefined) return own;
  const member = rowsOf(work.by("request_tasks", "task", work.tables.tasks.rows), task)[0];
  return member === undefined ? -1 : work.tables.request_tasks.at("request", member);
}

/** @param {Work} work @param {number} task @param {number} start @param {number} end @returns {number} the request of the task at that time */
function requestAt(work, task, start, end) {
  const { requests } = work.tables;
  for (const row of rowsOf(work.by("requests", "task", work.tables.tasks.rows), task)) {
    if (requests.at("start_ns", row) <= start && requests.at("start_ns", row) + requests.at("length_ns", row) >= end) return row;
  }
  return requestOfTask(work, task);
}

/** @param {Work} work @param {number} row */
function scopeFacts(work, row) {
  const { scopes } = work.tables, start = scopes.at("start_ns", row), length = scopes.at("length_ns", row), task = scopes.at("task", row);
  const facts = [["Scope", work.name(scopes.at("name", row))], ["Whole length", duration(length)], ["Running in itself", duration(scopes.at("self_ns", row))], ["Task", work.taskName(task)]];
  for (const [title, column] of [["Attributes", "attributes"], ["Arguments", "arguments"]]) {
    if (scopes.at(column, row) >= 0) facts.push([title, work.name(scopes.at(column, row))]);
  }
  const parent = scopes.at("parent", row);
  const relations = parent < 0 ? [] : [{ text: `Around it: ${work.name(scopes.at("name", parent))}`, source: "scopes", row: parent }];
  return { facts, site: scopes.at("site", row), request: task < 0 ? -1 : requestAt(work, task, start, start + length), relations };
}

/** @param {Work} work @param {number} row */
function taskFacts(work, row) {
  const { tasks } = work.tables, end = tasks.at("end_ns", row);
  const facts = [["Task", work.taskName(row)], ["State", work.word("tasks", "state", row)],
    ["Spawned at", time(tasks.at("spawn_ns", row))], ["Ended at", end < 0 ? "not yet" : duration(end)],
    ...[["Running", "running_ns"], ["Suspended", "suspended_ns"], ["Queued", "queued_ns"], ["Waiting", "waiting_ns"]]
      .map(([title, column]) => [title, time(tasks.at(column, row))]),
    ["Executor", work.index.executors[tasks.at("executor", row)]?.name ?? "unknown"]];
  const parent = tasks.at("parent", row);
  if (parent >= 0) facts.push(["Spawned by", work.taskName(parent)]);
  if (tasks.at("awaiter", row) >= 0) facts.push(["Awaited by", work.taskName(tasks.at("awaiter", row))]);
  return { facts, site: tasks.at("site", row), request: requestOfTask(work, row) };
}

/** @param {Work} work @param {number} row */
function sliceFacts(work, row) {
  const { slices, tasks } = work.tables, task = slices.at("task", row), start = slices.at("start_ns", row);
  const facts = [["Task", work.taskName(task)], ["Thread", work.threadName(slices.at("thread", row))]];
  return { facts, site: task < 0 ? -1 : tasks.at("site", task), request: task < 0 ? -1 : requestAt(work, task, start, start + slices.at("length_ns", row)) };
}

/** @param {Work} work @param {number} row */
function stateFacts(work, row) {
  const { states, blocking } = work.tables, start = states.at("start_ns", row), end = start + states.at("length_ns", row), thread = states.at("thread", row);
  const facts = [["Thread", work.threadName(thread)]];
  for (let call = 0; call < blocking.rows && facts.length < 4; ++call) {
    if (blocking.at("thread", call) !== thread || blocking.at("start_ns", call) > end) continue;
    if (blocking.at("start_ns", call) + blocking.at("length_ns", call) > start) facts.push(["Blocking call", work.name(blocking.at("name", call))]);
  }
  return { facts };
}

/** @param {Work} work @param {number} row */
function segmentFacts(work, row) {
  const { segments, blames, waits } = work.tables;
  const facts = [["Kind", work.word("segments", "kind", row)], ["In", work.name(segments.at("name", row))], ["Task", work.taskName(segments.at("task", row))]];
  if (segments.at("thread", row) >= 0) facts.push(["Thread", work.threadName(segments.at("thread", row))]);
  const first = segments.at("blame", row);
  for (let blame = first; first >= 0 && blame < first + segments.at("blames", row) && facts.length < 10; ++blame) {
    facts.push(["Because of", `${work.name(blames.at("name", blame))}, ${duration(blames.at("charged_ns", blame))} of it`]);
  }
  for (let wait = segments.at("through", row), depth = 0; wait >= 0 && depth < 5; wait = waits.at("through", wait), ++depth) {
    const held = waits.at("held", wait);
    facts.push(["During the wait", `${work.name(waits.at("name", wait))}${held >= 0 ? ` for ${work.name(held)}` : ""}, ${duration(waits.at("length_ns", wait))}`]);
  }
  const scope = segments.at("scope", row);
  return { facts, site: segments.at("site", row), request: segments.at("request", row),
    relations: scope < 0 ? [] : [{ text: "Show its scope", source: "scopes", row: scope }] };
}

/** @param {Work} work @param {number} row */
function requestFacts(work, row) {
  const { requests, scopes } = work.tables;
  return { facts: [["Request", String(requests.at("id", row))], ["Ended", work.word("requests", "end", row)]],
    site: scopes.at("site", requests.at("scope", row)), request: row };
}

/** @param {Work} work @param {number} row */
function activityFacts(work, row) {
  const { activities } = work.tables, scope = activities.at("scope", row);
  return { facts: [["Kind", work.word("activities", "kind", row)], ["Task", work.taskName(activities.at("task", row))]],
    relations: scope < 0 ? [] : [{ text: "Show the scope that asked for it", source: "scopes", row: scope }] };
}

/** @param {number} ns -1 if unknown */
function time(ns) {
  return ns < 0 ? "unknown" : duration(ns);
}
