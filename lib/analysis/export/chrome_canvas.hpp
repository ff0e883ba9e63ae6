// SPDX-License-Identifier: Apache-2.0
#pragma once

// A picture as a Chrome trace: each lane is a thread, each bar a complete event ("X").

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/analysis/chrome.hpp>

#include "../view/timeline/canvas.hpp"
#include "../view/timeline/drawing_names.hpp"
#include "chrome_writer.hpp"
#include "viewer_lane.hpp"

namespace coroscope::analysis::inline exports {

class chrome_canvas final : public canvas {
public:
    chrome_canvas(const trace& from, const byte_sink& sink);

    void name_process(process which, std::string_view name, std::uint32_t rank) override;
    void name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) override;
    void draw(const bar& drawn) override;
    /// Draws the bar as an asynchronous event.
    void draw_apart(const bar& drawn) override;

    void draw_counter(const counter_point& point) override;
    [[nodiscard]] bool failed() const noexcept override { return out_.failed(); }

    /// Closes the document and writes its losses. Returns false if any part of it could not be
    /// written.
    [[nodiscard]] bool finish(const chrome_totals& totals);

private:
    void write_label(std::string_view what, const lane_ref& where, std::string_view name,
                     std::uint32_t rank);
    void write_half(const bar& drawn, std::string_view phase, std::int64_t time_ns);
    void write_arguments(const bar& drawn);
    void write_value(const argument_value& value);
    [[nodiscard]] viewer_times times_of(const bar& drawn);
    [[nodiscard]] std::string_view beginning_on(const lane_ref& where);
    [[nodiscard]] std::string_view name_of(const bar& drawn);
    [[nodiscard]] std::string_view category_of(std::uint32_t category);
    [[nodiscard]] std::string_view place_of(std::uint32_t site);

    const trace& from_;
    drawing_names texts_;
    chrome_writer out_;
    std::vector<viewer_lane> lanes_;  ///< by lane
    std::uint64_t apart_ = 0;         ///< events written as begin and end

    // Parts of the document's text that repeat. A text that depends on the trace is empty until its
    // first use.
    std::vector<std::string> heads_;  ///< an event up to its lane, by process
    std::array<std::string, std::size(argument_names)> keys_;
    std::vector<std::string> beginnings_;  ///< a bar up to its time, by lane
    std::vector<std::string> names_;
    std::vector<std::string> categories_;
    std::vector<std::string> places_;
    std::string own_name_;
};

}  // namespace coroscope::analysis::inline exports
