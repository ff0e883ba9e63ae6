// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of devices in a session's trace.

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <coroscope/coroscope.hpp>
#include <coroscope/detail/device_recorder.hpp>
#include <coroscope/integration/cuda.hpp>
#include <coroscope/trace/reader.hpp>
#include <doctest/doctest.h>

#include "fake_cupti.hpp"

namespace coroscope::test {

namespace fake = fake_cupti;

struct recorded_activity {
    std::uint64_t start_ticks = 0;
    std::string name;
    trace::device_body body{};
};

struct recorded_wait {
    std::uint64_t ticks = 0;
    std::uint64_t task = 0;  ///< the task, or the mark of a range
    std::uint64_t context = 0;
    std::uint32_t stream = 0;
    std::uint32_t number = 0;  ///< the number of an event's call, or the label of a range
    trace::device_wait_kind kind{};
};

struct recorded_devices {
    trace::file_header header{};
    std::vector<recorded_activity> activities;  ///< in the order of their records
    std::vector<recorded_wait> waits;
    std::vector<std::string> scopes;  ///< on the host
    std::map<std::uint32_t, std::string> device_names;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> stream_names;  ///< by context
    std::uint64_t cut_texts = 0;
    std::uint64_t dropped_records = 0;

    [[nodiscard]] std::vector<recorded_activity> of(trace::device_activity what) const {
        std::vector<recorded_activity> found;
        std::copy_if(activities.begin(), activities.end(), std::back_inserter(found),
                     [what](const auto& each) { return each.body.what == what; });
        return found;
    }
    [[nodiscard]] std::vector<recorded_activity> kernels() const {
        return of(trace::device_activity::kernel);
    }
    [[nodiscard]] std::string message() const { return header.device_message; }
    [[nodiscard]] bool recorded() const {
        return header.devices == static_cast<std::uint64_t>(trace::device_recording::recorded);
    }
};

class device_decoder {
public:
    explicit device_decoder(const trace::reader& from) {
        found_.header = from.header();
        for (const bool names : {true, false}) {
            for (const trace::chunk_view& chunk : from.chunks())
                if ((chunk.header.kind == trace::chunk_kind::metadata) == names)
                    trace::for_each_record(chunk, [this](const auto& record) { take(record); });
        }
    }
    recorded_devices take_all() { return std::move(found_); }

private:
    void take(const trace::record_view& record) {
        const auto text = [&] {
            return std::string(reinterpret_cast<const char*>(record.payload()), record.value());
        };
        switch (record.kind()) {
            case trace::record_kind::string: strings_[record.id()] = text(); break;
            case trace::record_kind::site: {
                trace::site_body body;
                std::memcpy(&body, record.payload(), sizeof body);
                labels_[record.id()] = body.label;
                break;
            }
            case trace::record_kind::thread: {
                trace::thread_body body;
                std::memcpy(&body, record.payload(), sizeof body);
                found_.cut_texts += body.truncated_payloads;
                found_.dropped_records += body.dropped_newest;
                break;
            }
            case trace::record_kind::scope:
            case trace::record_kind::long_scope:
                found_.scopes.push_back(strings_[labels_[record.id()]]);
                break;
            case trace::record_kind::device_name:
                if (record.word(0) == 0)
                    found_.device_names[record.id()] = text();
                else
                    found_.stream_names[{record.word(0) - 1, record.id()}] = text();
                break;
            case trace::record_kind::device: {
                recorded_activity activity{record.word(0), strings_[labels_[record.id()]], {}};
                REQUIRE(record.value() == sizeof activity.body);
                std::memcpy(&activity.body, record.payload(), sizeof activity.body);
                found_.activities.push_back(activity);
                break;
            }
            case trace::record_kind::device_wait:
                found_.waits.push_back({record.word(0), record.word(2),
                                        record.word(3) & 0xffff'ffff, record.id(),
                                        static_cast<std::uint32_t>(record.word(3) >> 32),
                                        static_cast<trace::device_wait_kind>(record.value())});
                break;
            default: break;
        }
    }
    recorded_devices found_;
    std::map<std::uint32_t, std::string> strings_;
    std::map<std::uint32_t, std::uint32_t> labels_;
};

inline recorded_devices decode(const trace::buffer& bytes) {
    REQUIRE_FALSE(bytes.empty());
    const auto reader = trace::reader::open(bytes);
    REQUIRE(reader);
    CHECK(reader->warnings().empty());
    return device_decoder(*reader).take_all();
}

/// The records of devices of a session of this thread while `body` runs.
template <class Body>
recorded_devices record_devices(const Body& body, profile_options options = {}) {
    options.use_device = "cuda";
    profile session(options);
    REQUIRE(session.status().state == session_state::recording);
    body();
    return decode(session.stop());
}

}  // namespace coroscope::test
