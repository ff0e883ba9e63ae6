// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/load_events.hpp>

#include <exception>
#include <utility>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/nvprof.hpp>

#include "../load/load_native.hpp"
#include "chrome_reader.hpp"
#include "nsight_reader.hpp"
#include "nvprof_reader.hpp"

namespace coroscope::analysis {
namespace {

using reading::content;
using reading::opened_file;
using reading::sqlite_database;

result<event_list> load_database(result<sqlite_database> database) {
    if (!database) return database.error();
    if (reading::is_nvprof(*database)) return reading::nvprof_events(*database);
    if (reading::is_nsight(*database)) return reading::nsight_events(*database);
    if (database->problem()) return *database->problem();
    return failure{"is a database, but neither nvprof's nor that of Nsight Systems"};
}

/// A database is better read in its file than in memory.
result<event_list> load_foreign(opened_file file, const load_options& options) {
    if (file.what == content::text) return reading::chrome_reader(*file.source, options).read();
    if (!file.path.empty()) return load_database(sqlite_database::open(file.path));
    auto bytes = reading::read_all(*file.source);
    if (!bytes) return bytes.error();
    return load_database(sqlite_database::adopt(std::move(*bytes)));
}

result<event_list> with_tree(result<event_list> loaded) {
    if (loaded) build_tree(*loaded);
    return loaded;
}

result<event_list> load_content(result<opened_file> file, const load_options& options) {
    if (!file) return file.error();
    if (file->what != content::native) return with_tree(load_foreign(std::move(*file), options));
    const auto loaded = loading::load_native(std::move(*file));
    if (!loaded) return loaded.error();
    return events_of(*loaded);
}

/// With the standard library's exceptions (no memory, or no room for a size) as a failure.
template <class Load>
auto guarded(Load&& load) -> decltype(load()) {
    try {
        return load();
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

}  // namespace

result<event_list> load_events(const std::string& path, const load_options& options) {
    return guarded([&] { return load_content(reading::open_content(path), options); });
}

result<event_list> load_events(const coroscope::trace::buffer& bytes, const load_options& options) {
    return guarded([&] {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return load_content(reading::open_content(reading::open_memory(text)), options);
    });
}

result<trace_or_events> load_trace_or_events(const std::string& path, const load_options& options) {
    return guarded([&]() -> result<trace_or_events> {
        auto file = reading::open_content(path);
        if (!file) return file.error();
        if (file->what == content::native) {
            auto loaded = loading::load_native(std::move(*file));
            if (!loaded) return loaded.error();
            return trace_or_events(std::move(*loaded));
        }
        auto loaded = with_tree(load_foreign(std::move(*file), options));
        if (!loaded) return loaded.error();
        return trace_or_events(std::move(*loaded));
    });
}

result<std::vector<nvprof_event>> parse_nvprof_trace(const std::string& path) {
    return guarded([&]() -> result<std::vector<nvprof_event>> {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!reading::is_nvprof(*database)) return failure{"is no database of nvprof's"};
        auto read = reading::read_nvprof(*database);
        if (!read) return read.error();
        return std::move(read->events);
    });
}

result<event_list> load_nvprof(const std::string& path) {
    return guarded([&]() -> result<event_list> {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!reading::is_nvprof(*database)) return failure{"is no database of nvprof's"};
        return with_tree(reading::nvprof_events(*database));
    });
}

}  // namespace coroscope::analysis
