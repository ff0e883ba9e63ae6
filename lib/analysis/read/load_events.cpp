// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/load_events.hpp>

#include <exception>
#include <memory>
#include <utility>

#include <coroscope/analysis/build_tree.hpp>
#include <coroscope/analysis/events_of.hpp>
#include <coroscope/analysis/load.hpp>
#include <coroscope/analysis/nvprof.hpp>
#include <coroscope/trace/reader.hpp>

#include "byte_source.hpp"
#include "chrome_reader.hpp"
#include "nsight_reader.hpp"
#include "nvprof_reader.hpp"

namespace coroscope::analysis {
namespace {

using reading::byte_source;
using reading::sqlite_database;

result<event_list> load_native(const result<trace>& loaded) {
    if (!loaded) return loaded.error();
    return events_of(*loaded);
}

result<event_list> load_database(result<sqlite_database> database) {
    if (!database) return database.error();
    if (reading::is_nvprof(*database)) return reading::nvprof_events(*database);
    if (reading::is_nsight(*database)) return reading::nsight_events(*database);
    if (database->problem()) return *database->problem();
    return failure{"is a database, but neither nvprof's nor that of Nsight Systems"};
}

/// What the first bytes of a source say that it is. `path` is its file, empty where it has none: a database is
/// better read there than in memory.
result<event_list> load_detected(std::unique_ptr<byte_source> packed, std::string path,
                                 const load_options& options) {
    auto [source, was_packed] = reading::unpack(std::move(packed));
    if (was_packed) path.clear();
    std::string first(reading::sqlite_magic.size(), '\0');
    first.resize(source->read(first.data(), first.size()));
    if (source->problem()) return *source->problem();
    const bool is_database = first == reading::sqlite_magic;
    const bool is_trace = coroscope::trace::is_trace(first);
    if (is_database && !path.empty()) return load_database(sqlite_database::open(path));
    if (is_trace && !path.empty()) return load_native(load(path));
    source = reading::with_first(std::move(first), std::move(source));
    if (!is_database && !is_trace) return reading::chrome_reader(*source, options).read();
    auto bytes = reading::read_all(*source);
    if (!bytes) return bytes.error();
    if (is_database) return load_database(sqlite_database::adopt(std::move(*bytes)));
    return load_native(load(coroscope::trace::buffer::copy(bytes->data(), bytes->size())));
}

/// With the tree, and with the standard library's exceptions (no memory, or no room for a size) as a failure.
template <class Load>
result<event_list> guarded(Load&& load) {
    try {
        result<event_list> loaded = load();
        if (loaded) build_tree(*loaded);
        return loaded;
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

}  // namespace

result<event_list> load_events(const std::string& path, const load_options& options) {
    return guarded([&]() -> result<event_list> {
        auto packed = reading::open_file(path);
        if (!packed) return packed.error();
        return load_detected(std::move(*packed), path, options);
    });
}

result<event_list> load_events(const coroscope::trace::buffer& bytes, const load_options& options) {
    return guarded([&] {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return load_detected(reading::open_memory(text), {}, options);
    });
}

result<std::vector<nvprof_event>> parse_nvprof_trace(const std::string& path) {
    try {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!reading::is_nvprof(*database)) return failure{"is no database of nvprof's"};
        auto read = reading::read_nvprof(*database);
        if (!read) return read.error();
        return std::move(read->events);
    } catch (const std::exception&) {
        return failure{"does not fit into memory"};
    }
}

result<event_list> load_nvprof(const std::string& path) {
    return guarded([&]() -> result<event_list> {
        auto database = sqlite_database::open(path);
        if (!database) return database.error();
        if (!reading::is_nvprof(*database)) return failure{"is no database of nvprof's"};
        return reading::nvprof_events(*database);
    });
}

}  // namespace coroscope::analysis
