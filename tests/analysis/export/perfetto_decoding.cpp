// SPDX-License-Identifier: Apache-2.0
#include "perfetto_decoding.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <protozero/pbf_reader.hpp>

namespace coroscope_tests {
namespace {

using protozero::pbf_reader;

std::string text_of(pbf_reader& from) {
    const protozero::data_view text = from.get_view();
    return {text.data(), text.size()};
}

/// Returns false only for sequences that a reader of protobuf refuses, too.
bool is_utf8(std::string_view text) {
    std::size_t more = 0;
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        const bool continues = (byte & 0xC0U) == 0x80U;
        if (continues != (more > 0) || byte >= 0xF5) return false;
        if (continues)
            --more;
        else
            more = byte < 0x80 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    }
    return more == 0;
}

struct packet_event {
    std::uint64_t time = 0;
    std::int32_t type = 0;
    decoded_slice slice;
    double counted = 0;
    bool has_count = false;
};

class decoder {
public:
    decoded_picture decode(std::string_view bytes) {
        pbf_reader file(bytes.data(), bytes.size());
        while (file.next()) {
            expect(file.tag() == 1, "a field of the file that is no packet");
            read_packet(file.get_message());
        }
        check_tracks();
        std::stable_sort(events_.begin(), events_.end(), [](const auto& left, const auto& right) {
            return left.time < right.time;
        });
        for (packet_event& each : events_) play(each);
        for (const auto& [track, open] : open_) expect(open.empty(), "a slice that does not end");
        for (const std::uint64_t flow : ended_)
            expect(begun_.count(flow) == 1, "an arrow from nowhere");
        return std::move(out_);
    }

private:
    void expect(bool holds, std::string fault) {
        if (!holds) out_.faults.push_back(std::move(fault));
    }
    std::string checked(std::string text) {
        expect(is_utf8(text), "text that is not UTF-8");
        return text;
    }

    void read_packet(pbf_reader packet) {
        packet_event event;
        bool has_event = false, has_time = false;
        std::uint32_t sequence = 0, flags = 0;
        while (packet.next()) {
            switch (packet.tag()) {
                case 5: read_metadata(packet.get_message()); break;
                case 6: read_clocks(packet.get_message()); break;
                case 8: event.time = packet.get_uint64(), has_time = true; break;
                case 10: sequence = packet.get_uint32(); break;
                case 11: read_event(packet.get_message(), event), has_event = true; break;
                case 12: read_interned(packet.get_message()); break;
                case 13: flags = packet.get_uint32(); break;
                case 59: read_defaults(packet.get_message()); break;
                case 60: read_track(packet.get_message()); break;
                case 87: expect(packet.get_bool() && is_first_, "another first packet"); break;
                default: unknown(packet, "packet");
            }
        }
        expect(sequence == 1, "a packet of another sequence");
        expect(flags == (is_first_ ? 1U : 2U), "a packet without its sequence's state");
        expect(has_time == has_event, "an event without a time");
        is_first_ = false;
        if (has_event) events_.push_back(std::move(event));
    }

    void unknown(pbf_reader& in, const std::string& what) {
        out_.faults.push_back("field " + std::to_string(in.tag()) + " of a " + what);
        in.skip();
    }

    void read_defaults(pbf_reader defaults) {
        while (defaults.next())
            if (defaults.tag() == 58)
                out_.clock_of_events = defaults.get_uint32();
            else
                unknown(defaults, "default");
    }

    void read_clocks(pbf_reader snapshot) {
        while (snapshot.next()) {
            if (snapshot.tag() == 2) {
                expect(snapshot.get_enum() == 1, "another clock than the real one is the trace's");
                continue;
            }
            expect(snapshot.tag() == 1, "an unknown field of a snapshot");
            pbf_reader clock = snapshot.get_message();
            std::uint32_t id = 0;
            while (clock.next()) {
                if (clock.tag() == 1)
                    id = clock.get_uint32();
                else
                    out_.clocks[id] = static_cast<std::int64_t>(clock.get_uint64());
            }
        }
    }

