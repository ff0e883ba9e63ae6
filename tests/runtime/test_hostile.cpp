// SPDX-License-Identifier: Apache-2.0

// What systems, programs and other people do to a process that records: it goes on, and what is lost is told of.

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <sstream>

#include <coroscope/async_stack.hpp>

#include <link.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "../support/skip.hpp"
#include "program_runs.hpp"
#include "session_support.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// A sanitizer's runtime has to come before every other library, reserves more than a limit allows, and
// calls clocks itself.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

constexpr uid_t nobody = 65534;

program_end run(const std::vector<std::string>& words, const variables& environment = {}) {
    return run_program(words, environment, HOSTILE_PROGRAM);
}
program_end run_static(const std::vector<std::string>& words, const variables& environment = {}) {
    return run_program(words, environment, STATIC_PROGRAM);
}

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

struct said_status {
    int state = -1;
    int error = -1;
    std::string message;
};
std::vector<said_status> statuses_in(const std::string& output) {
    std::vector<said_status> all;
    std::istringstream lines(output);
    for (said_status each; lines >> each.state >> each.error && std::getline(lines, each.message);)
        all.push_back(each);
    return all;
}

constexpr std::string_view copies_line = "coroscope: several copies of this library";

// Runs a copy of the program, with these permissions and an environment that asks for everything, as nobody.
program_end run_as_nobody(const scratch_file& file, mode_t permissions) {
    const std::string copy = file.folder() + "/program";
    std::filesystem::copy_file(STATIC_PROGRAM, copy);
    REQUIRE(::chmod(copy.c_str(), permissions) == 0);
    REQUIRE(::chmod(file.folder().c_str(), 0777) == 0);
    const scratch_file output;
    const pid_t child = ::fork();
    if (child == 0) {
        if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) ::_exit(126);
        for (const char* each : {"COROSCOPE_LIVE", "COROSCOPE_ANOMALY", "COROSCOPE_CRASH"})
            ::setenv(each, "1", 1);
        ::setenv("COROSCOPE_TRACE", file.path(), 1);
        ::execl(copy.c_str(), "program", "steps", "5", nullptr);
        ::_exit(127);
    }
    program_end end;
    REQUIRE(::waitpid(child, &end.status, 0) == child);
    std::filesystem::remove(copy);
    return end;
}

}  // namespace

TEST_SUITE("the trace file in other hands") {
    TEST_CASE("a file that is cut while nobody records costs the trace, not the process") {
        const scratch_file file;
        const program_end end = run({"cut", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(end.output ==
              "3 " + std::to_string(ESTALE) +
                  " The trace file was cut by somebody else: what follows is lost.\n");
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("where crashes are reported it may be cut under four threads that record") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the signals");
            return;
        }
        for (int round = 0; round < 10; ++round) {
            const scratch_file file;
            const program_end end = run({"cut while recording", file.path()});
            CHECK(end.signal() == 0);
            CHECK(holds(end.output, "3 " + std::to_string(ESTALE) + " The trace file was cut"));
            CHECK_FALSE(holds(end.output, "coroscope: signal"));
        }
    }

    TEST_CASE("a file that is cut just before the stop is left as it is") {
        const scratch_file file;
        CHECK(run({"cut at the stop", file.path()}).exit_code() == 0);
        CHECK(std::filesystem::file_size(file.path()) == 8192);
    }

    TEST_CASE("what a cut file still holds is read") {
        const scratch_file file;
        run({"cut", file.path()});
        auto loaded = analysis::load(std::string(file.path()));
        REQUIRE(loaded);
        CHECK_FALSE(loaded->health.warnings.empty());
    }

    TEST_CASE("a file that is removed is told of") {
        const scratch_file file;
        CHECK(run({"remove", file.path()}).output ==
              "3 " + std::to_string(ENOENT) +
                  " The trace file was removed: what is recorded is lost.\n");
    }

    TEST_CASE(
        "a program that closes its descriptor has the number for itself, and the trace what it "
        "had room for") {
        const scratch_file file;
        const std::string log = file.folder() + "/log";
        const program_end end = run({"close its descriptor", file.path(), log});
        REQUIRE(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::uint64_t lost = 0;
        REQUIRE(static_cast<bool>(output >> lost));
        CHECK(lost > 0);
        CHECK(holds(end.output, "3 " + std::to_string(EBADF) +
                                    " The program closed the trace file's descriptor: "));
        CHECK(std::filesystem::file_size(log) == 10);
        std::filesystem::remove(log);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(trace.health.write_error == EBADF);
        CHECK(count_steps(trace) > 1000);
        CHECK(count_steps(trace) + lost == 501'000);
    }
}

TEST_SUITE("memory") {
    TEST_CASE("without memory for it a session is refused, says why and leaves no file") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const scratch_file file;
        const program_end end = run({"no memory at the start", file.path()});
        CHECK(end.exit_code() == 0);
        const std::vector<said_status> said = statuses_in(end.output);
        REQUIRE(said.size() == 4);
        for (const std::size_t refused : {0U, 1U, 3U}) {
            CHECK(said[refused].state == static_cast<int>(session_state::refused));
            CHECK((said[refused].error == ENOMEM || said[refused].error == EAGAIN));
            CHECK(said[refused].message.size() > 1);
        }
        CHECK(said[2].state == static_cast<int>(session_state::recording));
        CHECK(::access(file.path(), F_OK) != 0);
    }

    TEST_CASE("a session goes on when memory ends, and a file holds what was recorded") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const scratch_file file;
        const program_end end = run({"no memory any more", file.path()});
        REQUIRE(end.exit_code() == 0);
        const std::uint64_t lost = std::stoull(end.output);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) + lost >= 101'000);
        CHECK(count_steps(trace) > 1000);
    }

    TEST_CASE("a trace in memory that cannot be handed over is told of") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reserves more than the limit");
            return;
        }
        const program_end end = run({"no memory any more"});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, " 1 " + std::to_string(ENOMEM) +
                                    " There is no memory to hand the trace over: it is lost.\n"));
    }
}

