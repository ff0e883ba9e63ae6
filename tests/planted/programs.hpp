// SPDX-License-Identifier: Apache-2.0
#pragma once

// The programs of the table in programs.cpp, one source each.

namespace planted {

namespace lock_over_sleep {
void run();
}
namespace blocking_call {
void run();
}
namespace busy_strand {
void run();
}
namespace small_pool {
void run();
}
namespace exhausted_pool {
void run();
}
namespace sequential_calls {
void run();
}
namespace retry {
void run();
}
namespace long_delay {
void run();
}
namespace async_mutex {
void run();
}
namespace connection_pool {
void run();
}
namespace slow_consumer {
void run();
}
namespace slow_child {
void run();
}
namespace lost_reply {
void run();
}
namespace lock_convoy {
void run();
}
namespace locked_call {
void run();
}
namespace big_tenant {
void run();
}
namespace head_of_line {
void run();
}
namespace background_job {
void run();
}
namespace busy_executor {
void run();
}
namespace crowd {
void run();
}
namespace late_job {
void run();
}
namespace late_future {
void run();
}
namespace late_result {
void run();
}
namespace blocked_fibers {
void run();
}
namespace own_pool {
void run();
}
namespace foreign_awaitable {
void run();
}
namespace foreign_pool {
void run();
}
namespace healthy_waits {
void run();
}
namespace healthy_pool {
void run();
}
namespace healthy_children {
void run();
}
namespace cold_start {
void run();
}
namespace dropped {
void run();
}
namespace growing {
void run();
}
namespace healthy_cache {
void run();
}
namespace healthy_deadlines {
void run();
}
namespace healthy_future {
void run();
}
namespace healthy_mixed {
void run();
}
namespace healthy_shutdown {
void run();
}
namespace herd {
void run();
}
namespace in_a_row {
void run();
}
namespace inversion {
void run();
}
namespace large_frame {
void run();
}
namespace lost_wake {
void run();
}
namespace periodic {
void run();
}
namespace ping_pong {
void run();
}
namespace polling {
void run();
}
namespace stampede {
void run();
}
namespace time_outs {
void run();
}

}  // namespace planted
