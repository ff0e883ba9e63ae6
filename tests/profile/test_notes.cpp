// SPDX-License-Identifier: Apache-2.0

// The optional data of scopes: shapes, stacks, sequence numbers and modules. Written with the
// runtime, read with the analysis.

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/modules.hpp>
#include <coroscope/sequence.hpp>
#include <coroscope/shapes.hpp>

#include "../support/skip.hpp"
#include "support/awaitables.hpp"
#include "support/build.hpp"
#include "support/foreign.hpp"
#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace shaped {

// A type with the interface of std::mdspan.
struct view {
    using element_type = const float;
    using index_type = std::size_t;
    std::size_t rows, columns;
    static constexpr std::size_t rank() noexcept { return 2; }
    std::size_t extent(std::size_t dimension) const { return dimension == 0 ? rows : columns; }
    const view& extents() const { return *this; }
    std::size_t stride(std::size_t dimension) const { return dimension == 0 ? columns : 1; }
};

struct tensor {
    std::vector<std::uint64_t> sizes;
};
void coroscope_shape(shape_writer& shape, const tensor& of) {
    for (const std::uint64_t size : of.sizes) shape.dimension(size);
    shape.type("bfloat16");
}

}  // namespace shaped

namespace {

const analysis::event_note* note_of(const recorded& found, std::string_view event) {
    const auto at = static_cast<std::uint32_t>(&found.event(event) - found.trace.events.data());
    return analysis::find_note(found.trace, at);
}

// A thread's stack on which the depth of a call can be measured.
class measured_stack {
public:
    /// Runs `body` twice on the stack, so that memory that is made once per thread is not measured.
    /// Returns the bytes that the second run used.
    template <class Body>
    std::size_t depth_of(const Body& body) {
        std::size_t depth = 0;
        pthread_attr_t attributes;
        REQUIRE(::pthread_attr_init(&attributes) == 0);
        REQUIRE(::pthread_attr_setstack(&attributes, bytes_.data(), bytes_.size()) == 0);
        const auto run = [&] {
            body();
            depth = second_depth(body);
        };
        using run_type = decltype(run);
        pthread_t thread{};
        const auto start = [](void* given) -> void* {
            (*static_cast<const run_type*>(given))();
            return nullptr;
        };
        REQUIRE(::pthread_create(&thread, &attributes, start,
                                 const_cast<void*>(static_cast<const void*>(&run))) == 0);
        ::pthread_join(thread, nullptr);
        ::pthread_attr_destroy(&attributes);
        return depth;
    }

private:
    static constexpr unsigned char untouched = 0xa5;

    template <class Body>
    [[gnu::noinline]] std::size_t second_depth(const Body& body) {
        auto* const here = static_cast<unsigned char*>(__builtin_frame_address(0));
        constexpr std::ptrdiff_t own_frame = 512;  // of this function and the red zone
        unsigned char* const low =
            bytes_.data() + bytes_.size() / 8;  // the thread's guard may be below
        for (unsigned char* at = low; at < here - own_frame; ++at)
            *const_cast<volatile unsigned char*>(at) = untouched;
        body();
        unsigned char* deepest = low;
        while (deepest < here && *const_cast<volatile unsigned char*>(deepest) == untouched)
            ++deepest;
        return static_cast<std::size_t>(here - deepest);
    }

    alignas(4096) std::array<unsigned char, 256U << 10> bytes_{};
};

struct inputs {
    std::string shapes, strides, types, values;
};

template <class... Arguments>
inputs noted(const Arguments&... arguments) {
    recording session({.record_shapes = true});
    {
        COROSCOPE_ARGS("call", arguments...);
    }
    const recorded found = session.stop();
    const analysis::event_note* note = note_of(found, "call");
    REQUIRE(note != nullptr);
    const auto text = [&](std::uint32_t index) { return found.trace.strings[index]; };
    return {text(note->input_shapes), text(note->input_strides), text(note->input_types),
            text(note->concrete_inputs)};
}

std::vector<std::uint64_t> stack_of(const recorded& found, std::string_view event) {
    const analysis::event_note* note = note_of(found, event);
    REQUIRE(note != nullptr);
    REQUIRE(note->stack != analysis::none);
    const analysis::call_stack& stack = found.trace.stacks[note->stack];
    return {&found.trace.frames[stack.first], &found.trace.frames[stack.first] + stack.count};
}

std::uintptr_t called_from = 0;
[[gnu::noinline]] void calls_inner() {
    COROSCOPE("inner");
    called_from = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
}
[[gnu::noinline]] void calls_outer() {
    COROSCOPE("outer");
    calls_inner();
    asm volatile("");  // no tail call
}

[[gnu::noinline]] int descend(int depth, const char* label) {
    if (depth == 0) {
        const record_function range(label);
        return 1;
    }
    const int below = descend(depth - 1, label);
    asm volatile("");  // no tail call
    return below + 1;
}

std::string module_of(const recorded& found, std::string_view event) {
    const std::uint32_t value =
        analysis::attribute_value(found.trace, found.event(event).attribute, module_key);
    return value == analysis::none ? "none" : found.trace.strings[value];
}

}  // namespace

