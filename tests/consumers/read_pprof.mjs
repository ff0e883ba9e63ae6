// SPDX-License-Identifier: Apache-2.0
// Reads a profile by pprof-format, and prints the sums of its values by type, and its number of samples.
// usage: read_pprof.mjs FOLDER FILE (FOLDER has node_modules)
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import zlib from "node:zlib";

const [folder, file] = process.argv.slice(2);
const { Profile } = createRequire(path.join(folder, "package.json"))("pprof-format");

const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(file)));
const strings = profile.stringTable.strings;
const types = profile.sampleType.map((each) => strings[Number(each.type)]);
const sums = Object.fromEntries(types.map((each) => [each, 0n]));
const known = new Set(profile.location.map((each) => String(each.id)));
for (const sample of profile.sample) {
  for (const each of sample.locationId)
    if (!known.has(String(each))) throw new Error(`no location ${each}`);
  sample.value.forEach((value, at) => { sums[types[at]] += BigInt(value); });
}
console.log(JSON.stringify({ samples: profile.sample.length, sums }, (_, value) =>
  typeof value === "bigint" ? Number(value) : value));
