// SPDX-License-Identifier: Apache-2.0
// The first view. It answers in this order: is it healthy, what is slow, why, show me.
import {legend} from './bars.js';
import {append, button, count, duration, link, make, plural, share} from './dom.js';
import {findingCards} from './findings.js';
import {summary} from './recording.js';
import {typeRows} from './request_types.js';
import {addressOf} from './route.js';
import {whyCards} from './why.js';

/** @param {HTMLElement} place */
export function overviewView(place) {
  const content = make("div", { class: "text" });
  append(content, [...health(), ...slowness(), ...causes(), ...ways()]);
  place.append(content);
}

/** @param {string} level @param {string} title @param {...any} text */
function verdict(level, title, ...text) {
  const mark = { good: "✓", warning: "!", error: "✗", note: "i" }[level];
  return make("li", { class: level }, make("b", {}, `${mark} ${title}`), ...text);
}

function health() {
  const { info, left_out: leftOut, notes, redacted } = summary();
  const facts = `${duration(info.duration_ns)} recorded: ${count(info.scopes)} scopes, ${count(info.tasks)} tasks, ${count(info.awaits)} awaits`;
  return [
    make("h2", {}, "Is it healthy?"),
    make("ul", { class: "verdict" }, programVerdict(), machineVerdict(), recordingVerdict(), costVerdict()),
    make("p", { class: "small faint" }, facts),
    ...leftOut.map((/** @type {any} */ each) => make("p", { class: "small" }, each.sentence)),
    redacted?.length > 0 && make("p", { class: "small" }, `Redacted: ${redacted.join(", ")}.`),
    ...notes.map((/** @type {string} */ each) => make("p", { class: "small" }, each)),
  ];
}

function programVerdict() {
  const { findings } = summary().findings;
  if (findings.length === 0) return verdict("good", "No known fault found", unrunRules());
  const cost = findings.reduce((/** @type {number} */ sum, /** @type {any} */ each) => Math.max(sum, each.share ?? 0), 0);
  const worst = ["error", "warning", "note"].find((level) => findings.some((/** @type {any} */ each) => each.severity === level)) ?? "note";
  return verdict(worst, plural(findings.length, "finding"), `The largest one costs ${share(cost, 1)} of all request time. `, unrunRules());
}

function unrunRules() {
  const rules = summary().findings.not_run;
  if (rules.length === 0) return null;
  return make("details", { class: "small" }, make("summary", {}, `${plural(rules.length, "rule")} could not run`),
    make("ul", {}, rules.map((/** @type {any} */ each) => make("li", {}, make("code", {}, each.rule), ` needs ${each.needs}`))));
}

function machineVerdict() {
  const { request_ns: all, machine_ns: machine, idle_ns: idle } = summary().findings;
  const { has_states: hasStates } = summary();
  if (!hasStates) return verdict("note", "Processor time unknown", "The recording does not say when threads were blocked or had no processor. ", make("code", {}, "coroscope doctor"), " lists the remedy.");
  const isSmall = (/** @type {number} */ part) => !all || part / all < 0.05;
  if (isSmall(machine) && !isSmall(idle)) return verdict("note", `Queued for threads without a task: ${share(idle, all)}`,
    `of all request time (${duration(idle)} of ${duration(all)}). Such a thread had just been woken, had no processor, or did work that is not recorded.`);
  if (isSmall(machine)) return verdict("good", "The machine had room", "Requests hardly waited for a free processor.");
  return verdict("warning", `No free processor: ${share(machine, all)}`,
    `of all request time (${duration(machine)} of ${duration(all)}) threads that could run had no processor. The code that waited is not the cause.`);
}

function recordingVerdict() {
  const { losses, whole } = summary();
  if (losses.length > 0) return verdict("error", "Records are missing", make("ul", { class: "small" }, losses.map((/** @type {string} */ each) => make("li", {}, each))));
  return verdict("good", "Nothing was lost", whole ? "Every record is in this page." : "The sums are of the whole recording; the timeline holds a part of it, see below.");
}

function costVerdict() {
  const { overhead } = summary();
  if (!overhead) return verdict("note", "Cost of recording unknown", "");
  const level = (overhead.share ?? 0) < 0.05 ? "good" : "warning";
  return verdict(level, `Recording cost ${overhead.share === null ? "an unknown share" : share(overhead.share, 1)}`, `of the running time: ${duration(overhead.recording_ns)}, estimated.`);
}

function slowness() {
  const { types, guessed } = summary().requests;
  if (types.length === 0) {
    return [make("h2", {}, "What is slow?"), make("p", { class: "empty" }, "The program marks no requests, and none could be guessed. The ",
      link("tables", "tables"), " list scopes and awaits by their time. COROSCOPE_REQUEST(\"name\") in the program marks a request.")];
  }
  return [
    make("h2", {}, "What is slow?"),
    guessed && make("p", {}, "The program marks no requests; these are guessed from its tasks."),
    make("p", {}, "Types of requests, the longest total first. A bar divides the time at a percentile by its kinds, through all work on which the request depended. It leads to that request in the timeline."),
    legend(),
    ...typeRows(types),
  ];
}

function causes() {
  return [
    make("h2", {}, "Why?"),
    ...findingCards(),
    ...whyCards(),
  ];
}

function ways() {
  const [slowest] = slowestFirst();
  return [
    make("h2", {}, "Show me"),
    make("p", { class: "row" },
      slowest && link(addressOf("timeline", { request: slowest.request }), `The slowest request: ${slowest.name}, ${duration(slowest.wall)}`),
      link(addressOf("timeline"), "The whole timeline"),
      link(addressOf("flames"), "Flame graphs"),
      link(addressOf("tables"), "Tables of scopes, awaits, executors and locks"),
      summary().against !== null && link(addressOf("tables", { table: "comparison" }), `Comparison with ${summary().against.trace}`)),
    button("Print this page", () => print(), { class: "small" }),
  ];
}

function slowestFirst() {
  return summary().requests.types.map((/** @type {any} */ type) => {
    const slowest = type.percentiles.find((/** @type {any} */ each) => each.name === "max");
    return { name: type.name, request: slowest?.request, wall: slowest?.wall_ns ?? 0 };
  }).sort((/** @type {any} */ a, /** @type {any} */ b) => b.wall - a.wall);
}
