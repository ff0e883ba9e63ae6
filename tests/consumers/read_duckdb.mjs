// SPDX-License-Identifier: Apache-2.0
// Runs a query by DuckDB and prints its rows as JSON, whole numbers as texts. usage: read_duckdb.mjs FOLDER QUERY
import { createRequire } from "node:module";
import path from "node:path";

const [folder, query] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(path.join(folder, "package.json"))("@duckdb/node-api");
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const rows = await (await connection.runAndReadAll(query)).getRows();
console.log(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value)));
