// SPDX-License-Identifier: Apache-2.0
#include "judge_room.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include <coroscope/analysis/units.hpp>
#include <fmt/format.h>
#include <linux/magic.h>

#include "capabilities.hpp"
#include "judge_threads.hpp"

namespace coroscope::tools {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t default_trace = 1024 * mebibyte;  // the limit of a trace, if none is set
constexpr std::uint64_t largest_reserve = 32 * mebibyte;  // of a trace, for its next records
constexpr std::uint64_t part_of_memory = 8;               // a trace takes at most an eighth
constexpr std::uint64_t more_descriptors = 64;            // besides one ring per processor
constexpr std::int64_t default_mlock_kb = 516;            // the kernel's own value

std::string room_text(std::uint64_t bytes) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    return analysis::format_bytes(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, most)));
}

enum class storage : std::uint8_t { disk, memory, network };

struct file_system_row {
    std::int64_t magic;
    const char* name;
    storage in;
};

// Numbers are used for file systems that linux/magic.h lacks.
constexpr std::array file_systems{
    file_system_row{EXT4_SUPER_MAGIC, "ext4", storage::disk},
    file_system_row{XFS_SUPER_MAGIC, "xfs", storage::disk},
    file_system_row{BTRFS_SUPER_MAGIC, "btrfs", storage::disk},
    file_system_row{F2FS_SUPER_MAGIC, "f2fs", storage::disk},
    file_system_row{0x2fc12fc1, "zfs", storage::disk},
    file_system_row{OVERLAYFS_SUPER_MAGIC, "overlayfs", storage::disk},
    file_system_row{TMPFS_MAGIC, "tmpfs", storage::memory},
    file_system_row{RAMFS_MAGIC, "ramfs", storage::memory},
    file_system_row{NFS_SUPER_MAGIC, "NFS", storage::network},
    file_system_row{SMB_SUPER_MAGIC, "SMB", storage::network},
    file_system_row{0xff534d42, "CIFS", storage::network},
    file_system_row{0xfe534d42, "SMB", storage::network},
    file_system_row{V9FS_MAGIC, "9p", storage::network},
    file_system_row{AFS_SUPER_MAGIC, "AFS", storage::network},
    file_system_row{0x00c36400, "Ceph", storage::network},
    file_system_row{0x0bd00bd0, "Lustre", storage::network},
    file_system_row{FUSE_SUPER_MAGIC, "FUSE", storage::network},
};

/// On some architectures the kernel returns the number as a signed word.
file_system_row file_system_of(std::int64_t magic) {
    const std::int64_t number = magic & 0xffff'ffff;
    const auto* found =
        std::find_if(file_systems.begin(), file_systems.end(),
                     [number](const file_system_row& each) { return each.magic == number; });
    return found != file_systems.end() ? *found : file_system_row{number, nullptr, storage::disk};
}

std::string file_system_text(const file_system_row& row) {
    return row.name != nullptr ? std::string(row.name)
                               : fmt::format("file system {:#x}", row.magic);
}

constexpr const char* other_folder = "name a file in another folder: coroscope run -o FILE";

fact of_folder(const folder_trial& found, const std::string& folder) {
    const file_system_row row = file_system_of(found.file_system);
    fact made{.name = "trace in this folder", .state = fact_state::partly};
    const std::string room =
        fmt::format("{}: {}, {} free", folder, file_system_text(row), room_text(found.free_bytes));
    if (found.read_only || !found.writable) {
        made.state = fact_state::no;
        made.why = fmt::format("{}: {}", folder,
                               found.read_only ? "a read-only file system" : "you may not write");
        made.change = other_folder;
    } else if (found.free_bytes < mebibyte) {
        made.state = fact_state::no;
        made.why = room;
        made.change = other_folder;
    } else if (row.in == storage::network) {
        made.why = room + "; over a network or another process";
        made.change = "name a file on a local disk: coroscope run -o FILE";
    } else if (row.in == storage::memory) {
        made.why = room + "; a trace there takes memory";
        made.change = "name a file on a disk: coroscope run -o FILE";
    } else if (found.free_bytes < default_trace) {
        made.why = room + "; a trace may take " + room_text(default_trace);
        made.change = "free some room, or bound the trace: coroscope run --limit";
    } else {
        made.state = fact_state::yes;
        made.why = room;
    }
    return made;
}

