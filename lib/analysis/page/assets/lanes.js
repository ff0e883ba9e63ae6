// SPDX-License-Identifier: Apache-2.0
// The lanes of the timeline: an opened request, requests, threads, executors and tasks.
import {BarList, NAMED, scopeBarsByThread, scopeDepths, scopePieces, sliceBars, stateBars} from './bar_rows.js';
import {Maxima, rowsOf, sortRows} from './order.js';
import {blameBars, pathBars, taskScopes, taskStates, tasksOfRequest} from './task_bars.js';
import {count, duration, plural} from './dom.js';

/** @typedef {import('./work.js').Work} Work */
/** @typedef {import('./bar_rows.js').BarRow} BarRow */
/** @typedef {{times: ArrayLike<number>, values: ArrayLike<number>, maxima: Maxima, most: number}} Steps a number that changes */
/**
 * `path` has the segments of a critical path that lie in this lane: they get a frame.
 * @typedef {{title: string, detail: string, rows: BarRow[], height: number, y?: number, task?: number, thread?: number, request?: number,
 *   executor?: number, queue?: Steps, busy?: Steps, path?: BarRow}} Lane
 */
/** @typedef {{name: string, title: string, lanes: Lane[], note?: string}} LaneGroup */

const GAP = 6, EXECUTOR = 46, PATH = 26, TASKS_OF_REQUEST = 60, ROWS_OF_TASKS = 12, LANES_OF_TASKS = 200;

/** @param {Omit<Lane, "height">} lane @returns {Lane} */
function withHeight(lane) {
  return { ...lane, height: Math.max(24, lane.rows.reduce((sum, row) => sum + row.height + 1, 0)) + GAP };
}

/** Makes the lanes of groups when they are shown for the first time. */
export class Lanes {
  /** @param {Work} work */
  constructor(work) {
    this.work = work;
    /** @type {Map<string, LaneGroup>} */
    this.made = new Map();
    /** @type {BarRow[][] | null} */
    this.scopesByThread = null;
    /** @type {Uint8Array | null} */
    this.depths = null;
  }

  /** Reads the scopes of the threads, which takes longest. @returns {Promise<void>} */
  async readScopes() {
    if (this.scopesByThread !== null) return;
    this.scopesByThread = scopeBarsByThread(this.work, await scopePieces(this.work));
    this.made.delete("threads");
  }

  /** @param {string} name @param {number} number @returns {LaneGroup} */
  group(name, number) {
    const key = `${name} ${name === "requests" ? number : ""}`.trim();
    let found = this.made.get(key);
    if (found === undefined) this.made.set(key, (found = this.make(name, number)));
    return found;
  }

  /** @param {string} name @param {number} number @returns {LaneGroup} */
  make(name, number) {
    if (name === "requests") return this.requests(number);
    if (name === "threads") return this.threads();
    if (name === "values") return this.values();
    if (name === "devices") return this.devices();
    return name === "executors" ? this.executors() : this.tasks();
  }

  /** @param {number} number @returns {LaneGroup} */
  requests(number) {
    const { work } = this, { requests } = work.tables, all = requests.rows;
    const rows = [...Array(Math.min(number, all)).keys()];
    const lanes = rows.map((request) => withHeight({
      title: `${work.requestName(request)} ${requests.at("id", request)}`, detail: duration(requests.at("length_ns", request)), request, rows: [this.requestBars(request)],
    }));
    return { name: "requests", title: `Requests, slowest first (${rows.length} of ${all})`, lanes };
  }

  /** @param {number} request @returns {BarRow} its path; without one, a bar of the whole */
  requestBars(request) {
    const path = pathBars(this.work, request, NAMED);
    if (path.starts.length > 0) return path;
    const { requests } = this.work.tables, bars = new BarList("requests", "name", NAMED), start = requests.at("start_ns", request);
    bars.add(start, start + requests.at("length_ns", request), request, requests.at("name", request));
    return bars.done();
  }

