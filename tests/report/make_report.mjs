// SPDX-License-Identifier: Apache-2.0
// Writes a report of a simulated service. usage: make_report.mjs FRAME FILE REQUESTS [OPTIONS as JSON]
import { writeReport } from "./pack_report.mjs";
import { sampleData } from "./sample_data.mjs";

const [frame, file, requests, options] = process.argv.slice(2);
writeReport(frame, sampleData({ requests: Number(requests), ...JSON.parse(options ?? "{}") }), file);
