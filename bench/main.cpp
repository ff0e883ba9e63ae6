// SPDX-License-Identifier: Apache-2.0

// The rows that are timed burst by burst: one row per process.

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness.hpp"

namespace {

int usage() {
    std::fputs("usage: --list | ROW | --count plain|subject ROW OPERATIONS\n", stderr);
    return 2;
}

}  // namespace

int main(int count, char** arguments) {
    const std::vector<bench::row> rows = bench::rows();
    if (count == 2 && std::string_view(arguments[1]) == "--list") {
        for (const bench::row& each : rows) std::puts(each.name);
        return 0;
    }
    const bool counting = count == 5 && std::string_view(arguments[1]) == "--count";
    if (!counting && count != 2) return usage();
    for (const bench::row& each : rows) {
        if (std::string_view(each.name) != arguments[counting ? 3 : 1]) continue;
        if (counting) {
            const bool plain = std::string_view(arguments[2]) == "plain";
            bench::count_instructions(each, plain, std::strtoull(arguments[4], nullptr, 10));
            return 0;
        }
        const bench::figure result = bench::measure(each);
        std::printf(
            "{\"value\": %.4f, \"floor\": %.4f, \"lost_records\": %llu, \"at_once\": %.2f}\n",
            result.value_ns, result.floor_ns, static_cast<unsigned long long>(result.lost_records),
            result.at_once);
        return 0;
    }
    return usage();
}
