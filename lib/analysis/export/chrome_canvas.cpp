// SPDX-License-Identifier: Apache-2.0
#include "chrome_canvas.hpp"

#include <fmt/format.h>

#include "../text/utf8.hpp"
#include "losses.hpp"

namespace coroscope::analysis::inline exports {
namespace {

std::string member(std::string_view key, std::string_view text) {
    std::string out = ",\"";
    out.append(key).append("\":");
    append_json_string(out, text);
    return out;
}

}  // namespace

chrome_canvas::chrome_canvas(const trace& from, const byte_sink& sink)
    : from_(from),
      texts_(from),
      out_(sink),
      names_(texts_.count()),
      categories_(texts_.categories()),
      places_(from.sites.size()) {
    const auto head_of = [](std::uint32_t pid) {
        return ",\n{\"pid\":" + std::to_string(pid) + ",\"tid\":";
    };
    heads_.push_back(head_of(from.process_id));
    // Viewers show the id beside the name, so the processes of tasks and devices get short ids.
    for (std::uint32_t pid = 1; heads_.size() < count_processes(from); ++pid)
        if (pid != from.process_id) heads_.push_back(head_of(pid));
    for (std::size_t at = 0; at < keys_.size(); ++at)
        keys_[at].append(",\"").append(argument_names[at]).append("\":");
    out_.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

/// Each head begins with the comma that separates two events. The first event of the document,
/// which names the process of the threads, must not have a comma.
void chrome_canvas::name_process(process which, std::string_view name, std::uint32_t rank) {
    const std::string_view head = heads_[static_cast<std::size_t>(which)];
    out_.raw(which == process::threads ? head.substr(1) : head);
    write_label("process", {which, 0, 0}, name, rank);
}

void chrome_canvas::name_lane(const lane_ref& where, std::string_view name, std::uint32_t rank) {
    out_.raw(heads_[static_cast<std::size_t>(where.in)]);
    write_label("thread", where, name, rank);
}

/// Writes the name and the rank of a process or a thread. The head must have been written.
void chrome_canvas::write_label(std::string_view what, const lane_ref& where, std::string_view name,
                                std::uint32_t rank) {
    std::string text;
    append_json_string(text, name);
    out_.integer(where.tid).raw(",\"ph\":\"M\",\"name\":\"").raw(what);
    out_.raw("_name\",\"args\":{\"name\":").raw(text).raw("}}");
    out_.raw(heads_[static_cast<std::size_t>(where.in)]);
    out_.integer(where.tid).raw(",\"ph\":\"M\",\"name\":\"").raw(what);
    out_.raw("_sort_index\",\"args\":{\"sort_index\":").integer(rank).raw("}}");
}

void chrome_canvas::draw(const bar& drawn) {
    const viewer_times times = times_of(drawn);
    out_.raw(beginning_on(drawn.where)).microseconds(drawn.what.start_ns);
    if (times.later) out_.raw("1");
    out_.raw(",\"dur\":");
    if (times.duration_us == 0)
        out_.microseconds(drawn.what.end_ns - drawn.what.start_ns);
    else
        out_.real(times.duration_us);
    out_.raw(name_of(drawn)).raw(category_of(drawn.category));
    write_arguments(drawn);
    out_.raw("}");
    if (drawn.flow_in != 0) out_.raw(",\"flow_in\":true,\"bind_id\":").id(drawn.flow_in);
    if (drawn.flow_out != 0) out_.raw(",\"flow_out\":true,\"bind_id\":").id(drawn.flow_out);
    out_.raw("}");
}

viewer_times chrome_canvas::times_of(const bar& drawn) {
    if (drawn.where.number >= lanes_.size()) lanes_.resize(drawn.where.number + 1);
    viewer_lane& lane = lanes_[drawn.where.number];
    if (drawn.is_moment) return lane.take_moment(drawn.what.start_ns);
    // A name that is not among drawing_names may equal any name.
    return lane.take(drawn.what, drawn.name, [&](std::uint32_t other) {
        return other == none || drawn.name == none || names_[other] == name_of(drawn);
    });
}

void chrome_canvas::draw_apart(const bar& drawn) {
    ++apart_;
    write_half(drawn, ",\"ph\":\"b\",\"id2\":{\"local\":", drawn.what.start_ns);
    write_arguments(drawn);
    out_.raw("}}");
    write_half(drawn, ",\"ph\":\"e\",\"id2\":{\"local\":", drawn.what.end_ns);
    out_.raw("}}");
}

/// Writes one end of an asynchronous event, up to its arguments.
void chrome_canvas::write_half(const bar& drawn, std::string_view phase, std::int64_t time_ns) {
    out_.raw(heads_[static_cast<std::size_t>(drawn.where.in)]).integer(drawn.where.tid);
    out_.raw(phase).id(apart_).raw("},\"ts\":").microseconds(time_ns);
    out_.raw(name_of(drawn)).raw(category_of(drawn.category));
}

/// Viewers have a counter track for each name in a process.
void chrome_canvas::draw_counter(const counter_point& point) {
    out_.raw(heads_[static_cast<std::size_t>(process::threads)]);
    out_.raw("0,\"ph\":\"C\",\"ts\":").microseconds(point.time_ns);
    out_.raw(member("name", point.name));
    out_.raw(fmt::format(",\"args\":{{\"value\":{}}}}}", point.number));
}

void chrome_canvas::write_arguments(const bar& drawn) {
    bool is_first = true;
    for (const argument_value& each : drawn) {
        const std::string_view key = each.is == argument_value::kind::site_place
                                         ? place_of(static_cast<std::uint32_t>(each.number))
                                         : keys_[static_cast<std::size_t>(each.key)];
        out_.raw(is_first ? key.substr(1) : key);
        is_first = false;
        write_value(each);
    }
}

void chrome_canvas::write_value(const argument_value& value) {
    switch (value.is) {
        case argument_value::kind::integer: out_.integer(value.number); return;
        case argument_value::kind::flag: out_.raw(value.number != 0 ? "true" : "false"); return;
        case argument_value::kind::site_place: return;  // the text of a place includes its key
        case argument_value::kind::text: break;
    }
    std::string text;
    append_json_string(text, value.text);
    out_.raw(text);
}

std::string_view chrome_canvas::beginning_on(const lane_ref& where) {
    if (where.number >= beginnings_.size()) beginnings_.resize(where.number + 1);
    std::string& text = beginnings_[where.number];
    if (text.empty()) {
        text = heads_[static_cast<std::size_t>(where.in)];
        text.append(std::to_string(where.tid)).append(",\"ph\":\"X\",\"ts\":");
    }
    return text;
}

std::string_view chrome_canvas::name_of(const bar& drawn) {
    if (drawn.name == none) return own_name_ = member("name", drawn.own_name);
    std::string& text = names_[drawn.name];
    if (text.empty()) text = member("name", texts_.text(drawn.name));
    return text;
}

/// Returns the member "cat" and the beginning of the arguments, which follow it.
std::string_view chrome_canvas::category_of(std::uint32_t category) {
    std::string& text = categories_[category];
    if (text.empty()) text = member("cat", texts_.category_text(category)) + ",\"args\":{";
    return text;
}

std::string_view chrome_canvas::place_of(std::uint32_t site) {
    std::string& text = places_[site];
    if (text.empty()) text = member("at", texts_.place_text(site));
    return text;
}

bool chrome_canvas::finish(const chrome_totals& totals) {
    out_.raw("\n],\"otherData\":{\"producer\":\"coroscope\"");
    for (const loss& each : losses_of(from_.health, totals))
        out_.raw(",\"").raw(each.name).raw("\":").integer(each.count);
    out_.raw(from_.health.finished ? ",\"finished\":true" : ",\"finished\":false");
    return out_.raw("}}\n").flush();
}

}  // namespace coroscope::analysis::inline exports
