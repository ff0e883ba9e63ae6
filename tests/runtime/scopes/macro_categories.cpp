// SPDX-License-Identifier: Apache-2.0

// Scopes of other categories than "net", and above level 2, are compiled out of this file.
#define COROSCOPE_CATEGORIES "net"
#define COROSCOPE_MAX_LEVEL 2

#include <coroscope/coroscope.hpp>

#include "../support/sized_coroutine.hpp"
#include "macro_parts.hpp"

namespace coroscope::test {
namespace {

sized_coroutine without_scopes(std::suspend_always pause) { co_await pause; }

sized_coroutine with_compiled_out_scopes(std::suspend_always pause) {
    COROSCOPE_CAT("db", 0, "db");
    COROSCOPE_CAT("net", 3, "deep");
    COROSCOPE_ARGS("arguments", &pause);
    co_await pause;
    COROSCOPE_CAT("db", 1, "db again");
}

}  // namespace

void run_categories() {
    COROSCOPE_CAT("net", 0, "in net");
    COROSCOPE_CAT("db", 0, "in db");
    COROSCOPE("no category");
    COROSCOPE_CAT("net", 2, "level 2");
    COROSCOPE_CAT("net", 3, "level 3");
}

int category_arguments_evaluated() {
    int evaluated = 0;
    COROSCOPE_ARGS("arguments without a category", ++evaluated);
    return evaluated;
}

frame_sizes category_frames() {
    return {frame_bytes_of([] { return with_compiled_out_scopes({}); }),
            frame_bytes_of([] { return without_scopes({}); })};
}

}  // namespace coroscope::test
