// SPDX-License-Identifier: Apache-2.0
#include "nvprof_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <cxxabi.h>

#include "../warnings.hpp"

namespace coroscope::analysis::reading {
namespace {

constexpr const char* markers = "CUPTI_ACTIVITY_KIND_MARKER";
constexpr const char* calls = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL";
constexpr const char* texts = "StringTable";

// CUPTI's numbers of the runtime's calls that launch a kernel (cupti_runtime_cbid.h).
constexpr std::array<std::int64_t, 10> launch_calls = {
    13,   // cudaLaunch
    211,  // cudaLaunchKernel
    213,  // cudaLaunch, per-thread stream
    214,  // cudaLaunchKernel, per-thread stream
    269,  // cudaLaunchCooperativeKernel
    270,  // cudaLaunchCooperativeKernel, per-thread stream
    430,  // cudaLaunchKernelExC
    431,  // cudaLaunchKernelExC, per-thread stream
    505,  // __cudaLaunchKernel
    506,  // __cudaLaunchKernel, per-thread stream
};

/// A name as C++ spells it. What is not mangled stays: "t" would be an unsigned short.
std::string demangled(std::string_view name) {
    std::string text(name);
    if (!name.starts_with("_Z")) return text;
    char* const readable = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, nullptr);
    std::string answer = readable != nullptr ? readable : text;
    std::free(readable);
    return answer;
}

std::unordered_map<std::int64_t, std::string> read_texts(sqlite_database& database) {
    std::unordered_map<std::int64_t, std::string> known;
    sqlite_rows rows(database, texts, "SELECT _id_, value FROM StringTable");
    while (rows.next()) known[rows.integer(0)] = demangled(rows.text(1));
    return known;
}

using text_map = std::unordered_map<std::int64_t, std::string>;

/// Where the markers of one id end. One has one end; a second makes its marker a duplicate.
struct marker_end {
    std::int64_t end_ns = 0;
    bool twice = false;
};

using end_map = std::unordered_map<std::int64_t, marker_end>;

end_map read_marker_ends(sqlite_database& database) {
    end_map ends;
    sqlite_rows rows(database, markers,
                     "SELECT _id_, id, timestamp FROM CUPTI_ACTIVITY_KIND_MARKER WHERE name = 0");
    while (rows.next()) {
        const std::optional<std::int64_t> id = rows.maybe_integer(1);
        if (!id) continue;
        const auto [end, is_new] = ends.try_emplace(*id, marker_end{rows.integer(2)});
        end->second.twice = !is_new;
    }
    return ends;
}

/// Begins are paired with ends here and not by a join, which gives every pair of an id that is repeated.
void read_markers(sqlite_database& database, const text_map& known, nvprof_trace& trace) {
    const end_map ends = read_marker_ends(database);
    std::unordered_set<std::int64_t> seen;
    sqlite_rows rows(database, markers,
                     "SELECT _id_, id, name, timestamp FROM CUPTI_ACTIVITY_KIND_MARKER "
                     "WHERE name != 0 ORDER BY timestamp, _id_");
    while (rows.next()) {
        const std::optional<std::int64_t> id = rows.maybe_integer(1);
        const auto end = id ? ends.find(*id) : ends.end();
        if (end == ends.end()) {
            ++trace.endless_markers;
            continue;
        }
        nvprof_event event;
        event.id = *id;
        const auto name = known.find(rows.integer(2));
        if (!seen.insert(event.id).second || end->second.twice)
            rows.fail("duplicate key: " + std::to_string(event.id));
        if (name == known.end())
            rows.fail("its name is none of the table StringTable");
        else
            event.name = name->second;
        event.start_ns = rows.integer(3);
        event.end_ns = end->second.end_ns;
        if (event.end_ns < event.start_ns) rows.fail("the marker ends before it begins");
        trace.events.push_back(std::move(event));
    }
}

/// A kernel with the call that launched it.
struct launch {
    std::int64_t call = 0;  // the call's row
    std::int64_t call_start_ns = 0;
    std::int64_t call_end_ns = 0;
    std::int64_t kernel_row = 0;
    nvprof_kernel kernel;
};

constexpr const char* columns_of_kernel =
    "kernel.start, kernel.end, kernel.name, kernel.deviceId, kernel.streamId, kernel.correlationId";

/// From `first` on the columns of a kernel; `whose` ("its ", "the ") says whose it is.
nvprof_kernel read_kernel(sqlite_rows& rows, int first, const text_map& known,
                          const std::string& whose) {
    nvprof_kernel kernel;
    kernel.start_ns = rows.integer(first);
    kernel.end_ns = rows.integer(first + 1);
    if (kernel.end_ns < kernel.start_ns) rows.fail(whose + "kernel ends before it begins");
    const auto name = known.find(rows.integer(first + 2));
    if (name == known.end())
        rows.fail(whose + "kernel's name is none of the table StringTable");
    else
        kernel.name = name->second;
    kernel.device = static_cast<std::int32_t>(rows.maybe_integer(first + 3).value_or(-1));
    kernel.stream = rows.maybe_integer(first + 4).value_or(-1);
    kernel.correlation = static_cast<std::uint32_t>(rows.maybe_integer(first + 5).value_or(0));
    return kernel;
}

/// A join gives every pair of an id that several calls and several kernels have, as many as their product, and which
/// call launched which kernel can't be told. False, and a problem of the database, where there is such an id.
bool can_join_launches(sqlite_database& database) {
    sqlite_rows rows(database, calls,
                     "SELECT call.row, call.correlationId, call.number, kernel.number FROM "
                     "(SELECT MIN(_id_) AS row, correlationId, COUNT(*) AS number "
                     "FROM CUPTI_ACTIVITY_KIND_RUNTIME GROUP BY correlationId "
                     "HAVING COUNT(*) > 1) AS call "
                     "INNER JOIN (SELECT correlationId, COUNT(*) AS number "
                     "FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL GROUP BY correlationId "
                     "HAVING COUNT(*) > 1) AS kernel "
                     "ON call.correlationId = kernel.correlationId LIMIT 1");
    if (!rows.next()) return !database.problem();
    rows.fail("correlation id " + std::string(rows.text(1)) + " is that of " +
              std::to_string(rows.integer(2)) + " calls and of " + std::to_string(rows.integer(3)) +
              " kernels");
    return false;
}

std::vector<launch> read_launches(sqlite_database& database, const text_map& known) {
    std::vector<launch> launches;
    if (!can_join_launches(database)) return launches;
    sqlite_rows rows(
        database, calls,
        std::string("SELECT call._id_, call.start, call.end, call.cbid, kernel._id_, ") +
            columns_of_kernel +
            " FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call "
            "INNER JOIN CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel "
            "ON call.correlationId = kernel.correlationId "
            "ORDER BY call.start, call._id_, kernel._id_");
    while (rows.next()) {
        launch each;
        each.call = rows.integer(0);
        each.call_start_ns = rows.integer(1);
        each.call_end_ns = rows.integer(2);
        const std::int64_t cbid = rows.integer(3);
        if (std::find(launch_calls.begin(), launch_calls.end(), cbid) == launch_calls.end())
            rows.fail("cbid " + std::to_string(cbid) + " launched a kernel and is no known launch");
        each.kernel_row = rows.integer(4);
        each.kernel = read_kernel(rows, 5, known, "its ");
        launches.push_back(std::move(each));
    }
    return launches;
}

/// What was launched through the driver, or by calls that were not recorded.
std::vector<nvprof_kernel> read_kernels_without_call(sqlite_database& database,
                                                     const text_map& known) {
    std::vector<nvprof_kernel> found;
    const bool has_calls = database.has_table(calls);
    sqlite_rows rows(database, kernels,
                     std::string("SELECT kernel._id_, ") + columns_of_kernel +
                         " FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS kernel" +
                         (has_calls ? " WHERE correlationId IS NULL OR correlationId NOT IN "
                                      "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                                      "WHERE correlationId IS NOT NULL)"
                                    : ""));
    while (rows.next()) found.push_back(read_kernel(rows, 1, known, "the "));
    return found;
}

