// SPDX-License-Identifier: Apache-2.0

// The tables of requests, their tasks and their critical paths.

#include "timeline_tables.hpp"

#include <fmt/format.h>

#include "../words/await_names.hpp"
#include "../words/request_words.hpp"

namespace coroscope::analysis::inline pages {
namespace {

/// The most works that explain a segment, those with the largest charges.
constexpr std::size_t most_blames = 5;

std::size_t shown_blames(const path_segment& segment) {
    return std::min(segment.blame.size(), most_blames);
}

/// Work or a wait of a path, by the indices that a segment, a blame and a wait share.
struct path_place {
    std::uint32_t task = none;
    std::uint32_t thread = none;
    std::uint32_t event = none;
    std::uint32_t await = none;
};

class page_request_writer {
public:
    page_request_writer(const page_input& input, table_target to)
        : in_(input), from_(input.from), to_(to) {}

    void write() {
        write_requests();
        write_request_tasks();
        write_segments();
        write_blames();
        write_waits();
    }

private:
    template <class Value>
    void request_column(const column_head& head, const Value& value) {
        to_.tables.column(head, [&](std::size_t row) {
            return value(in_.order.request_of(static_cast<std::uint32_t>(row)));
        });
    }

    void write_requests() {
        const std::vector<std::uint32_t>& rows = in_.order.rows();
        to_.tables.begin("requests", rows.size());
        request_column({"id", column_coding::delta},
                       [](const request_info& each) { return static_cast<std::int64_t>(each.id); });
        to_.tables.column({"type", column_coding::maybe, "types"},
                          [&](std::size_t row) { return in_.order.type_of(rows[row]); });
        request_column({"name", column_coding::maybe, "names"}, [this](const request_info& each) {
            return to_.names.number_of(request_name(from_, each));
        });
        request_column({"task", column_coding::delta, "tasks"}, [this](const request_info& each) {
            return in_.shown.tasks.row_of(each.task);
        });
        request_column({"thread", column_coding::maybe, "threads"},
                       [this](const request_info& each) {
                           return reference(each.thread, from_.threads.size());
                       });
        request_column({"scope", column_coding::delta, "scopes"}, [this](const request_info& each) {
            return in_.shown.scopes.row_of(each.event);
        });
        request_column({"start_ns", column_coding::delta},
                       [](const request_info& each) { return each.start_ns; });
        request_column({"length_ns", column_coding::delta},
                       [](const request_info& each) { return each.wall_ns(); });
        write_request_times();
        write_request_facts();
        to_.tables.end();
    }

    void write_request_times() {
        std::vector<request_info> by_start;
        std::vector<std::uint32_t> places(in_.order.rows().size());
        for (std::uint32_t row = 0; row < places.size(); ++row) places[row] = row;
        std::ranges::sort(places, {}, [this](std::uint32_t row) {
            return std::pair(in_.order.request_of(row).start_ns, row);
        });
        for (const std::uint32_t row : places) by_start.push_back(in_.order.request_of(row));
        const std::vector<request_time> times = times_of_requests(from_, by_start);
        known_.resize(places.size());
        std::vector<std::uint32_t> position(places.size());
        for (std::uint32_t at = 0; at < places.size(); ++at) {
            position[places[at]] = at;
            known_[places[at]] = times[at].known;
        }
        const auto column = [&](std::string_view name, const auto& part) {
            to_.tables.column({name, column_coding::maybe}, [&](std::size_t row) {
                const request_time& of = times[position[row]];
                return of.known ? part(of) : -1;
            });
        };
        column("running_ns", [](const request_time& of) { return of.time.running_ns; });
        column("on_cpu_ns", [](const request_time& of) { return of.states.on_cpu_ns; });
        column("blocked_ns", [](const request_time& of) { return of.states.blocked_ns; });
        column("preempted_ns", [](const request_time& of) { return of.states.preempted_ns; });
        column("unknown_state_ns", [](const request_time& of) { return of.states.unknown_ns; });
        column("suspended_ns", [](const request_time& of) { return of.time.suspended_ns; });
        column("queued_ns", [](const request_time& of) { return of.time.queued_ns; });
        column("waiting_ns", [](const request_time& of) { return of.time.waiting_ns; });
    }

    void write_request_facts() {
        request_column({"deadline_ns", column_coding::maybe},
                       [](const request_info& each) { return each.deadline_ns.value_or(-1); });
        request_column({"end", column_coding::byte, "request_ends"}, [](const request_info& each) {
            return static_cast<std::int64_t>(each.end);
        });
        to_.tables.column({"flags"}, [&](std::size_t row) {
            const request_info& each = in_.order.request_of(static_cast<std::uint32_t>(row));
            const bool has_path =
                std::ranges::binary_search(in_.paths.rows, static_cast<std::uint32_t>(row));
            return flag(each.clipped, 1) | flag(each.left_out, 2) | flag(each.is_late(), 4) |
                   flag(!known_[row], 8) | flag(each.is_whole(), 16) |
                   flag(in_.shown.requests[row], 32) | flag(has_path, 64);
        });
    }

