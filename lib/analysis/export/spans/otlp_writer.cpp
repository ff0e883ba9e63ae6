// SPDX-License-Identifier: Apache-2.0
#include "otlp_writer.hpp"

namespace coroscope::analysis::inline spans {

otlp_attributes resource_of(const trace& from) {
    return {{"service.name",
             from.process_name.empty() ? std::string("unknown_service") : from.process_name},
            {"process.pid", std::int64_t{from.process_id}},
            {"telemetry.sdk.name", std::string("coroscope")},
            {"telemetry.sdk.language", std::string("cpp")},
            {"coroscope.lost_records", from.health.lost_records()}};
}

}  // namespace coroscope::analysis::inline spans
