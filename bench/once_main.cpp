// SPDX-License-Identifier: Apache-2.0

// The rows that are measured once per process.

#include <cstdio>
#include <string_view>

#include "once.hpp"

namespace {

std::vector<bench::once_row> all_rows() {
    std::vector<bench::once_row> rows = bench::frame_rows();
    for (const auto& more : {bench::recorded_rows(), bench::process_rows(), bench::idle_rows(),
                             bench::switch_rows(), bench::analysis_rows(), bench::chrome_rows(),
                             bench::pack_rows(), bench::task_load_rows()})
        rows.insert(rows.end(), more.begin(), more.end());
    return rows;
}

void print(const bench::once_row& row, const bench::once_result& result) {
    std::printf("{\"value\": %.6g, \"unit\": \"%s\", \"floor\": ", result.value, row.unit);
    if (result.floor)
        std::printf("%.6g", *result.floor);
    else
        std::fputs("null", stdout);
    std::printf(", \"note\": \"%s\"}\n", result.note.c_str());
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view wanted = count == 2 ? arguments[1] : "";
    bool found = wanted == "--list";
    for (const bench::once_row& each : all_rows()) {
        if (wanted == "--list") std::puts(each.name);
        if (wanted != each.name) continue;
        print(each, each.measure());
        found = true;
    }
    if (found) return 0;
    std::fputs("usage: bench_once --list | ROW\n", stderr);
    return 2;
}
