// SPDX-License-Identifier: Apache-2.0
#include <coroscope/trace/buffer.hpp>

#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <utility>

namespace trace = coroscope::trace;

TEST_CASE("a buffer copies the bytes it is given") {
    const char text[] = "trace";
    const trace::buffer copied = trace::buffer::copy(text, sizeof(text));
    REQUIRE(copied.size() == sizeof(text));
    CHECK(std::memcmp(copied.data(), text, sizeof(text)) == 0);
    CHECK(static_cast<const void*>(copied.data()) != text);
}

TEST_CASE("a copy of nothing is empty") {
    const trace::buffer copied = trace::buffer::copy(nullptr, 0);
    CHECK(copied.empty());
    CHECK(copied.data() == nullptr);
}

TEST_CASE("a buffer adopts memory from malloc and hands it on when moved") {
    void* memory = std::malloc(8);
    trace::buffer adopted = trace::buffer::adopt(memory, 8);
    trace::buffer moved = std::move(adopted);
    CHECK(moved.data() == memory);
    CHECK(adopted.empty());  // NOLINT(bugprone-use-after-move): the empty state is promised
    moved = trace::buffer();
    CHECK(moved.empty());
}
