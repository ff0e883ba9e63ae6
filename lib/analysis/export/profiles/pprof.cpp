// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/profile_exports.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <protozero/pbf_writer.hpp>

#include "../../text/utf8.hpp"
#include "../../words/places.hpp"
#include "../gzip_sink.hpp"
#include "scope_index.hpp"
#include "stack_times.hpp"
#include "stack_tree.hpp"

namespace coroscope::analysis {
namespace {

// The messages of profile.proto, as the numbers of their fields.
namespace pprof {
enum profile : protozero::pbf_tag_type {
    sample_type = 1,
    sample = 2,
    location = 4,
    function = 5,
    string_table = 6,
    time_nanos = 9,
    duration_nanos = 10,
    comment = 13,
    default_sample_type = 14,
};
enum value_type : protozero::pbf_tag_type { type = 1, unit = 2 };
enum sample_fields : protozero::pbf_tag_type { location_id = 1, value = 2 };
enum location_fields : protozero::pbf_tag_type { id = 1, line = 4 };
enum line_fields : protozero::pbf_tag_type { function_id = 1, line_number = 2 };
enum function_fields : protozero::pbf_tag_type {
    own_id = 1,
    name = 2,
    system_name = 3,
    filename = 4,
    start_line = 5,
};
}  // namespace pprof

constexpr std::array<std::string_view, 8> pprof_values{
    "wall", "running", "on-cpu", "blocked", "preempted", "queued", "suspended", "waiting"};

/// Indices into pprof_values.
enum class pprof_value : std::uint8_t {
    wall,
    running,
    on_cpu,
    blocked,
    preempted,
    queued,
    suspended,
    waiting
};

using pprof_times = std::array<std::int64_t, pprof_values.size()>;

void add_pprof_time(pprof_times& to, path_kind kind, std::int64_t time_ns) {
    using enum pprof_value;
    const auto add = [&](pprof_value value) {
        add_to(to[static_cast<std::size_t>(value)], time_ns);
    };
    add(wall);
    switch (kind) {
        case path_kind::running: return add(running);
        case path_kind::on_cpu: add(running); return add(on_cpu);
        case path_kind::blocked: add(running); return add(blocked);
        case path_kind::preempted: add(running); return add(preempted);
        case path_kind::queued: return add(queued);
        case path_kind::suspended: return add(suspended);
        case path_kind::waiting:
        case path_kind::not_started:
        case path_kind::unknown: return add(waiting);
    }
}

class pprof_writer {
public:
    pprof_writer(const trace& from, const byte_sink& sink)
        : from_(from), stacks_(from), packed_(sink) {}

    written write() {
        intern("");  // the format requires it first
        write_header();
        visit_stack_times(from_, scope_index(from_), stacks_,
                          [this](std::uint32_t node, path_kind kind, std::int64_t time_ns) {
                              if (node >= times_.size()) times_.resize(stacks_.frames().size());
                              add_pprof_time(times_[node], kind, time_ns);
                          });
        std::uint64_t samples = 0;
        for (std::uint32_t node = 1; node < times_.size(); ++node)
            if (times_[node].front() != 0) {
                write_sample(node);
                ++samples;
            }
        for (std::uint32_t frame = 0; frame < stacks_.frames().frame_count(); ++frame)
            write_frame(frame);
        if (!flush(0) || !packed_.finish()) return failure{"the export could not be written"};
        return samples;
    }

private:
    /// Returns the number of a text, which is written on its first use. Must not be called while a
    /// message is open.
    std::int64_t intern(std::string_view text) {
        const auto [found, is_new] =
            numbers_.try_emplace(well_formed(text), static_cast<std::int64_t>(numbers_.size()));
        if (is_new) file_.add_string(pprof::string_table, found->first);
        return found->second;
    }

    void write_header() {
        const std::int64_t nanoseconds = intern("nanoseconds");
        for (const std::string_view each : pprof_values) {
            const std::int64_t name = intern(each);
            protozero::pbf_writer type(file_, pprof::sample_type);
            type.add_int64(pprof::type, name);
            type.add_int64(pprof::unit, nanoseconds);
        }
        file_.add_int64(pprof::default_sample_type, intern(pprof_values.front()));
        file_.add_int64(pprof::time_nanos, from_.start_realtime_ns);
        file_.add_int64(pprof::duration_nanos, from_.duration_ns);
        if (from_.health.lost_records())
            file_.add_int64(pprof::comment, intern("the trace lost records"));
    }

    void write_sample(std::uint32_t node) {
        stacks_.frames().way_to(node, way_);
        protozero::pbf_writer sample(file_, pprof::sample);
        {
            protozero::packed_field_uint64 locations(sample, pprof::location_id);
            for (auto frame = way_.rbegin(); frame != way_.rend(); ++frame)
                locations.add_element(std::uint64_t{*frame} + 1);
        }
        sample.add_packed_int64(pprof::value, times_[node].begin(), times_[node].end());
        sample.commit();
        flush(flush_bytes);
    }

    void write_frame(std::uint32_t frame) {
        const std::uint64_t number = std::uint64_t{frame} + 1;
        const site_info* const site = find_site(from_, stacks_.frames().site_of(frame));
        const std::int64_t name = intern(stacks_.frames().text_of(frame));
        const std::int64_t file = intern(site == nullptr ? std::string_view() : site->file);
        const std::int64_t line = site == nullptr ? 0 : site->line;
        {
            protozero::pbf_writer function(file_, pprof::function);
            function.add_uint64(pprof::own_id, number);
            function.add_int64(pprof::name, name);
            function.add_int64(pprof::system_name, name);
            function.add_int64(pprof::filename, file);
            function.add_int64(pprof::start_line, line);
        }
        {
            protozero::pbf_writer location(file_, pprof::location);
            location.add_uint64(pprof::id, number);
            protozero::pbf_writer at(location, pprof::line);
            at.add_uint64(pprof::function_id, number);
            at.add_int64(pprof::line_number, line);
        }
        flush(flush_bytes);
    }

    /// Passes the bytes on if there are more than `most`.
    bool flush(std::size_t most) {
        if (bytes_.size() <= most) return good_;
        good_ = good_ && packed_.write(bytes_);
        bytes_.clear();
        return good_;
    }

    static constexpr std::size_t flush_bytes = std::size_t{1} << 18;

    const trace& from_;
    stack_tree stacks_;
    gzip_sink packed_;
    std::string bytes_;
    protozero::pbf_writer file_{bytes_};
    std::unordered_map<std::string, std::int64_t> numbers_;
    std::vector<pprof_times> times_;  // by node
    std::vector<std::uint32_t> way_;
    bool good_ = true;
};

}  // namespace

written export_pprof(const trace& from, const byte_sink& sink) {
    return pprof_writer(from, sink).write();
}

}  // namespace coroscope::analysis
