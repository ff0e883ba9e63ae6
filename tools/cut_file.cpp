// SPDX-License-Identifier: Apache-2.0
#include "cut_file.hpp"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {
namespace {

/// The message for the signal handler.
std::atomic<const std::string*> current{nullptr};
static_assert(std::atomic<const std::string*>::is_always_lock_free);

/// Prints the message if the signal is due to an access beyond a file's end. For any other reason,
/// the access is repeated and ends the process by the default action.
void say_that_it_was_cut(int, siginfo_t* why, void*) {
    const std::string* const message = current.load(std::memory_order_relaxed);
    if (why->si_code == BUS_ADRERR && message != nullptr) {
        write_all(STDERR_FILENO, *message);
        ::_exit(exit_failure);
    }
    std::signal(SIGBUS, SIG_DFL);
}

}  // namespace

cut_file_watch::cut_file_watch(const std::string& file)
    : message_(error_line(file, {"was cut while it was read"})) {
    current.store(&message_, std::memory_order_relaxed);
    struct sigaction action{};
    action.sa_sigaction = say_that_it_was_cut;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, nullptr);
}

cut_file_watch::~cut_file_watch() {
    std::signal(SIGBUS, SIG_DFL);
    current.store(nullptr, std::memory_order_relaxed);
}

}  // namespace coroscope::tools
