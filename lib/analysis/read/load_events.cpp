// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/load_events.hpp>

#include <exception>
#include <memory>
#include <utility>

#include "byte_source.hpp"
#include "chrome_reader.hpp"

namespace coroscope::analysis {
namespace {

result<event_list> load_detected(std::unique_ptr<reading::byte_source> packed,
                                 const load_options& options) {
    const std::unique_ptr<reading::byte_source> source = reading::decompressed(std::move(packed));
    return reading::chrome_reader(*source, options).read();
}

template <class Load>
result<event_list> guarded(Load&& load) {
    try {
        return load();
    } catch (const std::exception&) {  // the standard library's: no memory, or no room for a size
        return failure{"does not fit into memory"};
    }
}

}  // namespace

result<event_list> load_events(const std::string& path, const load_options& options) {
    return guarded([&]() -> result<event_list> {
        auto opened = reading::open_file(path);
        if (!opened) return opened.error();
        return load_detected(std::move(*opened), options);
    });
}

result<event_list> load_events(const coroscope::trace::buffer& bytes, const load_options& options) {
    return guarded([&] {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return load_detected(reading::open_memory(text), options);
    });
}

}  // namespace coroscope::analysis
