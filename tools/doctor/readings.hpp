// SPDX-License-Identifier: Apache-2.0
#pragma once

// The readings of `coroscope doctor`: plain values, from which judge_machine() and judge_program()
// make the rows. A test plants them. An empty optional or text means that the value could not be
// read.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coroscope::tools {

/// The end of a child process that tried something.
struct child_end {
    int error = 0;           ///< errno if there was no child
    int signal = 0;          ///< that ended the child
    bool timed_out = false;  ///< and was ended by us
};

/// Values that a child process found. They are valid only if its end is `child_end{}`.
template <class Found>
struct tried {
    child_end end{};
    Found found{};
};

/// perf_event_open() of a software event with context-switch records.
struct switch_trial {
    int open_error = 0;  ///< errno; 0: success
    int map_error = 0;   ///< errno of the ring's mmap()
    bool recorded = false;
};

/// The files of a thread that waits for a mutex.
struct thread_trial {
    int thread_error = 0;  ///< errno if the thread could not be started
    int sums_error = 0;    ///< errno of reading schedstat
    bool sums_counted = false;
    int call_error = 0;       ///< errno of reading syscall
    bool call_named = false;  ///< futex() and the address of the mutex
};

/// process_vm_readv() of two locks that the process holds.
struct lock_trial {
    int read_error = 0;         ///< errno
    bool mutex_holder = false;  ///< is at its known place
    bool rwlock_writer = false;
};

struct device_trial {
    static constexpr std::size_t longest_path = 512;
    char driver[longest_path] = {};  ///< the path of libcuda.so.1; empty: not found
    char cupti[longest_path] = {};
};

struct folder_trial {
    int error = 0;  ///< errno
    std::int64_t file_system = 0;
    std::uint64_t free_bytes = 0;
    bool read_only = false;
    bool writable = false;
};

struct privilege_readings {
    std::optional<std::int64_t> perf_event_paranoid{};
    std::optional<std::int64_t> seccomp{};        ///< 0: none, 1: strict, 2: a filter
    std::optional<std::uint64_t> capabilities{};  ///< effective; bit N is capability N
};

struct clock_readings {
    std::string machine{};  ///< as uname() has it: "x86_64"
    std::string current_source{};
    std::string available_sources{};
    std::optional<bool> invariant{};  ///< the processor's flags
    bool readable = true;             ///< the counter, by a thread
    bool asked_for_monotonic = false;
};

struct container_readings {
    std::optional<std::uint64_t> memory_limit{};
    std::optional<double> quota{};  ///< in processors
    bool groups_known = false;
    std::int64_t processors = 0;  ///< that the process may use
    std::int64_t online = 0;
};

struct limit_readings {
    std::optional<std::uint64_t> descriptors{};       ///< the soft limit
    std::optional<std::uint64_t> most_descriptors{};  ///< the hard limit
    std::optional<std::uint64_t> locked_bytes{};
    std::optional<std::int64_t> perf_event_mlock_kb{};
};

struct machine_readings {
    std::string release{};    ///< of the kernel
    std::string c_library{};  ///< "glibc 2.36"
    bool libdw = false;
    std::string folder{};
    std::optional<bool> devices_for_admins{};  ///< RmProfilingAdminOnly of NVIDIA's driver
    privilege_readings privileges{};
    clock_readings clock{};
    container_readings container{};
    limit_readings limits{};
    tried<switch_trial> switches{};
    tried<thread_trial> threads{};
    tried<lock_trial> locks{};
    tried<device_trial> devices{};
    tried<folder_trial> traces{};
};

enum class file_form : std::uint8_t { elf, foreign_elf, script, other };

/// The contents of a 64-bit little-endian ELF file.
struct elf_readings {
    std::uint16_t type = 0;
    std::uint16_t machine = 0;
    bool interpreted = false;  ///< by the dynamic loader
    bool pie = false;
    std::vector<std::string> needed{};
    bool has_symbols = false;  ///< the whole table, not that of the dynamic loader alone
    bool has_runtime = false;  ///< a symbol of Coroscope's runtime is defined
    bool has_debug_lines = false;
    std::string build_id{};    ///< in hexadecimal digits
    std::string debug_link{};  ///< the name of the file with its debug information
};

struct program_readings {
    std::string path{};
    file_form form = file_form::other;
    std::string script_interpreter{};
    elf_readings elf{};
    std::uint16_t own_machine = 0;  ///< that of the command
    std::string debug_file{};       ///< separate debug information, if it was found
    bool has_id_bits = false;       ///< set-user-ID or set-group-ID
    bool changes_user = false;      ///< and the owner, or the group, is another one
    bool has_capabilities = false;
    bool by_root = false;
    bool changes_ignored = false;  ///< nosuid, or no_new_privs
};

}  // namespace coroscope::tools
