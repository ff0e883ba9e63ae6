// SPDX-License-Identifier: Apache-2.0

// Locks and unlocks a free mutex COUNT times.
//
//     bench_lock free|waited COUNT
//
// With "waited", another thread waits for a condition variable meanwhile.

#include <cstdlib>
#include <cstring>

#include <pthread.h>

#include <coroscope/coroscope.hpp>

namespace bench {
namespace {

pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t never = PTHREAD_COND_INITIALIZER;
bool waits = false;

// The function whose instructions callgrind counts.
[[gnu::noinline]] void counted(int pairs) {
    for (int pair = 0; pair < pairs; ++pair) {
        ::pthread_mutex_lock(&guard);
        ::pthread_mutex_unlock(&guard);
    }
}

void* wait_for_ever(void* /*none*/) {
    ::pthread_mutex_lock(&other);
    waits = true;
    while (true) ::pthread_cond_wait(&never, &other);
}

void await_the_wait() {
    for (bool seen = false; !seen;) {
        ::pthread_mutex_lock(&other);
        seen = waits;
        ::pthread_mutex_unlock(&other);
    }
}

// The body of a thread that the program starts first, because the C library takes a shorter path in
// a program that never had a second thread.
void* end_at_once(void* /*none*/) { return nullptr; }

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    using namespace bench;
    if (count != 3) return 2;
    COROSCOPE("locks");
    const bool waited = std::strcmp(words[1], "waited") == 0;
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, waited ? wait_for_ever : end_at_once, nullptr);
    if (waited)
        await_the_wait();
    else
        ::pthread_join(thread, nullptr);
    counted(std::atoi(words[2]));
    std::_Exit(0);
}