  /** @returns {LaneGroup} */
  threads() {
    const { work } = this;
    const lanes = work.index.threads.map((thread, index) => {
      const slices = sliceBars(work, index), rows = [stateBars(work, index, slices), slices, ...(this.scopesByThread?.[index] ?? [])].filter((row, at) => at === 0 || row.starts.length > 0);
      return withHeight({ title: thread.name, detail: "states, tasks, scopes", thread: index, rows });
    });
    return { name: "threads", title: `Threads (${lanes.length})`, lanes };
  }

  /** @returns {LaneGroup} */
  executors() {
    const { work } = this;
    const lanes = work.index.executors.map((executor, index) => {
      const queue = this.steps("queues", "length", index), busy = this.steps("busy", "count", index);
      return { title: executor.name, detail: `queue up to ${queue.most}, busy ${busy.most} of ${executor.threads?.length ?? 0}`,
        executor: index, rows: [], queue, busy, height: EXECUTOR + GAP };
    }).filter((lane) => lane.queue.times.length + lane.busy.times.length > 0);
    lanes.sort((a, b) => b.queue.most - a.queue.most || b.busy.times.length - a.busy.times.length);
    return { name: "executors", title: `Executors, the longest queue first (${lanes.length})`, lanes };
  }

  /** @param {string} table @param {string} column @param {number} executor @returns {Steps} */
  steps(table, column, executor) {
    const { work } = this, rows = rowsOf(work.by(table, "executor", work.index.executors.length), executor);
    const times = work.tables[table].column("time_ns"), values = work.tables[table].column(column);
    const numbers = Float64Array.from(rows, (row) => values[row]), maxima = new Maxima(numbers);
    return { times: Float64Array.from(rows, (row) => times[row]), values: numbers, maxima, most: maxima.of(0, numbers.length) };
  }

  /** @returns {LaneGroup} the numbers that the program recorded, by name */
  values() {
    const { work } = this, { values } = work.tables, names = work.index.names.length, groups = work.by("values", "name", names);
    /** @type {Lane[]} */
    const lanes = [];
    for (let name = 0; name < names; ++name) {
      const rows = rowsOf(groups, name);
      if (rows.length === 0) continue;
      const order = sortRows(values.column("time_ns"), rows.slice()), numbers = Float64Array.from(order, (row) => values.at("number", row)), maxima = new Maxima(numbers);
      const most = maxima.of(0, numbers.length);
      lanes.push({ title: work.name(name), detail: `up to ${count(most)}`, rows: [], height: EXECUTOR + GAP,
        queue: { times: Float64Array.from(order, (row) => values.at("time_ns", row)), values: numbers, maxima, most } });
    }
    return { name: "values", title: `Recorded values (${lanes.length})`, lanes };
  }

  /** @returns {LaneGroup} the work of devices, by stream */
  devices() {
    const { work } = this, { activities } = work.tables;
    /** @type {Map<string, BarList>} */
    const streams = new Map();
    for (let row = 0; row < activities.rows; ++row) {
      const title = `${work.index.devices[activities.at("device", row)]?.name ?? "device"}, stream ${activities.at("stream", row)}`;
      const bars = streams.get(title) ?? new BarList("activities", "name", NAMED), start = activities.at("start_ns", row);
      bars.add(Math.max(start, bars.lastEnd), start + activities.at("length_ns", row), row, activities.at("name", row));
      streams.set(title, bars);
    }
    const lanes = [...streams].map(([title, bars]) => withHeight({ title, detail: "work of the device", rows: [bars.done()] }));
    return { name: "devices", title: `Devices (${lanes.length})`, lanes };
  }

