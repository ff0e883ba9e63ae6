// SPDX-License-Identifier: Apache-2.0
#pragma once

// The grammar of a function's signature as g++ and clang write it: brackets, the parts of a
// qualified name, the list of template arguments behind it, and types in one spelling for both
// compilers. Pure functions on text that may be cut anywhere; nothing allocates.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <coroscope/trace/format.hpp>

namespace coroscope::runtime::inline writer {

/// Text of at most trace::payload_limit bytes; the rest is cut.
class bounded_text {
public:
    void clear() noexcept { size_ = 0; }
    void put(char c) noexcept {
        if (size_ != sizeof text_) text_[size_++] = c;
    }
    void put(std::string_view text) noexcept {
        for (const char c : text) put(c);
    }
    void put(std::uint32_t number) noexcept;
    [[nodiscard]] char last() const noexcept { return size_ == 0 ? '\0' : text_[size_ - 1]; }
    [[nodiscard]] std::string_view text() const noexcept { return {text_, size_}; }

private:
    char text_[trace::payload_limit]{};
    std::size_t size_ = 0;
};

constexpr bool is_word_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (static_cast<unsigned char>(c) & 0x80U) != 0;
}

/// Returns the position after the bracket that closes the one at `at`, or the end of the text if no
/// bracket closes it.
std::size_t skip_brackets(std::string_view text, std::size_t at) noexcept;

enum class part_kind : std::uint8_t { name, lambda, unnamed_type, anonymous_namespace };

/// One part of a qualified name: "Box<T>", "put(U)", "<lambda()>".
struct signature_part {
    std::string_view name;
    std::string_view arguments;   ///< of a template, without the brackets
    std::string_view parameters;  ///< of a function, without the brackets
    part_kind kind = part_kind::name;
};

/// The parts of the qualified name in a signature, the last ones if there are too many.
struct signature_path {
    static constexpr std::size_t most_parts = 16;
    signature_part parts[most_parts];
    std::size_t count = 0;
    std::string_view rest;  ///< behind the name and its parameters

    /// Finds the name in a signature, and splits it.
    void read(std::string_view signature) noexcept;

private:
    std::size_t read_part(std::string_view text, std::size_t at, signature_part& part) noexcept;
    void add(const signature_part& part) noexcept;
};

/// The list behind a signature: "[with T = int; A = {}]" or "[T = int, A = <>]".
struct template_bindings {
    static constexpr std::size_t most_entries = 16;
    struct entry {
        std::string_view key;
        std::string_view value;
        bool used = false;
    };
    entry entries[most_entries];
    std::size_t count = 0;
    bool of_gcc = false;

    void read(std::string_view rest) noexcept;

    /// g++ explains the members of classes that stand for types, too: entries that a signature
    /// without its list names as members are left out.
    void leave_out_members(std::string_view of) noexcept;

    /// clang writes the arguments of a class into its name: those are no function's.
    void take_arguments(std::string_view of_class) noexcept;

    /// The entry of a template parameter, or null.
    [[nodiscard]] entry* find(std::string_view key) noexcept;

private:
    void add(std::string_view text) noexcept;
};

/// Without the brackets of a pack: "int, double" of "{int, double}" and of "<int, double>".
std::string_view without_pack(std::string_view value) noexcept;

/// Writes a type or a list of them in the spelling that both compilers have in common. If
/// `bindings` is given, template parameters are replaced by their arguments.
void write_type(bounded_text& out, std::string_view text, template_bindings* bindings) noexcept;

}  // namespace coroscope::runtime::inline writer
