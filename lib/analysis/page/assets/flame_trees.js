// SPDX-License-Identifier: Apache-2.0
// The trees of flame graphs: of the whole recording, a type of requests, a request, or a range of time.
import {scopePieces} from './bar_rows.js';
import {summary, table} from './recording.js';
import {ownTimes} from './request_types.js';
import {work} from './work.js';
import {KINDS, kindNamed} from './words.js';

/** @typedef {import('./work.js').Work} Work */
/** A frame. `own` is its time without the frames below, by kind. @typedef {{name: string, site: number, place: {file: string, line: number} | null, kind: number | null, own: number[], total: number, other: number, above: FlameNode | null, below: Map<string, FlameNode>}} FlameNode */
/** The kinds of a graph, and whether their names are frames of their own. @typedef {{key: string, title: string, kinds: number[], meaning: string}} Mode */

/** @type {Mode[]} */
export const MODES = [
  { key: "on_cpu", title: "On-CPU", kinds: [0, 3], meaning: "time on a processor, and running time whose state is unknown" },
  { key: "off_cpu", title: "Off-CPU", kinds: [1, 2, 4, 5, 6], meaning: "all time without a processor: blocked, preempted, suspended, queued, waiting" },
  { key: "blocked", title: "Blocked", kinds: [1], meaning: "time in which a thread was kept and waited in the kernel" },
  { key: "queued", title: "Queued", kinds: [5], meaning: "time ready, without a thread" },
  { key: "all", title: "All time", kinds: [0, 1, 2, 3, 4, 5, 6], meaning: "all kinds of time" },
  { key: "path", title: "Critical path", kinds: [0, 1, 2, 3, 4, 5, 6], meaning: "the time on which the end of requests depended, through all tasks" },
];

/** @param {string} name @param {FlameNode | null} above @param {number} [site] @returns {FlameNode} */
export function flameNode(name, above, site = -1) {
  return { name, site, place: null, kind: null, own: KINDS.map(() => 0), total: 0, other: 0, above, below: new Map() };
}

/** @param {FlameNode} above @param {string} name @param {number} [site] @returns {FlameNode} the frame of that name below another one */
function frameBelow(above, name, site = -1) {
  let found = above.below.get(name);
  if (found === undefined) above.below.set(name, (found = flameNode(name, above, site)));
  return found;
}

/** Adds up the totals; kinds become frames of their own if the mode has several kinds. @param {FlameNode} node @param {Mode} mode @returns {number} */
function addUp(node, mode) {
  node.total = mode.kinds.reduce((sum, kind) => sum + node.own[kind], 0);
  if (mode.kinds.length > 2 && node.kind === null) splitByKind(node, mode);
  for (const each of node.below.values()) if (each.kind === null) node.total += addUp(each, mode);
  return node.total;
}

/** @param {FlameNode} node @param {Mode} mode */
function splitByKind(node, mode) {
  for (const kind of mode.kinds) {
    if (node.own[kind] <= 0) continue;
    const leaf = flameNode(KINDS[kind].name, node, node.site);
    Object.assign(leaf, { kind, total: node.own[kind], place: node.place });
    node.below.set(`[${KINDS[kind].name}]`, leaf);
  }
}

/**
 * @param {Mode} mode @param {{type: string | null, request: number | null, range: [number, number] | null}} of
 * @returns {Promise<FlameNode>} the root
 */
export async function flameTree(mode, { type, request, range }) {
  const read = await work();
  let root = flameNode("all", null);
  if (request !== null) addSegments(read, read.rowOf("requests", request), root);
  else if (mode.key === "path") addPaths(root, type);
  else if (range !== null) await addRange(read, root, range);
  else root = await addFrames(read, "frames", type);
  addUp(root, mode);
  return root;
}

/** @param {Mode} mode @param {FlameNode} root @param {string | null} type sets the times of the other trace */
export async function compareFrames(mode, root, type) {
  const other = await addFrames(await work(), "against_frames", type);
  addUp(other, mode);
  const match = (/** @type {FlameNode} */ node, /** @type {FlameNode | undefined} */ twin) => {
    node.other = twin?.total ?? 0;
    for (const [key, each] of node.below) match(each, twin?.below.get(key));
    for (const [key, each] of twin?.below ?? []) if (!node.below.has(key)) match(frameOfOther(node, key, each), each);
  };
  match(root, other);
}

/** A frame that only the other trace has. @param {FlameNode} above @param {string} key @param {FlameNode} twin */
function frameOfOther(above, key, twin) {
  const node = flameNode(twin.name, above, twin.site);
  node.kind = twin.kind;
  above.below.set(key, node);
  return node;
}