/// Both markers and launches are by start: a marker that ended before a launch encloses no later one, and of those that
/// enclose a launch the last is the innermost.
void attribute(const std::vector<launch>& launches, sqlite_database& database,
               nvprof_trace& trace) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    std::vector<nvprof_event*> open;
    auto next = trace.events.begin();
    for (const launch& each : launches) {
        for (; next != trace.events.end() && next->start_ns < each.call_start_ns; ++next)
            open.push_back(&*next);
        std::erase_if(
            open, [&](const nvprof_event* event) { return event->end_ns <= each.call_start_ns; });
        owned_kernel& launched = trace.launched[each.kernel_row];
        launched.kernel = each.kernel;
        for (nvprof_event* const event : open) {
            if (each.call_end_ns >= event->end_ns) continue;
            const std::string call = std::to_string(each.call);
            if (!seen.emplace(event->id, each.call).second)
                database.fail(std::string("table ")
                                  .append(calls)
                                  .append(", row ")
                                  .append(call)
                                  .append(": duplicate key: (")
                                  .append(std::to_string(event->id))
                                  .append(", ")
                                  .append(call)
                                  .append(")"));
            event->kernels.push_back(each.kernel);
            const auto place = static_cast<std::uint64_t>(event - trace.events.data());
            launched.owner = std::max(launched.owner, place + 1);
        }
    }
}

}  // namespace

