// SPDX-License-Identifier: Apache-2.0
// A user's first program: record a scope, and print the table.

#include <iostream>

#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/table.hpp>
#include <coroscope/coroscope.hpp>

int main() {
    coroscope::profile session;
    for (int turn = 0; turn < 3; ++turn) {
        COROSCOPE("consumer.work");
    }
    const auto loaded = coroscope::analysis::load(session.stop());
    if (!loaded) {
        std::cerr << "consumer: " << loaded.error().message << '\n';
        return 1;
    }
    const auto table = coroscope::analysis::table(coroscope::analysis::table_of(*loaded));
    if (!table) {
        std::cerr << "consumer: " << table.error().message << '\n';
        return 1;
    }
    std::cout << *table;
    return 0;
}