    void write_request_tasks() {
        constexpr std::size_t most_request_tasks = 2'000'000;
        std::vector<std::pair<std::uint32_t, std::int64_t>> rows;
        for (std::uint32_t row = 0; row < in_.shown.requests.size(); ++row) {
            if (!in_.shown.requests[row] || rows.size() > most_request_tasks) continue;
            const std::vector<owned_time> parts = in_.work.parts_of(in_.order.request_of(row));
            const std::size_t first = rows.size();
            for (std::size_t at = 1; at < parts.size(); ++at)
                if (const std::int64_t task = in_.shown.tasks.row_of(parts[at].task); task >= 0)
                    rows.emplace_back(row, task);
            std::sort(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.end());
        }
        to_.tables.begin("request_tasks", rows.size());
        to_.tables.column({"request", column_coding::delta, "requests"},
                          [&](std::size_t row) { return rows[row].first; });
        to_.tables.column({"task", column_coding::delta, "tasks"},
                          [&](std::size_t row) { return rows[row].second; });
        to_.tables.end();
    }

    /// One segment, blame or wait of the paths, in the order of the requests' rows.
    struct path_part {
        std::uint32_t path;
        std::uint32_t at;
    };

    /// The shown blame of all segments: their places in critical_path::blame.
    [[nodiscard]] std::vector<path_part> shown_blame() const {
        std::vector<path_part> parts;
        for (std::uint32_t path = 0; path < in_.paths.paths.size(); ++path)
            for (const path_segment& each : in_.paths.paths[path].segments)
                for (std::size_t at = 0; at < shown_blames(each); ++at)
                    parts.push_back({path, each.blame[at]});
        return parts;
    }

    template <class SizeOf>
    [[nodiscard]] std::vector<path_part> parts_of_paths(const SizeOf& size_of) const {
        std::vector<path_part> parts;
        for (std::uint32_t path = 0; path < in_.paths.paths.size(); ++path)
            for (std::uint32_t at = 0; at < size_of(in_.paths.paths[path]); ++at)
                parts.push_back({path, at});
        return parts;
    }

    /// The rows of the first blame, or wait, of each path.
    template <class SizeOf>
    [[nodiscard]] std::vector<std::int64_t> first_rows(const SizeOf& size_of) const {
        std::vector<std::int64_t> rows;
        std::int64_t next = 0;
        for (const critical_path& each : in_.paths.paths) {
            rows.push_back(next);
            next += static_cast<std::int64_t>(size_of(each));
        }
        return rows;
    }

    void write_segments() {
        const auto parts =
            parts_of_paths([](const critical_path& of) { return of.segments.size(); });
        std::vector<std::int64_t> blames;  // the first row of each segment's
        std::int64_t next_blame = 0;
        for (const path_part& each : parts) {
            blames.push_back(next_blame);
            next_blame += static_cast<std::int64_t>(
                shown_blames(in_.paths.paths[each.path].segments[each.at]));
        }
        const auto waits = first_rows([](const critical_path& of) { return of.waits.size(); });
        const auto segment = [&](std::size_t row) -> const path_segment& {
            return in_.paths.paths[parts[row].path].segments[parts[row].at];
        };
        const auto column = [&](const column_head& head, const auto& value) {
            to_.tables.column(head, [&](std::size_t row) { return value(segment(row)); });
        };
        to_.tables.begin("segments", parts.size());
        to_.tables.column({"request", column_coding::delta, "requests"},
                          [&](std::size_t row) { return in_.paths.rows[parts[row].path]; });
        column({"kind", column_coding::byte, "path_kinds"},
               [](const path_segment& of) { return static_cast<std::int64_t>(of.kind); });
        column({"start_ns", column_coding::delta},
               [](const path_segment& of) { return of.start_ns; });
        column({"length_ns"}, [](const path_segment& of) { return of.length_ns(); });
        write_places([&](std::size_t row) {
            const path_segment& of = segment(row);
            return path_place{of.task, of.thread, of.event, of.await};
        });
        to_.tables.column({"through", column_coding::maybe, "waits"}, [&](std::size_t row) {
            const std::uint32_t through = segment(row).through;
            return through == none ? -1 : waits[parts[row].path] + through;
        });
        to_.tables.column({"blame", column_coding::maybe, "blames"}, [&](std::size_t row) {
            return shown_blames(segment(row)) == 0 ? -1 : blames[row];
        });
        column({"blames"}, [](const path_segment& of) { return shown_blames(of); });
        to_.tables.end();
    }

