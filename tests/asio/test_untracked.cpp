// SPDX-License-Identifier: Apache-2.0

// A program that uses Asio and was not compiled with its tracking.

#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <coroscope/analysis/analysis.hpp>
#include <coroscope/coroscope.hpp>

TEST_CASE(
    "a session reports at its start that Asio is used and not tracked, and so does its trace") {
    boost::asio::io_context io;
    boost::asio::post(io, [] {});
    coroscope::profile session({.all_threads = true});
    CHECK(session.status().state == coroscope::session_state::recording);
    CHECK(std::string(session.status().message) ==
          "Asio is used and not tracked: its operations are not recorded.");
    io.run();
    const auto loaded = coroscope::analysis::load(session.stop());
    REQUIRE(loaded);
    CHECK(loaded->tasks.empty());
    CHECK(loaded->health.asio == coroscope::trace::asio_tracking::missing);
}
