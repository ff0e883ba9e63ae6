// SPDX-License-Identifier: Apache-2.0

// Records the fixtures of the trace format's current version.
//
//     record_fixtures FOLDER     writes FOLDER/NAME.cst, the same packed (NAME.packedN.cst, in
//                                version N), and their contents (NAME.txt)
//
// recorded.cst and watched.cst are sessions of this program; built.cst has records for which a
// session needs a device or a crash, facts.cst each kind of fact. Fixtures are written once per version of the format, before that version is released, and
// never again.

#include <array>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory_resource>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <coroscope/analysis/load.hpp>
#include <coroscope/coroscope.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/memory_resource.hpp>
#include <coroscope/stream_range.hpp>
#include <coroscope/trace/pack.hpp>
#include <coroscope/trace/pack_format.hpp>

#include "describe.hpp"
#include "facts_trace.hpp"
#include "record_watched.hpp"
#include "trace_builder.hpp"

namespace {

using coroscope::task;

void leaf(int value) {
    COROSCOPE_ARGS("leaf", value);
    COROSCOPE_CAT("inner", 2, "inner");
}

// Runs each job on a thread of its own.
struct thread_per_job {
    template <class Job>
    void execute(Job job) {
        std::thread([job = std::move(job)]() mutable { job(); }).join();
    }
};
using hopping = coroscope::executor_adaptor<thread_per_job>;

task<int> read_row(int row) {
    COROSCOPE_FUNCTION();
    leaf(row);
    co_return row;
}

task<> fails() {
    COROSCOPE("before the failure");
    throw std::runtime_error("as it should");
    co_return;
}

task<> request(hopping& executor, int number) {
    const coroscope::attribute tenant("tenant", number);
    COROSCOPE("request");
    int sum = 0;
    for (int row = 0; row < 3; ++row) sum += co_await COROSCOPE_AWAIT("row", read_row(row));
    co_await executor.schedule();
    leaf(sum);
    try {
        co_await fails();
    } catch (const std::runtime_error&) {
        COROSCOPE("after the failure");
    }
}

void allocate() {
    COROSCOPE("allocate");
    coroscope::memory_resource memory(std::pmr::new_delete_resource());
    [[maybe_unused]] const std::pmr::string text(1000, 'x', &memory);
}

void record(const std::string& file) {
    coroscope::profile_options options;
    options.output = file.c_str();
    options.all_threads = true;
    options.record_arguments = true;
    options.record_shapes = true;
    options.profile_memory = true;
    options.open_scopes = true;
    options.chunk_bytes = 4096;
    options.trace_id = []() noexcept -> const char* { return "FIXTURE"; };
    coroscope::profile session(options);
    thread_per_job threads;
    hopping executor(threads);
    for (int number = 0; number < 4; ++number) coroscope::sync_wait(request(executor, number));
    {
        const coroscope::record_function label(std::string("made at run time"));
        const std::array<float, 6> values{};
        COROSCOPE_ARGS("shapes", values);
        allocate();
    }
    const coroscope::stream_range stream("rows");
    for (int item = 0; item < 5; ++item) stream.item();
    COROSCOPE("open at the end");
    session.stop();
}

coroscope::test::trace_builder built() {
    namespace trace = coroscope::trace;
    coroscope::test::trace_builder made;
    const auto launch = made.site("launch", "gpu.cpp", 7);
    const auto kernel = made.site("kernel", "", 0, trace::site_kind::operation);
    const auto spawned = made.site("pipeline", "gpu.cpp", 3, trace::site_kind::coroutine);
    made.header.devices = 1;
    made.device_name(0, "a device");
    made.on(1)
        .spawn(5, 3, spawned, trace::spawn_started)
        .scope(launch, 8, 21)
        .device_call(10, 20, 5, kernel, 1, 3)
        .device({.start = 25, .end = 60, .site = kernel, .task = 3, .correlation = 5})
        .device_wait(22, 3)
        .suspend(23, 3)
        .resume(70, 3);
    made.on(2).takes_over(1, 75).scope(launch, 76, 79);
    made.open_scope(1, launch, 80, 3);
    made.leave_open();
    made.live_task({.task = 3, .spawn_ticks = 5, .parent = 1, .site = spawned, .flags = 0});
    return made;
}

void write(const std::filesystem::path& file, std::string_view bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
}

void write(const std::filesystem::path& file, const coroscope::test::trace_builder& made) {
    const auto bytes = made.bytes();
    write(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string packed(const std::string& file) {
    std::string bytes;
    const auto done = coroscope::trace::pack(file, [&bytes](std::string_view part) {
        bytes.append(part);
        return true;
    });
    return done ? bytes : std::string();
}

}  // namespace

int main(int count, char** words) {
    if (count != 2 || std::filesystem::exists(words[1])) {
        std::fputs("usage: record_fixtures FOLDER, which must not be there yet\n", stderr);
        return 2;
    }
    const std::filesystem::path folder = words[1];
    std::filesystem::create_directories(folder);
    record(folder / "recorded.cst");
    coroscope::test::record_watched(folder / "watched.cst");
    write(folder / "built.cst", built());
    write(folder / "facts.cst", coroscope::test::facts_trace());
    for (const char* name : {"recorded", "watched", "built", "facts"}) {
        const std::string file = folder / (std::string(name) + ".cst");
        const auto loaded = coroscope::analysis::load(file);
        if (!loaded) {
            std::fprintf(stderr, "%s: %s\n", file.c_str(), loaded.error().message.c_str());
            return 1;
        }
        write(folder / (name + coroscope::test::packed_ending(coroscope::trace::pack_version)),
              packed(file));
        write(folder / (std::string(name) + ".txt"), coroscope::test::describe(*loaded));
    }
    return 0;
}
