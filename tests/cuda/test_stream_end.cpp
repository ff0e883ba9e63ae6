// SPDX-License-Identifier: Apache-2.0

// Ranges that end when a stream has done its earlier work, against a fake CUDA runtime.

#include <coroscope/integration/cuda_completion.hpp>

#include <optional>
#include <thread>

#include "../futures/support.hpp"
#include "fake_cudart.hpp"

using namespace coroscope;
using namespace coroscope::test;

TEST_SUITE("range on a stream") {
    TEST_CASE(
        "a range ends when the stream has done its earlier work, before the range's callbacks") {
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

    TEST_CASE("on an idle stream a range ends at once") {
        fake_stream stream;
        const range idle("idle");
        CHECK(call_end_callbacks_on_stream(idle, stream.handle()) == cudaSuccess);
        CHECK(idle.ended());
    }

    TEST_CASE("a range may be ended before, and the stream's end then does nothing") {
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

    TEST_CASE("a second stream is refused and counted, and the first one still ends the range") {
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

    TEST_CASE("if the stream accepts no callback, the range ends, and the error is returned") {
        fake_stream stream;
        stream.work();
        stream.refuse_callbacks(cudaErrorNotSupported);
        const range refused("refused");
        CHECK(call_end_callbacks_on_stream(refused, stream.handle()) == cudaErrorNotSupported);
        CHECK(refused.ended());
    }

    TEST_CASE("a stream that fails ends the range, although no callback comes") {
        fake_stream stream;
        stream.work();
        const range fails("fails");
        CHECK(call_end_callbacks_on_stream(fails, stream.handle()) == cudaSuccess);
        stream.fail(cudaErrorLaunchFailure);
        while (!fails.ended()) std::this_thread::yield();
    }

    TEST_CASE("a record_function that is destroyed before its stream is done is counted") {
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
