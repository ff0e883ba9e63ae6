// SPDX-License-Identifier: Apache-2.0
#include "load_client.hpp"

#include "workload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>

namespace http_service {

namespace {

using clock = std::chrono::steady_clock;

/// One keep-alive connection and its share of the requests. All of them share the result: the
/// client has one thread.
class load_connection {
public:
    load_connection(net::io_context& context, const load_plan& plan, std::size_t index,
                    load_result& result)
        : stream_{context},
          port_{plan.port},
          remaining_{plan.requests / plan.connections +
                     (index < plan.requests % plan.connections ? 1 : 0)},
          requests_{plan.seed, index},
          result_{result} {}

    net::awaitable<void> run() {
        try {
            const net::ip::tcp::endpoint server{net::ip::address_v4::loopback(), port_};
            co_await stream_.async_connect(server, net::use_awaitable);
            stream_.socket().set_option(net::ip::tcp::no_delay{true});
            for (; remaining_ > 0; --remaining_) {
                co_await exchange_once();
            }
        } catch (const std::exception& failure) {
            note_problem(remaining_, failure.what());
        }
    }

private:
    net::awaitable<void> exchange_once() {
        exchange step = requests_.next();
        response reply;
        const auto start = clock::now();
        stream_.expires_after(peer_timeout);
        co_await http::async_write(stream_, step.message, net::use_awaitable);
        co_await http::async_read(stream_, buffer_, reply, net::use_awaitable);
        result_.latencies.push_back(clock::now() - start);
        judge(step, reply);
    }

    void judge(const exchange& step, const response& reply) {
        if (!matches(step, reply)) {
            note_problem(1, std::string{target_of(step.message)} + ": status " +
                                std::to_string(reply.result_int()));
        } else if (reply.result_int() >= 400) {
            ++result_.expected_errors;
        }
    }

    void note_problem(std::size_t requests, const std::string& what) {
        if (result_.unexpected == 0) {
            result_.first_problem = what;
        }
        result_.unexpected += requests;
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    const std::uint16_t port_;
    std::size_t remaining_;
    workload requests_;
    load_result& result_;
};

double milliseconds(std::chrono::nanoseconds duration) {
    return std::chrono::duration<double, std::milli>{duration}.count();
}

/// The smallest latency that the given share of all does not exceed (nearest rank).
double percentile_ms(const std::vector<std::chrono::nanoseconds>& sorted, std::size_t percent) {
    if (sorted.empty()) {
        return 0.0;
    }
    return milliseconds(sorted[(sorted.size() * percent + 99) / 100 - 1]);
}

}  // namespace

load_result run_load(const load_plan& plan) {
    load_result result;
    result.latencies.reserve(plan.requests);
    net::io_context context{1};
    std::vector<std::unique_ptr<load_connection>> connections;
    for (std::size_t index = 0; index < plan.connections; ++index) {
        connections.push_back(std::make_unique<load_connection>(context, plan, index, result));
        net::co_spawn(context, connections.back()->run(), net::detached);
    }
    const auto start = clock::now();
    context.run();
    result.elapsed = clock::now() - start;
    return result;
}

std::string summarize(const load_plan& plan, load_result& result) {
    std::sort(result.latencies.begin(), result.latencies.end());
    const double seconds = milliseconds(result.elapsed) / 1000.0;
    char line[256];
    std::snprintf(
        line, sizeof line,
        "%zu requests on %zu connections in %.2f s: %.0f requests/s, p50 %.2f ms, p99 %.2f ms, "
        "max %.2f ms, errors %zu expected, %zu unexpected",
        plan.requests, plan.connections, seconds,
        static_cast<double>(result.latencies.size()) / seconds, percentile_ms(result.latencies, 50),
        percentile_ms(result.latencies, 99), percentile_ms(result.latencies, 100),
        result.expected_errors, result.unexpected);
    return line;
}

}  // namespace http_service
