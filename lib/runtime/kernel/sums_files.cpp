// SPDX-License-Identifier: Apache-2.0
#include "sums_files.hpp"

#include <algorithm>

#include "private_descriptors.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

constexpr std::uint64_t most_files = 64;

}  // namespace

sums_files::~sums_files() {
    for (std::uint32_t at = 0; at < threads_.size(); ++at) close(threads_.at(at));
}

void sums_files::keep_at_most(std::uint64_t files) noexcept {
    most_ = static_cast<std::uint32_t>(std::min(files, most_files));
}

bool sums_files::read(watched_thread& thread, thread_sums& sums, bool is_read_often) noexcept {
    if (thread.file < 0 && is_read_often && open_ < most_) {
        thread.file = open_task_file(thread.id, "schedstat");
        if (thread.file >= 0) ++open_;
    }
    const bool got =
        thread.file >= 0 ? read_sums(thread.file, sums) : read_sums_of(thread.id, sums) == 0;
    if (!got || !is_read_often) close(thread);
    return got;
}

void sums_files::close(watched_thread& thread) noexcept {
    if (thread.id == 0 || thread.file < 0) return;
    close_private(thread.file);
    thread.file = -1;
    --open_;
}

}  // namespace coroscope::runtime::inline kernel
