#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Checks the types of the page's modules. usage: test_types.mjs FOLDER (FOLDER has node_modules with typescript)
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { ASSETS } from "./browser.mjs";

const compiler = path.join(process.argv[2], "node_modules/typescript/bin/tsc");
if (!fs.existsSync(compiler)) {
  console.log(`SKIP: the package typescript of tests/report/package.json is missing in ${process.argv[2]}`);
  process.exit(77);
}
const options = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--noUnusedLocals", "--target", "es2022", "--module", "es2022", "--moduleResolution", "bundler", "--lib", "es2022,dom,dom.iterable"];
const files = fs.readdirSync(ASSETS).filter((name) => name.endsWith(".js")).map((name) => path.join(ASSETS, name));
const done = spawnSync("node", [compiler, ...options, ...files], { encoding: "utf8" });
process.stdout.write(done.stdout + done.stderr);
if (done.status === 0) console.log(`the types of ${files.length} modules are right`);
process.exit(done.status === 0 ? 0 : 1);
