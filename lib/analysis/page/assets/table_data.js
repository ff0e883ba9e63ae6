// SPDX-License-Identifier: Apache-2.0
// The tables of the page: those of the summary, the types of requests, and the requests.
import {shortPath} from './dom.js';
import {summary} from './recording.js';
import {work} from './work.js';

/** @typedef {import('./cells.js').TableData} TableData */
/** @typedef {import('./cells.js').TableColumn} TableColumn */

/** The names of the tables, in the order of their tabs, with their titles. */
export const TABLE_TITLES = /** @type {Record<string, string>} */ ({
  types: "Request types", requests: "Requests", scopes: "Scopes", tasks: "Tasks", awaits: "Awaits", blame: "Blame", executors: "Executors", locks: "Locks",
  resources: "Resources", blocking: "Blocking calls", chains: "Await chains", values: "Values", attributes: "Attributes", streams: "Item streams",
  device_ranges: "Device ranges", comparison: "Comparison",
});

/** One sentence for each table. */
export const TABLE_MEANINGS = /** @type {Record<string, string>} */ ({
  types: "Each type of requests, with the distribution of its lengths.", requests: "Each request, the slowest first.", scopes: "Time by scope.",
  tasks: "Time by task name: on a thread, suspended, queued.", awaits: "The places where tasks waited.", blame: "Which places made which other places wait.",
  executors: "The queues and threads of executors; jobs wait here for a thread.", locks: "Waits for locks of the C library.",
  resources: "Waits for pools, semaphores and other things of a limited number.", blocking: "Calls that blocked their thread.",
  chains: "Tasks that awaited each other.", values: "Numbers that the program recorded.", attributes: "Values of attributes.",
  streams: "Sources that yield one item after the other.", device_ranges: "Work on devices.", comparison: "The change from the other recording to this one. Times and calls are those of a call and a request; a verdict is unclear if the recordings do not prove a change.",
});

/** @returns {string[]} the tables that have rows */
export function tableNames() {
  const { tables, requests, against } = summary();
  return Object.keys(TABLE_TITLES).filter((name) => {
    if (name === "types" || name === "requests") return requests.types.length > 0;
    return name === "comparison" ? (against?.comparison?.rows?.length ?? 0) > 0 : (tables[name]?.rows?.length ?? 0) > 0;
  });
}

/** @param {string} name @returns {Promise<TableData>} */
export async function tableData(name) {
  if (name === "types") return typesTable();
  if (name === "requests") return requestsTable();
  if (name === "comparison") return comparisonTable();
  const source = summary().tables[name];
  return { title: TABLE_TITLES[name], columns: source.columns, rows: source.rows, links: source.links ?? [] };
}

/** @param {...string} text "key|heading|kind", one for each column @returns {TableColumn[]} */
function columnsOf(...text) {
  return text.map((each) => {
    const [key, heading, kind] = each.split("|");
    return { key, heading, kind };
  });
}

/** @returns {TableData} */
function typesTable() {
  const { types } = summary().requests;
  const at = (/** @type {any} */ type, /** @type {string} */ name) => type.percentiles.find((/** @type {any} */ each) => each.name === name)?.wall_ns ?? null;
  return {
    title: TABLE_TITLES.types,
    columns: columnsOf("name|Request|text", "count|Count|count", "per_second|Per second|number", "failed|Failed|count", "late|Late|count", "p50_ns|p50|time", "p90_ns|p90|time",
      "p99_ns|p99|time", "max_ns|Max|time", "total_ns|Total|time"),
    rows: types.map((/** @type {any} */ type) => ({ ...type, p50_ns: at(type, "p50"), p90_ns: at(type, "p90"), p99_ns: at(type, "p99"), max_ns: at(type, "max") })),
    links: types.map((/** @type {any} */ type) => ({ site: type.site, name: type.name, histogram: type.histogram, type: type.name,
      requests: type.percentiles.map((/** @type {any} */ each) => ({ text: each.name, request: each.request })) })),
  };
}

/** The rows of the comparison, with the file and the line in one column. @returns {TableData} */
function comparisonTable() {
  const { rows } = summary().against.comparison;
  return {
    title: TABLE_TITLES.comparison,
    columns: columnsOf("name|Name|text", "kind|Kind|text", "verdict|Verdict|text", "change|Change|percent", "low|At least|percent", "high|At most|percent",
      "before_ns|Before|time", "after_ns|After|time", "measured|Time|text", "effect_ns|Effect|time", "calls_before|Calls before|number", "calls_after|Calls after|number",
      "place|Place|source", "note|Note|sentence"),
    rows: rows.map((/** @type {any} */ row) => ({ ...row, place: row.file ? `${shortPath(row.file)}:${row.line}` : null })), links: [],
  };
}

const REQUEST_TIMES = ["length_ns", "on_cpu_ns", "blocked_ns", "preempted_ns", "unknown_state_ns", "suspended_ns", "queued_ns", "waiting_ns"];

/** @returns {Promise<TableData>} */
async function requestsTable() {
  const read = await work(), { requests } = read.tables;
  const rows = [...Array(requests.rows).keys()].map((row) => ({
    id: requests.at("id", row), name: read.requestName(row), start_ns: requests.at("start_ns", row), end: read.word("requests", "end", row),
    ...Object.fromEntries(REQUEST_TIMES.map((each) => [each, valueOrNull(requests.at(each, row))])),
  }));
  return {
    title: TABLE_TITLES.requests,
    columns: columnsOf("id|Id|count", "name|Request|text", "start_ns|From|moment", "length_ns|Wall|time", "on_cpu_ns|On-CPU|time", "blocked_ns|Blocked|time",
      "preempted_ns|Preempted|time", "unknown_state_ns|Running, unknown|time", "suspended_ns|Suspended|time", "queued_ns|Queued|time", "waiting_ns|Waiting|time", "end|End|text"),
    rows, links: rows.map((row, index) => ({ site: read.tables.scopes.at("site", requests.at("scope", index)), requests: [{ text: "in the timeline", request: row.id }] })),
  };
}

/** @param {number} value */
function valueOrNull(value) {
  return value < 0 ? null : value;
}
