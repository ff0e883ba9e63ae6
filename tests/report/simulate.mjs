// SPDX-License-Identifier: Apache-2.0
// Makes the data of a report without a recording: a small service with two threads of an event loop and two of a database,
// as large as a test needs it. The same arguments make the same data.

const MS = 1e6;

/** A table as columns, to which rows are added. */
class Rows {
  constructor(...names) {
    this.columns = Object.fromEntries(names.map((name) => [name, []]));
    this.length = 0;
  }

  add(row) {
    for (const name in this.columns) this.columns[name].push(row[name] ?? (name === "flags" ? 0 : -1));
    return this.length++;
  }

  /** Sorts the rows, and returns the new row of each old one. */
  sort(compare) {
    const order = [...Array(this.length).keys()].sort(compare);
    const moved = new Array(this.length);
    order.forEach((old, row) => (moved[old] = row));
    for (const name in this.columns) this.columns[name] = order.map((old) => this.columns[name][old]);
    return moved;
  }

  refer(name, moved) {
    this.columns[name] = this.columns[name].map((row) => (row < 0 ? row : moved[row]));
  }
}

function generator(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
}

const SITES = [
  ["GET /item", "answer_item", 30], ["parse", "parse", 40], ["db.get", "load", 52], ["sqlite.get", "query", 80],
  ["render", "render", 61], ["GET /search", "answer_search", 100], ["sqlite.search", "search", 90], ["journal.write", "flush", 120],
];

class Simulation {
  constructor({ requests, seed = 7, names = {} }) {
    this.random = generator(seed);
    this.requests = requests;
    this.names = [];
    this.sites = SITES.map(([label, name, line]) => this.site(names[label] ?? label, `shop::${name}`, line));
    this.free = [0, 0, 0, 0];
    this.scopes = new Rows("start_ns", "length_ns", "self_ns", "name", "site", "thread", "task", "parent", "flags", "attributes", "arguments");
    this.tasks = new Rows("id", "name", "site", "parent", "awaiter", "executor", "spawn_thread", "spawn_ns", "wake_ns", "end_ns", "state",
      "running_ns", "suspended_ns", "queued_ns", "waiting_ns", "attributes", "spawned_at");
    this.slices = new Rows("start_ns", "length_ns", "task", "thread");
    this.awaits = new Rows("task", "name", "site", "scope", "start_ns", "wake_ns", "resume_ns", "awaited", "waker", "waker_thread", "reason",
      "outcome", "object", "executor", "flags");
    this.states = new Rows("thread", "start_ns", "length_ns", "state");
    this.made = new Rows("id", "type", "name", "task", "thread", "scope", "start_ns", "length_ns", "running_ns", "on_cpu_ns", "blocked_ns",
      "preempted_ns", "unknown_state_ns", "suspended_ns", "queued_ns", "waiting_ns", "deadline_ns", "end", "flags");
    this.segments = new Rows("request", "kind", "start_ns", "length_ns", "task", "thread", "scope", "await", "name", "site", "through",
      "blame", "blames");
    this.blames = new Rows("thread", "task", "scope", "name", "site", "time_ns", "charged_ns");
    this.waits = new Rows("kind", "edge", "start_ns", "length_ns", "task", "thread", "scope", "await", "through", "name", "site", "held");
    this.requestTasks = new Rows("request", "task");
    this.queue = [];
  }

  name(text) {
    this.known ??= new Map();
    if (!this.known.has(text)) this.known.set(text, this.names.push(text) - 1);
    return this.known.get(text);
  }

  site(label, name, line) {
    const file = line < 75 ? "/src/shop/handler.cpp" : "/src/shop/database.cpp";
    return { label, function: name, file, line, category: "", name: label, place: `${file.slice(5)}:${line}`, id: this.name(label) };
  }

  length(mean) {
    return Math.round(mean * (0.4 + 1.2 * this.random()));
  }

  scope(site, start, end, thread, task, parent, flags = 0) {
    return this.scopes.add({ start_ns: start, length_ns: end - start, self_ns: end - start, name: this.sites[site].id, site, thread, task, parent, flags });
  }

