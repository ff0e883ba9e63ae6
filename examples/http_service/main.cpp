// SPDX-License-Identifier: Apache-2.0

// An HTTP/1.1 key-value service that coroscope profiles. See README.md.

#include "load_client.hpp"
#include "options.hpp"
#include "server.hpp"
#include "store.hpp"

#include <coroscope/coroscope.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

namespace {

using namespace http_service;

/// True if every reply was the right one.
bool run_load_against(const server& service, const options& settings) {
    const load_plan plan{service.port(), settings.requests, settings.connections, settings.seed};
    load_result result = run_load(plan);
    std::cout << summarize(plan, result) << std::endl;
    if (result.unexpected > 0) {
        std::cerr << "http_service: first unexpected reply: " << result.first_problem << '\n';
    }
    return result.unexpected == 0;
}

int run(const options& settings) {
    store entries{settings.database, settings.db_threads};
    server service{settings, entries};
    std::cout << "http_service: listening on 127.0.0.1:" << service.port() << std::endl;
    service.start();
    bool succeeded = true;
    if (!settings.serve) {
        succeeded = run_load_against(service, settings);
        service.stop();
    }
    service.wait();
    entries.join();
    return succeeded ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    const auto command_line = parse_command_line(argc, argv);
    const auto& settings = command_line.values;
    if (command_line.exit_code) {
        return *command_line.exit_code;
    }
    try {
        return run(settings);
    } catch (const boost::system::system_error& failure) {
        std::cerr << "http_service: port " << settings.port << ": " << failure.what() << '\n';
    } catch (const std::exception& failure) {
        std::cerr << "http_service: database '" << settings.database << "': " << failure.what()
                  << '\n';
    }
    return EXIT_FAILURE;
}
