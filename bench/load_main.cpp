// SPDX-License-Identifier: Apache-2.0

// Keeps a server on this machine busy: on each of several connections one request after another.
//
//     bench_load PORT CONNECTIONS ROUNDS [echo | http]

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int connect_to(int port) {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connection < 0 ||
        connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail("connect");
    const int on = 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return connection;
}

void send_all(int connection, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0) fail("send");
        text.remove_prefix(static_cast<std::size_t>(sent));
    }
}

std::size_t receive(int connection) {
    static char bytes[65536];
    const ssize_t got = recv(connection, bytes, sizeof bytes, 0);
    if (got <= 0) fail("receive");
    return static_cast<std::size_t>(got);
}

// The size of an answer whose header contains the length of its body.
std::size_t bytes_of_answer(int port, std::string_view request) {
    const int connection = connect_to(port);
    send_all(connection, request);
    std::string answer;
    char byte = 0;
    while (!answer.ends_with("\r\n\r\n") && recv(connection, &byte, 1, 0) == 1) answer += byte;
    close(connection);
    constexpr std::string_view length = "Content-Length: ";
    const std::size_t at = answer.find(length);
    if (at == std::string::npos) fail("an answer without a length");
    return answer.size() + std::strtoul(answer.c_str() + at + length.size(), nullptr, 10);
}

void keep_busy(int port, std::size_t connections, long rounds, std::string_view request,
               std::size_t answer) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> missing(connections, answer);
    for (std::size_t each = 0; each < connections; ++each) {
        waiting.push_back({connect_to(port), POLLIN, 0});
        send_all(waiting.back().fd, request);
    }
    long left = rounds * static_cast<long>(connections);
    while (left > 0) {
        if (poll(waiting.data(), waiting.size(), 30'000) <= 0) fail("poll");
        for (std::size_t each = 0; each < connections; ++each) {
            if (waiting[each].revents == 0) continue;
            missing[each] -= receive(waiting[each].fd);
            if (missing[each] != 0) continue;
            --left;
            missing[each] = answer;
            send_all(waiting[each].fd, request);
        }
    }
    for (const pollfd& each : waiting) close(each.fd);
}

}  // namespace

int main(int count, char** words) try {
    if (count != 5) {
        std::fputs("usage: bench_load PORT CONNECTIONS ROUNDS echo|http\n", stderr);
        return 2;
    }
    const int port = std::atoi(words[1]);
    const bool is_http = std::strcmp(words[4], "http") == 0;
    const std::string request =
        is_http ? "GET /page.html HTTP/1.1\r\nHost: localhost\r\n\r\n" : std::string(64, 'x');
    keep_busy(port, static_cast<std::size_t>(std::atoi(words[2])), std::atol(words[3]), request,
              is_http ? bytes_of_answer(port, request) : request.size());
} catch (const std::exception& failure) {
    std::fprintf(stderr, "bench_load: %s\n", failure.what());
    return 1;
}