bool is_nvprof(sqlite_database& database) {
    return database.has_table(texts) && database.has_table(markers);
}

result<nvprof_trace> read_nvprof(sqlite_database& database) {
    nvprof_trace trace;
    const text_map known = read_texts(database);
    read_markers(database, known, trace);
    std::vector<launch> launches;
    if (database.has_table(calls) && database.has_table(kernels))
        launches = read_launches(database, known);
    attribute(launches, database, trace);
    if (database.has_table(kernels))
        trace.without_call = read_kernels_without_call(database, known);
    if (database.problem()) return *database.problem();
    return trace;
}

namespace {

void add_kernel(event_list& list, const nvprof_kernel& kernel, std::uint64_t owner) {
    event_row& row = list.rows.emplace_back();
    row.start_ns = kernel.start_ns;
    row.end_ns = kernel.end_ns;
    row.name = list.intern(kernel.name);
    row.category = list.intern("kernel");
    row.what = activity::kernel;
    row.device = device_kind::cuda;
    row.correlation = kernel.correlation;
    row.external_id = owner;
    row.thread =
        list.lane("device " + std::to_string(kernel.device), std::to_string(kernel.stream));
    event_extra& extra = list.extra_of(row);
    extra.device_index = kernel.device;
    extra.device_resource = kernel.stream;
    list.use_device = "cuda";
}

std::uint64_t count_outside(const nvprof_trace& trace) {
    return static_cast<std::uint64_t>(
        std::count_if(trace.launched.begin(), trace.launched.end(),
                      [](const auto& each) { return each.second.owner == 0; }));
}

}  // namespace

result<event_list> nvprof_events(sqlite_database& database) {
    const auto trace = read_nvprof(database);
    if (!trace) return trace.error();
    event_list list;
    std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
    for (const nvprof_event& event : trace->events) {
        event_row& row = list.rows.emplace_back();
        row.start_ns = event.start_ns;
        row.end_ns = event.end_ns;
        row.name = list.intern(event.name);
        row.category = list.intern("cpu_op");
        row.what = activity::cpu_op;
        row.external_id = list.rows.size();
        row.thread = list.lane("0", "0");
        last_ns = std::max(last_ns, event.end_ns);
    }
    if (!trace->events.empty())
        list.duration_ns = saturated_difference(last_ns, trace->events.front().start_ns);
    for (const auto& [row, each] : trace->launched) add_kernel(list, each.kernel, each.owner);
    for (const nvprof_kernel& kernel : trace->without_call) add_kernel(list, kernel, 0);
    std::vector<std::string>& warnings = list.health.warnings;
    warn(warnings, "kernels launched outside all markers, which belong to none",
         count_outside(*trace));
    warn(warnings, "kernels without a call of the runtime's that launched them, of no marker",
         trace->without_call.size());
    warn(warnings, "markers without an end, left out",
         static_cast<std::uint64_t>(trace->endless_markers));
    return list;
}

}  // namespace coroscope::analysis::reading