TEST_SUITE("record_shapes") {
    TEST_CASE("ranges show their size, and scalars their value and no dimensions") {
        const inputs call = noted(std::vector<double>(3), 7, std::string("text"), true);
        CHECK(call.shapes == "[[3], [], [], []]");
        CHECK(call.strides == "[[1], [], [], []]");
        CHECK(call.types == "[\"double\", \"int\", \"\", \"bool\"]");
        CHECK(call.values == "[\"\", \"7\", \"text\", \"true\"]");
    }

    TEST_CASE("a type with extents shows them, with its strides") {
        const inputs call = noted(shaped::view{4, 5});
        CHECK(call.shapes == "[[4, 5]]");
        CHECK(call.strides == "[[5, 1]]");
        CHECK(call.types == "[\"float\"]");
        CHECK(call.values == "[\"\"]");
    }

    TEST_CASE("arrays of arrays have several dimensions, built-in arrays and the library's") {
        const float matrix[2][3] = {};
        const std::vector<std::array<short, 4>> rows(6);
        const inputs call = noted(matrix, rows);
        CHECK(call.shapes == "[[2, 3], [6, 4]]");
        CHECK(call.strides == "[[3, 1], [4, 1]]");
#if defined(__clang__)  // the spelling depends on the compiler
        CHECK(call.types == "[\"float\", \"short\"]");
#else
        CHECK(call.types == "[\"float\", \"short int\"]");
#endif
    }

    TEST_CASE("a type may describe itself, and if one stride is unknown, all are") {
        const inputs call = noted(shaped::tensor{{8, 1, 2}});
        CHECK(call.shapes == "[[8, 1, 2]]");
        CHECK(call.strides == "[[]]");
        CHECK(call.types == "[\"bfloat16\"]");
    }

    TEST_CASE("values are JSON strings with any content, and long ones are cut") {
        const inputs call = noted(std::string("a\"b\\c\n"), std::string(100, 'x'));
        CHECK(call.values == R"(["a\"b\\c\u000a", ")" + std::string(64, 'x') + "\"]");
    }

    TEST_CASE("arguments beyond the room are left out together, and the scope stays") {
        profile session({.record_shapes = true});
        {
            COROSCOPE_ARGS("call", shaped::tensor{std::vector<std::uint64_t>(400, 1)});
        }
        const auto loaded = analysis::load(session.stop());
        REQUIRE(loaded);
        CHECK(loaded->notes.empty());
        CHECK(loaded->events.size() == 1);
    }

    TEST_CASE("a session that asks for no notes gets none, and it may ask for values and shapes "
              "separately") {
        const std::vector<int> values(2);
        recording neither(profile_options{});
        {
            COROSCOPE_ARGS("call", values);
        }
        CHECK(neither.stop().trace.notes.empty());
        recording both({.record_arguments = true, .with_flops = true});
        {
            COROSCOPE_ARGS("call", values);
        }
        const recorded found = both.stop();
        CHECK(found.arguments(found.event("call")) == "?");
        CHECK(found.trace.notes.size() == 1);
    }
}