  /** A thread runs from the moment on at which it is free. */
  run(thread, task, ready, length) {
    const start = Math.max(ready, this.free[thread]), end = start + length;
    this.free[thread] = end + 200;
    this.slices.add({ start_ns: start, length_ns: length, task, thread });
    this.runs ??= [[], [], [], []];
    this.runs[thread].push([start, end]);
    return [start, end];
  }

  request(index) {
    const isSearch = index % 40 === 7, isSlow = index % 400 === 87;
    const arrival = index * 60000 + this.length(20000);
    const task = this.tasks.add({ id: index + 1, name: this.name("shop::session"), site: isSearch ? 5 : 0, executor: 0, spawn_thread: 0,
      spawn_ns: arrival, wake_ns: arrival, state: 0 });
    const thread = index & 1;
    const [start, parsed] = this.run(thread, task, arrival, this.length(6000));
    const work = this.length(isSlow ? 20 * MS : isSearch ? 900000 : 30000);
    const inner = this.job(index, task, parsed, isSearch, work);
    const [resumed, end] = this.run(thread, task, inner.end, this.length(9000));
    this.finish({ index, isSearch, task, thread, arrival, start, parsed, inner, resumed, end });
  }

  job(index, parent, spawn, isSearch, work) {
    const task = this.tasks.add({ id: this.requests + index + 1, name: this.name("shop::job"), site: isSearch ? 6 : 3, parent, awaiter: parent,
      executor: 1, spawn_thread: index & 1, spawn_ns: spawn, wake_ns: spawn, state: 0 });
    const thread = this.free[2] <= this.free[3] ? 2 : 3;
    const [start, end] = this.run(thread, task, spawn, work);
    this.queue.push([spawn, 1], [start, -1]);
    const scope = this.scope(isSearch ? 6 : 3, start, end, thread, task, -1);
    this.setTask(task, { end_ns: end, running_ns: work, suspended_ns: 0, queued_ns: start - spawn, waiting_ns: 0 });
    return { task, thread, start, end, scope };
  }

  setTask(task, values) {
    for (const name in values) this.tasks.columns[name][task] = values[name];
  }

  finish({ index, isSearch, task, thread, arrival, start, parsed, inner, resumed, end }) {
    const top = this.scope(isSearch ? 5 : 0, start, end, thread, task, -1, 65);
    this.scope(1, start + 100, parsed - 300, thread, task, top);
    const db = this.scope(2, parsed - 200, resumed + 100, thread, task, top, 1);
    this.scope(4, resumed + 200, end - 100, thread, task, top);
    const running = parsed - start + end - resumed;
    const await_ = this.awaits.add({ task, name: this.sites[2].id, site: 2, scope: db, start_ns: parsed, wake_ns: inner.end, resume_ns: resumed,
      awaited: inner.task, waker: inner.task, waker_thread: inner.thread, reason: 1, outcome: 1, executor: 0 });
    this.setTask(task, { end_ns: end, running_ns: running, suspended_ns: inner.end - parsed, queued_ns: start - arrival + resumed - inner.end, waiting_ns: 0 });
    const id = this.made.add({ id: index + 1, type: isSearch ? 1 : 0, name: this.sites[isSearch ? 5 : 0].id, task, thread, scope: top, start_ns: start,
      length_ns: end - start, running_ns: running, on_cpu_ns: running, blocked_ns: 0, preempted_ns: 0, unknown_state_ns: 0,
      suspended_ns: inner.end - parsed, queued_ns: resumed - inner.end, waiting_ns: 0, end: 0, flags: 48 });
    this.requestTasks.add({ request: id, task: inner.task });
    if (this.requests > 20000 && index % 40 > 9) return;  // the paths of the other requests would be left out
    this.path(id, { task, thread, start, parsed, inner, resumed, end, top, db, await_, isSearch });
  }

