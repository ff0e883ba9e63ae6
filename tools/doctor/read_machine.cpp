// SPDX-License-Identifier: Apache-2.0
#include "read_machine.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../../lib/trace/environment_variables.hpp"

#include "in_child.hpp"
#include "read_container.hpp"
#include "system_files.hpp"
#include "try_devices.hpp"
#include "try_switches.hpp"
#include "try_threads.hpp"

namespace coroscope::tools {
namespace {

using namespace std::chrono_literals;

std::optional<std::uint64_t> hexadecimal(std::optional<std::string_view> digits) {
    std::uint64_t number = 0;
    if (!digits ||
        std::from_chars(digits->data(), digits->data() + digits->size(), number, 16).ec !=
            std::errc())
        return std::nullopt;
    return number;
}

std::optional<std::int64_t> decimal(std::optional<std::string_view> digits) {
    std::int64_t number = 0;
    if (!digits ||
        std::from_chars(digits->data(), digits->data() + digits->size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

void read_names(machine_readings& into) {
    utsname names{};
    if (::uname(&names) == 0) {
        into.release = names.release;
        into.clock.machine = names.machine;
    }
#if defined(_CS_GNU_LIBC_VERSION)
    char library[64];
    const std::size_t size = ::confstr(_CS_GNU_LIBC_VERSION, library, sizeof library);
    if (size != 0 && size <= sizeof library) into.c_library = library;
#endif
}

bool counter_is_readable() {
#if defined(PR_GET_TSC)
    int permission = PR_TSC_ENABLE;
    return ::prctl(PR_GET_TSC, &permission, 0, 0, 0) != 0 || permission == PR_TSC_ENABLE;
#else
    return true;
#endif
}

void read_processors(container_readings& into) {
    into.online = ::sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t usable;
    into.processors =
        ::sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : into.online;
}

limit_readings read_limits(const std::string& root) {
    limit_readings into;
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        into.descriptors = files.rlim_cur;
        into.most_descriptors = files.rlim_max;
    }
    rlimit locked{};
    if (::getrlimit(RLIMIT_MEMLOCK, &locked) == 0) into.locked_bytes = locked.rlim_cur;
    into.perf_event_mlock_kb = read_number(root + "/proc/sys/kernel/perf_event_mlock_kb");
    return into;
}

/// "RmProfilingAdminOnly: 1" is the driver's name for NVreg_RestrictProfilingToAdminUsers.
std::optional<bool> read_device_rights(const std::string& root) {
    const auto text = read_text(root + "/proc/driver/nvidia/params");
    const auto number = text ? decimal(value_of(*text, "RmProfilingAdminOnly")) : std::nullopt;
    return number ? std::optional(*number != 0) : std::nullopt;
}

void try_folder(folder_trial& found) {
    struct statfs system{};
    struct statvfs room{};
    if (::statfs(".", &system) != 0 || ::statvfs(".", &room) != 0) {
        found.error = errno;
        return;
    }
    found.file_system = static_cast<std::int64_t>(system.f_type);
    found.free_bytes = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
    found.read_only = (room.f_flag & ST_RDONLY) != 0;
    found.writable = ::access(".", W_OK | X_OK) == 0;
}

}  // namespace

privilege_readings read_privileges(const std::string& root) {
    privilege_readings into;
    into.perf_event_paranoid = read_number(root + "/proc/sys/kernel/perf_event_paranoid");
    if (const auto status = read_text(root + "/proc/self/status")) {
        into.seccomp = decimal(value_of(*status, "Seccomp"));
        into.capabilities = hexadecimal(value_of(*status, "CapEff"));
    }
    return into;
}

clock_readings read_clock(const std::string& root) {
    clock_readings into;
    const std::string folder = root + "/sys/devices/system/clocksource/clocksource0/";
    into.current_source = trimmed(read_text(folder + "current_clocksource").value_or(""));
    into.available_sources = trimmed(read_text(folder + "available_clocksource").value_or(""));
    const auto text = read_text(root + "/proc/cpuinfo");  // the first processors'
    const auto flags = text ? value_of(*text, "flags") : std::nullopt;
    if (flags) into.invariant = has_word(*flags, "constant_tsc") && has_word(*flags, "nonstop_tsc");
    return into;
}

machine_readings read_machine(const std::string& root) {
    machine_readings into;
    into.clock = read_clock(root);
    into.clock.readable = counter_is_readable();
    const char* const clock = ::secure_getenv(trace::name_of(trace::variable::clock));
    into.clock.asked_for_monotonic = clock != nullptr && std::string_view(clock) == "monotonic";
    read_names(into);
    into.libdw = COROSCOPE_HAS_LIBDW != 0;
    into.privileges = read_privileges(root);
    into.container = read_container(root);
    read_processors(into.container);
    into.limits = read_limits(root);
    into.devices_for_admins = read_device_rights(root);
    std::error_code failed;
    into.folder = std::filesystem::current_path(failed).string();
    into.switches = in_child(try_switches, 150ms);
    into.threads = in_child(try_threads, 150ms);
    into.locks = in_child(try_locks, 150ms);
    into.traces = in_child(try_folder, 150ms);
    into.devices = in_child(try_devices, 400ms);
    return into;
}

}  // namespace coroscope::tools
