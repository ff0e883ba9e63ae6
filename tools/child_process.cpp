// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace coroscope::tools {
namespace {

constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// The child's process id for the signal handler; 0 if there is no child.
std::atomic<pid_t> child{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

/// Whether this process leads its session. Then the kernel sends the terminal's hang-up only to
/// this process.
std::atomic<bool> leads_session{false};
static_assert(std::atomic<bool>::is_always_lock_free);

/// The inherited action of SIGPIPE. It is the default action until ignore_broken_pipes() was
/// called.
struct sigaction broken_pipe_before{};

/// Returns whether the child got the signal, too: signals from a terminal's keys go to the whole
/// foreground group.
bool child_has(int signal, const siginfo_t& from) {
    const bool from_kernel = from.si_code > 0;
    return from_kernel && !(signal == SIGHUP && leads_session.load(std::memory_order_relaxed));
}

void forward(int signal, siginfo_t* from, void*) {
    const int saved = errno;
    const pid_t to = child.load(std::memory_order_relaxed);
    if (to > 0 && !child_has(signal, *from)) ::kill(to, signal);
    errno = saved;
}

sigset_t forwarded_set() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : forwarded) sigaddset(&set, signal);
    return set;
}

/// Blocks the forwarded signals until the child's id is known, then forwards them until the
/// object's end; a signal in between is delivered late, not lost. For its lifetime SIGCHLD is not
/// ignored: otherwise the system would discard the child's exit code.
class forwarding {
public:
    forwarding() {
        struct sigaction by_default{};
        by_default.sa_handler = SIG_DFL;
        sigaction(SIGCHLD, &by_default, &child_ended_before_);
        const sigset_t set = forwarded_set();
        sigprocmask(SIG_BLOCK, &set, &mask_before_);
    }
    forwarding(const forwarding&) = delete;
    forwarding& operator=(const forwarding&) = delete;
    ~forwarding() {
        child.store(0, std::memory_order_relaxed);
        for (std::size_t at = 0; at < forwarded.size() && installed_; ++at) {
            sigaction(forwarded[at], &before_[at], nullptr);
        }
        sigaction(SIGCHLD, &child_ended_before_, nullptr);
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }

    void start(pid_t to) {
        leads_session.store(::getsid(0) == ::getpid(), std::memory_order_relaxed);
        child.store(to, std::memory_order_relaxed);
        struct sigaction action{};
        action.sa_sigaction = forward;
        // SA_RESTART is not set, because every wait below is repeated. With it ThreadSanitizer,
        // which delivers signals between two calls, would delay a signal until the program ends.
        action.sa_flags = SA_SIGINFO;
        sigemptyset(&action.sa_mask);
        for (std::size_t at = 0; at < forwarded.size(); ++at)
            sigaction(forwarded[at], &action, &before_[at]);
        installed_ = true;
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }

    /// Must be called in the child before it becomes the program. Restores the signal actions and
    /// the mask that this process inherited.
    void give_back() const {
        sigaction(SIGPIPE, &broken_pipe_before, nullptr);
        sigaction(SIGCHLD, &child_ended_before_, nullptr);
        sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    }

private:
    sigset_t mask_before_{};
    struct sigaction child_ended_before_{};
    std::array<struct sigaction, forwarded.size()> before_{};
    bool installed_ = false;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// Must be called in the child. Becomes the program, or writes the errno to the pipe.
[[noreturn]] void become(std::vector<std::string> program, std::vector<std::string> environment,
                         const std::string& id_variable, const forwarding& signals,
                         int failure_pipe) {
    signals.give_back();
    environment.push_back(id_variable + "=" + std::to_string(::getpid()));
    for (char* variable : pointers_to(environment)) {
        if (variable != nullptr) ::putenv(variable);
    }
    ::execvp(program.front().c_str(), pointers_to(program).data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(failure_pipe, &error, sizeof error);
    ::_exit(127);
}

/// Waits for the child's end before reaping it. Until it is reaped, its process id, to which
/// signals are sent, cannot be reused.
child_result wait_for(pid_t id) {
    siginfo_t ended{};
    while (::waitid(P_PID, static_cast<id_t>(id), &ended, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    child.store(0, std::memory_order_relaxed);
    int status = 0;
    while (::waitpid(id, &status, 0) < 0) {
        if (errno != EINTR) return {.wait_error = errno};
    }
    if (!WIFSIGNALED(status)) return {.exit_code = WEXITSTATUS(status)};
    return {.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)};
}

/// Returns 0 if the file is a program. Else, for a folder or a file that may not be executed,
/// returns the errno.
int problem_with(const std::string& path) {
    struct stat what{};
    if (::stat(path.c_str(), &what) != 0) return errno;
    if (!S_ISREG(what.st_mode)) return EACCES;
    return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

void ignore_broken_pipes() {
    struct sigaction ignored{};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignored, &broken_pipe_before);
}

program_place find_program(const std::string& name) {
    if (name.empty()) return {{}, ENOENT};
    if (name.find('/') != std::string::npos) return {name, problem_with(name)};
    const char* const variable = std::getenv("PATH");
    std::string_view folders = variable != nullptr ? variable : "/bin:/usr/bin";
    program_place found{{}, ENOENT};
    while (true) {
        const std::string_view folder = folders.substr(0, folders.find(':'));
        std::string path = (folder.empty() ? std::string(".") : std::string(folder)) + '/' + name;
        const int error = problem_with(path);
        if (error == 0) return {std::move(path), 0};
        if (error == EACCES) found.error = EACCES;
        if (folder.size() == folders.size()) return found;
        folders.remove_prefix(folder.size() + 1);
    }
}

child_result run_child(const std::vector<std::string>& program,
                       const std::vector<std::string>& environment,
                       const std::string& id_variable) {
    int failure_pipe[2];
    if (::pipe2(failure_pipe, O_CLOEXEC) != 0) return {.start_error = errno};
    forwarding signals;
    const pid_t id = ::fork();
    if (id == 0) become(program, environment, id_variable, signals, failure_pipe[1]);
    child_result result{.start_error = id < 0 ? errno : 0};
    ::close(failure_pipe[1]);
    if (id > 0) {
        signals.start(id);
        // Ends at once when the program starts: the pipe closes with exec.
        int error = 0;
        while (::read(failure_pipe[0], &error, sizeof error) < 0 && errno == EINTR) {
        }
        result = wait_for(id);
        result.start_error = error;
    }
    ::close(failure_pipe[0]);
    return result;
}

}  // namespace coroscope::tools