  path(request, { task, thread, start, parsed, inner, resumed, end, top, db, await_, isSearch }) {
    const through = this.waits.add({ kind: 4, edge: 0, start_ns: parsed, length_ns: inner.end - parsed, task, thread, scope: db, await: await_,
      name: this.sites[2].id, site: 2 });
    const add = (kind, from, to, at, more = {}) =>
      to > from && this.segments.add({ request, kind, start_ns: from, length_ns: to - from, scope: top, blame: 0, blames: 0, ...at, ...more });
    const own = { task, thread, name: this.sites[isSearch ? 5 : 0].id, site: isSearch ? 5 : 0 };
    const job = { task: inner.task, thread: inner.thread, name: this.sites[isSearch ? 6 : 3].id, site: isSearch ? 6 : 3, scope: inner.scope, through };
    add(0, start, parsed, own);
    if (inner.start > parsed) {
      const blame = this.blames.add({ thread: inner.thread, task: inner.task, scope: -1, name: this.sites[6].id, site: 6,
        time_ns: inner.start - parsed, charged_ns: inner.start - parsed });
      add(5, parsed, inner.start, { ...job, thread: -1, scope: -1 }, { blame, blames: 1 });
    }
    add(0, inner.start, inner.end, job);
    add(5, inner.end, resumed, { ...own, thread: -1, name: this.sites[2].id, site: 2 });
    add(0, resumed, end, own);
  }

  done() {
    for (let index = 0; index < this.requests; ++index) this.request(index);
    this.threadStates();
    this.sortAll();
    return this.tables();
  }

  threadStates() {
    this.runs.forEach((runs, thread) => {
      let at = 0;
      for (const [start, end] of runs) {
        if (start > at) this.states.add({ thread, start_ns: at, length_ns: start - at, state: 1 });
        this.states.add({ thread, start_ns: start, length_ns: end - start, state: 0 });
        at = end;
      }
    });
  }

  sortAll() {
    const { scopes, slices, awaits, made, segments, requestTasks } = this;
    const by = (table, ...names) => table.sort((a, b) => {
      for (const [name, sign] of names) {
        const difference = table.columns[name][a] - table.columns[name][b];
        if (difference !== 0) return sign * difference;
      }
      return a - b;
    });
    const scope = by(scopes, ["start_ns", 1], ["length_ns", -1]);
    scopes.refer("parent", scope);
    for (const table of [awaits, made, segments, this.waits, this.blames]) table.refer("scope", scope);
    by(slices, ["task", 1], ["start_ns", 1]);
    const awaited = by(awaits, ["task", 1], ["start_ns", 1]);
    segments.refer("await", awaited);
    this.waits.refer("await", awaited);
    const request = by(made, ["length_ns", -1]);
    segments.refer("request", request);
    requestTasks.refer("request", request);
    by(segments, ["request", 1], ["start_ns", 1]);
    by(requestTasks, ["request", 1], ["task", 1]);
  }

  queues() {
    const rows = new Rows("executor", "time_ns", "length");
    let length = 0;
    this.queue.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    for (const [time, change] of this.queue) rows.add({ executor: 1, time_ns: time, length: (length += change) });
    return rows;
  }

  busy() {
    const changes = [], rows = new Rows("executor", "time_ns", "count");
    this.runs.forEach((runs, thread) => runs.forEach(([start, end]) => changes.push([thread >> 1, start, 1], [thread >> 1, end, -1])));
    changes.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    let executor = -1, number = 0;
    for (const [of, time, change] of changes) {
      if (of !== executor) number = 0;
      rows.add({ executor: (executor = of), time_ns: time, count: (number += change) });
    }
    return rows;
  }

  tables() {
    const { scopes, tasks, slices, awaits, states, segments, blames, waits } = this;
    const all = { scopes, tasks, slices, awaits, states, queues: this.queues(), busy: this.busy(), requests: this.made,
      request_tasks: this.requestTasks, segments, blames, waits };
    return Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows.columns]));
  }
}

/** @returns the simulation, with its tables made */
export function simulate(options) {
  const simulation = new Simulation(options);
  return { simulation, tables: simulation.done() };
}
