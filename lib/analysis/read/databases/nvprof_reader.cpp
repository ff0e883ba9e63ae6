// SPDX-License-Identifier: Apache-2.0
#include "nvprof_reader.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <cxxabi.h>

#include "../../text/warnings.hpp"

namespace coroscope::analysis::inline databases {
namespace {

constexpr const char* markers = "CUPTI_ACTIVITY_KIND_MARKER";
constexpr const char* calls_table = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* kernels_table = "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL";
constexpr const char* texts_table = "StringTable";

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

/// Demangles a name. Only a name with the prefix "_Z" is demangled: "t", for example, would become
/// "unsigned short".
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
    sqlite_rows rows(database, texts_table, "SELECT _id_, value FROM StringTable");
    while (rows.next()) {
        const std::int64_t id = rows.integer(0);
        if (!rows.is_odd()) known[id] = demangled(rows.text(1));
    }
    return known;
}

using text_map = std::unordered_map<std::int64_t, std::string>;

/// The end of the marker with one id. If an id has two ends, the marker is a duplicate.
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
        const std::int64_t end_ns = rows.integer(2);
        if (!id || rows.is_odd()) continue;
        const auto [end, is_new] = ends.try_emplace(*id, marker_end{end_ns});
        end->second.twice = !is_new;
    }
    return ends;
}

