// SPDX-License-Identifier: Apache-2.0

// Databases in the form of a profiler's, with rows from the fuzzer's input: damage inside a
// well-formed file. COROSCOPE_FUZZ_SCHEMA selects the profiler whose tables they have. The input
// gives, row by row, a table, and for each of its columns a kind and a value.

#include "target.hpp"

#include <array>
#include <cstdlib>
#include <memory>

#include <coroscope/analysis/load_events.hpp>
#include <sqlite3.h>

namespace coroscope_fuzz {
namespace {

struct table {
    const char* name;
    const char* columns;
    int count;
};

// Each fuzzer uses one of these, see meson.build.
[[maybe_unused]] constexpr table nvprof[] = {
    {"StringTable", "_id_, value", 2},
    {"CUPTI_ACTIVITY_KIND_MARKER", "_id_, flags, timestamp, id, objectKind, objectId, name, domain",
     8},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "_id_, cbid, start, end, processId, threadId, correlationId, returnValue", 8},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
     "_id_, start, end, correlationId, deviceId, streamId, name", 7},
};

[[maybe_unused]] constexpr table nsight[] = {
    {"StringIds", "id, value", 2},
    {"NVTX_EVENTS", "start, end, eventType, text, globalTid, endGlobalTid, textId, domainId", 8},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start, end, globalTid, correlationId, nameId", 5},
    {"CUPTI_ACTIVITY_KIND_KERNEL", "start, end, deviceId, streamId, correlationId, demangledName",
     6},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "start, end, deviceId, streamId, correlationId, copyKind", 6},
    {"CUPTI_ACTIVITY_KIND_MEMSET", "start, end, deviceId, streamId, correlationId", 5},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs", 1},
};

constexpr auto& schema = COROSCOPE_FUZZ_SCHEMA;

/// The rest of the input, followed by zeros.
class recipe {
public:
    explicit recipe(std::string_view bytes) : left_(bytes) {}
    [[nodiscard]] bool done() const { return left_.empty(); }

    template <class Value>
    Value take() {
        Value value{};
        left_.remove_prefix(left_.copy(reinterpret_cast<char*>(&value), sizeof value));
        return value;
    }
    std::string_view text() {
        const std::size_t size = std::min<std::size_t>(take<std::uint8_t>(), left_.size());
        const std::string_view taken = left_.substr(0, size);
        left_.remove_prefix(size);
        return taken;
    }

private:
    std::string_view left_;
};

void bind(sqlite3_stmt* row, int column, recipe& from) {
    switch (from.take<std::uint8_t>() % 8) {
        case 0: sqlite3_bind_null(row, column); break;
        case 1: sqlite3_bind_int64(row, column, from.take<std::int64_t>()); break;
        case 2: sqlite3_bind_double(row, column, from.take<double>()); break;
        case 3: {
            const std::string_view text = from.text();
            sqlite3_bind_text(row, column, text.data(), static_cast<int>(text.size()),
                              SQLITE_TRANSIENT);
            break;
        }
        case 4: sqlite3_bind_int64(row, column, from.take<std::uint8_t>() * 64); break;
        default: sqlite3_bind_int64(row, column, from.take<std::uint8_t>() % 16); break;
    }
}

std::string insertion(const table& into) {
    std::string text = std::string("INSERT INTO ") + into.name + " VALUES (?";
    for (int column = 1; column < into.count; ++column) text += ", ?";
    return text + ")";
}

void fill(sqlite3* database, recipe from) {
    sqlite3_exec(database, "BEGIN", nullptr, nullptr, nullptr);
    std::array<sqlite3_stmt*, std::size(schema)> rows{};
    for (std::size_t each = 0; each < std::size(schema); ++each) {
        const table& made = schema[each];
        const std::string create =
            std::string("CREATE TABLE ") + made.name + "(" + made.columns + ")";
        sqlite3_exec(database, create.c_str(), nullptr, nullptr, nullptr);
        if (sqlite3_prepare_v2(database, insertion(made).c_str(), -1, &rows[each], nullptr) !=
            SQLITE_OK)
            std::abort();
    }
    while (!from.done()) {
        const std::size_t chosen = from.take<std::uint8_t>() % std::size(schema);
        for (int column = 1; column <= schema[chosen].count; ++column)
            bind(rows[chosen], column, from);
        sqlite3_step(rows[chosen]);
        sqlite3_reset(rows[chosen]);
    }
    for (sqlite3_stmt* each : rows) sqlite3_finalize(each);
    sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
}

}  // namespace

void feed(std::string_view bytes) {
    namespace analysis = coroscope::analysis;
    sqlite3* database = nullptr;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK) std::abort();
    fill(database, recipe(bytes));
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, void (*)(void*)> file(
        sqlite3_serialize(database, "main", &size, 0), sqlite3_free);
    sqlite3_close(database);
    const auto loaded = analysis::load_events(
        coroscope::trace::buffer::copy(file.get(), static_cast<std::size_t>(size)));
    if (loaded)
        ask_all(*loaded);
    else
        check_failure(loaded.error().message);
}

}  // namespace coroscope_fuzz
