// SPDX-License-Identifier: Apache-2.0
// Reads spans by the published protobuf definitions of OpenTelemetry, as JSON or as protobuf, and prints them.
// usage: read_otlp.mjs FOLDER FILE (FOLDER has node_modules; a file that ends with .json is JSON)
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, file] = process.argv.slice(2);
const root = createRequire(path.join(folder, "package.json"))(
  path.join(folder, "node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js"));
const { TracesData } = root.opentelemetry.proto.trace.v1;

const bytes = fs.readFileSync(file);
let data;
if (file.endsWith(".json")) {
  // OTLP's JSON has ids as hexadecimal digits, where protobuf's own JSON has base64.
  data = TracesData.fromObject(JSON.parse(bytes.toString("utf8"), (key, value) =>
    /(traceId|spanId|parentSpanId)$/i.test(key) ? Buffer.from(value, "hex").toString("base64") : value));
} else {
  data = TracesData.decode(bytes);
  const again = TracesData.encode(data).finish();
  if (again.length !== bytes.length) throw new Error("the file has fields that the definitions do not have");
}
const wrong = TracesData.verify(data);
if (wrong) throw new Error(wrong);

const hex = (id) => Buffer.from(id ?? []).toString("hex");
const spans = [];
for (const resource of data.resourceSpans)
  for (const scope of resource.scopeSpans)
    for (const span of scope.spans) {
      if (span.traceId.length !== 16 || span.spanId.length !== 8) throw new Error("an id has a wrong length");
      spans.push({
        id: hex(span.spanId), trace: hex(span.traceId), parent: hex(span.parentSpanId), name: span.name,
        length: String(BigInt(span.endTimeUnixNano.toString()) - BigInt(span.startTimeUnixNano.toString())),
        links: span.links.map((link) => hex(link.spanId)),
      });
    }
console.log(JSON.stringify(spans));