TEST_SUITE("libraries") {
    TEST_CASE("scopes before main() and after it are recorded, shared and static") {
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

    TEST_CASE("a program that knows nothing of it may load and unload a library that records") {
        const scratch_file file;
        const program_end end =
            run_program({UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}}, PLAIN_PROGRAM);
        CHECK(end.exit_code() == 0);
        CHECK(end.output.empty());
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count(trace, "in a library") == 3);
    }

    TEST_CASE("the shared library's thread-local state fits what is left for those that are opened "
              "late") {
        CHECK_FALSE(live_tasks().tracked);  // or the library is not needed here
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
        CHECK(bytes <=
              512);  // what the GNU C library keeps for them: its glibc.rtld.optional_static_tls
    }

    TEST_CASE("two copies in a process are told of in one line, and one of them has the file") {
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

    TEST_CASE("one copy, loaded by a program that has it already, is no two") {
        const scratch_file file;
        const program_end end = run({"load", UNLOADED_LIBRARY}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.output.empty());
        CHECK(count(load(std::string(file.path())), "in a library") == 1);
    }

    TEST_CASE(
        "copies in other namespaces of the loader hurt nobody, and leave the file to who has it") {
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

TEST_SUITE("processes") {
    TEST_CASE("where there is no room for more places in the source, that is said once and takes "
              "no memory") {
        const program_end end = run_program({"places", "20000"});
        CHECK(end.exit_code() == 0);
        std::istringstream output(end.output);
        std::string told;
        REQUIRE(static_cast<bool>(std::getline(output, told)));
        CHECK(holds(told, "coroscope: the table of places of awaits"));
        std::size_t known = 0;
        std::size_t known_later = 0;
        std::uint64_t kib = 0;
        REQUIRE(static_cast<bool>(output >> known >> known_later >> kib));
        CHECK(known > 14'000);
        CHECK(known_later == 0);
        if (!sanitized) CHECK(kib < 1024);
    }

    TEST_CASE("a thread's first scope leaves errno as it was where no file can be opened") {
        // The leaks' search at the end would need files.
        CHECK(run_program({"errno"}, {{"LSAN_OPTIONS", "detect_leaks=0"}}).exit_code() == 0);
    }

    TEST_CASE("a process that becomes another program begins its trace anew, and whole") {
        const scratch_file file;
        CHECK(run({"exec", "6"}, {{"COROSCOPE_TRACE", file.path()}}).exit_code() == 0);
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 6 + 4);  // the static object's around its own
    }
}

TEST_SUITE("threads") {
    TEST_CASE("a program whose main thread ends by pthread_exit() ends with its last thread, by "
              "exit()") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer may have a thread of its own");
            return;
        }
        const scratch_file file;
        const program_end end = run({"pthread_exit"}, {{"COROSCOPE_TRACE", file.path()}});
        CHECK(end.exit_code() == 0);
        CHECK(end.output == "at exit\n");
        const analysis::trace trace = load(std::string(file.path()));
        CHECK(trace.health.finished);
        CHECK(count_steps(trace) == 3 + 100 + 4);  // the static object's around them
    }

    TEST_CASE("a thread that is to be cancelled starts and stops a session, prints what the "
              "runtime has to say, and is cancelled then") {
        const scratch_file file;
        const program_end end = run({"cancelled", file.path()});
        CHECK(end.signal() == 0);
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, " failed with std::runtime_error: as it should"));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }
}

