// SPDX-License-Identifier: Apache-2.0
#include <coroscope/value.hpp>

#include <coroscope/trace/value_format.hpp>

#include "../writer/recorder.hpp"

namespace coroscope::detail {

using namespace runtime;

void record_value(site& where, std::uint64_t bits, bool is_double) noexcept {
    if (register_thread(this_thread) == nullptr) return count_unregistered(1);
    if (!is_recording()) return;
    write_fact(now(), trace::make_value_id(site_id(where), is_double),
               trace::value_body{bits, this_thread.mark});
}

}  // namespace coroscope::detail
