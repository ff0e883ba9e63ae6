// SPDX-License-Identifier: Apache-2.0

// A program that forks while threads wait for locks: so many that each place of the preloaded
// library's table of waits is taken, whatever lock it stands for.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>

#include "../support/awaited_call.hpp"

namespace {

constexpr std::size_t waits = 1600;
constexpr std::size_t stack_bytes = 64 * 1024;

std::array<pthread_mutex_t, waits> locks;
std::array<pthread_t, waits> threads;

void* wait_for_lock(void* lock) {
    auto* const mutex = static_cast<pthread_mutex_t*>(lock);
    ::pthread_mutex_lock(mutex);
    ::pthread_mutex_unlock(mutex);
    return nullptr;
}

bool start_waits() {
    pthread_attr_t small;
    ::pthread_attr_init(&small);
    ::pthread_attr_setstacksize(&small, stack_bytes);
    for (std::size_t at = 0; at < waits; ++at) {
        ::pthread_mutex_init(&locks[at], nullptr);
        ::pthread_mutex_lock(&locks[at]);
        if (::pthread_create(&threads[at], &small, wait_for_lock, &locks[at]) != 0) return false;
    }
    coroscope::test::await_call(
        [](long, const coroscope::test::waiting_call& call) {
            const auto begin = reinterpret_cast<std::uintptr_t>(locks.data());
            return call.first >= begin && call.first < begin + sizeof(locks);
        },
        waits);
    return true;
}

void end_waits() {
    for (pthread_mutex_t& each : locks) ::pthread_mutex_unlock(&each);
    for (const pthread_t each : threads) ::pthread_join(each, nullptr);
}

}  // namespace

int main() {
    if (!start_waits()) {
        std::puts("SKIP: the system has no room for the threads");
        std::_Exit(77);
    }
    const pid_t child = ::fork();
    if (child == 0) {
        COROSCOPE("in the child");
        std::exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    end_waits();
    std::printf("the child ended with %d\n", status);
    return status == 0 ? 0 : 1;
}
