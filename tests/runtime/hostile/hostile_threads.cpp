// SPDX-License-Identifier: Apache-2.0

// Modes of hostile_program: threads that end by pthread_exit() or by cancellation.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <coroscope/anomaly.hpp>

#include <pthread.h>

#include "../support/session_steps.hpp"
#include "hostile_modes.hpp"

using namespace std::chrono_literals;

namespace coroscope::test {

namespace {

struct cancelled_work {
    const char* file;
    bool finished = false;
    bool unwound = false;
};

struct on_unwinding {
    bool& unwound;
    ~on_unwinding() { unwound = true; }
};

task<void> fail() {
    throw std::runtime_error("as it should");
    co_return;
}

void* work_though_cancelled(void* data) {
    auto& work = *static_cast<cancelled_work*>(data);
    const on_unwinding seen{work.unwound};
    ::pthread_cancel(::pthread_self());
    profile session{{.output = work.file, .all_threads = true}};
    const anomaly_detection detection;
    try {
        sync_wait(fail());
    } catch (const std::runtime_error&) {
        steps(5);
    }
    session.toggle_collection(false);
    session.stop();
    work.finished = true;
    ::pthread_testcancel();
    return nullptr;
}

}  // namespace

// pthread_exit: the main thread ends by pthread_exit(), and another thread ends after 100 steps
int end_main_thread(arguments) {
    std::atexit([] { std::puts("at exit"); });
    std::thread([] {
        std::this_thread::sleep_for(100ms);
        steps(100);
    }).detach();
    ::pthread_exit(nullptr);
}

// cancelled FILE: a thread with a pending cancellation starts and stops a session, and the runtime
// reports a failed task in one line
int record_though_cancelled(arguments given) {
    cancelled_work work{given[0]};
    pthread_t thread{};
    void* result = nullptr;
    if (::pthread_create(&thread, nullptr, work_though_cancelled, &work) != 0) return 2;
    ::pthread_join(thread, &result);
    return work.finished && work.unwound && result == PTHREAD_CANCELED ? 0 : 1;
}

}  // namespace coroscope::test
