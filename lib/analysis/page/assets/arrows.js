// SPDX-License-Identifier: Apache-2.0
// Arrows between lanes: spawns, wakes and locks of the opened request, or of the selected task.
import {AXIS, GUTTER} from './draw.js';

/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./work.js').Work} Work */
/** A moment in a task or on a thread; -1 if there is none. @typedef {{time: number, task: number, thread: number}} End */
/** @typedef {{kind: "spawn" | "wake" | "lock", from: End, to: End}} Arrow */

/** Different dashes, so that the kinds of arrows differ without colour. */
const DASHES = { spawn: [2, 3], wake: [], lock: [7, 4] };
const MOST = 400;

/** @param {Work} work @param {number[]} tasks @returns {Arrow[]} */
export function arrowsOfTasks(work, tasks) {
  /** @type {Arrow[]} */
  const arrows = [];
  for (const task of tasks) {
    if (arrows.length > MOST) break;
    arrows.push(...spawnOf(work, task), ...wakesOf(work, task), ...locksOf(work, "locks", task), ...locksOf(work, "resources", task));
  }
  return arrows;
}

/** @param {Work} work @param {number} task @returns {Arrow[]} */
function spawnOf(work, task) {
  const { tasks } = work.tables, time = tasks.at("spawn_ns", task), parent = tasks.at("parent", task);
  if (time < 0 || parent < 0) return [];
  const first = work.ofTask("slices", task)[0];
  const to = first === undefined ? time : work.tables.slices.at("start_ns", first);
  return [{ kind: "spawn", from: { time, task: parent, thread: tasks.at("spawn_thread", task) },
    to: { time: to, task, thread: first === undefined ? -1 : work.tables.slices.at("thread", first) } }];
}

/** @param {Work} work @param {number} task @returns {Arrow[]} */
function wakesOf(work, task) {
  const { awaits, slices } = work.tables, start = slices.column("start_ns"), mine = work.ofTask("slices", task);
  /** @type {Arrow[]} */
  const arrows = [];
  for (const row of work.ofTask("awaits", task).subarray(0, MOST)) {
    const time = awaits.at("wake_ns", row), resume = awaits.at("resume_ns", row);
    if (time < 0 || resume < 0) continue;
    const slice = mine.find((each) => start[each] >= resume - 1);
    arrows.push({ kind: "wake", from: { time, task: awaits.at("waker", row), thread: awaits.at("waker_thread", row) },
      to: { time: resume, task, thread: slice === undefined ? -1 : slices.at("thread", slice) } });
  }
  return arrows;
}

/** @param {Work} work @param {"locks" | "resources"} table @param {number} task @returns {Arrow[]} from each release to the task that waited */
function locksOf(work, table, task) {
  const locks = work.tables[table];
  return [...work.ofTask(table, task)].filter((row) => locks.at("released_ns", row) >= 0).map((row) => ({
    kind: /** @type {"lock"} */ ("lock"), from: { time: locks.at("released_ns", row), task: locks.at("holder_task", row), thread: locks.at("holder_thread", row) },
    to: { time: locks.at("start_ns", row) + locks.at("length_ns", row), task, thread: locks.at("thread", row) },
  }));
}

/** @type {{key: string, arrows: Arrow[]}} */
let known = { key: "", arrows: [] };

/** @param {Scene} scene draws the arrows between lanes that are shown */
export function arrowsOfScene(scene) {
  const tasks = tasksOfScene(scene), key = tasks.join();
  if (key !== known.key) known = { key, arrows: arrowsOfTasks(scene.work, tasks) };
  /** @type {Map<string, number>} */
  const places = new Map();
  for (const { lane, y } of scene.visibleItems()) {
    if (lane?.task !== undefined) places.set(`task ${lane.task}`, y + 6);
    if (lane?.thread !== undefined) places.set(`thread ${lane.thread}`, y + 20);
  }
  let drawn = 0;
  for (const arrow of known.arrows) {
    const from = placeOf(places, arrow.from), to = placeOf(places, arrow.to);
    if (from === undefined || to === undefined || drawn > MOST || arrow.to.time < scene.from || arrow.from.time > scene.to) continue;
    if (from === to || !isInRequest(scene, arrow)) continue;
    drawArrow(scene, arrow, from, to);
    ++drawn;
  }
  scene.context.setLineDash([]);
}

/** @param {Scene} scene @param {Arrow} arrow @returns {boolean} a task may have worked for other requests, too */
function isInRequest({ request, work }, { to }) {
  if (request === null) return true;
  const { requests } = work.tables, start = requests.at("start_ns", request);
  return to.time >= start && to.time <= start + requests.at("length_ns", request);
}

/** @param {Map<string, number>} places @param {End} end */
function placeOf(places, end) {
  return places.get(`task ${end.task}`) ?? places.get(`thread ${end.thread}`);
}

/** @param {Scene} scene @returns {number[]} */
function tasksOfScene({ items, request, selected, work }) {
  if (request !== null) return items.flatMap(({ lane }) => (lane?.task === undefined ? [] : [lane.task]));
  if (selected === null) return [];
  const row = selected.bars.rows[selected.index], { source } = selected.bars;
  const task = source === "tasks" ? row : work.tables[source]?.at("task", row) ?? -1;
  return task >= 0 ? [task] : [];
}

/** @param {Scene} scene @param {Arrow} arrow @param {number} fromY @param {number} toY */
function drawArrow(scene, arrow, fromY, toY) {
  const { context, paints } = scene, fromX = scene.placeOf(arrow.from.time), toX = scene.placeOf(arrow.to.time);
  context.save();
  context.beginPath();
  context.rect(GUTTER, AXIS, scene.width, scene.height);
  context.clip();
  context.strokeStyle = context.fillStyle = paints.accent;
  context.lineWidth = 1.3;
  context.setLineDash(DASHES[arrow.kind]);
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.bezierCurveTo(fromX + 12, fromY, toX - 14, toY, toX - 3, toY);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(toX, toY);
  context.lineTo(toX - 6, toY - 3.5);
  context.lineTo(toX - 6, toY + 3.5);
  context.fill();
  const isRoomy = Math.abs(toY - fromY) > 30 && Math.abs(toX - fromX) > 30;
  if (isRoomy) context.fillText(arrow.kind, (fromX + toX) / 2 + 4, (fromY + toY) / 2);
  context.restore();
}
