// SPDX-License-Identifier: Apache-2.0
#include <coroscope/end_of_service.hpp>

#include <coroscope/trace/await_format.hpp>

#include "../writer/recorder.hpp"
#include "../writer/registry.hpp"

namespace coroscope::detail {

using namespace runtime;

void mark_end_of_service() noexcept {
    if (register_thread(this_thread) == nullptr || !is_recording()) return;
    runtime::write_fact(
        now(),
        trace::fact_id(trace::fact_kind::mark,
                       static_cast<std::uint32_t>(trace::mark_kind::end_of_service)),
        trace::mark_body{task_of(this_thread.mark), 0});
}

}  // namespace coroscope::detail