TEST_SUITE("stacks") {
    TEST_CASE(
        "where the stack may grow for ever, a frame on the heap that grows later is none of it") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer has the address space");
            return;
        }
        const scratch_file file;
        const int code = run({"unlimited stack", file.path()}).exit_code();
        if (code == 77) {
            COROSCOPE_SKIP("the limit cannot be raised, or the heap does not grow");
            return;
        }
        REQUIRE(code == 0);
        const analysis::trace trace = load(std::string(file.path()));
        const analysis::event* const found = find(trace, "suspended");
        REQUIRE(found != nullptr);
        CHECK((found->flags & analysis::event_in_frame) != 0);
    }
}

TEST_SUITE("privileges") {
    TEST_CASE("a program that gained privileges ignores the environment") {
        const scratch_file file;
        struct statvfs system{};
        ::statvfs(file.folder().c_str(), &system);
        if (::geteuid() != 0 || (system.f_flag & ST_NOSUID) != 0) {
            COROSCOPE_SKIP("not root, or no setuid programs in the temporary folder");
            return;
        }
        REQUIRE(run_as_nobody(file, 0755).exit_code() == 0);
        CHECK(count_steps(load(std::string(file.path()))) == 12);  // as it is without privileges
        std::filesystem::remove(file.path());
        CHECK(run_as_nobody(file, 04755).exit_code() == 0);
        CHECK_FALSE(std::filesystem::exists(file.path()));
    }
}

TEST_SUITE("clocks") {
    TEST_CASE("where the processor's counter may not be read, a session is refused and nothing "
              "reads it") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reads the clock itself");
            return;
        }
        const program_end end = run_program({"counter"});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, "may not read the processor's counter (PR_SET_TSC)."));
    }

    TEST_CASE("a thread that may not read the counter is told of once and left alone, others are "
              "recorded") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer reads the clock itself");
            return;
        }
        const scratch_file file;
        const program_end end = run_program({"counter of a thread", file.path()});
        CHECK(end.exit_code() == 0);
        CHECK(holds(end.output, "coroscope: a thread that may not read the processor's counter"));
        CHECK(count_steps(load(std::string(file.path()))) == 5);
    }

    TEST_CASE("what recording costs is told in the session's own ticks") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer's library has to come first");
            return;
        }
        const scratch_file file;
        run_program({"steps", "5", "0"}, {{"COROSCOPE_TRACE", file.path()},
                                          {"COROSCOPE_CLOCK", "monotonic"},
                                          {"STEPPING_CLOCK", "counting"},
                                          {"LD_PRELOAD", STEPPING_CLOCK}});
        const analysis::trace trace = load(std::string(file.path()));
        // A scope reads the clock twice, an await at least as often, and each reading takes a microsecond.
        CHECK(trace.scope_cost_ns >= 2000);
        CHECK(trace.scope_cost_ns < 2100);
        CHECK(trace.await_cost_ns >= 2000);
    }

    TEST_CASE("clocks that are set back and forth change no duration, and break no trace") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer's library has to come first");
            return;
        }
        for (const char* stepped : {"realtime", "monotonic"}) {
            for (const char* clock : {"counter", "monotonic"}) {
                CAPTURE(std::string(stepped));
                CAPTURE(std::string(clock));
                const scratch_file file;
                const program_end end = run_program({"sleep"}, {{"COROSCOPE_TRACE", file.path()},
                                                                {"COROSCOPE_CLOCK", clock},
                                                                {"STEPPING_CLOCK", stepped},
                                                                {"LD_PRELOAD", STEPPING_CLOCK}});
                CHECK(end.exit_code() == 0);
                const auto loaded = analysis::load(std::string(file.path()));
                REQUIRE(loaded);
                const analysis::trace& trace = *loaded;
                CHECK(count_steps(trace) == 5);
                const analysis::event* event = find(trace, "50 ms");
                REQUIRE(event != nullptr);
                CHECK(event->end_ns >= event->start_ns);
                if (std::string(stepped) != "realtime") continue;  // no system's does that
                CHECK(trace.health.warnings.empty());
                CHECK(event->end_ns - event->start_ns >= 49'900'000);
                CHECK(event->end_ns - event->start_ns <= trace.duration_ns);
                CHECK(trace.duration_ns < 60'000'000'000);
            }
        }
    }
}
