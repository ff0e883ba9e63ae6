// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of files in a folder that only this user can read, gone with the object.

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace coroscope::analysis::inline reading {

class private_copy {
public:
    /// Copies the files; nullopt if that fails.
    static std::optional<private_copy> of(std::initializer_list<std::string> paths);

    private_copy(private_copy&& other) noexcept
        : folder_(std::exchange(other.folder_, {})), first_(std::move(other.first_)) {}
    private_copy& operator=(private_copy&& other) noexcept {
        std::swap(folder_, other.folder_);
        std::swap(first_, other.first_);
        return *this;
    }
    private_copy(const private_copy&) = delete;
    private_copy& operator=(const private_copy&) = delete;
    ~private_copy();

    /// The path of the first file's copy.
    [[nodiscard]] const std::string& first() const { return first_; }

private:
    explicit private_copy(std::string folder) : folder_(std::move(folder)) {}

    std::string folder_;  // empty: moved from
    std::string first_;
};

}  // namespace coroscope::analysis::inline reading