  /** @returns {LaneGroup} a lane for each name; tasks that overlap use several rows */
  tasks() {
    const { work } = this, { tasks } = work.tables, names = work.index.names.length;
    const groups = work.by("tasks", "name", names);
    /** @type {{name: number, rows: Uint32Array}[]} */
    const all = [];
    for (let name = 0; name < names; ++name) if (rowsOf(groups, name).length > 0) all.push({ name, rows: rowsOf(groups, name) });
    all.sort((a, b) => b.rows.length - a.rows.length);
    const lanes = all.slice(0, LANES_OF_TASKS).map(({ name, rows }) => {
      const { bars, hidden } = this.packTasks(rows);
      return withHeight({ title: work.name(name), detail: `${plural(rows.length, "task")}${hidden > 0 ? `, ${hidden} more at the same time` : ""}`, rows: bars });
    });
    const left = all.length - lanes.length;
    return { name: "tasks", title: `Tasks by name (${plural(tasks.rows, "task")})`, lanes, note: left > 0 ? `${left} more names` : "" };
  }

  /** @param {Uint32Array} rows @returns {{bars: BarRow[], hidden: number}} */
  packTasks(rows) {
    const { tasks } = this.work.tables, end = tasks.column("end_ns"), name = tasks.column("name");
    const start = Float64Array.from(rows, (row) => Math.max(0, tasks.at("wake_ns", row) >= 0 ? tasks.at("wake_ns", row) : tasks.at("spawn_ns", row)));
    const order = Uint32Array.from(rows.keys()).sort((a, b) => start[a] - start[b]);
    /** @type {BarList[]} */
    const levels = [];
    let hidden = 0;
    for (const each of order) {
      const row = rows[each], stop = end[row] < 0 ? this.work.end : end[row];
      let level = levels.find((bars) => bars.lastEnd <= start[each]);
      if (level === undefined && levels.length < ROWS_OF_TASKS) levels.push((level = new BarList("tasks", "name", NAMED)));
      if (level === undefined) ++hidden;
      else level.add(start[each], Math.max(stop, start[each] + 1), row, name[row]);
    }
    return { bars: levels.map((each) => each.done()), hidden };
  }

  /** @param {number} request @returns {LaneGroup[]} the lanes of a request: its path, its tasks, and the threads that it used */
  opened(request) {
    const { work } = this, { requests } = work.tables;
    const path = pathBars(work, request, PATH), blame = blameBars(work, request);
    const pathLane = withHeight({ title: "Critical path", detail: "what its end depended on", request, rows: blame.starts.length > 0 ? [path, blame] : [path] });
    const tasks = tasksOfRequest(work, request);
    this.depths ??= scopeDepths(work);
    const lanes = tasks.slice(0, TASKS_OF_REQUEST).map((task) => this.taskLane(task, this.pathIn(request, "task", task)));
    const left = tasks.length - lanes.length;
    const title = `Request ${requests.at("id", request)}: ${work.requestName(request)}, ${duration(requests.at("length_ns", request))}`;
    return [
      { name: "path", title, lanes: path.starts.length > 0 ? [pathLane] : [], note: path.starts.length > 0 ? "" : "its critical path is not in this report" },
      { name: "request", title: `Its tasks (${tasks.length})`, lanes, note: left > 0 ? `${left} more tasks` : "" },
    ];
  }

  /** @param {number} task @param {BarRow} path @returns {Lane} */
  taskLane(task, path) {
    const { work } = this;
    this.depths ??= scopeDepths(work);
    return withHeight({
      title: work.name(work.tables.tasks.at("name", task)), detail: `task ${work.tables.tasks.at("id", task)}`, task,
      rows: [taskStates(work, task), ...taskScopes(work, task, this.depths)], path,
    });
  }

  /** @param {number} request @param {"task" | "thread"} column @param {number} value @returns {BarRow} the segments in a task or on a thread */
  pathIn(request, column, value) {
    const { segments } = this.work.tables, bars = new BarList("segments", "kind", 0);
    for (const row of this.work.ofRequest("segments", request)) {
      if (segments.at(column, row) !== value) continue;
      bars.add(segments.at("start_ns", row), segments.at("start_ns", row) + segments.at("length_ns", row), row, 0);
    }
    return bars.done();
  }
}
