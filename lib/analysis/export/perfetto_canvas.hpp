// SPDX-License-Identifier: Apache-2.0
#pragma once

// A picture as a Perfetto trace: each lane is a track, each bar a slice's begin and end.
//
// Both are written when the bar is drawn, the end before later begins. Readers sort packets by time
// and keep the order of equals. As bars nest on a lane, every begin then finds its end: at one time
// the end of a bar comes before the begin of the next, and of two ends each closes one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/perfetto.hpp>

#include "../view/timeline/canvas.hpp"
#include "../view/timeline/drawing_lanes.hpp"
#include "../view/timeline/drawing_names.hpp"
#include "perfetto_writer.hpp"

namespace coroscope::analysis::inline exports {

class perfetto_canvas final : public canvas {
public:
    perfetto_canvas(const trace& from, const byte_sink& sink);

    void name_process(process which, std::string_view name, std::uint32_t rank) override;
    void name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) override;
    void draw(const bar& drawn) override;
    /// Draws the bar on a lane that no other bar drawn apart uses at that time.
    void draw_apart(const bar& drawn) override;
    void draw_counter(const counter_point& point) override;
    [[nodiscard]] bool failed() const noexcept override { return out_.failed(); }

    /// Ends the trace and writes its losses. Returns false if any part of it could not be written.
    [[nodiscard]] bool finish(const perfetto_totals& totals);

private:
    void write_first_packet();
    void write_clocks();
    void write_track(std::uint64_t uuid, std::uint64_t parent, std::string_view name,
                     std::uint32_t rank);
    void write_process(std::string_view name);
    void write_thread(const lane_ref& where, std::string_view name);
    void draw_on(std::uint64_t track, const bar& drawn);
    void add_arrows(const bar& drawn);
    void add_argument(const argument_value& value);
    [[nodiscard]] std::uint32_t name_of(const bar& drawn);
    [[nodiscard]] std::uint32_t category_of(std::uint32_t category);
    [[nodiscard]] const std::string& place_of(std::uint32_t site);
    void know_lane(const lane_ref& where);
    [[nodiscard]] std::uint64_t track_of(process which) const;
    [[nodiscard]] std::uint64_t track_of(const lane_ref& where) const;

    const trace& from_;
    drawing_names texts_;
    perfetto_writer out_;
    bool has_process_;  ///< whether the trace knows the process's id

    std::vector<bool> processes_;  ///< by process: its track is written
    std::vector<bool> lanes_;      ///< by lane: its track is written

    // The numbers of interned texts of the trace; 0: not interned yet.
    std::vector<std::uint32_t> names_;
    std::vector<std::uint32_t> categories_;
    std::uint32_t interned_ = 0;
    std::vector<std::string> places_;  ///< by site: the annotation; empty until first used
    std::string details_;              ///< of one event

    lane_pool apart_;
    std::uint32_t lanes_apart_ = 0;
    std::uint32_t counters_ = 0;
};

}  // namespace coroscope::analysis::inline exports
