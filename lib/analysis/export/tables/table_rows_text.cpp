// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/table_exports.hpp>

#include <cmath>

#include <fmt/format.h>

#include "../../text/csv_writer.hpp"
#include "../../text/utf8.hpp"
#include "data_tables.hpp"

namespace coroscope::analysis {
namespace {

constexpr std::size_t rows_part_bytes = std::size_t{1} << 16;

/// Passes the text of rows on in parts.
class rows_of_text : public row_sink {
public:
    explicit rows_of_text(const byte_sink& sink) : sink_(sink) {}

    [[nodiscard]] bool failed() const noexcept final { return failed_; }
    [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }

protected:
    ~rows_of_text() = default;

    void pass_on(std::string_view part) {
        if (!failed_ && !part.empty()) failed_ = !sink_(part);
    }
    void count() noexcept { ++rows_; }

private:
    const byte_sink& sink_;
    std::uint64_t rows_ = 0;
    bool failed_ = false;
};

class csv_rows final : public rows_of_text {
public:
    csv_rows(const byte_sink& sink, const data_table& table, bool guard_formulas)
        : rows_of_text(sink), guard_formulas_(guard_formulas), csv_(guard_formulas) {
        for (const data_column& each : table.columns) csv_.cell(each.name);
        csv_.end_row();
    }

    void integer(std::int64_t value) override { csv_.cell(value); }
    void real(double value) override {
        if (!std::isfinite(value)) return null();
        csv_.cell(std::string_view(fmt::format("{}", value)));
    }
    void text(std::string_view value) override { csv_.cell(value); }
    void null() override { csv_.cell(optional_ns()); }
    void end_row() override {
        csv_.end_row();
        count();
        if (++pending_ >= rows_per_part) flush();
    }
    void flush() {
        pass_on(std::move(csv_).take());
        csv_ = csv_writer(guard_formulas_);
        pending_ = 0;
    }

private:
    static constexpr int rows_per_part = 256;

    bool guard_formulas_;
    csv_writer csv_;
    int pending_ = 0;
};

class ndjson_rows final : public rows_of_text {
public:
    ndjson_rows(const byte_sink& sink, const data_table& table)
        : rows_of_text(sink), columns_(table.columns) {}

    void integer(std::int64_t value) override {
        key();
        fmt::format_to(std::back_inserter(text_), "{}", value);
    }
    void real(double value) override {
        if (!std::isfinite(value)) return null();
        key();
        fmt::format_to(std::back_inserter(text_), "{}", value);
    }
    void text(std::string_view value) override {
        key();
        append_json_string(text_, value);
    }
    void null() override {
        key();
        text_ += "null";
    }
    void end_row() override {
        text_ += "}\n";
        column_ = 0;
        count();
        if (text_.size() >= rows_part_bytes) flush();
    }
    void flush() {
        pass_on(text_);
        text_.clear();
    }

private:
    void key() {
        text_ += column_ == 0 ? "{\"" : ",\"";
        text_ += columns_[column_++].name;
        text_ += "\":";
    }

    std::span<const data_column> columns_;
    std::size_t column_ = 0;
    std::string text_;
};

template <class Rows>
written write_rows_of(const trace& from, const data_table& table, Rows rows) {
    table.write(from, rows);
    rows.flush();
    if (rows.failed()) return failure{"the table could not be written"};
    return rows.rows();
}

}  // namespace

std::vector<std::string_view> data_table_names() {
    std::vector<std::string_view> names;
    for (const data_table& each : all_data_tables()) names.push_back(each.name);
    return names;
}

written export_table(const trace& from, std::string_view table, rows_form form,
                     const byte_sink& sink, bool guard_formulas) {
    const data_table* const found = find_data_table(table);
    if (found == nullptr) return failure{fmt::format("there is no table \"{}\"", printable(table))};
    return form == rows_form::csv
               ? write_rows_of(from, *found, csv_rows(sink, *found, guard_formulas))
               : write_rows_of(from, *found, ndjson_rows(sink, *found));
}

}  // namespace coroscope::analysis
