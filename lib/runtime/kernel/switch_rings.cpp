// SPDX-License-Identifier: Apache-2.0
#include "switch_rings.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

#include "../base/clock.hpp"
#include "allocations.hpp"
#include "private_descriptors.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

// All rings together, and one of them. A record takes 24 bytes. Beside its first page, a ring of
// the largest size is the memory that the kernel grants by default (perf_event_mlock_kb = 516).
constexpr std::size_t bytes_of_rings = std::size_t{8} << 20;
constexpr std::size_t most_ring_bytes = std::size_t{512} << 10;
constexpr std::size_t least_ring_bytes = std::size_t{16} << 10;

// Events live in the kernel, at about a kilobyte each.
constexpr std::uint64_t most_descriptors = 1024;
constexpr std::uint64_t descriptors_for_files = 4;

constexpr std::size_t place_of_flags = 40;                            // in perf_event_attr
constexpr std::uint64_t inherit_by_threads = std::uint64_t{1} << 35;  // inherit_thread, named late

perf_event_attr describe_ring() noexcept {
    perf_event_attr what{};
    what.size = sizeof what;
    what.type = PERF_TYPE_SOFTWARE;
    what.config = PERF_COUNT_SW_DUMMY;
    what.disabled = 1;
    what.exclude_kernel = 1;
    what.exclude_hv = 1;
    what.use_clockid = 1;
    what.clockid = CLOCK_MONOTONIC;
    return what;
}

perf_event_attr describe_switches(bool threads_only) noexcept {
    perf_event_attr what = describe_ring();
    what.disabled = 0;
    what.context_switch = 1;
    what.task = 1;  // threads that are created
    what.inherit = 1;
    what.sample_id_all = 1;
    what.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    if (!threads_only) return what;
    std::uint64_t flags = 0;
    auto* const at = reinterpret_cast<char*>(&what) + place_of_flags;
    std::memcpy(&flags, at, sizeof flags);
    flags |= inherit_by_threads;
    std::memcpy(at, &flags, sizeof flags);
    return what;
}

// Returns a descriptor, or an errno below 0.
int open_event(const perf_event_attr& what, std::uint32_t thread,
               std::uint32_t processor) noexcept {
    const long opened = ::syscall(SYS_perf_event_open, &what, static_cast<pid_t>(thread),
                                  static_cast<int>(processor), -1, PERF_FLAG_FD_CLOEXEC);
    return opened < 0 ? -errno : static_cast<int>(opened);
}

// Of the id that every record ends with: process, thread, time.
constexpr std::size_t id_bytes = 16;

}  // namespace

switch_rings::~switch_rings() {
    for (std::uint32_t at = 0; at < descriptors_used_; ++at) close_private(descriptors_[at]);
    close_rings();
    const std::lock_guard lock(allocations);
    std::free(descriptors_);
    std::free(rings_);
}

void switch_rings::choose_size(std::uint32_t processors) noexcept {
    page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ring_bytes_ =
        std::clamp(std::bit_floor(bytes_of_rings / processors), least_ring_bytes, most_ring_bytes);
    ring_bytes_ = std::max(ring_bytes_, page_bytes_);
}

switch_rings::failure switch_rings::open() noexcept {
    const auto processors = static_cast<std::uint32_t>(
        std::clamp<long>(::sysconf(_SC_NPROCESSORS_CONF), 1, most_processors));
    process_ = static_cast<std::uint32_t>(::getpid());
    const std::uint64_t limit = std::min(descriptor_limit(), most_descriptors);
    descriptor_room_ = static_cast<std::uint32_t>(
        limit > descriptors_for_files ? limit - descriptors_for_files : 0);
    {
        const std::lock_guard lock(allocations);
        rings_ = static_cast<ring*>(std::calloc(processors, sizeof *rings_));
        descriptors_ = static_cast<int*>(std::calloc(descriptor_room_ + 1, sizeof *descriptors_));
    }
    error_ = ENOMEM;
    if (rings_ == nullptr || descriptors_ == nullptr) return failure::memory;
    choose_size(processors);
    failure failed = open_rings(processors);
    while (failed == failure::memory && ring_bytes_ > page_bytes_) {
        close_rings();
        ring_bytes_ /= 2;
        failed = open_rings(processors);
    }
    if (failed != failure::none) return failed;
    descriptor_room_ -= std::min(descriptor_room_, count_);
    error_ = count_ == 0 ? ENODEV : 0;
    return count_ == 0 ? failure::event : failure::none;
}

std::uint64_t switch_rings::spare_descriptors() const noexcept {
    const std::uint64_t taken = descriptors_for_files + count_ + descriptors_used_;
    const std::uint64_t limit = descriptor_limit();
    return limit > taken ? limit - taken : 0;
}

