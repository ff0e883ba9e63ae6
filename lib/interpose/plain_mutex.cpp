// SPDX-License-Identifier: Apache-2.0

// pthread_mutex_lock and pthread_mutex_unlock. While no thread waits, the pair must cost as little
// as possible. On x86-64 both are written in assembly, which saves two instructions. An unlock
// jumps to one of two functions and does not read the number of waiting threads, which saves two
// more.

#include "plain_mutex.hpp"

#include <cstddef>
#include <cstdint>

#include "mutex_words.hpp"
#include "real_function.hpp"
#include "waited_lock.hpp"

namespace coroscope::interpose {
namespace {

using mutex_function = int(pthread_mutex_t*);
using try_lock = real_function<"pthread_mutex_trylock", pthread_mutex_t*>;
using unlock = real_function<"pthread_mutex_unlock", pthread_mutex_t*>;

/// The function to which an unlock jumps, and the number of changes of the function.
struct alignas(16) unlock_choice {
    mutex_function* function;
    std::uint64_t changes;
};

constinit mutex_function* real_unlock = unlock::call;

}  // namespace
}  // namespace coroscope::interpose

extern "C" {
[[gnu::visibility("hidden")]] constinit coroscope::interpose::mutex_function* coroscope_try_lock =
    coroscope::interpose::try_lock::call;
[[gnu::visibility("hidden")]] constinit coroscope::interpose::unlock_choice coroscope_unlock{
    coroscope::interpose::unlock::call, 0};
}

namespace coroscope::interpose {
namespace {

[[gnu::constructor(101)]] void find_plain_mutex() noexcept {
    const int before = errno;
    __atomic_store_n(&coroscope_try_lock, try_lock::find(), __ATOMIC_RELAXED);
    __atomic_store_n(&real_unlock, unlock::find(), __ATOMIC_RELAXED);
    unlock_plainly();
    errno = before;
}

}  // namespace

#if defined(__x86_64__)

namespace {

// The numbers in the assembly.
static_assert(EBUSY == 16 && kinds_not_to_try == 0x70 &&
              offsetof(pthread_mutex_t, __data.__kind) == 16);

// Acquire: the loads that follow come later. If the two words do not belong together, the exchange
// in change_unlock() fails.
unlock_choice present_choice() noexcept {
    return {__atomic_load_n(&coroscope_unlock.function, __ATOMIC_ACQUIRE),
            __atomic_load_n(&coroscope_unlock.changes, __ATOMIC_ACQUIRE)};
}

/// Changes the function if the choice is still `from`. Each x86-64 processor since 2006 has
/// cmpxchg16b.
bool change_unlock(unlock_choice from, mutex_function* to) noexcept {
    bool done = false;
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(coroscope_unlock), "+a"(from.function),
                       "+d"(from.changes)
                     : "b"(to), "c"(from.changes + 1)
                     : "memory");
    return done;
}

}  // namespace

void unlock_with_notes() noexcept {
    while (!change_unlock(present_choice(), coroscope_unlock_awaited)) {
    }
}

// A thread that is counted after the load of the count calls unlock_with_notes() afterwards. If
// that call comes before the change here, the change fails.
void unlock_plainly() noexcept {
    for (;;) {
        const unlock_choice present = present_choice();
        if (__atomic_load_n(&waiting_threads, __ATOMIC_SEQ_CST) != 0) return;
        if (change_unlock(present, __atomic_load_n(&real_unlock, __ATOMIC_RELAXED))) return;
    }
}

COROSCOPE_LOCK_DECLARED(pthread_mutex_lock, (pthread_mutex_t*));
[[gnu::naked]] int interposed_pthread_mutex_lock(pthread_mutex_t* /*mutex*/) {
    __asm__("testb $0x70, 16(%rdi)\n"
            "jne coroscope_lock_untried\n"
            "pushq %rdi\n"
            ".cfi_adjust_cfa_offset 8\n"
            "call *coroscope_try_lock(%rip)\n"
            "cmpl $16, %eax\n"
            "je 1f\n"
            "popq %rdi\n"
            ".cfi_remember_state\n"
            ".cfi_adjust_cfa_offset -8\n"
            "ret\n"
            "1: .cfi_restore_state\n"
            "popq %rdi\n"
            ".cfi_adjust_cfa_offset -8\n"
            "jmp coroscope_lock_held");
}

COROSCOPE_LOCK_DECLARED(pthread_mutex_unlock, (pthread_mutex_t*));
[[gnu::naked]] int interposed_pthread_mutex_unlock(pthread_mutex_t* /*mutex*/) {
    __asm__("jmp *coroscope_unlock(%rip)");
}

#else

void unlock_with_notes() noexcept {}
void unlock_plainly() noexcept {}

COROSCOPE_LOCK(pthread_mutex_lock, (pthread_mutex_t * mutex)) {
    if (has_kind(*mutex, kinds_not_to_try)) return coroscope_lock_untried(mutex);
    const int result = coroscope_try_lock(mutex);
    return result == EBUSY ? coroscope_lock_held(mutex) : result;
}

COROSCOPE_LOCK(pthread_mutex_unlock, (pthread_mutex_t * mutex)) {
    return any_thread_waits() ? coroscope_unlock_awaited(mutex) : real_unlock(mutex);
}

#endif

COROSCOPE_LOCK_ALIAS(__pthread_mutex_lock, pthread_mutex_lock, (pthread_mutex_t * mutex));
COROSCOPE_LOCK_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock, (pthread_mutex_t * mutex));

}  // namespace coroscope::interpose