const FRAME_COLUMNS = ["on_cpu_ns", "blocked_ns", "preempted_ns", "running_ns", "suspended_ns", "queued_ns", "waiting_ns"];

/** @param {Work} read @param {string} name of the table @param {string | null} type only below the topmost frames of that name */
async function addFrames(read, name, type) {
  const frames = await table(name), names = frames.column("name"), parent = frames.column("parent"), site = frames.column("site");
  const columns = FRAME_COLUMNS.map((each) => frames.column(each)), root = flameNode("all", null);
  /** @type {(FlameNode | null)[]} */
  const nodes = [];
  for (let row = 0; row < frames.rows; ++row) {
    const above = parent[row] < 0 ? null : nodes[parent[row]], label = read.name(names[row]);
    if (parent[row] < 0) nodes[row] = type === null ? root : null;
    else if (above) nodes[row] = frameBelow(above, label, site[row]);
    else nodes[row] = label === type ? frameBelow(root, label, site[row]) : null;
    const node = nodes[row];
    if (node) columns.forEach((column, kind) => (node.own[kind] += Math.max(0, column[row])));
  }
  return root;
}

/** @param {FlameNode} root @param {string | null} type */
function addPaths(root, type) {
  for (const path of summary().paths) {
    if (type !== null && path.name !== type) continue;
    const own = ownTimes(path.nodes, "total_ns"), top = frameBelow(root, path.name);
    /** @type {FlameNode[]} */
    const nodes = [];
    path.nodes.forEach((/** @type {any} */ each, /** @type {number} */ row) => {
      const node = frameBelow(each.parent === null ? top : nodes[each.parent], each.label ?? "unknown");
      node.own[kindNamed(each.kind)] += own[row];
      node.place ??= each.file ? { file: each.file, line: each.line } : null;
      nodes[row] = node;
    });
  }
}

/** @param {Work} read @param {number} request @param {FlameNode} root */
function addSegments(read, request, root) {
  const { segments, waits } = read.tables;
  if (request < 0) return;
  const top = frameBelow(root, `${read.requestName(request)} (request ${read.tables.requests.at("id", request)})`);
  for (const row of read.ofRequest("segments", request)) {
    const around = [];
    for (let wait = segments.at("through", row); wait >= 0 && around.length < 100; wait = waits.at("through", wait)) around.unshift(wait);
    let node = top;
    for (const wait of around) node = frameBelow(node, read.name(waits.at("name", wait)), waits.at("site", wait));
    node = frameBelow(node, read.name(segments.at("name", row)), segments.at("site", row));
    node.own[read.segmentKinds[segments.at("kind", row)] ?? 6] += segments.at("length_ns", row);
  }
}

/** @param {Work} read @param {number} scope @param {FlameNode} root @param {Map<number, FlameNode>} known @returns {FlameNode} */
function frameOfScope(read, scope, root, known) {
  if (scope < 0) return root;
  let node = known.get(scope);
  if (node === undefined) {
    const { scopes } = read.tables, parent = scopes.at("parent", scope);
    node = frameBelow(frameOfScope(read, parent, root, known), read.name(scopes.at("name", scope)), scopes.at("site", scope));
    known.set(scope, node);
  }
  return node;
}

/** The running time of scopes and the suspended and queued time of awaits within a range. @param {Work} read @param {FlameNode} root @param {[number, number]} range */
async function addRange(read, root, [from, to]) {
  const { scopes, awaits } = read.tables, pieces = await scopePieces(read);
  /** @type {Map<number, FlameNode>} */
  const known = new Map();
  const within = (/** @type {number} */ start, /** @type {number} */ end) => Math.max(0, Math.min(end, to) - Math.max(start, from));
  for (let piece = 0; piece < pieces.scope.length; ++piece) {
    const length = within(pieces.start[piece], pieces.end[piece]), scope = pieces.scope[piece];
    if (length === 0) continue;
    const parent = scopes.at("parent", scope);
    frameOfScope(read, scope, root, known).own[3] += length;
    if (parent >= 0 && scopes.at("task", parent) === scopes.at("task", scope)) frameOfScope(read, parent, root, known).own[3] -= length;
  }
  for (let row = 0; row < awaits.rows; ++row) {
    const start = awaits.at("start_ns", row), wake = awaits.at("wake_ns", row), resume = awaits.at("resume_ns", row) < 0 ? read.end : awaits.at("resume_ns", row);
    if (within(start, resume) === 0) continue;
    const node = frameBelow(frameOfScope(read, awaits.at("scope", row), root, known), read.name(awaits.at("name", row)), awaits.at("site", row));
    if (wake < 0) node.own[6] += within(start, resume);
    else {
      node.own[4] += within(start, wake);
      node.own[5] += within(wake, resume);
    }
  }
}
