// SPDX-License-Identifier: Apache-2.0
#pragma once

// A built trace as its model.

#include <utility>

#include <coroscope/analysis/load.hpp>
#include <doctest/doctest.h>

#include "../../support/trace_builder.hpp"

namespace coroscope::test {

/// Fails the test if the trace cannot be loaded.
inline analysis::trace loaded(const trace_builder& built) {
    auto result = analysis::load(built.finish());
    REQUIRE(result);
    return std::move(result).value();
}

}  // namespace coroscope::test