/// The memory that rings may lock, per processor.
std::string locked_text(const limit_readings& read) {
    std::string text =
        fmt::format("kernel.perf_event_mlock_kb is {} per processor", *read.perf_event_mlock_kb);
    if (read.locked_bytes)
        text += ", and a process may lock " +
                (*read.locked_bytes == std::numeric_limits<std::uint64_t>::max()
                     ? std::string("any amount")
                     : room_text(*read.locked_bytes));
    return text;
}

}  // namespace

fact judge_memory(const container_readings& read) {
    fact made{.name = "memory for traces"};
    if (!read.groups_known) {
        made.why = "the control groups of the process cannot be read";
        return made;
    }
    made.state = fact_state::yes;
    if (!read.memory_limit) {
        made.why = "no limit by a control group; a trace takes at most " + room_text(default_trace);
        return made;
    }
    const std::uint64_t share = *read.memory_limit / part_of_memory;
    made.why =
        fmt::format("the container may use {}; a trace takes at most {}",
                    room_text(*read.memory_limit), room_text(std::min(share, default_trace)));
    if (share >= largest_reserve) return made;
    made.state = fact_state::partly;
    made.change = "raise the container's limit, or set that of the trace: coroscope run --limit";
    return made;
}

fact judge_processors(const container_readings& read) {
    fact made{.name = "processors and quota"};
    const std::string count =
        read.processors == read.online
            ? fmt::format("{} processors", read.processors)
            : fmt::format("{} of {} processors", read.processors, read.online);
    if (!read.groups_known) {
        made.state = fact_state::partly;
        made.why = count + "; the control groups of the process cannot be read";
        return made;
    }
    made.state = fact_state::yes;
    made.why = read.quota ? fmt::format("{}, with a quota of {:.2f}", count, *read.quota)
                          : count + ", no quota";
    return made;
}

fact judge_folder(const tried<folder_trial>& trial, const std::string& folder) {
    const std::string name = folder.empty() ? "the current folder" : folder;
    if (const std::string why = why_not_tried(trial.end); !why.empty())
        return {.name = "trace in this folder", .why = name + ": " + why, .change = other_folder};
    if (trial.found.error != 0)
        return {.name = "trace in this folder",
                .why = name + ": " + error_text(trial.found.error),
                .change = other_folder};
    return of_folder(trial.found, name);
}

fact judge_descriptors(const limit_readings& read, std::int64_t processors) {
    fact made{.name = "open files"};
    if (!read.descriptors) {
        made.why = "the limit cannot be read";
        return made;
    }
    const std::uint64_t needed =
        static_cast<std::uint64_t>(std::max<std::int64_t>(processors, 1)) + more_descriptors;
    made.why = fmt::format("a process may open {}; one is needed per processor, and 64 more",
                           *read.descriptors);
    made.state = *read.descriptors >= needed ? fact_state::yes : fact_state::partly;
    if (made.state == fact_state::yes) return made;
    made.change = fmt::format("ulimit -n {}", needed);
    if (read.most_descriptors && *read.most_descriptors < needed)
        made.change += ", by an administrator";
    return made;
}

fact judge_locked_memory(const machine_readings& read) {
    const limit_readings& limits = read.limits;
    fact made{.name = "locked memory"};
    if (!limits.perf_event_mlock_kb) {
        made.why = "kernel.perf_event_mlock_kb cannot be read";
        return made;
    }
    made.state = fact_state::yes;
    made.why = locked_text(limits);
    if (has_any(read.privileges, {capability::ipc_lock})) {
        made.why += "; CAP_IPC_LOCK needs neither";
    } else if (*limits.perf_event_mlock_kb < default_mlock_kb &&
               limits.locked_bytes != std::numeric_limits<std::uint64_t>::max()) {
        made.state = fact_state::partly;
        made.change = fmt::format("sysctl kernel.perf_event_mlock_kb={}", default_mlock_kb);
    }
    return made;
}

}  // namespace coroscope::tools
