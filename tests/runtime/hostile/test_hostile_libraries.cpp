// SPDX-License-Identifier: Apache-2.0

// Libraries that are loaded and unloaded, and several copies of ours: each scope is recorded once,
// or one line says that it is not.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <coroscope/async_stack.hpp>

#include <link.h>

#include "../../support/skip.hpp"
#include "../support/session_support.hpp"
#include "hostile_runs.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

constexpr std::string_view copies_line = "coroscope: several copies of this library";

}  // namespace

TEST_SUITE("libraries") {
    TEST_CASE(
        "scopes before main() and after it are recorded, with the shared and the static library") {
        for (const char* program : {HOSTILE_PROGRAM, STATIC_PROGRAM}) {
            CAPTURE(std::string(program));
            const scratch_file file;
            const program_end end =
                run_program({"steps", "5"}, {{"COROSCOPE_TRACE", file.path()}}, program);
            CHECK(end.exit_code() == 0);
            CHECK(end.output.empty());
            const analysis::trace trace = load(std::string(file.path()));
            CHECK(trace.health.finished);
            REQUIRE(trace.threads.size() == 1);
            CHECK(steps_by_thread(trace)[0] == "012012340123");
        }
    }

    TEST_CASE("a program that does not use Coroscope may load and unload a library that records") {
        const scratch_file file;
        const program_end end =
            run_program({UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}}, PLAIN_PROGRAM);
        CHECK(end.exit_code() == 0);
        CHECK(end.output.empty());
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count(trace, "in a library") == 3);
    }

    TEST_CASE("the shared library's thread-local state fits into the reserve for libraries that "
              "are loaded late") {
        CHECK_FALSE(live_tasks().tracked);  // so that the program needs the library
        const auto look = [](dl_phdr_info* module, std::size_t, void* found) {
            if (std::string_view(module->dlpi_name).find("/libcoroscope.so") ==
                std::string_view::npos)
                return 0;
            for (int at = 0; at < module->dlpi_phnum; ++at)
                if (module->dlpi_phdr[at].p_type == PT_TLS)
                    *static_cast<std::uint64_t*>(found) = module->dlpi_phdr[at].p_memsz;
            return 1;
        };
        std::uint64_t bytes = 0;
        CHECK(::dl_iterate_phdr(look, &bytes) == 1);
        CHECK(bytes > 0);
        CHECK(bytes <= 128);  // of the 512 of the GNU C library's glibc.rtld.optional_static_tls
    }

    TEST_CASE("two copies in a process are reported in one line, and one copy has the file") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer refuses two copies itself");
            return;
        }
        const scratch_file file;
        const program_end end =
            run_static({"load", UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.exit_code() == 0);
        CHECK(end.output.starts_with(copies_line));
        CHECK(holds(end.output, "the program, "));
        CHECK(holds(end.output, "libcoroscope.so"));
        CHECK(end.output.find('\n') == end.output.size() - 1);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 10);  // the program's
        CHECK(count(trace, "in a library") == 0);
    }

    TEST_CASE("a session in the code says that there is another copy") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer refuses two copies itself");
            return;
        }
        const scratch_file file;
        const program_end end = run_static({"session", file.path(), UNLOADED_LIBRARY});
        CHECK(end.exit_code() == 0);
        CHECK(end.output.starts_with(copies_line));
        CHECK(holds(end.output, "1 0 Another copy of this library is in the process: "));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }

    TEST_CASE("one copy, loaded by a program that has it already, does not count as two") {
        const scratch_file file;
        const program_end end = run({"load", UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.output.empty());
        CHECK(count(load(std::string(file.path())), "in a library") == 1);
    }

    TEST_CASE(
        "copies in other namespaces of the loader do no harm, and leave the file to its owner") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer's runtime can't be there twice");
            return;
        }
        const scratch_file file;
        const program_end end =
            run({"namespace", UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 3 + 4);
        CHECK(count(trace, "in a library") == 0);
    }
}
