// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observer under test: it notes each begin and end, and is removed at the end of the test's
// block.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <coroscope/coroscope.hpp>

#include <doctest/doctest.h>

namespace coroscope::test {

inline std::string text_of(observed_text text) { return {text.data(), text.size()}; }

/// Lines that any thread may add.
class journal {
public:
    void note(std::string line) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(std::move(line));
    }
    std::vector<std::string> take() {
        const std::lock_guard lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

using lines = std::vector<std::string>;

/// Notes "+name" at a start and "-name" at an end, each after the prefix.
inline observer noting(journal& into, const std::string& prefix = "") {
    return {[&into, prefix](const scope_info& scope) {
                into.note(prefix + "+" + text_of(scope.name()));
            },
            [&into, prefix](const scope_info& scope, observer_context*) {
                into.note(prefix + "-" + text_of(scope.name()));
            }};
}

/// Registered until the end of the block, or until removed by hand.
class registered {
public:
    explicit registered(observer_handle handle) : handle_(handle) { CHECK(handle != 0); }
    registered(const registered&) = delete;
    registered& operator=(const registered&) = delete;
    ~registered() { remove(); }
    void remove() {
        if (handle_ != 0) CHECK(remove_observer(std::exchange(handle_, 0)));
    }

private:
    observer_handle handle_;
};

}  // namespace coroscope::test