TEST_SUITE("with_stack") {
    TEST_CASE("a scope's stack begins in its function and continues in its callers") {
        recording session({.with_stack = true});
        calls_outer();
        const recorded found = session.stop();
        const auto inner = stack_of(found, "inner"), outer = stack_of(found, "outer");
        REQUIRE(inner.size() >= 3);
        // A frame of the recorder comes first if thread-locals are read out of line, and so do
        // functions that are not inlined for a sanitizer.
        const auto call = std::find(inner.begin(), inner.end(), called_from - 1) - inner.begin();
        REQUIRE(call < (sanitized ? 6 : 3));
        CHECK(inner.size() == outer.size() + 1);
        CHECK(std::equal(outer.begin() + call, outer.end(), inner.begin() + call + 1));
    }

    TEST_CASE("the stacks of ranges leave the recorder out, and a session that asks for no stacks "
              "has none") {
        recording session({.with_stack = true});
        {
            const record_function range("range");
        }
        const recorded found = session.stop();
        const auto here = reinterpret_cast<std::uintptr_t>(&calls_outer);
        std::uintptr_t module = 0;
        for (const analysis::code_module& each : found.trace.modules)
            if (here - each.load_address < each.bytes) module = each.load_address;
        CHECK(module != 0);
        CHECK(stack_of(found, "range")[0] - module < 1U << 30);
        recording without(profile_options{});
        calls_outer();
        const recorded none = without.stop();
        CHECK(none.trace.stacks.empty());
    }

    TEST_CASE("a stack of more frames than are kept ends in the reason, and a whole one does not") {
        recording session({.with_stack = true});
        descend(100, "deep");
        descend(0, "whole");
        const recorded found = session.stop();
        const auto deep = stack_of(found, "deep"), whole = stack_of(found, "whole");
        CHECK(deep.size() == 65);
        CHECK(deep.back() == trace::stack_cut);
        CHECK(whole.back() != trace::stack_cut);
        CHECK(whole.back() != trace::stack_given_up);
        const analysis::event_list events = analysis::events_of(found.trace);
        const std::string text(analysis::function_event(events, 0).stack());
        CHECK(text.ends_with("\n(more frames, which were not recorded)"));
    }

    TEST_CASE("the modules of addresses are described, with their files") {
        recording session({.with_stack = true});
        calls_outer();
        const recorded found = session.stop();
        for (const std::uint64_t address : stack_of(found, "inner")) {
            const auto in = std::count_if(
                found.trace.modules.begin(), found.trace.modules.end(),
                [address](const auto& each) { return address - each.load_address < each.bytes; });
            CHECK(in == 1);
        }
        CHECK(std::any_of(
            found.trace.modules.begin(), found.trace.modules.end(),
            [](const auto& each) { return each.path.find("libcoroscope") != std::string::npos; }));
    }
}

TEST_SUITE("sequence numbers") {
    TEST_CASE("a range that creates work and the range that runs it have one number") {
        recording session;
        deferred work;
        {
            const record_function forward("forward", next_deferred());
            work = defer();
        }
        std::thread([work] { const record_function run("backward", work); }).join();
        const recorded found = session.stop();
        const analysis::event_note& forward = *note_of(found, "forward");
        const analysis::event_note& backward = *note_of(found, "backward");
        CHECK(forward.sequence_number == work.number);
        CHECK(forward.forward_thread == analysis::none);
        CHECK(backward.sequence_number == work.number);
        CHECK(backward.forward_thread == found.event("forward").thread);
        CHECK(found.event("backward").thread != backward.forward_thread);
    }

    TEST_CASE("numbers rise by one on each thread, and reading the next number does not take it") {
        const std::int64_t first = next_deferred().number;
        CHECK(next_deferred().number == first);
        CHECK(defer().number == first);
        CHECK(defer().number == first + 1);
        std::thread([] {
            CHECK(defer().number == 0);
            CHECK(defer().number == 1);
        }).join();
        CHECK(next_deferred().number == first + 2);
    }

    TEST_CASE("ranges without a place in a sequence have no note") {
        recording session;
        {
            const record_function range("plain", deferred{});
        }
        CHECK(session.stop().trace.notes.empty());
    }
}

TEST_SUITE("with_modules") {
    TEST_CASE("guards nest into a path, and scopes after them are outside again") {
        recording session({.with_modules = true});
        {
            const module_guard encoder("Encoder");
            {
                COROSCOPE("embedding");
            }
            const module_guard layer(std::string("Layer"));
            COROSCOPE("attention");
        }
        {
            COROSCOPE("after");
        }
        const recorded found = session.stop();
        CHECK(module_of(found, "embedding") == "Encoder");
        CHECK(module_of(found, "attention") == "Encoder.Layer");
        CHECK(module_of(found, "after") == "none");
    }

    TEST_CASE("a session that does not ask for modules carries none") {
        recording session(profile_options{});
        const module_guard encoder("Encoder");
        {
            COROSCOPE("inside");
        }
        CHECK_FALSE(current_attribute(module_key));
        const recorded found = session.stop();
        CHECK(module_of(found, "inside") == "none");
    }

    TEST_CASE("shapes take little stack") {
        if (sanitized) {
            COROSCOPE_SKIP("a sanitizer makes frames larger");
            return;
        }
        recording session({.all_threads = true, .record_shapes = true});
        static measured_stack stack;
        const std::vector<float> values(12);
        const shaped::view matrix{3, 4};
        const std::size_t depth =
            stack.depth_of([&] { COROSCOPE_ARGS("shaped", values, matrix, 7.5); });
        CHECK(depth > 0);
        CHECK(depth <= 2048);
        const recorded found = session.stop();
        CHECK(found.count("shaped") == 2);
        CHECK(found.trace.notes.size() == 2);
    }
}
