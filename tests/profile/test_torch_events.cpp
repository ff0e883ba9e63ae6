// SPDX-License-Identifier: Apache-2.0

// The optional data of sessions in torch's events: shapes, FLOPs, stacks, modules, memory, sequence
// numbers.

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/flops.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/symbolizer.hpp>
#include <coroscope/memory.hpp>
#include <coroscope/modules.hpp>
#include <coroscope/scheduled_profile.hpp>
#include <coroscope/sequence.hpp>

#include "support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;
using analysis::event_list;
using analysis::function_event;

namespace {

struct matrix {
    std::vector<std::uint64_t> extents;
};
void coroscope_shape(shape_writer& shape, const matrix& of) {
    for (const std::uint64_t extent : of.extents) shape.dimension(extent);
    shape.type("float");
}

function_event named(const event_list& events, std::string_view name) {
    std::vector<function_event> found;
    for (std::uint32_t at = 0; at < events.size(); ++at)
        if (function_event(events, at).name() == name) found.emplace_back(events, at);
    INFO("event ", std::string(name));
    REQUIRE(found.size() == 1);
    return found.front();
}

[[gnu::noinline]] void function_of_a_known_name() {
    COROSCOPE("named by its stack");
    asm volatile("");
}

[[gnu::always_inline]] inline void inlined_function(int argument) {
    const record_function scope("in an inlined call", argument);
    asm volatile("");
}
[[gnu::noinline]] void function_that_inlines() {
    inlined_function(1);
    asm volatile("");
}

template <class... Arguments>
double flops_of(const char* label, const Arguments&... arguments) {
    recording session({.with_flops = true});
    {
        COROSCOPE_ARGS("call", arguments...);
    }
    recorded found = session.stop();
    for (std::string& text : found.trace.strings)
        if (text == "call") text = label;
    const event_list events = analysis::events_of(found.trace);
    return named(events, label).flops();
}

}  // namespace

TEST_SUITE("torch's events of a native trace") {
    TEST_CASE("shapes, strides, types and values are the event's inputs") {
        recording session({.record_shapes = true});
        {
            COROSCOPE_ARGS("call", std::vector<float>(4), 2);
        }
        const event_list events = analysis::events_of(session.stop().trace);
        const function_event call = named(events, "call");
        CHECK(events.shapes);
        CHECK(call.input_shapes() == "[[4], []]");
        CHECK(call.input_strides() == "[[1], []]");
        CHECK(call.input_dtypes() == "[\"float\", \"int\"]");
        CHECK(call.concrete_inputs() == "[\"\", \"2\"]");
    }

    TEST_CASE(
        "each event of a session with modules has its module path, and the node of the session") {
        recording session({.with_modules = true, .node_id = 3});
        {
            const module_guard layer("Layer");
            COROSCOPE("inside");
        }
        {
            COROSCOPE("outside");
        }
        const event_list events = analysis::events_of(session.stop().trace);
        CHECK(named(events, "inside").modules() == "Layer");
        CHECK(named(events, "outside").modules().empty());
        CHECK(named(events, "outside").node_id() == 3);
    }

    TEST_CASE("memory belongs to the scopes that were open on its thread") {
        recording session({.profile_memory = true});
        const int block = 0;
        {
            COROSCOPE("outer");
            report_allocation(&block, 100);
            COROSCOPE("inner");
            report_allocation(&block, 28);
            report_release(&block, 8);
        }
        report_allocation(&block, 1);
        report_out_of_memory(7);
        const event_list events = analysis::events_of(session.stop().trace);
        CHECK(events.memory_profile);
        CHECK(named(events, "outer").cpu_memory_usage() == 120);
        CHECK(named(events, "outer").self_cpu_memory_usage() == 100);
        CHECK(named(events, "inner").self_cpu_memory_usage() == 20);
        CHECK(named(events, "[memory]").cpu_memory_usage() == 1);
        named(events, "[OutOfMemory]");
    }

    TEST_CASE("deferred work has the number, the thread and the stack of its creator") {
        recording session({.all_threads = true, .with_stack = true});
        deferred work;
        {
            const record_function forward("forward", next_deferred());
            work = defer();
        }
        std::thread([work] { const record_function run("backward", work); }).join();
        const event_list events = analysis::events_of(session.stop().trace);
        const function_event forward = named(events, "forward"),
                             backward = named(events, "backward");
        CHECK(forward.sequence_nr() == work.number);
        CHECK(forward.fwd_thread() == 0);
        CHECK(backward.sequence_nr() == work.number);
        CHECK(backward.fwd_thread() != 0);
        CHECK(backward.scope() == analysis::record_scope::backward_function);
        CHECK(forward.activity_type() == analysis::activity::cpu_op);
        CHECK_FALSE(forward.stack().empty());
        CHECK(backward.stack() == forward.stack());
    }

    TEST_CASE("all steps have one name, and keep their numbers in the trace name") {
        std::vector<recorded> cycles;
        scheduled_profile profiler(
            {}, schedule({.warmup = 1, .active = 2}),
            [&cycles](finished_cycle& done) { cycles.push_back(load(done.trace)); });
        profiler.start();
        for (int step = 0; step < 3; ++step) profiler.step();
        REQUIRE(cycles.size() == 1);
        const event_list events = analysis::events_of(cycles[0].trace);
        REQUIRE(events.size() == 2);
        CHECK(function_event(events, 0).name() == "ProfilerStep*");
        CHECK(function_event(events, 0).trace_name() == "ProfilerStep#1");
        CHECK(function_event(events, 1).trace_name() == "ProfilerStep#2");
    }
}