    void read_metadata(pbf_reader bundle) {
        while (bundle.next(2)) {
            pbf_reader one = bundle.get_message();
            std::string name;
            while (one.next()) {
                if (one.tag() == 1)
                    name = text_of(one);
                else
                    out_.told[name] = one.tag() == 3 ? one.get_bool() : one.get_int64();
            }
        }
    }

    void read_track(pbf_reader described) {
        decoded_track track;
        std::uint64_t uuid = 0;
        while (described.next()) {
            switch (described.tag()) {
                case 1: uuid = described.get_uint64(); break;
                case 2: track.name = checked(text_of(described)); break;
                case 3: read_owner(described.get_message(), track, 6); break;
                case 4: read_owner(described.get_message(), track, 5); break;
                case 5: track.parent = described.get_uint64(); break;
                case 8: described.skip(), track.counts = true; break;
                case 11: expect(described.get_enum() == 3, "not ordered by rank"); break;
                case 12: track.rank = described.get_int32(); break;
                case 15: track.merges = described.get_enum() != 2; break;
                default: unknown(described, "track");
            }
        }
        expect(uuid != 0, "a track without a number");
        expect(out_.tracks.emplace(uuid, track).second, "a track described twice");
    }

    /// A process or a thread.
    void read_owner(pbf_reader owner, decoded_track& track, std::uint32_t name) {
        while (owner.next()) {
            if (owner.tag() == name)
                track.name = checked(text_of(owner));
            else if (owner.tag() == 1)
                track.pid = owner.get_int32();
            else if (owner.tag() == 2)
                track.tid = owner.get_int32();
            else
                unknown(owner, "process or thread");
        }
        expect(track.pid > 0, "a process without an id");
    }

    void read_interned(pbf_reader data) {
        while (data.next()) {
            const std::uint32_t kind = data.tag();
            expect(kind == 1 || kind == 2 || kind == 3 || kind == 29, "another interned text");
            pbf_reader one = data.get_message();
            std::uint64_t iid = 0;
            std::string text;
            while (one.next()) {
                if (one.tag() == 1)
                    iid = one.get_uint64();
                else
                    text = checked(text_of(one));
            }
            expect(iid != 0, "a text under the number 0");
            expect(interned_.emplace(std::pair(kind, iid), text).second, "a text interned twice");
        }
    }

    std::string interned(std::uint32_t kind, std::uint64_t iid) {
        const auto found = interned_.find({kind, iid});
        expect(found != interned_.end(), "a text that was not interned before");
        return found == interned_.end() ? std::string() : found->second;
    }

    void read_event(pbf_reader event, packet_event& into) {
        decoded_slice& slice = into.slice;
        while (event.next()) {
            switch (event.tag()) {
                case 3: slice.category = interned(1, event.get_uint64()); break;
                case 4: read_annotation(event.get_message(), slice); break;
                case 9: into.type = event.get_enum(); break;
                case 10: slice.name = interned(2, event.get_uint64()); break;
                case 11: slice.track = event.get_uint64(); break;
                case 23: slice.name = checked(text_of(event)); break;
                case 44: into.counted = event.get_double(), into.has_count = true; break;
                case 47: slice.flows_out.push_back(event.get_fixed64()); break;
                case 48: slice.flows_in.push_back(event.get_fixed64()); break;
                default: unknown(event, "event");
            }
        }
        expect(out_.tracks.count(slice.track) == 1, "an event on a track that was not described");
        expect((into.type == 4) == into.has_count, "a number without a counter");
        if (into.type == 4) return;
        expect(into.type == 2 || !slice.name.empty(), "a slice without a name");
        expect(into.type == 2 || !slice.category.empty(), "a slice without a category");
    }

