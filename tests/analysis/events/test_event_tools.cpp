// SPDX-License-Identifier: Apache-2.0

// The small types around events.

#include <coroscope/analysis/enforce_unique.hpp>
#include <coroscope/analysis/function_event.hpp>
#include <coroscope/analysis/memory_records.hpp>
#include <coroscope/analysis/string_table.hpp>

#include <doctest/doctest.h>

namespace {

using namespace coroscope::analysis;

TEST_CASE("interval: the elapsed time is the end minus the start") {
    CHECK(interval{3, 10}.elapsed_ns() == 7);
    CHECK(interval{10, 3}.elapsed_ns() == -7);
}

TEST_CASE("enforce_unique: the first sight of a key passes, and a repeat is an error that names "
          "the key") {
    enforce_unique keys;
    CHECK_FALSE(keys.see(3, 17));
    CHECK_FALSE(keys.see(17, 3));
    CHECK_FALSE(keys.see(3));
    CHECK_FALSE(keys.see("a, b", "c"));
    CHECK_FALSE(keys.see("a", "b, c"));
    REQUIRE(keys.see(3, 17));
    CHECK(keys.see(3, 17)->message == "duplicate key: (3, 17)");
    CHECK(keys.see(3)->message == "duplicate key: 3");
}

TEST_CASE("string_table: mangled names become readable, single characters and other names stay") {
    string_table names;
    CHECK(names["_ZN5space8functionEi"] == "space::function(int)");
    CHECK(names["t"] == "t");
    CHECK(names["aten::mm"] == "aten::mm");
    CHECK(names[""].empty());
    const std::string_view first = names["_ZN5space8functionEi"];
    CHECK(first.data() == names["_ZN5space8functionEi"].data());
}

memory_record at(std::int64_t time_ns, std::int64_t bytes, device_kind device = device_kind::cpu) {
    memory_record record;
    record.time_ns = time_ns;
    record.bytes = bytes;
    record.device = device;
    return record;
}

TEST_CASE("mem_records_acc: both ends are inclusive, and equal times keep their order") {
    const mem_records_acc records({at(20, 4), at(10, 1), at(20, 8), at(30, 16)});
    const index_range inside = records.in_interval(10, 20);
    REQUIRE(inside.size() == 3);
    CHECK(records[inside[0]].bytes == 1);
    CHECK(records[inside[1]].bytes == 4);
    CHECK(records[inside[2]].bytes == 8);
    CHECK(records.bytes(inside, device_kind::cpu) == 13);
    CHECK(records.in_interval(11, 19).empty());
    CHECK(records.bytes(records.in_interval(11, 19), device_kind::cpu) == 0);
    CHECK(records.in_interval(20, 20).size() == 2);
    CHECK(records.in_interval(20, 10).empty());
}

TEST_CASE("mem_records_acc: sums are per device, and a failed allocation adds no bytes") {
    memory_record failed = at(2, 1 << 20);
    failed.out_of_memory = true;
    const mem_records_acc records({at(1, 4), at(1, 32, device_kind::cuda), failed});
    const index_range all = records.in_interval(0, 9);
    CHECK(all.size() == 3);
    CHECK(records.bytes(all, device_kind::cpu) == 4);
    CHECK(records.bytes(all, device_kind::cuda) == 32);
}

}  // namespace
