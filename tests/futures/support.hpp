// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared by the tests of ranges and futures: a journal that keeps the order of events.

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/range.hpp>
#include <coroscope/task.hpp>

#include "../runtime/support/foreign.hpp"
#include "../runtime/support/recording.hpp"

namespace coroscope::test {

/// Keeps words in the order in which they were noted. For one thread, or threads that take turns.
class journal {
public:
    void note(std::string word) { words_.push_back(std::move(word)); }
    auto noting(std::string word) {
        return [this, word] { note(word); };
    }
    const std::vector<std::string>& words() const { return words_; }

private:
    std::vector<std::string> words_;
};
using words = std::vector<std::string>;

/// Neither copyable nor default constructible.
struct only_moves {
    explicit only_moves(int of) : value(std::make_unique<int>(of)) {}
    std::unique_ptr<int> value;
};

/// The message of the exception that `call` throws; empty if it does not throw.
template <class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

/// Runs a task until it waits for the first time. Pass the result to sync_wait() to wait for its end.
template <class T>
foreign::eager<T, foreign::plain> start(task<T> work) {
    co_return co_await std::move(work);
}

inline std::exception_ptr an_error(const char* message) {
    return std::make_exception_ptr(std::runtime_error(message));
}

}  // namespace coroscope::test
