// SPDX-License-Identifier: Apache-2.0
// Reads a file by the importer of speedscope, and prints its profiles: name, unit, weight, and the total
// weight of each frame. usage: read_speedscope.mjs FOLDER FILE (FOLDER has node_modules)
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, file] = process.argv.slice(2);
const release = path.join(folder, "node_modules/speedscope/dist/release");

function bundle(beginning) {
  const name = fs.readdirSync(release).find((each) => each.startsWith(beginning) && each.endsWith(".js"));
  return fs.readFileSync(path.join(release, name), "utf8");
}

const context = { console: { ...console, log: console.error }, TextDecoder, TextEncoder, setTimeout, performance, URL, atob, btoa, navigator: {} };
context.window = context.self = context.globalThis = context;
vm.createContext(context);
// The page's own bundle, without its start: only the last list names the modules to run.
vm.runInContext(bundle("speedscope.").replace(/\},\{\},\[[^\]]*\], null\)/, "},{},[], null)"), context);
const importer = bundle("import.");
vm.runInContext(importer, context);
const before = importer.slice(0, importer.indexOf("exports.importProfileGroupFromText="));
const module = [...before.matchAll(/"(\w+)":\[function\(require,module,exports\)/g)].at(-1)[1];
context.parcelRequire = vm.runInContext("parcelRequire", context);
const { importProfileGroupFromText } = context.parcelRequire(module);

const group = await importProfileGroupFromText(path.basename(file), fs.readFileSync(file, "utf8"));
if (group === null) throw new Error("speedscope knows no format of this file");
const profiles = group.profiles.map((profile) => {
  const frames = {};
  profile.forEachFrame((frame) => {
    frames[frame.name] = (frames[frame.name] ?? 0) + frame.getTotalWeight();
  });
  return { name: profile.getName(), unit: profile.getWeightUnit(), weight: profile.getTotalNonIdleWeight(), frames };
});
console.log(JSON.stringify({ shown: group.indexToView, profiles }));
