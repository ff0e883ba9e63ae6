// SPDX-License-Identifier: Apache-2.0

// packed_list: rows come out as they went in, packed or not.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <coroscope/analysis/model.hpp>

namespace {

enum class colour : std::uint8_t { red, green };

struct row {
    std::uint64_t id = 0;
    std::int64_t time_ns = 0;
    coroscope::analysis::optional_ns end_ns;
    std::uint32_t index = coroscope::analysis::none;
    colour shade = colour::red;
    bool flag = false;
    coroscope::analysis::index_range range;

    auto fields() const {
        return std::tuple(id, time_ns, end_ns, index, shade, flag, range.size(),
                          range.empty() ? 0 : range.front());
    }
    bool operator==(const row& other) const { return fields() == other.fields(); }
};

}  // namespace

template <>
struct coroscope::analysis::packed_columns<row> {
    using type = std::tuple<packed_member<&row::id>, packed_member<&row::time_ns>,
                            packed_member<&row::end_ns>, packed_member<&row::index>,
                            packed_member<&row::shade>, packed_member<&row::flag>,
                            packed_inner<&row::range, packed_range::first>,
                            packed_inner<&row::range, packed_range::count>>;
};

namespace coroscope::test {
namespace {

using analysis::none;
using analysis::packed_list;

constexpr std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_ns = std::numeric_limits<std::int64_t>::max();

row random_row(std::mt19937_64& random, std::uint64_t spread) {
    const auto value = [&] { return spread == 0 ? random() : random() % spread; };
    row made;
    made.id = value();
    made.time_ns = static_cast<std::int64_t>(value());
    if (random() % 3 != 0) made.end_ns = -static_cast<std::int64_t>(value() >> 1U);
    if (random() % 4 != 0) made.index = static_cast<std::uint32_t>(value());
    made.shade = random() % 2 != 0 ? colour::green : colour::red;
    made.flag = random() % 2 != 0;
    made.range = {static_cast<std::uint32_t>(value()), static_cast<std::uint32_t>(value() | 1U)};
    return made;
}

std::vector<row> random_rows(std::size_t count, std::uint64_t spread) {
    std::mt19937_64 random(count + spread);
    std::vector<row> made;
    while (made.size() < count) made.push_back(random_row(random, spread));
    return made;
}

packed_list<row> packed(const std::vector<row>& rows) {
    packed_list<row> list;
    for (const row& each : rows) list.append(each);
    return list;
}

void check_equal(const packed_list<row>& list, const std::vector<row>& rows) {
    REQUIRE(list.size() == rows.size());
    bool equal = true;
    for (std::size_t at = 0; at < rows.size(); ++at) equal &= list[at] == rows[at];
    CHECK(equal);
    CHECK(std::ranges::equal(list, rows));
}

}  // namespace

TEST_CASE("a packed list gives back the rows that were added") {
    for (const std::uint64_t spread : {1U, 2U, 1000U, 4'000'000'000U, 0U})
        for (const std::size_t count : {0U, 1U, 511U, 512U, 513U, 1024U, 3000U}) {
            CAPTURE(spread);
            CAPTURE(count);
            const std::vector<row> rows = random_rows(count, spread);
            check_equal(packed(rows), rows);
        }
}

TEST_CASE("a packed list keeps unknown values, and the smallest and largest known ones") {
    std::vector<row> rows(1500);
    for (std::size_t at = 0; at < rows.size(); ++at) {
        if (at % 3 == 1) rows[at].end_ns = at % 2 != 0 ? most_ns : least_ns + 1;
        rows[at].time_ns = at % 2 != 0 ? least_ns : most_ns;
        rows[at].index = at % 5 == 0 ? none : at % 5 == 1 ? none - 1 : 0;
        rows[at].id = at % 2 != 0 ? ~std::uint64_t{0} : 0;
    }
    check_equal(packed(rows), rows);
}

TEST_CASE("a row of a packed list can be replaced by any other row") {
    std::vector<row> rows = random_rows(2000, 50);
    packed_list<row> list = packed(rows);
    std::mt19937_64 random(1);
    for (int each = 0; each < 300; ++each) {
        const std::size_t at = random() % rows.size();
        rows[at] = random_row(random, each % 2 != 0 ? 50 : 0);
        list.set(at, rows[at]);
    }
    check_equal(list, rows);
}

TEST_CASE("an update of a packed list changes the rows for which it returns true") {
    std::vector<row> rows = random_rows(2000, 50);
    packed_list<row> list = packed(rows);
    list.update([](row& each, std::size_t at) {
        if (at % 700 != 3) return false;
        each.id = at;
        each.index = none;
        return true;
    });
    for (std::size_t at = 3; at < rows.size(); at += 700) rows[at].id = at, rows[at].index = none;
    check_equal(list, rows);
}

TEST_CASE("an element of a list that is not const can be changed in place") {
    std::vector<row> rows = random_rows(1300, 9);
    packed_list<row> list = packed(rows);
    list[5].id = rows[5].id = 77;
    list.back().flag = rows.back().flag = true;
    list.emplace_back().time_ns = 8;
    rows.emplace_back().time_ns = 8;
    check_equal(list, rows);
    list.pack();
    check_equal(list, rows);
}

TEST_CASE("rows can be removed from a packed list, by their values and from its end") {
    std::vector<row> rows = random_rows(3000, 9);
    packed_list<row> list = packed(rows);
    const auto is_removed = [](const row& each) { return each.id % 3 == 0; };
    list.remove_if(is_removed);
    std::erase_if(rows, is_removed);
    check_equal(list, rows);
    for (const std::size_t size : {1900U, 1024U, 513U, 700U, 0U}) {
        CAPTURE(size);
        if (size > rows.size() + 300) continue;
        list.resize(size);
        rows.resize(size);
        check_equal(list, rows);
    }
}

TEST_CASE("a packed list can be searched like an ordered vector") {
    std::vector<row> rows(5000);
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at].time_ns = 3 * static_cast<int>(at);
    const packed_list<row> list = packed(rows);
    const auto found = std::ranges::lower_bound(list, 7000, {}, &row::time_ns);
    CHECK(found - list.begin() == 2334);
    CHECK(found->time_ns == 7002);
    CHECK(std::prev(found)->time_ns == 6999);
    CHECK(std::ranges::count_if(list, [](const row& each) { return each.time_ns < 30; }) == 10);
}

TEST_CASE("a copy of a packed list is independent of it") {
    const std::vector<row> rows = random_rows(1100, 100);
    const packed_list<row> list = packed(rows);
    packed_list<row> copy = list;
    copy[0].id = 12345;
    copy.clear();
    check_equal(list, rows);
}

}  // namespace coroscope::test