    void write_blames() {
        const auto parts = shown_blame();
        const auto blame = [&](std::size_t row) -> const path_blame& {
            return in_.paths.paths[parts[row].path].blame[parts[row].at];
        };
        to_.tables.begin("blames", parts.size());
        write_places([&](std::size_t row) {
            const path_blame& of = blame(row);
            return path_place{of.task, of.thread, of.event, none};
        });
        to_.tables.column({"time_ns"}, [&](std::size_t row) { return blame(row).time_ns; });
        to_.tables.column({"charged_ns"}, [&](std::size_t row) { return blame(row).charged_ns; });
        to_.tables.end();
    }

    void write_waits() {
        const auto parts = parts_of_paths([](const critical_path& of) { return of.waits.size(); });
        const auto first = first_rows([](const critical_path& of) { return of.waits.size(); });
        const auto wait = [&](std::size_t row) -> const path_wait& {
            return in_.paths.paths[parts[row].path].waits[parts[row].at];
        };
        const auto column = [&](const column_head& head, const auto& value) {
            to_.tables.column(head, [&](std::size_t row) { return value(wait(row)); });
        };
        to_.tables.begin("waits", parts.size());
        column({"kind", column_coding::byte, "path_kinds"},
               [](const path_wait& of) { return static_cast<std::int64_t>(of.kind); });
        column({"edge", column_coding::byte, "path_edges"},
               [](const path_wait& of) { return static_cast<std::int64_t>(of.edge); });
        column({"start_ns", column_coding::delta}, [](const path_wait& of) { return of.start_ns; });
        column({"length_ns"}, [](const path_wait& of) { return of.end_ns - of.start_ns; });
        write_places([&](std::size_t row) {
            const path_wait& of = wait(row);
            return path_place{of.task, of.thread, of.event, of.await};
        });
        to_.tables.column({"through", column_coding::maybe, "waits"}, [&](std::size_t row) {
            const std::uint32_t through = wait(row).through;
            return through == none ? -1 : first[parts[row].path] + through;
        });
        column({"held", column_coding::maybe, "names"},
               [this](const path_wait& of) { return held_name(of); });
        to_.tables.end();
    }

    std::int64_t held_name(const path_wait& of) {
        if (of.resource < from_.resource_waits.size())
            return to_.names.number_of(site_name(from_, from_.resource_waits[of.resource].site));
        return of.lock_address == 0
                   ? -1
                   : to_.names.number_of(fmt::format("lock {:#x}", of.lock_address));
    }

    /// Writes the columns of the places of segments, blames or waits.
    template <class PlaceOf>
    void write_places(const PlaceOf& place_of) {
        to_.tables.column({"task", column_coding::delta, "tasks"}, [&](std::size_t row) {
            return in_.shown.tasks.row_of(place_of(row).task);
        });
        to_.tables.column({"thread", column_coding::maybe, "threads"}, [&](std::size_t row) {
            return reference(place_of(row).thread, from_.threads.size());
        });
        to_.tables.column({"scope", column_coding::delta, "scopes"}, [&](std::size_t row) {
            return in_.shown.scopes.row_of(place_of(row).event);
        });
        to_.tables.column({"await", column_coding::delta, "awaits"}, [&](std::size_t row) {
            return in_.shown.awaits.row_of(place_of(row).await);
        });
        to_.tables.column({"name", column_coding::maybe, "names"},
                          [&](std::size_t row) { return name_of_place(place_of(row)); });
        to_.tables.column({"site", column_coding::maybe, "sites"}, [&](std::size_t row) {
            return reference(site_of_place(place_of(row)), from_.sites.size());
        });
    }

    /// The name of the await, else of the scope, else of the task; -1 without recorded work.
    std::int64_t name_of_place(const path_place& place) {
        if (place.await < from_.awaits.size())
            return to_.names.number_of(await_title(from_, from_.awaits[place.await]));
        if (place.event < from_.events.size())
            return to_.names.of_string(from_.events[place.event].name);
        if (place.task >= from_.tasks.size()) return -1;
        return to_.names.number_of(site_name(from_, from_.tasks[place.task].spawn_site));
    }

    [[nodiscard]] std::uint32_t site_of_place(const path_place& place) const {
        if (place.await < from_.awaits.size()) return await_place(from_, from_.awaits[place.await]);
        if (place.event < from_.events.size()) return from_.events[place.event].site;
        return place.task < from_.tasks.size() ? from_.tasks[place.task].spawn_site : none;
    }

    const page_input& in_;
    const trace& from_;
    table_target to_;
    std::vector<bool> known_;  // by row
};

}  // namespace

void write_request_tables(const page_input& input, table_target to) {
    page_request_writer(input, to).write();
}

}  // namespace coroscope::analysis::inline pages
