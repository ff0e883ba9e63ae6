// SPDX-License-Identifier: Apache-2.0
#pragma once

// Children of a test that lack rights of their parent.

#include <cstddef>
#include <cstdint>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coroscope::test {

/// Gives a system call this answer (SECCOMP_RET_…) in this process, and in all its threads to come.
inline bool answer_call(long call, std::uint32_t answer) {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog filter{4, program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

inline bool refuse_call(long call, int error) {
    return answer_call(call, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
}
inline bool end_at_call(long call) { return answer_call(call, SECCOMP_RET_KILL_PROCESS); }

/// Runs `part` in a forked child. Returns the child's exit code: that of `part`; or 128 and a
/// signal.
template <class Part>
int in_child(Part part) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(part());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace coroscope::test
