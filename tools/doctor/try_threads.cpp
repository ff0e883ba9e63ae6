// SPDX-License-Identifier: Apache-2.0
#include "try_threads.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

// Offsets in glibc's locks for 64 bits: __owner of a mutex, __cur_writer of a rwlock.
constexpr std::size_t place_of_holder = 8;
constexpr std::size_t place_of_writer = 24;

int thread_number() { return static_cast<int>(::syscall(SYS_gettid)); }

struct waiting_thread {
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<int> number{0};
};

void* wait_for_mutex(void* memory) {
    auto& shared = *static_cast<waiting_thread*>(memory);
    shared.number = thread_number();
    ::pthread_mutex_lock(&shared.held);
    ::pthread_mutex_unlock(&shared.held);
    return nullptr;
}

void pause_shortly() {
    const timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
}

/// Returns the errno, or 0.
int read_file_of(int thread, const char* file, char* text, std::size_t size) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, file);
    const int opened = ::open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0) return errno;
    const ssize_t got = ::read(opened, text, size - 1);
    const int error = got < 0 ? errno : 0;
    ::close(opened);
    text[got < 0 ? 0 : got] = '\0';
    return error;
}

/// The file is "NUMBER ARGUMENT…" of a blocked thread, "running" of any other.
bool names_lock(const char* text, const void* lock) {
    long number = 0;
    unsigned long long address = 0;
    return std::sscanf(text, "%ld %llx", &number, &address) == 2 && number == SYS_futex &&
           address == reinterpret_cast<std::uintptr_t>(lock);
}

/// The thread needs a moment until it waits.
void look_for_call(waiting_thread& shared, thread_trial& found) {
    constexpr int tries = 250;
    for (int at = 0; at < tries && !found.call_named; ++at) {
        char text[256];
        found.call_error = read_file_of(shared.number, "syscall", text, sizeof text);
        if (found.call_error != 0) return;
        found.call_named = names_lock(text, &shared.held);
        if (!found.call_named) pause_shortly();
    }
}

void look_for_sums(int thread, thread_trial& found) {
    char text[128];
    found.sums_error = read_file_of(thread, "schedstat", text, sizeof text);
    unsigned long long on_processor = 0;
    found.sums_counted =
        found.sums_error == 0 && std::sscanf(text, "%llu", &on_processor) == 1 && on_processor != 0;
}

/// Returns the number at this place of our own memory, or -1; sets `error` if it cannot be read.
int number_at(const void* object, std::size_t place, int& error) {
    int number = -1;
    iovec to{&number, sizeof number};
    iovec from{const_cast<char*>(static_cast<const char*>(object)) + place, sizeof number};
    if (::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) != sizeof number) {
        error = errno;
        return -1;
    }
    return number;
}

}  // namespace

void try_threads(thread_trial& found) {
    waiting_thread shared;
    ::pthread_mutex_lock(&shared.held);
    pthread_t thread{};
    found.thread_error = ::pthread_create(&thread, nullptr, wait_for_mutex, &shared);
    if (found.thread_error == 0) {
        while (shared.number == 0) pause_shortly();
        look_for_call(shared, found);
        look_for_sums(shared.number, found);
    }
    ::pthread_mutex_unlock(&shared.held);
    if (found.thread_error == 0) ::pthread_join(thread, nullptr);
}

void try_locks(lock_trial& found) {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    ::pthread_mutex_lock(&mutex);
    ::pthread_rwlock_wrlock(&rwlock);
    found.mutex_holder = number_at(&mutex, place_of_holder, found.read_error) == thread_number();
    found.rwlock_writer = number_at(&rwlock, place_of_writer, found.read_error) == thread_number();
    ::pthread_rwlock_unlock(&rwlock);
    ::pthread_mutex_unlock(&mutex);
}

}  // namespace coroscope::tools
