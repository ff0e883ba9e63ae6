// SPDX-License-Identifier: Apache-2.0
#include "export_targets.hpp"

#include <cerrno>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

#include <coroscope/analysis/table_exports.hpp>
#include <fmt/format.h>

#include "destination.hpp"
#include "http_post.hpp"
#include "output.hpp"
#include "subcommand.hpp"

namespace coroscope::tools {

int write_to_file(const std::string& file, const std::string& output,
                  const std::function<analysis::written(const analysis::byte_sink&)>& write) {
    destination to(output);
    const progress writing("writing " + to.name());
    const auto done = write([&to](std::string_view text) { return to.write(text); });
    if (to.error() != 0) return failed(to, to.error());
    if (!done) {
        report(file, done.error());
        return exit_failure;
    }
    if (const int error = to.finish(); error != 0) return failed(to, error);
    return exit_success;
}

int write_to_path(const export_request&, const export_format& to, const analysis::trace& loaded,
                  const std::string& output) {
    const progress writing("writing " + output);
    const auto done = to.to_path(loaded, output);
    if (done) return exit_success;
    report(output, done.error());
    return exit_failure;
}

int write_to_folder(const export_request& asked, const export_format& to,
                    const analysis::trace& loaded, const std::string& folder) {
    if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
        report(folder, {std::generic_category().message(errno)});
        return exit_failure;
    }
    for (const std::string_view table : analysis::data_table_names()) {
        export_request one = asked;
        one.table = table;
        const int code = write_to_file(
            asked.file, fmt::format("{}/{}.{}", folder, table, to.name),
            [&](const analysis::byte_sink& sink) { return to.of_trace(one, loaded, sink); });
        if (code != exit_success) return code;
    }
    return exit_success;
}

int write_to_server(const export_request&, const export_format& to, const analysis::trace& loaded,
                    const std::string& address) {
    const auto server = read_http_address(address, to.posts.path);
    if (!server) {
        report(fmt::format("\"{}\" is not an address such as http://localhost:4318", address));
        return exit_usage;
    }
    const progress writing("sending to " + address);
    std::optional<analysis::failure> refused;
    const auto done = to.posts.write(loaded, [&](std::string_view body) {
        const auto answer = http_post(*server, to.posts.content_type, body);
        if (!answer) refused = answer.error();
        return !refused;
    });
    if (done && !refused) return exit_success;
    report(address, refused ? *refused : done.error());
    return exit_failure;
}

}  // namespace coroscope::tools