/// Reads the markers. Begins and ends are paired here, because a join in SQL would return every
/// pair of a repeated id.
void read_markers(sqlite_database& database, const text_map& known, nvprof_trace& trace) {
    const end_map ends = read_marker_ends(database);
    std::unordered_set<std::int64_t> seen;
    sqlite_rows rows(database, markers,
                     "SELECT _id_, id, name, timestamp FROM CUPTI_ACTIVITY_KIND_MARKER "
                     "WHERE name != 0 ORDER BY timestamp, _id_");
    while (rows.next()) {
        const std::optional<std::int64_t> id = rows.maybe_integer(1);
        const auto end = id ? ends.find(*id) : ends.end();
        if (rows.is_odd()) continue;
        if (end == ends.end()) {
            ++trace.endless_markers;
            continue;
        }
        nvprof_event event;
        event.id = *id;
        const auto name = known.find(rows.integer(2));
        if (!seen.insert(event.id).second || end->second.twice)
            rows.fail("duplicate key", std::to_string(event.id));
        if (name == known.end())
            rows.fail("its name is none of the table StringTable");
        else
            event.name = name->second;
        event.start_ns = rows.integer(3);
        event.end_ns = end->second.end_ns;
        if (event.end_ns < event.start_ns) rows.fail("the marker ends before it begins");
        if (!rows.is_odd()) trace.events.push_back(std::move(event));
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

/// A call that launched kernels.
struct launch_call {
    std::int64_t row = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};
using call_map = std::unordered_map<std::int64_t, std::vector<launch_call>>;  // by correlation id

call_map read_calls(sqlite_database& database) {
    call_map found;
    sqlite_rows rows(
        database, calls_table,
        "SELECT _id_, start, end, cbid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME "
        "WHERE correlationId IN "
        "(SELECT correlationId FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) "
        "ORDER BY _id_");
    while (rows.next()) {
        const launch_call call{rows.integer(0), rows.integer(1), rows.integer(2)};
        const std::int64_t cbid = rows.integer(3);
        if (std::find(launch_calls.begin(), launch_calls.end(), cbid) == launch_calls.end())
            rows.fail("it launched a kernel and is no known launch",
                      "cbid " + std::to_string(cbid));
        const std::int64_t correlation = rows.integer(4);
        if (!rows.is_odd()) found[correlation].push_back(call);
    }
    return found;
}

/// A kernel with its row and the id of its launch.
struct kernel_row {
    std::int64_t row = 0;
    std::optional<std::int64_t> correlation;
    nvprof_kernel kernel;
};

std::vector<kernel_row> read_kernels(sqlite_database& database, const text_map& known) {
    std::vector<kernel_row> found;
    sqlite_rows rows(database, kernels_table,
                     "SELECT _id_, start, end, name, deviceId, streamId, correlationId "
                     "FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ORDER BY _id_");
    while (rows.next()) {
        kernel_row each;
        each.row = rows.integer(0);
        each.kernel.start_ns = rows.integer(1);
        each.kernel.end_ns = rows.integer(2);
        if (each.kernel.end_ns < each.kernel.start_ns)
            rows.fail("the kernel ends before it begins");
        const auto name = known.find(rows.integer(3));
        if (name == known.end())
            rows.fail("the kernel's name is none of the table StringTable");
        else
            each.kernel.name = name->second;
        each.kernel.device = static_cast<std::int32_t>(rows.maybe_integer(4).value_or(-1));
        each.kernel.stream = rows.maybe_integer(5).value_or(-1);
        each.correlation = rows.maybe_integer(6);
        each.kernel.correlation = static_cast<std::uint32_t>(each.correlation.value_or(0));
        if (!rows.is_odd()) found.push_back(std::move(each));
    }
    return found;
}

/// If several calls and several kernels have one correlation id, it is unknown which call launched
/// which kernel. Then the calls count as odd.
void leave_out_ambiguous(sqlite_database& database, const std::vector<kernel_row>& ran,
                         call_map& made) {
    std::map<std::int64_t, std::size_t> kernels_of;
    for (const kernel_row& each : ran)
        if (each.correlation) ++kernels_of[*each.correlation];
    for (const auto& [id, count] : kernels_of) {
        const auto call = made.find(id);
        if (count < 2 || call == made.end() || call->second.size() < 2) continue;
        const std::string all = std::to_string(id) + " is that of " +
                                std::to_string(call->second.size()) + " calls and of " +
                                std::to_string(count) + " kernels";
        for (const launch_call& each : call->second)
            database.note_odd_row(calls_table, each.row,
                                  "correlation id of several calls and kernels", all);
        made.erase(call);
    }
}

/// Returns the launches, sorted by the start of their calls. Kernels without a call belong to no
/// event.
std::vector<launch> match_launches(const call_map& made, std::vector<kernel_row> ran,
                                   nvprof_trace& trace) {
    std::vector<launch> launches;
    for (kernel_row& each : ran) {
        const auto call = each.correlation ? made.find(*each.correlation) : made.end();
        if (call == made.end()) {
            trace.without_call.push_back(std::move(each.kernel));
            continue;
        }
        for (const launch_call& by : call->second)
            launches.push_back({by.row, by.start_ns, by.end_ns, each.row, each.kernel});
    }
    std::sort(launches.begin(), launches.end(), [](const launch& left, const launch& right) {
        return std::tie(left.call_start_ns, left.call, left.kernel_row) <
               std::tie(right.call_start_ns, right.call, right.kernel_row);
    });
    return launches;
}

/// Assigns each launch to the innermost marker around it. Markers and launches are sorted by start.
/// So a marker that ended before a launch encloses no later launch, and the last marker that
/// encloses a launch is the innermost one.
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
            // torch refuses duplicates, too
            if (!seen.emplace(event->id, each.call).second && database.refuses_odd_rows())
                database.fail(std::string("table ")
                                  .append(calls_table)
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
    return database.has_table(texts_table) && database.has_table(markers);
}

result<nvprof_trace> read_nvprof(sqlite_database& database) {
    nvprof_trace trace;
    const text_map known = read_texts(database);
    read_markers(database, known, trace);
    std::vector<kernel_row> ran;
    if (database.has_table(kernels_table)) ran = read_kernels(database, known);
    call_map made;
    if (!ran.empty() && database.has_table(calls_table)) made = read_calls(database);
    leave_out_ambiguous(database, ran, made);
    attribute(match_launches(made, std::move(ran), trace), database, trace);
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
    if (list.rows.empty() && database.odd().any()) return database.odd().first();
    std::vector<std::string>& warnings = list.health.warnings;
    database.odd().warn_of(warnings);
    warn(warnings, "kernels launched outside all markers, which belong to none",
         count_outside(*trace));
    warn(warnings, "kernels without a call of the runtime's that launched them, of no marker",
         trace->without_call.size());
    warn(warnings, "markers without an end, left out",
         static_cast<std::uint64_t>(trace->endless_markers));
    return list;
}

}  // namespace coroscope::analysis::inline databases
