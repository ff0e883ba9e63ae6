// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names threads for whoever looks at them: a debugger, top, a profiler.

#include <sys/prctl.h>

namespace http_service {

/// Names the calling thread while it lives. The threads that it starts meanwhile keep the name.
/// At most 15 characters.
class thread_name {
public:
    explicit thread_name(const char* name) {
        prctl(PR_GET_NAME, before_);
        prctl(PR_SET_NAME, name);
    }
    thread_name(const thread_name&) = delete;
    thread_name& operator=(const thread_name&) = delete;
    ~thread_name() { prctl(PR_SET_NAME, before_); }

private:
    char before_[16] = {};
};

}  // namespace http_service
