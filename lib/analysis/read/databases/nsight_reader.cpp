// SPDX-License-Identifier: Apache-2.0
#include "nsight_reader.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../../text/warnings.hpp"
#include "nsight_ids.hpp"
#include "nsight_rest.hpp"

namespace coroscope::analysis::inline databases {
namespace {

constexpr const char* texts = "StringIds";
constexpr const char* ranges = "NVTX_EVENTS";
constexpr const char* calls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* copies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* sets = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* graphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
constexpr std::array read_tables{texts, ranges, calls, kernels, copies, sets, graphs};

// Nsight's numbers for kinds of NVTX events.
constexpr std::int64_t push_pop_range = 59;
constexpr std::int64_t start_end_range = 60;

struct span_of_row {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

/// Reads the start from column 1 and the end from column 2, which may be NULL.
span_of_row read_span(sqlite_rows& rows) {
    span_of_row span;
    span.start_ns = rows.integer(1);
    span.end_ns = rows.maybe_integer(2).value_or(span.start_ns);
    if (span.end_ns < span.start_ns) rows.fail("it ends before it begins");
    return span;
}

class nsight_reader {
public:
    explicit nsight_reader(sqlite_database& database) : database_(database) {}

    result<event_list> read() {
        read_texts();
        if (database_.has_table(ranges)) read_ranges();
        if (database_.has_table(calls)) read_calls();
        find_ranges_of_calls();
        if (database_.has_table(kernels)) read_kernels();
        if (database_.has_table(copies)) read_copies();
        if (database_.has_table(sets)) read_sets();
        if (database_.has_table(graphs)) read_graphs();
        read_start();
        finish();
        if (database_.problem()) return *database_.problem();
        if (list_.rows.empty() && database_.odd().any()) return database_.odd().first();
        database_.odd().warn_of(list_.health.warnings);
        warn_of_other_tables(database_, read_tables, list_.health.warnings);
        return std::move(list_);
    }

private:
    void read_texts();
    void read_ranges();
    void read_calls();
    void open_range(std::vector<std::uint32_t>& open, std::uint32_t row) const;
    void find_ranges_of_calls();
    void read_kernels();
    void read_copies();
    void read_sets();
    void read_graphs();
    void read_start();
    void finish();

    event_row& add(const span_of_row& span, std::string_view name, std::string_view category);
    void add_device(sqlite_rows& rows, std::string_view name, std::string_view category,
                    activity what);
    [[nodiscard]] call_key key_of(std::int64_t correlation, std::optional<std::int64_t> id) const;
    std::uint32_t number_of(const call_key& key);
    std::uint32_t text(sqlite_rows& rows, int column);
    std::string optional_column(const char* table, const char* column);

