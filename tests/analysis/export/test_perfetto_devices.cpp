// SPDX-License-Identifier: Apache-2.0

// The tracks of devices in the export to Perfetto's format, and the arrows to and from them.

#include <coroscope/analysis/perfetto.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../loading.hpp"
#include "perfetto_decoding.hpp"

namespace coroscope::test {
namespace {

using coroscope_tests::decoded_picture;
using what = trace::device_activity;
using texts = std::vector<std::string>;

decoded_picture shown(trace_builder& made) {
    std::string bytes;
    const auto done = analysis::export_perfetto(load(made), [&bytes](std::string_view more) {
        bytes += more;
        return true;
    });
    REQUIRE(done.has_value());
    decoded_picture picture = coroscope_tests::decode_perfetto(bytes);
    CHECK(picture.faults == texts{});
    return picture;
}

TEST_CASE(
    "a device is a group of its own with a track per stream, and calls are on their threads") {
    trace_builder made;
    const auto gemm = made.site("gemm"), copy = made.site("copy"), launch = made.site("launch");
    made.device_name(0, "NVIDIA H100 80GB").device_name(1, "NVIDIA H100 80GB");
    made.on(1)
        .device({.start = 100, .end = 200, .site = gemm})
        .device({what::copy, 150, 180, copy, 0, 0, 0, 0, 1, 8})
        .device({.start = 300, .end = 400, .site = gemm, .device = 1})
        .device({.start = 500, .end = 600, .site = gemm, .device = trace::device_unknown})
        .device_call(50, 60, 1, launch);
    const decoded_picture picture = shown(made);
    const std::string lane = "NVIDIA H100 80GB/NVIDIA H100 80GB \xC2\xB7 stream ";
    CHECK(picture.lane(lane + "7") == texts{"gemm 100..200", "gemm 300..400"});  // of both devices
    CHECK(picture.lane(lane + "8") == texts{"copy 150..180"});
    CHECK(picture.lane("devices/devices \xC2\xB7 stream 7") == texts{"gemm 500..600"});
    CHECK(picture.lane("test/thread 1") == texts{"launch 50..60"});
    int groups = 0;
    for (const auto& [uuid, track] : picture.tracks)
        groups += track.name == "NVIDIA H100 80GB" && track.parent == 0 && track.pid == -1 ? 1 : 0;
    CHECK(groups == 2);
}

TEST_CASE("kernels that overlap on one stream have separate lanes") {
    trace_builder made;
    const auto gemm = made.site("gemm");
    made.device_name(0, "a device");
    made.on(1)
        .device({.start = 100, .end = 200, .site = gemm})
        .device({.start = 150, .end = 260, .site = gemm});
    const decoded_picture picture = shown(made);
    CHECK(picture.lane("a device/a device \xC2\xB7 stream 7") == texts{"gemm 100..200"});
    CHECK(picture.lane("a device/overlapping 1") == texts{"gemm 150..260"});
}

TEST_CASE("arrows lead from a call to its kernel, and from the last kernel to the resumed task") {
    trace_builder made;
    const auto one = made.site("one"), two = made.site("two"), launch = made.site("launch");
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(10, 1)
        .suspend(20, 1)
        .resume(400, 1)
        .finish(450, 1);
    made.on(2).wake(320, 1, 0, 2);
    made.on(2)
        .device({.start = 100, .end = 200, .site = one, .correlation = 1})
        .device({.start = 200, .end = 300, .site = two})
        .device_call(50, 90, 1, launch);
    const texts found = shown(made).arrows();
    REQUIRE(found.size() == 3);
    CHECK(found[0] == "awaited 299 -> after stream 7 400");
    CHECK(found[1] == "launch 50 -> one 100");
    CHECK(found[2].starts_with("wake 320 -> "));
}

TEST_CASE(
    "annotations hold the details of a device event, and the stream that an await waited for") {
    trace_builder made;
    made.on(1)
        .spawn(0, 1, 0, trace::spawn_started)
        .device_wait(10, 1)
        .suspend(20, 1, made.site("gpu", "x.cpp", 3, trace::site_kind::await))
        .resume(400, 1)
        .finish(450, 1);
    made.on(2).device({what::copy, 100, 200, made.site("copy"), 1, 0, 3, 0, 1, 7, 4096, 70});
    const decoded_picture picture = shown(made);
    const auto& copy = *picture.named("copy").at(0);
    CHECK(copy.category == "copy");
    CHECK(copy.arguments == std::map<std::string, std::string>{{"task", "1"},
                                                               {"context", "1"},
                                                               {"stream", "7"},
                                                               {"correlation", "3"},
                                                               {"bytes", "4096"},
                                                               {"queued_ns", "30"}});
    const auto& await = *picture.named("await gpu").at(0);
    CHECK(await.arguments.at("waited_for") == "stream 7");
    CHECK(await.arguments.at("device_ns") == "100");
}

}  // namespace
}  // namespace coroscope::test
