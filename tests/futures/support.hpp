// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the tests of ranges and futures share: a journal of what happened in which order.

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <coroscope/range.hpp>

#include "../runtime/support/recording.hpp"

namespace coroscope::test {

/// Notes words in the order of their happening; for one thread, or threads that take turns.
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

/// The message of what `call` throws; empty where it does not.
template <class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

inline std::exception_ptr an_error(const char* message) {
    return std::make_exception_ptr(std::runtime_error(message));
}

}  // namespace coroscope::test
