// SPDX-License-Identifier: Apache-2.0

// A program without Coroscope that loads and unloads a library that uses Coroscope: plain_program
// LIBRARY

#include <dlfcn.h>

int main(int count, char** words) {
    for (int round = 0; round < 3; ++round) {
        void* library = count > 1 ? ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
        if (library == nullptr) return 1;
        void* run = ::dlsym(library, "run_scope_in_library");
        if (run == nullptr) return 2;
        reinterpret_cast<void (*)()>(run)();
        if (::dlclose(library) != 0) return 3;
    }
    return 0;
}
