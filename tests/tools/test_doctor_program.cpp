// SPDX-License-Identifier: Apache-2.0

// The rows of `coroscope doctor` about a program, from planted readings.

#include <string>
#include <utility>

#include <elf.h>

#include "doctor_readings.hpp"
#include "tools/doctor/judge_program.hpp"

using namespace coroscope::tools;

namespace {

program_readings program() {
    program_readings read{.path = "service", .form = file_form::elf, .own_machine = EM_X86_64};
    read.elf = {.type = ET_DYN, .machine = EM_X86_64, .interpreted = true, .pie = true};
    read.elf.needed = {"libcoroscope.so.0", "libc.so.6"};
    read.elf.has_symbols = true;
    read.elf.has_debug_lines = true;
    return read;
}

}  // namespace

TEST_SUITE("doctor: a program") {
    TEST_CASE("a program that needs the runtime lacks nothing") {
        for (const fact& each : judge_program(program())) CHECK(each.state == fact_state::yes);
    }

    TEST_CASE("a static program cannot preload") {
        program_readings read = program();
        read.elf.interpreted = false;
        read.elf.needed.clear();
        read.elf.has_runtime = true;
        CHECK(row(judge_program(read), "preloaded libraries").state == fact_state::no);
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::yes);
        CHECK(row(judge_program(read), "Coroscope in it").state == fact_state::yes);
    }

    TEST_CASE("only a static program with symbols proves that the recorder is missing") {
        program_readings read = program();
        read.elf.needed = {"libc.so.6", "libcoroscope-analysis.so.0"};
        CHECK(row(judge_program(read), "Coroscope in it").state == fact_state::unknown);
        CHECK_FALSE(lacks_essential(judge_program(read)));
        read.elf.needed.clear();
        read.elf.interpreted = false;
        CHECK(row(judge_program(read), "Coroscope in it").state == fact_state::no);
        CHECK(lacks_essential(judge_program(read)));
        read.elf.has_symbols = false;
        CHECK(row(judge_program(read), "Coroscope in it").state == fact_state::unknown);
    }

    TEST_CASE("special rights switch variables and preloading off if they take effect") {
        program_readings read = program();
        read.has_id_bits = true;
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::yes);
        read.changes_user = true;
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::no);
        CHECK(row(judge_program(read), "preloaded libraries").state == fact_state::no);
        read.changes_ignored = true;
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::yes);
        read = program();
        read.has_capabilities = true;
        CHECK(has(row(judge_program(read), "COROSCOPE_ variables").why, "file capabilities"));
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::no);
        read.by_root = true;
        CHECK(row(judge_program(read), "COROSCOPE_ variables").state == fact_state::yes);
    }

    TEST_CASE("separate debug information counts") {
        program_readings read = program();
        read.elf.has_symbols = read.elf.has_debug_lines = false;
        CHECK(row(judge_program(read), "names of functions").state == fact_state::partly);
        CHECK(row(judge_program(read), "debug lines").state == fact_state::no);
        read.debug_file = "/usr/lib/debug/service.debug";
        CHECK(row(judge_program(read), "names of functions").state == fact_state::yes);
        CHECK(has(row(judge_program(read), "debug lines").why, "service.debug"));
    }

    TEST_CASE("a file that is not a program has one row") {
        const auto only = [](const program_readings& read) {
            const facts rows = judge_program(read);
            REQUIRE(rows.size() == 1);
            return rows.front();
        };
        program_readings read = program();
        read.form = file_form::script;
        read.script_interpreter = "/bin/sh";
        CHECK(only(read).state == fact_state::unknown);
        CHECK(has(only(read).why, "/bin/sh"));
        read.form = file_form::other;
        CHECK(only(read).state == fact_state::no);
        read = program();
        read.elf.interpreted = read.elf.pie = false;
        CHECK(has(only(read).why, "not a program"));
    }

    TEST_CASE("a program for another processor is reported as such") {
        program_readings read = program();
        read.elf.machine = EM_AARCH64;
        CHECK(judge_program(read).front().state == fact_state::unknown);
    }
}
