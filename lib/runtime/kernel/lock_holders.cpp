// SPDX-License-Identifier: Apache-2.0
#include "lock_holders.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>

namespace coroscope::runtime::inline kernel {
namespace {

// The GNU C library's locks in words of four bytes.
constexpr std::size_t owner_of_mutex = 2;  // behind the futex, which is the first word
constexpr std::uint32_t contended = 2;     // value of a mutex's futex while threads wait for it

constexpr std::size_t state_of_rwlock = 0;
constexpr std::size_t phase_futex = 2;    // its waiters wait for the writer's end
constexpr std::size_t writers_futex = 3;  // its waiters are further writers
constexpr std::size_t writer_of_rwlock = 6;
constexpr std::size_t words_of_rwlock = 7;
constexpr std::uint32_t write_locked = 3;  // in the state: a writer has it
constexpr std::uint32_t awaited = 3;       // value of both futexes while threads wait

std::uint32_t this_thread_id() noexcept { return static_cast<std::uint32_t>(::gettid()); }

template <std::size_t Count>
bool read_words(std::uint64_t address, std::uint32_t (&words)[Count]) noexcept {
    const iovec to{words, sizeof words};
    const iovec from{reinterpret_cast<void*>(address), sizeof words};
    return ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0) ==
           static_cast<ssize_t>(sizeof words);
}

std::uint64_t address_of(const void* lock) noexcept {
    return reinterpret_cast<std::uintptr_t>(lock);
}

bool lives_beside(std::uint32_t thread, std::uint32_t waiter) noexcept {
    return thread != 0 && thread != waiter &&
           ::syscall(SYS_tgkill, ::getpid(), static_cast<pid_t>(thread), 0) == 0;
}

bool fits_mutex() noexcept {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    std::uint32_t held[owner_of_mutex + 1] = {}, freed[owner_of_mutex + 1] = {};
    ::pthread_mutex_lock(&mutex);
    const bool read = read_words(address_of(&mutex), held);
    ::pthread_mutex_unlock(&mutex);
    return read && read_words(address_of(&mutex), freed) && held[0] != 0 &&
           held[owner_of_mutex] == this_thread_id() && freed[0] == 0 && freed[owner_of_mutex] == 0;
}

bool fits_rwlock() noexcept {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    std::uint32_t held[words_of_rwlock] = {}, freed[words_of_rwlock] = {};
    ::pthread_rwlock_wrlock(&lock);
    const bool read = read_words(address_of(&lock), held);
    ::pthread_rwlock_unlock(&lock);
    return read && read_words(address_of(&lock), freed) &&
           (held[state_of_rwlock] & write_locked) == write_locked && held[phase_futex] == 1 &&
           held[writer_of_rwlock] == this_thread_id() && freed[writer_of_rwlock] == 0;
}

// The lock's own word names its owner: mutexes with priority inheritance, and robust ones.
std::uint32_t owner_in(std::uint32_t word) noexcept {
    return (word & FUTEX_WAITERS) != 0 ? word & FUTEX_TID_MASK : 0;
}

std::uint32_t holder_of_mutex(const futex_wait_call& call) noexcept {
    std::uint32_t words[owner_of_mutex + 1];
    if (!read_words(call.address, words)) return 0;
    const std::uint32_t command = call.operation & static_cast<unsigned>(FUTEX_CMD_MASK);
    constexpr std::uint32_t lock_pi2 = 13;  // FUTEX_LOCK_PI2, named late
    if (command == FUTEX_LOCK_PI || command == lock_pi2) return owner_in(words[0]);
    if (call.expected != words[0]) return 0;
    const std::uint32_t owner = words[owner_of_mutex];
    return call.expected == contended || owner_in(words[0]) == owner ? owner : 0;
}

// `futex`: its place in the lock.
std::uint32_t writer_of(const futex_wait_call& call, std::size_t futex) noexcept {
    std::uint32_t words[words_of_rwlock];
    if (call.expected != awaited || !read_words(call.address - futex * sizeof *words, words))
        return 0;
    const bool is_held = (words[state_of_rwlock] & write_locked) == write_locked;
    return is_held && words[futex] == awaited ? words[writer_of_rwlock] : 0;
}

}  // namespace

void lock_holders::learn() noexcept {
    knows_mutex_ = fits_mutex();
    knows_rwlock_ = fits_rwlock();
}

lock_holder lock_holders::find(const futex_wait_call& call, std::uint32_t waiter) const noexcept {
    if (knows_mutex_) {
        const std::uint32_t holder = holder_of_mutex(call);
        if (lives_beside(holder, waiter)) return {holder, trace::blocked_lock::mutex};
    }
    for (const std::size_t futex : {writers_futex, phase_futex}) {
        if (!knows_rwlock_) break;
        const std::uint32_t holder = writer_of(call, futex);
        if (lives_beside(holder, waiter)) return {holder, trace::blocked_lock::rwlock_writer};
    }
    return {};
}

}  // namespace coroscope::runtime::inline kernel