TEST_SUITE("stacks") {
    TEST_CASE(
        "a frame names its function and line if there is debug information, else its module") {
        recording session({.with_stack = true});
        function_of_a_known_name();
        const recorded found = session.stop();
        const event_list events = analysis::events_of(found.trace);
        const std::string stack(named(events, "named by its stack").stack());
        const std::string innermost = stack.substr(0, stack.find('\n'));
        if (innermost.find("+0x") != std::string::npos &&
            innermost.find('(') == std::string::npos) {
            CHECK(innermost.find("test_torch_events+0x") != std::string::npos);
            MESSAGE("SKIP: no debug information, or no library that reads it");
            return;
        }
        INFO(stack);
        CHECK(innermost.find("function_of_a_known_name") != std::string::npos);
        CHECK(innermost.find("test_torch_events.cpp(") != std::string::npos);
        CHECK(innermost.find("): ") != std::string::npos);
    }

    TEST_CASE("an inlined call is a frame, and the recorder's functions are not") {
        recording session({.with_stack = true});
        function_that_inlines();
        const recorded found = session.stop();
        const event_list events = analysis::events_of(found.trace);
        const std::string stack(named(events, "in an inlined call").stack());
        INFO(stack);
        if (stack.find("test_torch_events.cpp(") == std::string::npos) {
            MESSAGE("SKIP: no debug information, or no library that reads it");
            return;
        }
        const std::string innermost = stack.substr(0, stack.find('\n'));
        CHECK(innermost.find("test_torch_events.cpp(") != std::string::npos);
        CHECK(innermost.find("inlined_function") != std::string::npos);
        const std::string outer = stack.substr(innermost.size() + 1);
        CHECK(outer.substr(0, outer.find('\n')).find("function_that_inlines") != std::string::npos);
        CHECK(stack.find("coroscope/") == std::string::npos);
    }

    TEST_CASE(
        "an address outside all modules is a number, and one in a missing file is an offset") {
        analysis::trace loaded;
        loaded.modules.push_back({0x1000, 0x100, "/nowhere/lib\nfoo.so", "aa"});
        analysis::symbolizer symbols(loaded);
        using lines = std::vector<std::string>;
        CHECK(symbols.frames(0x50) == lines{"0x50"});
        CHECK(symbols.frames(0x1010) == lines{"lib\\nfoo.so+0x10"});
        CHECK(symbols.frames(0x1100) == lines{"0x1100"});
    }

    TEST_CASE("a file with another build id is not used") {
        recording session({.with_stack = true});
        function_of_a_known_name();
        recorded found = session.stop();
        for (analysis::code_module& each : found.trace.modules) each.build_id = "00";
        analysis::symbolizer symbols(found.trace);
        const std::string stack = symbols.stack(found.trace.stacks.front());
        CHECK(stack.find("test_torch_events+0x") != std::string::npos);
        CHECK(stack.find("function_of_a_known_name") == std::string::npos);
    }
}

