// SPDX-License-Identifier: Apache-2.0
// Parses a Chrome trace by the model of DevTools' performance panel, and prints the number and the length of its
// complete events by category. usage: read_devtools.mjs FOLDER FILE (FOLDER has node_modules)
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
globalThis.DOMRect = class { constructor(x, y, width, height) { Object.assign(this, { x, y, width, height }); } };
const engine = path.join(folder, "node_modules/@paulirish/trace_engine/models/trace/trace.js");
const Trace = await import(pathToFileURL(engine).href);

const model = Trace.TraceModel.Model.createWithAllHandlers();
await model.parse(JSON.parse(fs.readFileSync(file, "utf8")).traceEvents);
const parsed = model.parsedTrace() ?? (() => { throw new Error("DevTools finds nothing in the trace"); })();
const categories = {};
let threads = 0;
for (const process of parsed.data.Renderer.processes.values())
  for (const thread of process.threads.values()) {
    ++threads;
    for (const event of thread.entries) {
      const sum = (categories[event.cat] ??= { count: 0, us: 0 });
      ++sum.count;
      sum.us += event.dur ?? 0;
    }
  }
console.log(JSON.stringify({ threads, categories }));
