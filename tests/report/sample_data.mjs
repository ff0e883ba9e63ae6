// SPDX-License-Identifier: Apache-2.0
// The whole data of a report of the simulated service.
import { simulate } from "./simulate.mjs";

const KINDS = ["running_ns", "on_cpu_ns", "blocked_ns", "preempted_ns", "queued_ns", "suspended_ns", "waiting_ns"];
const PARTS = ["running_ns", "on_cpu_ns", "blocked_ns", "preempted_ns", "unknown_state_ns", "suspended_ns", "queued_ns", "waiting_ns"];

function sum(values) {
  return values.reduce((total, each) => total + each, 0);
}

function histogram(lengths) {
  const classes = new Map();
  for (const length of lengths) {
    const at = length <= 0 ? 0 : Math.floor(8 * Math.log2(length));
    classes.set(at, (classes.get(at) ?? 0) + 1);
  }
  const keys = [...classes.keys()].sort((a, b) => a - b);
  return { lower_ns: keys.map((key) => Math.round(2 ** (key / 8))), upper_ns: keys.map((key) => Math.round(2 ** ((key + 1) / 8))),
    count: keys.map((key) => classes.get(key)) };
}

function typeOf(tables, type, name, seconds) {
  const { requests } = tables;
  const rows = [...requests.id.keys()].filter((row) => requests.type[row] === type).reverse();
  const at = (row) => Object.fromEntries([["request", requests.id[row]], ["wall_ns", requests.length_ns[row]], ["known", true],
    ...PARTS.map((part) => [part, requests[part][row]])]);
  const percentiles = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["p99.9", 0.999], ["max", 1]]
    .map(([each, rank]) => ({ name: each, ...at(rows[Math.max(0, Math.ceil(rank * rows.length) - 1)]) }));
  const lengths = rows.map((row) => requests.length_ns[row]);
  return { name, site: type === 0 ? 0 : 5, count: rows.length, failed: 0, late: 0, with_deadline: 0, abandoned: 0, unfinished: 0,
    per_second: rows.length / seconds, total_ns: sum(lengths), in_full: rows.length, percentiles, parts: percentiles, histogram: histogram(lengths) };
}

/** The nodes of the flame graphs: scopes by their names, below the tasks. */
function framesOf(tables, simulation) {
  const frames = { parent: [-1], name: [simulation.name("all")], site: [-1], ...Object.fromEntries(KINDS.map((kind) => [kind, [0]])) };
  const found = new Map();
  const node = (parent, name, site) => {
    const key = `${parent} ${name}`;
    if (!found.has(key)) {
      found.set(key, frames.parent.push(parent) - 1);
      frames.name.push(name);
      frames.site.push(site);
      for (const kind of KINDS) frames[kind].push(0);
    }
    return found.get(key);
  };
  const { scopes } = tables, nodes = [];
  scopes.start_ns.forEach((_, row) => {
    const above = scopes.parent[row] >= 0 ? nodes[scopes.parent[row]] : node(0, tables.tasks.name[scopes.task[row]], -1);
    nodes[row] = node(above, scopes.name[row], scopes.site[row]);
    if (scopes.site[row] !== 2) frames.on_cpu_ns[nodes[row]] += scopes.parent[row] >= 0 || scopes.site[row] > 2 ? scopes.self_ns[row] : 0;
  });
  tables.awaits.task.forEach((_, row) => {
    const at = nodes[tables.awaits.scope[row]];
    frames.suspended_ns[at] += tables.awaits.wake_ns[row] - tables.awaits.start_ns[row];
    frames.queued_ns[at] += tables.awaits.resume_ns[row] - tables.awaits.wake_ns[row];
  });
  tables.tasks.name.forEach((name, row) => (frames.queued_ns[node(0, name, -1)] += Math.max(0, tables.tasks.queued_ns[row])));
  return frames;
}

function scopeTable(tables, simulation) {
  const rows = simulation.sites.map((site, index) => {
    const mine = tables.scopes.site.flatMap((each, row) => (each === index ? [row] : []));
    const wall = sum(mine.map((row) => tables.scopes.length_ns[row]));
    return { row: { name: site.label, count: mine.length, total_ns: wall, self_ns: wall, mean_ns: mine.length ? Math.round(wall / mine.length) : 0 },
      link: { site: index, name: site.label, histogram: histogram(mine.map((row) => tables.scopes.length_ns[row])),
        longest: mine.sort((a, b) => tables.scopes.length_ns[b] - tables.scopes.length_ns[a]).slice(0, 3).map((row) => ({
          start_ns: tables.scopes.start_ns[row], length_ns: tables.scopes.length_ns[row], task: tables.tasks.id[tables.scopes.task[row]],
          thread: tables.scopes.thread[row] + 1 })) } };
  }).filter((each) => each.row.count > 0);
  return {
    columns: [{ key: "name", heading: "Name", kind: "text" }, { key: "count", heading: "Count", kind: "count" },
      { key: "total_ns", heading: "Total", kind: "time" }, { key: "mean_ns", heading: "Mean", kind: "time" }],
    rows: rows.map((each) => each.row), links: rows.map((each) => each.link),
  };
}

