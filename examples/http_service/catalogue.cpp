// SPDX-License-Identifier: Apache-2.0
#include "catalogue.hpp"

#include <array>
#include <cstdint>

namespace http_service::catalogue {

namespace {

constexpr std::array<std::string_view, 32> words{
    "amber",  "basalt",  "cedar",   "delta",  "ember",  "fjord",  "garnet", "harbor",
    "indigo", "juniper", "kelp",    "lagoon", "marble", "nectar", "ochre",  "pebble",
    "quartz", "russet",  "saffron", "tundra", "umber",  "velvet", "willow", "xenon",
    "yarrow", "zephyr",  "acorn",   "birch",  "clover", "dune",   "flint",  "grove"};

constexpr std::size_t words_per_value = 24;

std::string padded(std::size_t index) {
    std::string digits = std::to_string(index);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

std::string_view word(std::uint64_t state) { return words[(state >> 33) % words.size()]; }

}  // namespace

std::string key(std::size_t index) { return "item-" + padded(index); }

std::string value(std::size_t index) {
    std::string text;
    std::uint64_t state = index + 1;
    for (std::size_t count = 0; count < words_per_value; ++count) {
        state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
        text += word(state);
        text += '-';
    }
    return text + rare_text(index);
}

std::string common_text(std::size_t index) {
    const auto& first = words[index % words.size()];
    const auto& second = words[index / words.size() % words.size()];
    return std::string{first} + '-' + std::string{second};
}

std::string rare_text(std::size_t index) { return "serial-" + padded(index); }

}  // namespace http_service::catalogue
