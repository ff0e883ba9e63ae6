// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>

namespace http_service {

namespace {

void declare(CLI::App& app, options& values) {
    const CLI::Range threads{1, 256};
    app.add_option("--port", values.port, "TCP port on 127.0.0.1; 0 picks a free one")
        ->capture_default_str();
    app.add_option("--threads", values.threads, "threads that serve connections")
        ->check(threads)
        ->capture_default_str();
    app.add_option("--db-threads", values.db_threads, "threads that run queries")
        ->check(threads)
        ->capture_default_str();
    app.add_option("--database", values.database, "SQLite file, created if missing")
        ->capture_default_str();
    auto* requests = app.add_option("--requests", values.requests, "requests of the load client")
                         ->check(CLI::Range(1, 1'000'000'000))
                         ->capture_default_str();
    auto* connections =
        app.add_option("--connections", values.connections, "connections of the load client")
            ->check(CLI::Range(1, 10'000))
            ->capture_default_str();
    auto* seed = app.add_option("--seed", values.seed, "seed of the load client's mix")
                     ->capture_default_str();
    app.add_flag("--serve", values.serve, "no load client: serve until SIGTERM or SIGINT")
        ->excludes(requests)
        ->excludes(connections)
        ->excludes(seed);
}

}  // namespace

command_line parse_command_line(int argc, char** argv) {
    constexpr int usage_error = 2;
    command_line result;
    CLI::App app{"A key-value service over HTTP/1.1 and SQLite, with its own load client."};
    declare(app, result.values);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        result.exit_code = app.exit(error) == 0 ? 0 : usage_error;
    }
    return result;
}

}  // namespace http_service
