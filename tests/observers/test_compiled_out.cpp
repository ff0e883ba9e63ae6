// SPDX-License-Identifier: Apache-2.0

// A file that is built without the profiler: observers are registered, and it has no scopes.
#define COROSCOPE_ENABLED 0

#include <coroscope/coroscope.hpp>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_CASE("scopes of a file without the profiler are not observed, and decorated callables work") {
    journal seen;
    const registered here(add_global_observer(noting(seen).needs_inputs().needs_outputs()));
    {
        COROSCOPE("scope");
        COROSCOPE_ARGS("arguments", 1);
        record_function range("range", 2);
        range.outputs(3);
        coroscope::range("shared").end();
        const disable_observers_guard off;
        CHECK_FALSE(observers_enabled());
    }
    auto add = record_function::of("add", [](int left, int right) { return left + right; });
    CHECK(add(1, 2) == 3);
    CHECK(seen.take().empty());
}