    sqlite_database& database_;
    event_list list_;
    std::unordered_map<std::int64_t, std::uint32_t> texts_;  // to the list's
    std::unordered_map<call_key, call, call_key_hash> calls_;
    std::unordered_map<std::int64_t, std::int64_t> processes_;  // the first caller, by correlation
    std::unordered_map<call_key, std::uint32_t, call_key_hash> numbers_;  // numbers in the list
    std::unordered_set<std::uint32_t> taken_;                             // the values of numbers_
    std::uint32_t last_number_ = 0;
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> ranges_;  // rows by global thread
    std::vector<std::uint32_t> unfinished_;
};

void nsight_reader::read_texts() {
    sqlite_rows rows(database_, texts, "SELECT id, value FROM StringIds");
    while (rows.next()) {
        const std::int64_t id = rows.integer(0);
        const std::uint32_t value = list_.intern(rows.text(1));
        if (!rows.is_odd() && !texts_.try_emplace(id, value).second)
            rows.fail("duplicate key", std::to_string(id));
    }
}

std::uint32_t nsight_reader::text(sqlite_rows& rows, int column) {
    const auto found = texts_.find(rows.integer(column));
    if (found != texts_.end()) return found->second;
    rows.fail("its name is none of the table StringIds");
    return list_.intern({});
}

/// The column, or NULL if this version of Nsight does not have it.
std::string nsight_reader::optional_column(const char* table, const char* column) {
    return database_.has_column(table, column) ? column : std::string("NULL AS ") + column;
}

event_row& nsight_reader::add(const span_of_row& span, std::string_view name,
                              std::string_view category) {
    event_row& row = list_.rows.emplace_back();
    row.start_ns = span.start_ns;
    row.end_ns = span.end_ns;
    row.name = list_.intern(name);
    row.category = list_.intern(category);
    return row;
}

void nsight_reader::read_ranges() {
    sqlite_rows rows(database_, ranges,
                     "SELECT rowid, start, end, eventType, globalTid, text, " +
                         optional_column(ranges, "textId") + ", " +
                         optional_column(ranges, "endGlobalTid") +
                         " FROM NVTX_EVENTS WHERE eventType IN (" + std::to_string(push_pop_range) +
                         ", " + std::to_string(start_end_range) + ")");
    while (rows.next()) {
        const auto text_id = rows.maybe_integer(6);
        const std::string_view name =
            text_id && rows.text(5).empty() ? list_.text(text(rows, 6)) : rows.text(5);
        const span_of_row span = read_span(rows);
        const std::int64_t thread = rows.maybe_integer(4).value_or(0);
        const auto end_thread = rows.maybe_integer(7);
        if (rows.is_odd()) continue;
        event_row& row = add(span, name, "user_annotation");
        const auto index = static_cast<std::uint32_t>(list_.rows.size() - 1);
        const global_id id(thread);
        row.what = activity::user_annotation;
        row.flags = row_user_annotation;
        row.thread = list_.lane(id.process, id.thread);
        row.external_id = list_.rows.size();
        if (!rows.maybe_integer(2)) {
            // The end is unknown until finish(). Until then the range encloses every later call.
            row.end_ns = std::numeric_limits<std::int64_t>::max();
            unfinished_.push_back(index);
        }
        if (rows.integer(3) == push_pop_range) {
            ranges_[thread].push_back(index);
            continue;
        }
        row.flags |= row_async;
        if (!end_thread || *end_thread == thread) continue;
        const global_id end(*end_thread);
        list_.extra_of(row).end_thread = list_.lane(end.process, end.thread);
    }
}

void nsight_reader::read_calls() {
    sqlite_rows rows(database_, calls,
                     "SELECT rowid, start, end, globalTid, correlationId, nameId "
                     "FROM CUPTI_ACTIVITY_KIND_RUNTIME ORDER BY start, rowid");
    while (rows.next()) {
        const std::uint32_t name = text(rows, 5);
        const span_of_row span = read_span(rows);
        const std::int64_t thread = rows.maybe_integer(3).value_or(0);
        const auto correlation = rows.maybe_integer(4);
        if (rows.is_odd()) continue;
        event_row& row = add(span, list_.text(name), "cuda_runtime");
        const global_id id(thread);
        row.what = activity::runtime;
        row.thread = list_.lane(id.process, id.thread + " (CUDA API)");
        if (!correlation) continue;
        // Calls of one correlation are nested; the first one, which encloses the others, stands for
        // all.
        const call_key key{process_of(thread), *correlation};
        processes_.try_emplace(*correlation, key.process);
        if (calls_.try_emplace(key, call{thread, row.start_ns, row.end_ns, 0}).second)
            row.correlation = number_of(key);
    }
}

/// Returns the key of a device activity. `id` contains its process. Without `id` the process is the
/// first one that used the correlation id.
call_key nsight_reader::key_of(std::int64_t correlation, std::optional<std::int64_t> id) const {
    if (id) return {process_of(*id), correlation};
    const auto first = processes_.find(correlation);
    return {first != processes_.end() ? first->second : 0, correlation};
}

/// Returns the number by which the list links a call. Numbers have no process, so it is the
/// correlation id itself if no other process has used it, else a free number.
std::uint32_t nsight_reader::number_of(const call_key& key) {
    const auto wanted = static_cast<std::uint32_t>(key.correlation);
    if (wanted == 0) return 0;
    const auto [known, is_new] = numbers_.try_emplace(key, wanted);
    if (is_new)
        while (!taken_.insert(known->second).second) known->second = --last_number_;
    return known->second;
}

void nsight_reader::open_range(std::vector<std::uint32_t>& open, std::uint32_t row) const {
    while (!open.empty() && list_.rows[open.back()].end_ns <= list_.rows[row].end_ns)
        open.pop_back();
    open.push_back(row);
}

/// Finds the innermost range around each call. Visits ranges and calls of each thread by their
/// starts. If a range ends no later than a range that began after it, it cannot be the innermost
/// one for later calls and is dropped. So the ends of the kept ranges descend.
void nsight_reader::find_ranges_of_calls() {
    std::unordered_map<std::int64_t, std::vector<call*>> by_thread;
    for (auto& [key, each] : calls_) by_thread[each.thread].push_back(&each);
    for (auto& [thread, made] : by_thread) {
        std::sort(made.begin(), made.end(), [](const call* left, const call* right) {
            return left->start_ns < right->start_ns;
        });
        std::vector<std::uint32_t>& rows = ranges_[thread];
        std::sort(rows.begin(), rows.end(), [this](std::uint32_t left, std::uint32_t right) {
            const std::int64_t one = list_.rows[left].start_ns;
            const std::int64_t other = list_.rows[right].start_ns;
            return one != other ? one < other : left < right;
        });
        std::vector<std::uint32_t> open;
        std::size_t next = 0;
        for (call* const each : made) {
            for (; next < rows.size() && list_.rows[rows[next]].start_ns <= each->start_ns; ++next)
                open_range(open, rows[next]);
            const auto shorter =
                std::partition_point(open.begin(), open.end(), [&](std::uint32_t row) {
                    return each->end_ns <= list_.rows[row].end_ns;
                });
            if (shorter != open.begin()) each->range = list_.rows[shorter[-1]].external_id;
        }
    }
}

/// Adds a device activity. The columns 1 to 6 are start, end, device, stream, correlation id and
/// process.
void nsight_reader::add_device(sqlite_rows& rows, std::string_view name, std::string_view category,
                               activity what) {
    const span_of_row span = read_span(rows);
    const std::int64_t device = rows.integer(3);
    const std::int64_t stream = rows.maybe_integer(4).value_or(-1);
    const auto correlation = rows.maybe_integer(5);
    const auto process = rows.maybe_integer(6);
    if (rows.is_odd()) return;
    event_row& row = add(span, name, category);
    row.what = what;
    row.device = device_kind::cuda;
    row.thread = list_.lane("device " + std::to_string(device), std::to_string(stream));
    event_extra& extra = list_.extra_of(row);
    extra.device_index = static_cast<std::int32_t>(device);
    extra.device_resource = stream;
    list_.use_device = "cuda";
    if (!correlation) return;
    const call_key key = key_of(*correlation, process);
    row.correlation = number_of(key);
    const auto launched = calls_.find(key);
    if (launched != calls_.end()) row.external_id = launched->second.range;
}

void nsight_reader::read_kernels() {
    sqlite_rows rows(database_, kernels,
                     "SELECT rowid, start, end, deviceId, streamId, correlationId, " +
                         optional_column(kernels, "globalPid") +
                         ", demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL");
    while (rows.next()) add_device(rows, list_.text(text(rows, 7)), "kernel", activity::kernel);
}

void nsight_reader::read_copies() {
    sqlite_rows rows(database_, copies,
                     "SELECT rowid, start, end, deviceId, streamId, correlationId, " +
                         optional_column(copies, "globalPid") +
                         ", copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY");
    while (rows.next())
        add_device(rows, copy_name(rows.integer(7)), "gpu_memcpy", activity::gpu_memcpy);
}

void nsight_reader::read_sets() {
    sqlite_rows rows(database_, sets,
                     "SELECT rowid, start, end, deviceId, streamId, correlationId, " +
                         optional_column(sets, "globalPid") + " FROM CUPTI_ACTIVITY_KIND_MEMSET");
    while (rows.next()) add_device(rows, "Memset (Device)", "gpu_memset", activity::gpu_memset);
}

/// Reads the launches of whole CUDA graphs. A launch whose nodes were recorded is left out, because
/// the nodes have its time.
void nsight_reader::read_graphs() {
    std::unordered_set<std::uint32_t> recorded;
    for (const event_row& row : list_.rows)
        if (row.device == device_kind::cuda && row.correlation != 0)
            recorded.insert(row.correlation);
    sqlite_rows rows(
        database_, graphs,
        "SELECT rowid, start, end, deviceId, " + optional_column(graphs, "streamId") + ", " +
            optional_column(graphs, "correlationId") + ", " + optional_column(graphs, "globalPid") +
            ", " + optional_column(graphs, "graphId") + " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE");
    std::uint64_t left_out = 0;
    while (rows.next()) {
        const auto correlation = rows.maybe_integer(5);
        if (correlation &&
            recorded.contains(number_of(key_of(*correlation, rows.maybe_integer(6))))) {
            ++left_out;
            continue;
        }
        const auto graph = rows.maybe_integer(7);
        add_device(rows, graph ? "CUDA graph " + std::to_string(*graph) : "CUDA graph", "kernel",
                   activity::kernel);
    }
    warn(list_.health.warnings,
         "launches of CUDA graphs whose nodes are rows of their own, left out", left_out);
}

void nsight_reader::read_start() {
    constexpr const char* table = "TARGET_INFO_SESSION_START_TIME";
    if (!database_.has_table(table) || !database_.has_column(table, "utcEpochNs")) return;
    sqlite_rows rows(database_, table,
                     "SELECT rowid, utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1");
    if (rows.next()) list_.base_realtime_ns = rows.maybe_integer(1).value_or(0);
}

void nsight_reader::finish() {
    std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    for (const std::uint32_t each : unfinished_)
        list_.rows[each].end_ns = list_.rows[each].start_ns;
    for (const event_row& row : list_.rows) {
        first_ns = std::min(first_ns, row.start_ns);
        last_ns = std::max(last_ns, row.end_ns);
    }
    if (last_ns >= first_ns) list_.duration_ns = saturated_difference(last_ns, first_ns);
    for (const std::uint32_t each : unfinished_) {
        list_.rows[each].end_ns = last_ns;
        list_.rows[each].flags |= row_unfinished;
    }
    warn(list_.health.warnings, "ranges without an end, taken to last to the trace's",
         unfinished_.size());
}

}  // namespace

bool is_nsight(sqlite_database& database) {
    return database.has_table(texts) && (database.has_table(ranges) || database.has_table(calls) ||
                                         database.has_table(kernels) || database.has_table(graphs));
}

result<event_list> nsight_events(sqlite_database& database) {
    return nsight_reader(database).read();
}

}  // namespace coroscope::analysis::inline databases
