// SPDX-License-Identifier: Apache-2.0
#pragma once

// The name of a file in an options struct. It takes a C string, whose address it keeps, or a string
// object (std::string, std::filesystem::path, std::string_view), which it copies, so that a
// temporary may be assigned. The functions that copy are compiler built-ins: the header needs
// neither <string> nor the library.

#include <concepts>
#include <cstddef>

namespace coroscope::detail {

template <class Name>
concept has_path_text = requires(const Name& name) {
    { name.native().data() } -> std::convertible_to<const char*>;
};
template <class Name>
concept has_text = requires(const Name& name) {
    { name.data() } -> std::convertible_to<const char*>;
    name.size();
};

class file_name {
public:
    /// `name` must live as long as this object and its copies. Null: no file.
    constexpr file_name(const char* name = nullptr) noexcept : text_(name) {}

    /// Copies the name. If memory is short the name is empty, with which no session begins.
    template <class Name>
        requires has_text<Name>
    file_name(const Name& name) noexcept {
        keep(name.data(), name.size());
    }
    template <class Path>
        requires has_path_text<Path>
    file_name(const Path& path) noexcept : file_name(path.native()) {}

    constexpr file_name(const file_name& other) noexcept : text_(other.text_) {
        if (other.copy_ != nullptr) keep(other.copy_, __builtin_strlen(other.copy_));
    }
    constexpr file_name& operator=(const file_name& other) noexcept {
        if (this == &other) return *this;
        release();
        text_ = other.text_;
        if (other.copy_ != nullptr) keep(other.copy_, __builtin_strlen(other.copy_));
        return *this;
    }
    constexpr ~file_name() { release(); }

    constexpr const char* c_str() const noexcept { return text_; }
    constexpr operator const char*() const noexcept { return text_; }

private:
    void keep(const char* text, std::size_t size) noexcept {
        text_ = "";
        copy_ = static_cast<char*>(__builtin_malloc(size + 1));
        if (copy_ == nullptr) return;
        __builtin_memcpy(copy_, text, size);
        copy_[size] = '\0';
        text_ = copy_;
    }
    constexpr void release() noexcept {
        if (copy_ != nullptr) __builtin_free(copy_);
        copy_ = nullptr;
    }

    const char* text_ = nullptr;
    char* copy_ = nullptr;  ///< from malloc(); null if the text is the user's
};

}  // namespace coroscope::detail
