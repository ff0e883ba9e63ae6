// SPDX-License-Identifier: Apache-2.0

// A program that a test runs: it records itself and says how that went, one line each.
//
//   device_program            a session of its own, which asks for CUDA
//   device_program idle       none: what the environment asks for

#include <cstdio>
#include <cstring>

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/cuda.hpp>

int main(int count, char** arguments) {
    const bool idle = count > 1 && std::strcmp(arguments[1], "idle") == 0;
    coroscope::profile session({.enabled = !idle, .use_device = "cuda"});
    {
        COROSCOPE("on the host");
    }
    std::printf("%d\n%s\n", static_cast<int>(session.status().state), session.status().message);
    std::printf("%s\n", coroscope::cuda::why_unavailable());
    return session.stop().empty() == idle ? 0 : 1;
}
