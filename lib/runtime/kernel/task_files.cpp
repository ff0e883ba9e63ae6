// SPDX-License-Identifier: Apache-2.0
#include "task_files.hpp"
#include "private_descriptors.hpp"

#include <cerrno>

#include "../base/text_writer.hpp"

namespace coroscope::runtime::inline kernel {
namespace {

constexpr unsigned no_digit = 99;

unsigned digit_of(char letter) noexcept {
    if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
    if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a') + 10;
    return no_digit;
}

}  // namespace

std::uint64_t take_number(const char*& text, unsigned base) noexcept {
    while (*text == ' ') ++text;
    if (base == 16 && text[0] == '0' && text[1] == 'x') text += 2;
    std::uint64_t number = 0;
    for (; digit_of(*text) < base; ++text) number = number * base + digit_of(*text);
    return number;
}

int open_task_file(std::uint32_t thread, const char* name) noexcept {
    char path[64];
    text_writer(path, sizeof path).text("/proc/self/task/").natural(thread).text("/").text(name);
    return open_private(path, O_RDONLY | O_CLOEXEC);
}

bool read_task_file(int file, char* to, std::size_t size) noexcept {
    const long got = read_private(file, to, size - 1);
    to[got > 0 ? got : 0] = '\0';
    return got > 0;
}

bool read_sums(int file, thread_sums& sums) noexcept {
    char text[96];
    if (!read_task_file(file, text, sizeof text)) return false;
    const char* at = text;
    sums.on_cpu_ns = take_number(at);
    sums.delay_ns = take_number(at);
    sums.stretches = take_number(at);
    return true;
}

int read_sums_of(std::uint32_t thread, thread_sums& sums) noexcept {
    const int file = open_task_file(thread, "schedstat");
    if (file < 0) return errno;
    const int error = read_sums(file, sums) ? 0 : errno != 0 ? errno : ESRCH;
    close_private(file);
    return error;
}

}  // namespace coroscope::runtime::inline kernel
