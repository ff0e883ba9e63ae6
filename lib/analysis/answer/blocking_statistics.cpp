// SPDX-License-Identifier: Apache-2.0
#include <coroscope/analysis/blocking_statistics.hpp>

#include <algorithm>
#include <map>
#include <tuple>

#include <coroscope/analysis/saturated.hpp>

namespace coroscope::analysis {
namespace {

using coroscope::trace::blocked_function;
using coroscope::trace::descriptor_kind;

struct equal_calls {
    blocking_statistics sums;
    std::vector<std::int64_t> lengths_ns;
};

blocking_statistics group_of(const trace& loaded, const blocking_call& call) {
    blocking_statistics group;
    group.function = call.function;
    group.descriptor = call.descriptor;
    if (call.scope < loaded.events.size()) group.scope = loaded.events[call.scope].name;
    if (call.task < loaded.tasks.size()) group.spawn_site = loaded.tasks[call.task].spawn_site;
    return group;
}

}  // namespace

std::vector<blocking_statistics> statistics_of_blocking_calls(const trace& loaded) {
    const auto key = [](const blocking_statistics& of) {
        return std::tuple(of.function, of.descriptor, of.scope, of.spawn_site);
    };
    std::map<decltype(key(blocking_statistics())), equal_calls> groups;
    for (const blocking_call& each : loaded.blocking_calls) {
        const blocking_statistics group = group_of(loaded, each);
        equal_calls& calls = groups.try_emplace(key(group), equal_calls{group, {}}).first->second;
        add_to(calls.sums.total_ns, each.end_ns - each.start_ns);
        calls.lengths_ns.push_back(each.end_ns - each.start_ns);
    }
    std::vector<blocking_statistics> found;
    for (auto& [group, calls] : groups) {
        calls.sums.length = percentiles_of(calls.lengths_ns);
        found.push_back(calls.sums);
    }
    std::ranges::stable_sort(found, std::ranges::greater(), &blocking_statistics::total_ns);
    return found;
}

std::string_view name_of_function(blocked_function function) noexcept {
    switch (function) {
        case blocked_function::unknown: break;
        case blocked_function::read: return "read";
        case blocked_function::write: return "write";
        case blocked_function::pread: return "pread";
        case blocked_function::pwrite: return "pwrite";
        case blocked_function::readv: return "readv";
        case blocked_function::writev: return "writev";
        case blocked_function::preadv: return "preadv";
        case blocked_function::pwritev: return "pwritev";
        case blocked_function::fsync: return "fsync";
        case blocked_function::fdatasync: return "fdatasync";
        case blocked_function::open: return "open";
        case blocked_function::openat: return "openat";
        case blocked_function::flock: return "flock";
        case blocked_function::connect: return "connect";
        case blocked_function::accept: return "accept";
        case blocked_function::accept4: return "accept4";
        case blocked_function::recv: return "recv";
        case blocked_function::recvfrom: return "recvfrom";
        case blocked_function::recvmsg: return "recvmsg";
        case blocked_function::recvmmsg: return "recvmmsg";
        case blocked_function::send: return "send";
        case blocked_function::sendto: return "sendto";
        case blocked_function::sendmsg: return "sendmsg";
        case blocked_function::sendmmsg: return "sendmmsg";
        case blocked_function::poll: return "poll";
        case blocked_function::ppoll: return "ppoll";
        case blocked_function::select: return "select";
        case blocked_function::pselect: return "pselect";
        case blocked_function::nanosleep: return "nanosleep";
        case blocked_function::clock_nanosleep: return "clock_nanosleep";
        case blocked_function::usleep: return "usleep";
        case blocked_function::sleep: return "sleep";
        case blocked_function::getaddrinfo: return "getaddrinfo";
        case blocked_function::wait: return "wait";
        case blocked_function::waitpid: return "waitpid";
        case blocked_function::wait4: return "wait4";
        case blocked_function::waitid: return "waitid";
    }
    return "unknown";
}

std::string_view name_of_descriptor(descriptor_kind descriptor) noexcept {
    switch (descriptor) {
        case descriptor_kind::none: return "";
        case descriptor_kind::file: return "file";
        case descriptor_kind::folder: return "folder";
        case descriptor_kind::socket: return "socket";
        case descriptor_kind::pipe: return "pipe";
        case descriptor_kind::terminal: return "terminal";
        case descriptor_kind::event: return "event";
        case descriptor_kind::device: return "device";
        case descriptor_kind::other: return "other";
        case descriptor_kind::unknown: break;
    }
    return "unknown";
}

}  // namespace coroscope::analysis
