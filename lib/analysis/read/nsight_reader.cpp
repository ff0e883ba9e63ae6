// SPDX-License-Identifier: Apache-2.0
#include "nsight_reader.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "../warnings.hpp"

namespace coroscope::analysis::reading {
namespace {

constexpr const char* texts = "StringIds";
constexpr const char* ranges = "NVTX_EVENTS";
constexpr const char* calls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* copies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* sets = "CUPTI_ACTIVITY_KIND_MEMSET";

// Nsight's numbers of NVTX's events.
constexpr std::int64_t push_pop_range = 59;
constexpr std::int64_t start_end_range = 60;

/// CUPTI_ACTIVITY_MEMCPY_KIND_…, in Kineto's words.
std::string copy_name(std::int64_t kind) {
    switch (kind) {
        case 1: return "Memcpy HtoD";
        case 2: return "Memcpy DtoH";
        case 3: return "Memcpy HtoA";
        case 4: return "Memcpy AtoH";
        case 5: return "Memcpy AtoA";
        case 6: return "Memcpy AtoD";
        case 7: return "Memcpy DtoA";
        case 8: return "Memcpy DtoD";
        case 9: return "Memcpy HtoH";
        case 10: return "Memcpy PtoP";
        default: return "Memcpy (kind " + std::to_string(kind) + ")";
    }
}

/// Of a global id, which holds a process and a thread in 24 bits each.
std::int64_t process_of(std::int64_t id) { return (id >> 24) & 0xff'ffff; }

struct global_id {
    std::string process;
    std::string thread;
    explicit global_id(std::int64_t id)
        : process(std::to_string(process_of(id))), thread(std::to_string(id & 0xff'ffff)) {}
};

/// A call that may have launched something.
struct call {
    std::int64_t thread = 0;  // its global id
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t range = 0;  // the external id of the innermost range around it
};

/// Correlation ids are counted in each process on its own.
struct call_key {
    std::int64_t process = 0;
    std::int64_t correlation = 0;
    bool operator==(const call_key&) const = default;
};

struct call_key_hash {
    std::size_t operator()(const call_key& key) const noexcept {
        return std::hash<std::int64_t>()(key.correlation << 24 ^ key.process);
    }
};

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
        read_start();
        finish();
        if (database_.problem()) return *database_.problem();
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
    void read_start();
    void finish();

    event_row& add(sqlite_rows& rows, std::string_view name, std::string_view category);
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
    std::unordered_map<std::int64_t, std::int64_t> processes_;  // that first called, by correlation
    std::unordered_map<call_key, std::uint32_t, call_key_hash> numbers_;  // in the list
    std::unordered_set<std::uint32_t> taken_;                             // those of numbers_
    std::uint32_t last_number_ = 0;
    std::unordered_map<std::int64_t, std::vector<std::uint32_t>> ranges_;  // rows by global thread
    std::vector<std::uint32_t> unfinished_;
};

void nsight_reader::read_texts() {
    sqlite_rows rows(database_, texts, "SELECT id, value FROM StringIds");
    while (rows.next()) texts_[rows.integer(0)] = list_.intern(rows.text(1));
}

std::uint32_t nsight_reader::text(sqlite_rows& rows, int column) {
    const auto found = texts_.find(rows.integer(column));
    if (found != texts_.end()) return found->second;
    rows.fail("its name is none of the table StringIds");
    return list_.intern({});
}

/// The column, or NULL where this version of Nsight does not have it.
std::string nsight_reader::optional_column(const char* table, const char* column) {
    return database_.has_column(table, column) ? column : std::string("NULL AS ") + column;
}

/// A row from the columns 1, its start, and 2, its end.
event_row& nsight_reader::add(sqlite_rows& rows, std::string_view name, std::string_view category) {
    event_row& row = list_.rows.emplace_back();
    row.start_ns = rows.integer(1);
    row.end_ns = rows.maybe_integer(2).value_or(row.start_ns);
    if (row.end_ns < row.start_ns) rows.fail("it ends before it begins");
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
        event_row& row = add(rows, name, "user_annotation");
        const auto index = static_cast<std::uint32_t>(list_.rows.size() - 1);
        const std::int64_t thread = rows.maybe_integer(4).value_or(0);
        const global_id id(thread);
        row.what = activity::user_annotation;
        row.flags = row_user_annotation;
        row.thread = list_.lane(id.process, id.thread);
        row.external_id = list_.rows.size();
        if (!rows.maybe_integer(2)) {
            // finish() knows when the trace ends; until then it is open for every call.
            row.end_ns = std::numeric_limits<std::int64_t>::max();
            unfinished_.push_back(index);
        }
        if (rows.integer(3) == push_pop_range) {
            ranges_[thread].push_back(index);
            continue;
        }
        row.flags |= row_async;
        const auto end_thread = rows.maybe_integer(7);
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
        event_row& row = add(rows, list_.text(text(rows, 5)), "cuda_runtime");
        const std::int64_t thread = rows.maybe_integer(3).value_or(0);
        const global_id id(thread);
        row.what = activity::runtime;
        row.thread = list_.lane(id.process, id.thread + " (CUDA API)");
        const auto correlation = rows.maybe_integer(4);
        if (!correlation) continue;
        // The first, which encloses the others, stands for all of them.
        const call_key key{process_of(thread), *correlation};
        processes_.try_emplace(*correlation, key.process);
        if (calls_.try_emplace(key, call{thread, row.start_ns, row.end_ns, 0}).second)
            row.correlation = number_of(key);
    }
}

/// Of what a device did; `id` names its process. Without one it is the process that used the correlation id first.
call_key nsight_reader::key_of(std::int64_t correlation, std::optional<std::int64_t> id) const {
    if (id) return {process_of(*id), correlation};
    const auto first = processes_.find(correlation);
    return {first != processes_.end() ? first->second : 0, correlation};
}

/// A list ties by one number, without the process: the id itself where no other process has it, else one that is free.
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

/// Ranges by start and calls by start, thread by thread. A range that ends no later than one that began after it is
/// the innermost of no call from then on, so the ends of those that are kept descend.
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

/// From the columns 1 to 6: start, end, device, stream, correlation id and process.
void nsight_reader::add_device(sqlite_rows& rows, std::string_view name, std::string_view category,
                               activity what) {
    event_row& row = add(rows, name, category);
    row.what = what;
    row.device = device_kind::cuda;
    const std::int64_t device = rows.integer(3);
    const std::int64_t stream = rows.integer(4);
    row.thread = list_.lane("device " + std::to_string(device), std::to_string(stream));
    event_extra& extra = list_.extra_of(row);
    extra.device_index = static_cast<std::int32_t>(device);
    extra.device_resource = stream;
    list_.use_device = "cuda";
    const auto correlation = rows.maybe_integer(5);
    if (!correlation) return;
    const call_key key = key_of(*correlation, rows.maybe_integer(6));
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
    return database.has_table(texts) &&
           (database.has_table(ranges) || database.has_table(calls) || database.has_table(kernels));
}

result<event_list> nsight_events(sqlite_database& database) {
    return nsight_reader(database).read();
}

}  // namespace coroscope::analysis::reading
