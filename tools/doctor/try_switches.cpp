// SPDX-License-Identifier: Apache-2.0
#include "try_switches.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

/// Describes an event that needs only rights over the own process: it counts nothing in the kernel.
perf_event_attr switch_records() {
    perf_event_attr asked{};
    asked.size = sizeof asked;
    asked.type = PERF_TYPE_SOFTWARE;
    asked.config = PERF_COUNT_SW_DUMMY;
    asked.exclude_kernel = 1;
    asked.exclude_hv = 1;
    asked.context_switch = 1;
    asked.sample_id_all = 1;
    asked.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    asked.use_clockid = 1;
    asked.clockid = CLOCK_MONOTONIC;
    return asked;
}

int open_event() {
    perf_event_attr asked = switch_records();
    constexpr int this_thread = 0;
    constexpr int any_processor = -1;
    constexpr int no_group = -1;
    return static_cast<int>(::syscall(SYS_perf_event_open, &asked, this_thread, any_processor,
                                      no_group, PERF_FLAG_FD_CLOEXEC));
}

/// The ring belongs to this thread, so the kernel wrote to it before the thread continued.
bool has_records(void* ring) {
    const auto* head = &static_cast<const perf_event_mmap_page*>(ring)->data_head;
    return *static_cast<const volatile __u64*>(head) != 0;
}

}  // namespace

void try_switches(switch_trial& found) {
    const int event = open_event();
    if (event < 0) {
        found.open_error = errno;
        return;
    }
    const std::size_t bytes = 2 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* ring = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (ring == MAP_FAILED) {
        found.map_error = errno;
    } else {
        const timespec pause{0, 100'000};
        ::nanosleep(&pause, nullptr);
        found.recorded = has_records(ring);
        ::munmap(ring, bytes);
    }
    ::close(event);
}

}  // namespace coroscope::tools
