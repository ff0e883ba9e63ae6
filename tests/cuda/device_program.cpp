// SPDX-License-Identifier: Apache-2.0

// A program for tests that records itself and prints its results, one line each.
//
//   device_program            starts a session of its own, which asks for CUDA
//   device_program idle       starts no session: only the environment may
//   device_program launch     as idle, with a launch of the fake CUPTI just before the exit
//   device_program fork       as launch, with a child that exits like the program
//   device_program search     prints only the CUPTI that examples/cuda_pipeline opens

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <coroscope/coroscope.hpp>
#include <coroscope/integration/cuda.hpp>

#include "../../examples/cuda_pipeline/cupti_search.hpp"

namespace {

// Prints the path of each loaded CUPTI, one line each.
void print_loaded_cupti() {
    ::dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t, void*) {
            if (std::strstr(library->dlpi_name, "cupti.so") != nullptr)
                std::puts(library->dlpi_name);
            return 0;
        },
        nullptr);
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1 && std::strcmp(arguments[1], "search") == 0) {
        cuda_pipeline::open_cupti();
        print_loaded_cupti();
        return 0;
    }
    const bool forks = count > 1 && std::strcmp(arguments[1], "fork") == 0;
    const bool launches = forks || (count > 1 && std::strcmp(arguments[1], "launch") == 0);
    const bool idle = launches || (count > 1 && std::strcmp(arguments[1], "idle") == 0);
    coroscope::profile session({.enabled = !idle, .use_device = "cuda"});
    {
        COROSCOPE("on the host");
    }
    if (launches) {
        void* cupti = ::dlopen(std::getenv("COROSCOPE_CUPTI"), RTLD_NOW);
        reinterpret_cast<void (*)()>(::dlsym(cupti, "fake_cupti_launch_and_end"))();
    }
    if (forks) {
        const pid_t child = ::fork();
        if (child == 0) return 0;
        int status = 0;
        return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    }
    std::printf("%d\n%s\n", static_cast<int>(session.status().state), session.status().message);
    std::printf("%s\n", coroscope::cuda::why_unavailable());
    print_loaded_cupti();
    return session.stop().empty() == idle ? 0 : 1;
}
