// SPDX-License-Identifier: Apache-2.0
#include "request_choice.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

std::optional<std::uint64_t> request_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || last != text.data() + text.size()) return std::nullopt;
    return number;
}

/// Returns an error message, or an empty string.
std::string check_request(const std::string& text) {
    return request_number(text) || analysis::read_request_moment(text)
               ? std::string()
               : "neither a request's number nor TASK@MOMENT: " + text;
}

std::optional<std::size_t> place_of(const analysis::trace& loaded,
                                    const analysis::request_list& list, const std::string& asked) {
    if (const auto id = request_number(asked)) return analysis::find_request(list, *id);
    const auto moment = analysis::read_request_moment(asked);
    return moment ? analysis::find_request(loaded, list, *moment) : std::nullopt;
}

}  // namespace

CLI::Option* add_request_option(CLI::App& command, std::string& request, const std::string& help) {
    return command
        .add_option("--request", request,
                    help + ", by its id, or by the text of coroscope::current_request() in a log")
        ->type_name("ID")
        ->check(CLI::Validator(check_request, ""));
}

std::optional<std::size_t> find_request_or_report(const std::string& file,
                                                  const analysis::trace& loaded,
                                                  const analysis::request_list& list,
                                                  const std::string& asked) {
    const auto found = place_of(loaded, list, asked);
    if (!found)
        report(
            file,
            {request_number(asked)
                 ? fmt::format("has no request {}; coroscope requests lists those it has", asked)
                 : fmt::format("no request was open at {}; coroscope requests lists those it has",
                               asked)});
    return found;
}

}  // namespace coroscope::tools
