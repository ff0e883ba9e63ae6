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

void print(const bench::figure& result) {
    std::fputs("{\"pairs\": [", stdout);
    const char* separator = "";
    for (const bench::burst_pair& each : result.pairs) {
        std::printf("%s[%.4f, %.4f, %.4f]", separator, each.value, each.floor, each.rate);
        separator = ", ";
    }
    std::printf("], \"lost_records\": %llu}\n",
                static_cast<unsigned long long>(result.lost_records));
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
        print(bench::measure(each));
        return 0;
    }
    return usage();
}
