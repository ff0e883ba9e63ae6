// SPDX-License-Identifier: Apache-2.0

// Ranges that end when a stream comes to where it is, against a CUDA runtime of the tests' own.

#include <coroscope/integration/cuda_completion.hpp>

#include <optional>
#include <thread>

#include "../futures/support.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("range on a stream") {
    TEST_CASE("it ends when the stream has done what it was asked for, before its callbacks") {
        recording session;
        fake_stream stream;
        stream.work();
        const range upload("upload");
        bool ended = false;
        upload.on_end([&ended, upload] { ended = upload.ended(); });
        CHECK(call_end_callbacks_on_stream(upload, stream.handle()) == cudaSuccess);
        stream.work();
        CHECK_FALSE(upload.ended());
        std::thread([&stream] { stream.complete(); }).join();
        CHECK(upload.ended());
        const recorded found = session.stop();
        const auto& event = found.event("upload");
        CHECK((event.flags & analysis::event_open) == 0);
        CHECK(found.end_thread(event) != event.thread);
    }

    TEST_CASE("on an idle stream it ends at once") {
        fake_stream stream;
        const range idle("idle");
        CHECK(call_end_callbacks_on_stream(idle, stream.handle()) == cudaSuccess);
        CHECK(idle.ended());
    }

    TEST_CASE("it may be ended before, and the stream's end then does nothing") {
        fake_stream stream;
        stream.work();
        const range early("early");
        int ends = 0;
        early.on_end([&ends] { ++ends; });
        CHECK(call_end_callbacks_on_stream(early, stream.handle()) == cudaSuccess);
        early.end();
        stream.complete();
        CHECK(ends == 1);
    }

    TEST_CASE("a second stream is refused and counted, and the first still ends it") {
        fake_stream first, second;
        first.work();
        second.work();
        const auto before = current_range_faults().attached_twice;
        const range ends("twice");
        CHECK(call_end_callbacks_on_stream(ends, first.handle()) == cudaSuccess);
        CHECK(call_end_callbacks_on_stream(ends, second.handle()) == cudaErrorInvalidValue);
        CHECK(current_range_faults().attached_twice == before + 1);
        second.complete();
        CHECK_FALSE(ends.ended());
        first.complete();
        CHECK(ends.ended());
    }

    TEST_CASE("where the stream cannot tell it ends, and the error is given") {
        fake_stream stream;
        stream.work();
        stream.refuse_callbacks(cudaErrorNotSupported);
        const range refused("refused");
        CHECK(call_end_callbacks_on_stream(refused, stream.handle()) == cudaErrorNotSupported);
        CHECK(refused.ended());
    }

    TEST_CASE("a stream that fails ends it, although no callback comes") {
        fake_stream stream;
        stream.work();
        const range fails("fails");
        CHECK(call_end_callbacks_on_stream(fails, stream.handle()) == cudaSuccess);
        stream.fail(cudaErrorLaunchFailure);
        while (!fails.ended()) std::this_thread::yield();
    }

    TEST_CASE("a record_function that goes before its stream is done ends there, and is counted") {
        fake_stream stream;
        stream.work();
        const auto before = current_range_faults().borrowed_died_early;
        std::optional<record_function> borrowed;
        borrowed.emplace("borrowed");
        CHECK(call_end_callbacks_on_stream(*borrowed, stream.handle()) == cudaSuccess);
        borrowed.reset();
        CHECK(current_range_faults().borrowed_died_early == before + 1);
        stream.complete();
    }
}
