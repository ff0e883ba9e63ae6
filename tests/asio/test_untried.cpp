// SPDX-License-Identifier: Apache-2.0

// A program whose Asio is newer than all versions that asio.hpp was tried with. The object that
// asio.hpp defines has the version.

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

#include <coroscope/analysis/analysis.hpp>
#include <coroscope/analysis/views.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/integration/asio.hpp>

extern "C" {
extern const std::uint32_t coroscope_asio_version;
[[gnu::used]] const std::uint32_t coroscope_asio_version = coroscope::asio::told_version(999901);
}

TEST_CASE("a session reports an untried version of Asio, and so do its trace and views") {
    coroscope::profile session({.all_threads = true});
    CHECK(session.status().state == coroscope::session_state::recording);
    CHECK(std::string(session.status().message).find("not tried") != std::string::npos);
    const auto loaded = coroscope::analysis::load(session.stop());
    REQUIRE(loaded);
    CHECK(loaded->health.asio == coroscope::trace::asio_tracking::untried);
    CHECK(loaded->health.asio_version == 999901);
    CHECK(coroscope::analysis::loss_notes(*loaded).starts_with("Asio 9.999.1 is a version"));
}
