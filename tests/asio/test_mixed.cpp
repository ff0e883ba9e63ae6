// SPDX-License-Identifier: Apache-2.0

// A program with one translation unit that is compiled with Asio's tracking and one without. This
// program writes out of bounds, so it runs in a separate process, and only its trace is checked.

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <doctest/doctest.h>

#include <coroscope/analysis/analysis.hpp>
#include <coroscope/coroscope.hpp>

#include "../support/scratch_file.hpp"
#include "../support/skip.hpp"

boost::asio::io_context& leaked_context();

namespace {

[[noreturn, maybe_unused]] void run_mixed(const char* trace) {
    coroscope::profile session({.output = trace, .all_threads = true});
    if (*session.status().message != '\0') ::_exit(1);
    boost::asio::post(leaked_context(), [] {});
    ::_exit(0);
}

}  // namespace

TEST_CASE("the first operation of a program that is only half tracked marks its trace as mixed") {
#if defined(__SANITIZE_ADDRESS__)
    COROSCOPE_SKIP("AddressSanitizer ends a program whose types have two sizes, as this one's do");
#else
    const coroscope::test::scratch_file trace;
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) run_mixed(trace.path());
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 1));
    const auto loaded = coroscope::analysis::load(trace.path());
    REQUIRE(loaded);
    CHECK(loaded->health.asio == coroscope::trace::asio_tracking::mixed);
#endif
}
