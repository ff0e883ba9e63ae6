// SPDX-License-Identifier: Apache-2.0
#include "trim_trace.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <thread>

#include <coroscope/trace/format.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

using trace::chunk_header;
using trace::file_header;
using trace::file_header_bytes;

template <class Value>
bool read_at(int file, std::uint64_t at, Value& value) {
    return ::pread(file, &value, sizeof value, static_cast<off_t>(at)) ==
           static_cast<ssize_t>(sizeof value);
}

bool is_sound(const file_header& header) {
    constexpr std::uint32_t unit = 4096;
    return header.magic == trace::file_magic && header.header_bytes == file_header_bytes &&
           header.chunk_bytes != 0 && header.chunk_bytes % unit == 0;
}

/// Returns the number of chunks up to the last one that was ever opened.
std::uint64_t used_chunks(int file, std::uint64_t chunks, std::uint32_t chunk_bytes) {
    for (; chunks != 0; --chunks) {
        chunk_header last{};
        if (!read_at(file, file_header_bytes + (chunks - 1) * chunk_bytes, last)) continue;
        if (last.magic != 0 || last.state != trace::chunk_state::free) break;
    }
    return chunks;
}

/// Stores the count first, so that a reader in between finds more chunks than the count, and never
/// fewer.
bool cut(int file, std::uint64_t chunks, std::uint32_t chunk_bytes) {
    const auto at = static_cast<off_t>(offsetof(file_header, chunk_count));
    return ::pwrite(file, &chunks, sizeof chunks, at) == static_cast<ssize_t>(sizeof chunks) &&
           ::ftruncate(file, static_cast<off_t>(file_header_bytes + chunks * chunk_bytes)) == 0;
}

trimming trim(int file) {
    file_header header{};
    struct stat about{};
    if (!read_at(file, 0, header) || ::fstat(file, &about) != 0) return trimming::done;
    if (!is_sound(header) || header.finished != 0) return trimming::done;
    const auto size = static_cast<std::uint64_t>(about.st_size);
    if (size < file_header_bytes + header.chunk_count * header.chunk_bytes)
        return trimming::done;  // another process cut it: readers must see that
    const std::uint64_t used = used_chunks(file, header.chunk_count, header.chunk_bytes);
    return cut(file, used, header.chunk_bytes) ? trimming::done : trimming::failed;
}

bool lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

/// Returns whether the process that recorded the trace has ended, as far as the process id in the
/// header shows it.
bool recorder_has_ended(int file) {
    file_header header{};
    return read_at(file, 0, header) && is_sound(header) && header.process_id != 0 &&
           ::kill(static_cast<pid_t>(header.process_id), 0) != 0 && errno == ESRCH;
}

/// A child that was forked during the session shares the session's lock until it has closed its
/// copy of the descriptor. So the lock may outlive the recorder for a moment.
bool lock_after_end(int file) {
    using namespace std::chrono_literals;
    constexpr int most_turns = 1000;
    for (int turn = 0; turn < most_turns && recorder_has_ended(file); ++turn) {
        if (lock(file)) return true;
        std::this_thread::sleep_for(1ms);
    }
    return false;
}

}  // namespace

trimming trim_trace(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return trimming::failed;
    const bool in_use = !lock(file) && !lock_after_end(file);
    const trimming result = in_use ? trimming::in_use : trim(file);
    ::close(file);
    return result;
}

}  // namespace coroscope::tools
