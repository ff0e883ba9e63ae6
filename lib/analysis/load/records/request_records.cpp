// SPDX-License-Identifier: Apache-2.0
#include "request_records.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <coroscope/trace/value_format.hpp>

namespace coroscope::analysis::inline records {

using coroscope::trace::fact_kind;
using coroscope::trace::record_view;
using coroscope::trace::request_body;
using coroscope::trace::request_form;
using coroscope::trace::value_body;

namespace {

std::size_t body_bytes(const record_view& fact) {
    return std::min<std::size_t>(fact.value(), fact.payload_bytes());
}

bool is_known(request_form form) {
    return form == request_form::scope || form == request_form::range || form == request_form::task;
}

}  // namespace

bool request_reader::reads(const record_view& fact) {
    return coroscope::trace::fact_kind_of(fact.id()) == fact_kind::request || is_value(fact);
}

bool request_reader::is_value(const record_view& fact) {
    return coroscope::trace::fact_kind_of(fact.id()) == fact_kind::value;
}

std::int64_t request_reader::read(const record_view& fact, std::uint32_t thread,
                                  std::uint32_t ended_scopes, metadata& names, clock_map& clock,
                                  trace& loaded) {
    return is_value(fact) ? read_value(fact, thread, ended_scopes, names, clock, loaded)
                          : read_request(fact, thread, names, clock);
}

std::int64_t request_reader::read_request(const record_view& fact, std::uint32_t thread,
                                          metadata& names, clock_map& clock) {
    const std::size_t bytes = body_bytes(fact);
    request_body body;
    request_fact read;
    read.form = coroscope::trace::request_form_of(fact.id());
    if (bytes < sizeof body || !is_known(read.form)) {
        ++found_.malformed_requests;
        return 0;
    }
    std::memcpy(&body, fact.payload(), sizeof body);
    read.start_ns = clock.to_ns(fact.word(0));
    read.task_id = coroscope::trace::mark_task(body.mark);
    const std::uint32_t starter = coroscope::trace::mark_thread(body.mark);
    read.thread = starter == 0 || starter == coroscope::trace::mark_thread_unknown
                      ? thread
                      : names.thread(starter);
    if (read.form == request_form::range)
        read.serial = body.site;
    else
        read.site = names.optional_site(body.site);
    if (bytes > sizeof body)
        read.label = names.intern(
            {reinterpret_cast<const char*>(fact.payload()) + sizeof body, bytes - sizeof body});
    read.deadline_ns = body.deadline_ns;
    const std::uint32_t bits = coroscope::trace::fact_bits_of(fact.id());
    read.failed = (bits & coroscope::trace::request_failed) != 0;
    read.left_out = (bits & coroscope::trace::request_left_out) != 0;
    found_.facts.push_back(read);
    return 0;
}

std::int64_t request_reader::read_value(const record_view& fact, std::uint32_t thread,
                                        std::uint32_t ended_scopes, metadata& names,
                                        clock_map& clock, trace& loaded) {
    value_body body;
    if (body_bytes(fact) < sizeof body) {
        ++found_.malformed_values;
        return 0;
    }
    std::memcpy(&body, fact.payload(), sizeof body);
    const bool is_double =
        (coroscope::trace::fact_bits_of(fact.id()) & coroscope::trace::value_is_double) != 0;
    value_info value;
    value.time_ns = clock.to_ns(fact.word(0));
    value.number = is_double ? std::bit_cast<double>(body.bits)
                             : static_cast<double>(static_cast<std::int64_t>(body.bits));
    value.site = names.optional_site(coroscope::trace::value_site_of(fact.id()));
    value.thread = thread;
    loaded.values.push_back(value);
    found_.values.push_back({coroscope::trace::mark_task(body.mark), ended_scopes});
    return value.time_ns;
}

}  // namespace coroscope::analysis::inline records
