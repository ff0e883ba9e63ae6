// SPDX-License-Identifier: Apache-2.0

// emit_nvtx, by the calls that a tool sees.

#include <coroscope/integration/nvtx.hpp>

#include <thread>

#include "nvtx_calls.hpp"
#include "observing.hpp"
#include "support/awaitables.hpp"
#include "support/foreign.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Not inlined: clang would put its frame on the stack of its caller.
[[gnu::noinline]] foreign::manual<foreign::plain> in_frame(slot& at) {
    COROSCOPE("in frame");
    co_await suspend_into(at);
}

}  // namespace

TEST_SUITE("nvtx") {
    TEST_CASE("the domain is coroscope, and is made once") {
        const emit_nvtx emit;
        CHECK(emit.active());
        {
            COROSCOPE("one");
        }
        const lines found = nvtx_calls();
        REQUIRE_FALSE(found.empty());
        CHECK((found.front() == "domain coroscope" || found.front() == "push coroscope: one"));
        {
            COROSCOPE("two");
        }
        CHECK(nvtx_calls() == lines{"push coroscope: two", "pop"});
    }

    TEST_CASE("scopes on the stack are pushed and popped") {
        make_nvtx_domain();
        const emit_nvtx emit;
        {
            COROSCOPE("outer");
            const record_function user("user");
            COROSCOPE("inner");
        }
        CHECK(nvtx_calls() == lines{"push coroscope: outer", "push coroscope: user",
                                    "push coroscope: inner", "pop", "pop", "pop"});
    }

    TEST_CASE("ranges, and scopes in a coroutine's frame, are started and ended, on any thread") {
        make_nvtx_domain();
        const emit_nvtx emit{{.all_threads = true}};
        const range upload("upload");
        std::thread([upload] { upload.end(); }).join();
        CHECK(nvtx_calls() == lines{"start 1 coroscope: upload", "end 1"});
        slot at;
        auto frame = in_frame(at);
        frame.resume();
        std::thread([&at] { at.resume(); }).join();
        CHECK(nvtx_calls() == lines{"start 1 coroscope: in frame", "end 1"});
    }

    TEST_CASE("a pushed range that ends on another thread is popped by its own thread") {
        make_nvtx_domain();
        const emit_nvtx emit;
        {
            record_function left("left");
            const range shared_end("shared");
            std::thread([&left] { left.end(); }).join();
            CHECK(nvtx_calls() == lines{"push coroscope: left", "start 1 coroscope: shared"});
            {
                COROSCOPE("next");
            }
            CHECK(nvtx_calls() == lines{"pop", "push coroscope: next", "pop"});
        }
        CHECK(nvtx_calls() == lines{"end 1"});
    }

    TEST_CASE("ranges that begin before or after the emitter are not shown, and a range that began "
              "under it has its end") {
        make_nvtx_domain();
        {
            COROSCOPE("before");
            emit_nvtx emit;
            auto open = std::make_unique<record_function>("open");
            emit.stop();
            CHECK_FALSE(emit.active());
            {
                COROSCOPE("after");
            }
            open.reset();
        }
        CHECK(nvtx_calls() == lines{"start 1 coroscope: open", "end 1"});
    }

    TEST_CASE("another thread's scopes are shown only if all threads are asked for, or the "
              "thread's work started them") {
        make_nvtx_domain();
        const emit_nvtx emit;
        std::thread([] { COROSCOPE("other"); }).join();
        std::thread(propagate([] { COROSCOPE("started"); })).join();
        CHECK(nvtx_calls() == lines{"push coroscope: started", "pop"});
    }

    TEST_CASE("an emitter that is entered twice reports that it is not reentrant, and stays on") {
        emit_nvtx emit;
        emit.start();
        CHECK(std::string(emit.message()) == "NVTX annotation context manager is not reentrant");
        CHECK(emit.active());
    }

    TEST_CASE("the emitter can be stopped and started again") {
        make_nvtx_domain();
        emit_nvtx emit;
        emit.stop();
        {
            COROSCOPE("off");
        }
        emit.start();
        CHECK(std::string(emit.message()).empty());
        {
            COROSCOPE("on");
        }
        CHECK(nvtx_calls() == lines{"push coroscope: on", "pop"});
    }

    TEST_CASE("the emitter shares the thread's slot with profile, both ways") {
        constexpr const char* refused = "Profiler is already enabled on this thread.";
        {
            const emit_nvtx emit;
            const emit_nvtx nested;
            CHECK_FALSE(nested.active());
            CHECK(std::string(nested.message()) == refused);
            for (const bool all : {false, true}) {
                const profile session{{.all_threads = all}};
                CHECK(session.status().state == session_state::refused);
                CHECK(std::string(session.status().message) == refused);
            }
        }
        profile session;
        CHECK(session.status().state == session_state::recording);
        const emit_nvtx emit;
        CHECK_FALSE(emit.active());
        CHECK(std::string(emit.message()) == refused);
        session.stop();
        const emit_nvtx after;
        CHECK(after.active());
    }

    TEST_CASE("on another thread the slot is free, unless the emitter's thread started the work") {
        const emit_nvtx emit;
        std::thread([] {
            const profile session;
            CHECK(session.status().state == session_state::recording);
        }).join();
        std::thread(propagate([] {
            const profile session;
            CHECK(session.status().state == session_state::refused);
        })).join();
    }

    TEST_CASE("a disabled emitter does nothing, and is not refused") {
        make_nvtx_domain();
        emit_nvtx emit{{.enabled = false}};
        emit.start();
        {
            COROSCOPE("x");
        }
        CHECK_FALSE(emit.active());
        CHECK(std::string(emit.message()).empty());
        CHECK(nvtx_calls().empty());
    }

    TEST_CASE("a place in a sequence is shown") {
        make_nvtx_domain();
        const emit_nvtx emit;
        const deferred work = defer();
        {
            const record_function forward("pow", deferred{4, 0});
        }
        {
            const record_function backward("PowBackward0", work);
        }
        const lines found = nvtx_calls();
        REQUIRE(found.size() == 4);
        CHECK(found[0] == "push coroscope: pow, seq = 4");
        CHECK(found[2] == "push coroscope: PowBackward0, seq = " + std::to_string(work.number));
    }

    TEST_CASE(
        "with shapes the emitter shows ids, sizes, and the operation that produced each input") {
        make_nvtx_domain();
        const emit_nvtx emit{{.record_shapes = true}};
        const std::vector<float> left(6);
        std::vector<float> product;
        std::uint64_t multiplied = 0;
        const registered ids(add_global_observer(
            observer([&](const scope_info& scope) { multiplied = scope.id(); }).needs_ids()));
        {
            const record_function multiply("mul", left, 2.0);
            product.assign(6, 1);
            multiply.outputs(product);
        }
        const std::string id = std::to_string(multiplied);
        const std::string next = std::to_string(multiplied + 1);
        {
            COROSCOPE_ARGS("add", product, left);
        }
        {
            COROSCOPE("bare");
        }
        const lines found = nvtx_calls();
        REQUIRE(found.size() == 6);
        CHECK(found[0] == "push coroscope: mul, op_id = " + id +
                              ", sizes = [[6], []], input_op_ids = [(0,-1), (0,-1)]");
        CHECK(found[2] == "push coroscope: add, op_id = " + next +
                              ", sizes = [[6], [6]], input_op_ids = [(" + id + ",0), (0,-1)]");
        CHECK(found[4] == "push coroscope: bare, op_id = " + std::to_string(multiplied));
    }

    TEST_CASE("without shapes the emitter shows neither ids nor sizes") {
        make_nvtx_domain();
        const emit_nvtx emit;
        {
            COROSCOPE_ARGS("add", std::vector<int>(3));
        }
        CHECK(nvtx_calls() == lines{"push coroscope: add", "pop"});
    }
}