function finding(tables, simulation, requests) {
  const [slowest] = requests.types;
  const row = tables.requests.id.indexOf(slowest.percentiles.at(-1).request);
  const place = { label: simulation.sites[6].label, file: "/src/shop/database.cpp", line: 90 };
  return { rule: "head-of-line", severity: "warning", title: `short jobs wait behind the slow job \`${place.label}\``, cause: place,
    victims: [{ label: slowest.name, file: "/src/shop/handler.cpp", line: 30, count: 7, ns: 70000000 }], count: 3, cost_ns: 70000000, share: 0.21,
    evidence: [{ text: "kept the thread", ...place, task: tables.tasks.id[tables.requests.task[row]], thread: 3, await: null,
      request: tables.requests.id[row], start_ns: tables.requests.start_ns[row], ns: tables.requests.length_ns[row] }],
    explanation: ["3 runs, the longest 20 ms"], advice: "Give slow jobs a pool of their own." };
}

const FILES = { "/src/shop/handler.cpp": { path: "/src/shop/handler.cpp",
  lines: { 29: "task<page> answer_item(int key) {", 30: "    COROSCOPE_REQUEST(\"GET /item\");", 31: "    const auto item = parse(key);" } } };

/** @param {{requests: number, names?: Record<string, string>, against?: boolean}} options */
export function sampleData(options) {
  const { simulation, tables } = simulate(options);
  const end = Math.max(...tables.slices.start_ns.slice(-1), tables.tasks.end_ns.reduce((a, b) => Math.max(a, b), 0)) + 1000;
  const names = [simulation.sites[0].label, simulation.sites[5].label];
  const requests = { guessed: false, types: names.map((name, type) => typeOf(tables, type, name, end / 1e9)) };
  tables.frames = framesOf(tables, simulation);
  if (options.against) tables.against_frames = { ...tables.frames, on_cpu_ns: tables.frames.on_cpu_ns.map((each) => Math.round(0.7 * each)) };
  const title = options.names?.title ?? "shop";
  const summary = { format: 1, version: "0.9", title, trace: "shop.cst", info: { duration_ns: end, process: title, start_realtime_ns: 1.7e18,
    threads: [], health: {}, scopes: tables.scopes.name.length, tasks: tables.tasks.id.length, awaits: tables.awaits.task.length, processors: 2,
    thread_states: { source: "switches" } },
  losses: [], notes: [], has_states: true, left_out: [], whole: true, overhead: { recording_ns: 150000, share: 0.011 }, requests, findings: {
    basis: "requests", requests: options.requests, whole_requests: options.requests, request_ns: sum(tables.requests.length_ns), machine_ns: 0, idle_ns: 0,
    findings: [], not_run: [{ rule: "pool-exhausted", needs: "waits for resources" }] }, why: [], paths: [],
  tables: { scopes: scopeTable(tables, simulation) }, redacted: [], against: options.against ? { trace: "old.cst", title, info: {},
    comparison: { columns: [{ key: "name", heading: "Name", kind: "text" }], rows: [{ name: "sqlite.get" }], links: [{}] } } : null,
  sources: { files: FILES }, editor: "vscode://file/{file}:{line}" };
  summary.findings.findings.push(finding(tables, simulation, requests));
  const timeline = { names: simulation.names, sites: simulation.sites.map(({ id, ...site }) => site), duration_ns: end, devices: [],
    threads: ["http", "http", "database", "database"].map((name, index) => ({ id: index + 1, os_id: 100 + index, name: `${name} (${index + 1})`,
      on_cpu_ns: 0, blocked_ns: 0, preempted_ns: 0, unknown_ns: 0 })),
    executors: [{ number: 1, kind: "io_context", name: "io_context 1", inner: null, threads: [0, 1] },
      { number: 2, kind: "thread_pool", name: options.names?.executor ?? "database", inner: null, threads: [2, 3] }],
    kinds: { state: ["on-CPU", "blocked", "preempted", "unknown"], kind: ["on-CPU", "blocked", "preempted", "running", "suspended", "queued",
      "not started", "waiting", "unknown"], end: ["completed", "failed"], reason: ["unknown", "task"], outcome: ["unknown", "value"], edge: ["wake"] } };
  return { summary, timeline, tables };
}
