// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/load_events.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load_averages.hpp>
#include <coroscope/analysis/nvprof.hpp>
#include <coroscope/trace/reader.hpp>

#include "../answer/running_total.hpp"
#include "../load/load_native.hpp"
#include "../read/chrome/chrome_reader.hpp"
#include "../read/databases/nsight_reader.hpp"
#include "../read/databases/nvprof_reader.hpp"
#include "../streamed/streamed_averages.hpp"

namespace coroscope::analysis {
namespace {

result<event_list> load_database(result<sqlite_database> database, const load_options& options) {
    if (!database) return database.error();
    database->refuse_odd_rows(options.strict);
    if (is_nvprof(*database)) return nvprof_events(*database);
    if (is_nsight(*database)) return nsight_events(*database);
    if (database->problem()) return *database->problem();
    return failure{"is a database, but neither nvprof's nor that of Nsight Systems"};
}

/// Loads a file that is not a native trace. A database with a path is read from its file, not from
/// memory.
result<event_list> load_foreign(opened_file file, const load_options& options) {
    if (file.what == content::text) return chrome_reader(*file.source, options).read();
    if (!file.path.empty()) return load_database(sqlite_database::open(file.path), options);
    auto bytes = read_all(*file.source);
    if (!bytes) return bytes.error();
    return load_database(sqlite_database::adopt(std::move(*bytes)), options);
}

result<event_list> with_tree(result<event_list> loaded) {
    if (loaded) build_tree(*loaded);
    return loaded;
}

result<event_list> load_content(result<opened_file> file, const load_options& options) {
    if (!file) return file.error();
    if (file->what != content::native) return with_tree(load_foreign(std::move(*file), options));
    const auto loaded = load_native(std::move(*file), {.jobs = options.jobs});
    if (!loaded) return loaded.error();
    return events_of(*loaded);
}

/// Calls `load`, and returns exceptions of the standard library (no memory, or a size too large) as
/// a failure.
template <class Load>
auto guarded(Load&& load) -> decltype(load()) {
    try {
        return load();
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

using averages_or_events = std::variant<trace_averages, event_list>;

/// Returns the averages without events, or nothing if they need the events. The names of tasks
/// without a spawn site come from scopes; such a task may have to be folded.
result<std::optional<trace_averages>> streamed(const native_input& input,
                                               const averages_options& options) {
    const bool needs_events =
        options.part.any() || options.percentiles || is_part_of_trace(input.chunks());
    if (needs_events || !may_stream(input.chunks(), options.key))
        return std::optional<trace_averages>();
    std::optional<streamed_rows> sums;
    auto loaded = input.load_without_scopes(options.jobs, [&](const loaded_streams& streams) {
        sums = streamed_averages(streams, options.key, options.jobs);
    });
    if (!loaded) return loaded.error();
    const bool needs_names = std::ranges::any_of(
        loaded->tasks, [](const task_info& task) { return task.asio || task.fiber; });
    if (!sums || needs_names) return std::optional<trace_averages>();
    trace_averages found{fold_tasks(std::move(*loaded), options.fold), std::move(sums->rows)};
    if (found.loaded.health.folded_tasks != 0) return std::optional<trace_averages>();
    found.self_cpu_time_total_ns = sums->self.all_ns;
    found.running_time_total_ns = running_total_ns(found.loaded, sums->self);
    return std::optional(std::move(found));
}

/// Frees the input before it works with the events.
result<trace> load_and_free(native_input input, const averages_options& options) {
    return input.load({.jobs = options.jobs});
}

result<averages_or_events> native_averages(result<native_input> input,
                                           const averages_options& options) {
    if (!input) return input.error();
    auto found = streamed(*input, options);
    if (!found) return found.error();
    if (*found) return averages_or_events(std::move(**found));
    auto loaded = load_and_free(*std::move(input), options);
    if (!loaded) return loaded.error();
    auto part = select_part(*std::move(loaded), options.part);
    if (!part) return part.error();
    trace_averages whole{fold_tasks(*std::move(part), options.fold), {}};
    whole.rows = key_averages(whole.loaded, options.key, options.attribute);
    if (options.percentiles)
        add_percentiles(whole.rows, whole.loaded, options.key, options.attribute);
    whole.self_cpu_time_total_ns = total_average(whole.loaded).self_cpu_time_total_ns;
    whole.running_time_total_ns = running_time_total_ns(whole.loaded);
    return averages_or_events(std::move(whole));
}

result<averages_or_events> averages_of_content(result<opened_file> file,
                                               const averages_options& options) {
    if (!file) return file.error();
    if (file->what == content::native)
        return native_averages(native_input::open(std::move(*file), options.jobs), options);
    auto loaded = with_tree(load_foreign(std::move(*file), options.how));
    if (!loaded) return loaded.error();
    return averages_or_events(std::move(*loaded));
}

}  // namespace

result<event_list> load_events(const std::string& path, const load_options& options) {
    return guarded([&] { return load_content(open_content(path), options); });
}

result<event_list> load_events(const coroscope::trace::buffer& bytes, const load_options& options) {
    return guarded([&] {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return load_content(open_content(open_memory(text)), options);
    });
}

result<trace_or_events> load_trace_or_events(const std::string& path, const load_options& options) {
    return guarded([&]() -> result<trace_or_events> {
        auto file = open_content(path);
        if (!file) return file.error();
        if (file->what == content::native) {
            auto loaded = load_native(std::move(*file), {.jobs = options.jobs});
            if (!loaded) return loaded.error();
            return trace_or_events(std::move(*loaded));
        }
        auto loaded = with_tree(load_foreign(std::move(*file), options));
        if (!loaded) return loaded.error();
        return trace_or_events(std::move(*loaded));
    });
}

result<averages_or_events> load_averages(const std::string& path, const averages_options& options) {
    return guarded([&] { return averages_of_content(open_content(path), options); });
}

result<averages_or_events> load_averages(const coroscope::trace::buffer& bytes,
                                         const averages_options& options) {
    return guarded([&] {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (coroscope::trace::is_trace(text))
            return native_averages(native_input::open(bytes, options.jobs), options);
        return averages_of_content(open_content(open_memory(text)), options);
    });
}

result<std::vector<nvprof_event>> parse_nvprof_trace(const std::string& path) {
    return guarded([&]() -> result<std::vector<nvprof_event>> {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!is_nvprof(*database)) return failure{"is not a database of nvprof"};
        database->refuse_odd_rows(true);
        auto read = read_nvprof(*database);
        if (!read) return read.error();
        return std::move(read->events);
    });
}

result<event_list> load_nvprof(const std::string& path) {
    return guarded([&]() -> result<event_list> {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!is_nvprof(*database)) return failure{"is not a database of nvprof"};
        database->refuse_odd_rows(true);
        return with_tree(nvprof_events(*database));
    });
}

}  // namespace coroscope::analysis