switch_rings::failure switch_rings::open_rings(std::uint32_t processors) noexcept {
    for (std::uint32_t processor = 0; processor < processors; ++processor)
        if (const failure failed = open_ring(processor); failed != failure::none) return failed;
    return failure::none;
}

void switch_rings::close_rings() noexcept {
    for (; count_ != 0; --count_) {
        ::munmap(rings_[count_ - 1].page, page_bytes_ + ring_bytes_);
        close_private(rings_[count_ - 1].descriptor);
    }
}

// A processor that is switched off has none.
switch_rings::failure switch_rings::open_ring(std::uint32_t processor) noexcept {
    const int descriptor = open_event(describe_ring(), 0, processor);
    if (descriptor == -ENODEV) return failure::none;
    error_ = descriptor < 0 ? -descriptor : 0;
    if (descriptor < 0) return failure::event;
    void* const page = map_private(descriptor, page_bytes_ + ring_bytes_);
    if (page == nullptr) {
        error_ = errno;
        close_private(descriptor);
        return failure::memory;
    }
    rings_[count_++] = {
        static_cast<perf_event_mmap_page*>(page), descriptor, processor, 0, false, monotonic_now()};
    return failure::none;
}

int switch_rings::follow(std::uint32_t thread) noexcept {
    if (descriptor_room_ - descriptors_used_ < count_ || descriptor_room_ < count_) return EMFILE;
    const std::uint32_t before = descriptors_used_;
    int error = 0;
    for (std::uint32_t at = 0; at < count_ && error == 0; ++at) {
        int event = open_event(describe_switches(threads_only_), thread, rings_[at].processor);
        if (event == -EINVAL && threads_only_) {  // before Linux 5.13
            threads_only_ = false;
            event = open_event(describe_switches(false), thread, rings_[at].processor);
        }
        if (event < 0) {
            error = -event;
            break;
        }
        descriptors_[descriptors_used_++] = event;
        error = control_private(event, PERF_EVENT_IOC_SET_OUTPUT, rings_[at].descriptor);
    }
    // The thread must be followed on all processors or on none.
    while (error != 0 && descriptors_used_ != before)
        close_private(descriptors_[--descriptors_used_]);
    return error;
}

// The number of bytes of records that wait to be read, up to the head that the kernel publishes.
std::uint64_t switch_rings::begin_reading(const ring& each) const noexcept {
    // Acquire: pairs with the kernel, which writes a record before the head.
    const std::uint64_t head = __atomic_load_n(&each.page->data_head, __ATOMIC_ACQUIRE);
    return head - each.page->data_tail;
}

void switch_rings::end_reading(const ring& each, std::uint64_t at) const noexcept {
    // Release: the kernel may overwrite the records before this tail from here on.
    if (at != 0)
        __atomic_store_n(&each.page->data_tail, each.page->data_tail + at, __ATOMIC_RELEASE);
}

// `at`: bytes behind the tail. A record may continue at the beginning of the ring, in units of
// eight bytes. Returns its size.
std::uint64_t switch_rings::read(const ring& each, std::uint64_t at, entry& to) const noexcept {
    const char* const records = reinterpret_cast<const char*>(each.page) + page_bytes_;
    const std::uint64_t begin = each.page->data_tail + at;
    const auto word = [&](std::uint64_t offset) noexcept {
        std::uint64_t value = 0;
        std::memcpy(&value, records + ((begin + offset) & (ring_bytes_ - 1)), sizeof value);
        return value;
    };
    perf_event_header header{};
    const std::uint64_t first = word(0);
    std::memcpy(&header, &first, sizeof header);
    to = {};
    if (header.size < sizeof header + id_bytes) return std::max<std::size_t>(header.size, 8);
    to.switched.created = header.type == PERF_RECORD_FORK;
    to.is_switch = header.type == PERF_RECORD_SWITCH || to.switched.created;
    if (header.type == PERF_RECORD_LOST) to.lost = word(2 * sizeof(std::uint64_t));
    std::uint64_t whose = word(header.size - id_bytes);
    if (to.switched.created) {
        // First the processes of the new thread and of its creator, then their ids.
        const auto process = static_cast<std::uint32_t>(word(sizeof header));
        whose = word(2 * sizeof header) << 32 | process;
    }
    to.is_of_process = static_cast<std::uint32_t>(whose) == process_;
    to.switched.thread = static_cast<std::uint32_t>(whose >> 32);
    to.switched.time_ns = static_cast<std::int64_t>(word(header.size - sizeof(std::uint64_t)));
    to.switched.processor = each.processor;
    to.switched.entered = !to.switched.created && (header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0;
    to.switched.preempted =
        to.switched.created || (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    return header.size;
}

}  // namespace coroscope::runtime::inline kernel