TEST_SUITE("flops") {
    TEST_CASE(
        "matrix products count twice rows, columns and depth, and batched ones times the batch") {
        CHECK(flops_of("mm", matrix{{2, 3}}, matrix{{3, 5}}) == 2.0 * 2 * 3 * 5);
        CHECK(flops_of("aten::mm", matrix{{2, 3}}, matrix{{3, 5}}) == 60);
        CHECK(flops_of("addmm", matrix{{5}}, matrix{{2, 3}}, matrix{{3, 5}}) == 60);
        CHECK(flops_of("bmm", matrix{{7, 2, 3}}, matrix{{7, 3, 5}}) == 420);
        CHECK(flops_of("baddbmm", matrix{{5}}, matrix{{7, 2, 3}}, matrix{{7, 3, 5}}) == 420);
    }

    TEST_CASE("mul and add count the elements of their first argument") {
        CHECK(flops_of("mul", matrix{{4, 5}}, 2.5) == 20);
        CHECK(flops_of("add", matrix{{6}}, matrix{{6}}) == 6);
    }

    TEST_CASE("conv2d counts by its output, with stride, padding, dilation and groups") {
        const matrix input{{2, 4, 10, 12}}, weight{{8, 4, 3, 3}};
        CHECK(flops_of("conv2d", input, weight) == 2.0 * 2 * 8 * 10 * 3 * 3 * 4 * 8);
        CHECK(flops_of("conv2d", input, weight, 0, "[2, 1]", "[1, 0]", "[1, 1]", 2) ==
              2.0 * 2 * 5 * 10 * 3 * 3 * 4 * 8 / 2);
        CHECK(flops_of("conv2d", input, weight, 0, "1", "0", "2", 1) ==
              2.0 * 2 * 6 * 8 * 3 * 3 * 4 * 8);
    }

    TEST_CASE("missing data gives 0 and a warning, and a label without a formula gives 0 without a "
              "warning") {
        recording session({.with_flops = true});
        {
            COROSCOPE_ARGS("mm", matrix{{2, 3, 4}}, 1);
        }
        {
            COROSCOPE("addmm");
        }
        {
            COROSCOPE_ARGS("softmax", matrix{{2, 3}});
        }
        event_list events = analysis::events_of(session.stop().trace);
        CHECK(named(events, "mm").flops() == 0);
        CHECK(named(events, "softmax").flops() == 0);
        CHECK(std::count_if(events.health.warnings.begin(), events.health.warnings.end(),
                            [](const std::string& each) { return each.starts_with("FLOPs of"); }) ==
              2);
        analysis::flops_registry formulas;
        formulas.add("softmax", [](const analysis::flops_inputs& in) { return in.elements(0); });
        analysis::compute_flops(events, formulas);
        CHECK(named(events, "softmax").flops() == 6);
    }

    TEST_CASE("a trace without a label that has a formula gives one warning with the remedy") {
        recording session({.with_flops = true});
        {
            COROSCOPE_ARGS("softmax", matrix{{2, 3}});
        }
        const event_list events = analysis::events_of(session.stop().trace);
        CHECK(events.health.warnings ==
              std::vector<std::string>{
                  "FLOPs: no scope has a label with a formula; add one with flops_registry::add"});
    }

    TEST_CASE("hostile shapes give a large figure or 0") {
        const matrix huge{{1ULL << 62, 1ULL << 62}};
        CHECK(flops_of("mm", huge, huge) > 1e50);
        CHECK(flops_of("conv2d", matrix{{1, 1, 1, 1}}, matrix{{1, 1, 9, 9}}) == 0);
        CHECK(flops_of("conv2d", matrix{{1, 1, 9, 9}}, matrix{{1, 1, 3, 3}}, 0, "0") == 0);
    }
}
