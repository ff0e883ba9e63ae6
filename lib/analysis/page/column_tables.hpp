// SPDX-License-Identifier: Apache-2.0
#pragma once

// The tables of a page, column by column. A table is a block of its own: the base64 of the gzip of
// its columns. Nothing of a table stays in memory but its description.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include <coroscope/analysis/chrome.hpp>

#include "../export/gzip_sink.hpp"
#include "page_sink.hpp"

namespace coroscope::analysis::inline pages {

/// The form of a column's values. -1 is an unknown value, or none.
enum class column_coding : std::uint8_t {
    byte,   ///< 0 to 255
    count,  ///< not negative
    maybe,  ///< not negative, or -1
    delta,  ///< any
    back,   ///< the number of an earlier row, or -1
    real,   ///< a double
};

/// The head of a column. `of`: the table, list or enumeration that the values refer to; empty:
/// none.
struct column_head {
    std::string_view name;
    column_coding coding = column_coding::count;
    std::string_view of{};
};

class column_tables {
public:
    /// `to` must outlive it.
    explicit column_tables(page_sink& to) : to_(to) {}

    /// Begins a table. A table without rows has a description alone.
    void begin(std::string_view table, std::size_t rows);

    /// Writes a column. value(row) must return the value of each row: an integer, or a double for
    /// column_coding::real.
    template <class Value>
    void column(const column_head& head, const Value& value) {
        begin_column(head);
        for (std::size_t row = 0; row < rows_ && to_.good(); ++row) {
            if constexpr (std::is_same_v<decltype(value(row)), double>)
                put_real(value(row));
            else
                put(row, static_cast<std::int64_t>(value(row)));
        }
        end_column();
    }

    void end();

    /// Returns the descriptions of all tables as a JSON object.
    [[nodiscard]] std::string schema() const {
        return std::string("{").append(schema_).append("}");
    }

private:
    /// The compressor of the current table.
    struct pipeline {
        explicit pipeline(page_sink& to)
            : base64(to),
              pass([this](std::string_view bytes) { return base64.write(bytes); }),
              gzip(pass) {}
        base64_sink base64;
        byte_sink pass;
        gzip_sink gzip;
    };

    void begin_column(const column_head& head);
    void end_column();
    void put(std::size_t row, std::int64_t value);
    void put_varint(std::uint64_t value);
    void put_real(double value);
    void pass_on_if(std::size_t least);

    page_sink& to_;
    std::unique_ptr<pipeline> compressed_;
    std::size_t rows_ = 0;
    column_head head_;
    std::int64_t before_ = 0;
    std::int64_t most_ = 0;
    std::int64_t least_ = 0;
    std::string bytes_;
    std::string schema_;
    bool has_column_ = false;
};

}  // namespace coroscope::analysis::inline pages