    void read_annotation(pbf_reader annotation, decoded_slice& slice) {
        std::string name, value;
        while (annotation.next()) {
            switch (annotation.tag()) {
                case 1: name = interned(3, annotation.get_uint64()); break;
                case 2: value = annotation.get_bool() ? "true" : "false"; break;
                case 4: value = std::to_string(annotation.get_int64()); break;
                case 6: value = checked(text_of(annotation)); break;
                case 17: value = interned(29, annotation.get_uint64()); break;
                default: unknown(annotation, "annotation");
            }
        }
        expect(slice.arguments.emplace(name, value).second, "an argument said twice");
    }

    void check_tracks() {
        for (const auto& [uuid, track] : out_.tracks) {
            const bool has_parent = out_.tracks.count(track.parent) == 1;
            expect(track.parent == 0 || (track.parent != uuid && has_parent), "an unknown parent");
            expect(!track.merges || track.pid > 0, "a track that merges with those of its name");
        }
    }

    void play(packet_event& event) {
        if (event.type == 4) {
            expect(out_.tracks[event.slice.track].counts, "a number on a track without counter");
            out_.counts.push_back({out_.path(event.slice.track), event.time, event.counted});
            return;
        }
        std::vector<std::size_t>& open = open_[event.slice.track];
        if (event.type == 2) {
            if (open.empty()) return expect(false, "an end without a begin");
            out_.slices[open.back()].end = static_cast<std::int64_t>(event.time);
            return open.pop_back();
        }
        expect(event.type == 1 || event.type == 3, "an event of another type");
        decoded_slice& slice = event.slice;
        slice.start = slice.end = static_cast<std::int64_t>(event.time);
        slice.depth = open.size();
        slice.is_moment = event.type == 3;
        for (const std::uint64_t flow : slice.flows_out)
            expect(begun_.insert(flow).second, "two arrows of one number");
        for (const std::uint64_t flow : slice.flows_in) {
            expect(begun_.count(flow) == 1, "an arrow that ends before it begins");
            expect(ended_.insert(flow).second, "an arrow that ends twice");
        }
        if (!slice.is_moment) open.push_back(out_.slices.size());
        out_.slices.push_back(std::move(slice));
    }

    decoded_picture out_;
    bool is_first_ = true;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> interned_;
    std::vector<packet_event> events_;
    std::map<std::uint64_t, std::vector<std::size_t>> open_;  ///< by track: indices of slices
    std::set<std::uint64_t> begun_, ended_;
};

}  // namespace

std::string decoded_picture::path(std::uint64_t track) const {
    const auto found = tracks.find(track);
    if (found == tracks.end()) return "?";
    const decoded_track& each = found->second;
    return (each.parent == 0 ? "" : path(each.parent) + "/") + each.name;
}

std::vector<std::string> decoded_picture::lane(std::string_view which) const {
    std::vector<std::string> found;
    for (const decoded_slice& each : slices) {
        if (path(each.track) != which || each.is_moment) continue;
        found.push_back(std::string(each.depth, '.') + each.name + " " +
                        std::to_string(each.start) + ".." + std::to_string(each.end));
    }
    return found;
}

std::vector<const decoded_slice*> decoded_picture::named(std::string_view name) const {
    std::vector<const decoded_slice*> found;
    for (const decoded_slice& each : slices)
        if (each.name == name) found.push_back(&each);
    return found;
}

std::vector<std::string> decoded_picture::arrows() const {
    const auto end_of = [](const decoded_slice& at) {
        return at.name + " " + std::to_string(at.start);
    };
    std::map<std::uint64_t, std::string> from;
    for (const decoded_slice& each : slices)
        for (const std::uint64_t flow : each.flows_out) from[flow] = end_of(each);
    std::vector<std::string> found;
    for (const decoded_slice& each : slices)
        for (const std::uint64_t flow : each.flows_in)
            found.push_back(from[flow] + " -> " + end_of(each));
    std::sort(found.begin(), found.end());
    return found;
}

decoded_picture decode_perfetto(std::string_view bytes) { return decoder().decode(bytes); }

}  // namespace coroscope_tests
