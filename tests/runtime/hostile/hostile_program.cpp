// SPDX-License-Identifier: Apache-2.0

// A program in hostile surroundings: hostile_program MODE [ARGUMENT...]
//
// The program is built twice: with the shared library, and with the static one.

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include <unistd.h>

#include "../support/session_steps.hpp"
#include "hostile_modes.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

// Scopes before main() and after it.
struct early_and_late {
    early_and_late() { steps(3); }
    ~early_and_late() { steps(4); }
};
const early_and_late static_object;

std::uint64_t number(const char* text) { return std::strtoull(text, nullptr, 10); }

// steps COUNT: beside the steps of the static object
int run_steps(arguments given) {
    steps(number(given[0]));
    return 0;
}

// exec COUNT: three steps, then exec() of this program in the mode "steps COUNT"
int become_another(arguments given) {
    steps(3);
    char program[] = "/proc/self/exe";
    char mode[] = "steps";
    char* words[] = {program, mode, given[0], nullptr};
    ::execv(program, words);
    return 1;
}

}  // namespace

int main(int count, char** words) {
    const std::map<std::string, std::function<int(arguments)>> modes = {
        {"steps", run_steps},
        {"load", load_library},
        {"namespace", load_in_namespaces},
        {"exec", become_another},
        {"session", record_beside_library},
        {"cut", cut_while_idle},
        {"cut while recording", cut_while_recording},
        {"late faults", fault_late},
        {"cut at the stop", cut_at_stop},
        {"remove", remove_file},
        {"close its descriptor", close_descriptor},
        {"pthread_exit", end_main_thread},
        {"cancelled", record_though_cancelled},
        {"suspend in new heap", suspend_in_new_heap},
        {"unlimited stack", unlimit_stack},
        {"switch in job", switch_in_job},
        {"switch in coroutine", switch_in_coroutine},
        {"no memory at the start", start_without_memory},
        {"no memory any more", go_on_without_memory},
    };
    const auto mode = modes.find(count > 1 ? words[1] : "");
    return mode == modes.end() ? 2 : mode->second(words + 2);
}
