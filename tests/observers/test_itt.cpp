// SPDX-License-Identifier: Apache-2.0

// emit_itt, by its calls of ITT. lib/integration/emit/itt.cpp is compiled into this test with an
// imitation of ITT, instead of the library's own copy.

#include <coroscope/integration/itt.hpp>

#include <ittnotify.h>

#include <thread>

#include "observing.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("itt") {
    TEST_CASE("scopes on the stack are ITT tasks of their thread, under their plain names") {
        const emit_itt emit{{.record_shapes = true}};
        REQUIRE(emit.active());
        {
            COROSCOPE_ARGS("outer", 1);
            const record_function inner("inner", deferred{3, 0});
        }
        CHECK(take_itt_calls() == lines{"coroscope begin outer", "coroscope begin inner",
                                        "coroscope end", "coroscope end"});
    }

    TEST_CASE("a range that may end on another thread is an overlapped task") {
        const emit_itt emit;
        const range first("first");
        const range second("second");
        std::thread([&first] { first.end(); }).join();
        second.end();
        CHECK(take_itt_calls() == lines{"coroscope begin 1 first", "coroscope begin 2 second",
                                        "coroscope end 1", "coroscope end 2"});
    }

    TEST_CASE("after the end of the emitter nothing is shown") {
        {
            const emit_itt emit;
        }
        {
            COROSCOPE("after");
        }
        CHECK(take_itt_calls().empty());
    }

    TEST_CASE("an emitter that is entered twice reports that it is not reentrant") {
        emit_itt emit;
        emit.start();
        CHECK(std::string(emit.message()) == "ITT annotation context manager is not reentrant");
        CHECK(emit.active());
    }

    TEST_CASE("the emitter shares the thread's slot with profile") {
        const profile session;
        const emit_itt emit;
        CHECK_FALSE(emit.active());
        CHECK(std::string(emit.message()) == "Profiler is already enabled on this thread.");
    }
}
