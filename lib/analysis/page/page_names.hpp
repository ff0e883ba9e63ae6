// SPDX-License-Identifier: Apache-2.0
#pragma once

// The texts to which the columns of a page refer: each text has one number.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/model.hpp>

namespace coroscope::analysis::inline pages {

class page_names {
public:
    /// `from` must outlive it.
    explicit page_names(const trace& from) : from_(from), strings_(from.strings.size(), -1) {}

    [[nodiscard]] std::int64_t number_of(std::string_view text);

    /// The number of a text of the trace, an index into trace::strings; -1 if there is none.
    [[nodiscard]] std::int64_t of_string(std::uint32_t string) {
        if (string >= strings_.size()) return -1;
        if (strings_[string] < 0) strings_[string] = number_of(from_.strings[string]);
        return strings_[string];
    }

    /// The number of the text of an attribute and of those below it, such as "tenant=7, user=x"; -1
    /// if there is none.
    [[nodiscard]] std::int64_t of_attribute(std::uint32_t attribute);

    /// Returns the texts as a JSON array.
    [[nodiscard]] std::string json() const;

private:
    const trace& from_;
    std::unordered_map<std::string, std::int64_t> numbers_;
    std::vector<const std::string*> texts_;  // keys of numbers_, by number
    std::vector<std::int64_t> strings_;      // by index into trace::strings
    std::vector<std::int64_t> attributes_;   // by index into trace::attributes; -2: not known yet
};

}  // namespace coroscope::analysis::inline pages
