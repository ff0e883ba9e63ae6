// SPDX-License-Identifier: Apache-2.0
#include "http_post.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "output.hpp"

namespace coroscope::tools {
namespace {

using analysis::failure;
using analysis::result;

class connection {
public:
    explicit connection(int descriptor) : descriptor_(descriptor) {}
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_;
};

failure socket_failure(int error) { return {std::generic_category().message(error)}; }

/// Returns a connected socket, or an error.
result<int> connected(const http_address& to) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int status = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &wanted, &found);
    if (status != 0) return failure{::gai_strerror(status)};
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
    int error = ECONNREFUSED;
    constexpr timeval longest{10, 0};
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
        const int socket =
            ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol);
        if (socket < 0) continue;
        ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
        ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
        if (::connect(socket, each->ai_addr, each->ai_addrlen) == 0) return socket;
        error = errno;
        ::close(socket);
    }
    return socket_failure(error);
}

/// Returns 0 or the errno.
int send_all(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return errno;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return 0;
}

/// Returns the first line of the answer, or an error.
result<std::string> first_line(int socket) {
    constexpr std::size_t longest = 4096;
    std::string line;
    std::array<char, 512> part;
    while (line.size() < longest && line.find('\n') == std::string::npos) {
        const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return socket_failure(errno);
        if (got == 0) break;
        line.append(part.data(), static_cast<std::size_t>(got));
    }
    return line.substr(0, line.find_first_of("\r\n"));
}

/// Returns the status of "HTTP/1.1 200 OK"; 0 if the line is not in that form.
int status_of(std::string_view line) {
    const std::size_t space = line.find(' ');
    int status = 0;
    if (!line.starts_with("HTTP/") || space == std::string_view::npos) return 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), status);
    return status;
}

/// The host as a header has it: IPv6 addresses in brackets.
std::string host_header(const http_address& to) {
    const bool is_v6 = to.host.find(':') != std::string::npos;
    return is_v6 ? fmt::format("[{}]:{}", to.host, to.port)
                 : fmt::format("{}:{}", to.host, to.port);
}

}  // namespace

std::optional<http_address> read_http_address(std::string_view text,
                                              std::string_view default_path) {
    constexpr std::string_view scheme = "http://";
    if (!text.starts_with(scheme)) return std::nullopt;
    for (const char each : text)
        if (each <= ' ' || each > '~') return std::nullopt;
    text.remove_prefix(scheme.size());
    const std::size_t slash = std::min(text.find('/'), text.size());
    std::string_view server = text.substr(0, slash);
    const std::string_view path = text.substr(slash);
    http_address read{{}, "80", std::string(path.size() <= 1 ? default_path : path)};
    const std::size_t bracket = server.starts_with('[') ? server.find(']') : 0;
    if (bracket == std::string_view::npos) return std::nullopt;
    if (const std::size_t colon = server.find(':', bracket); colon != std::string_view::npos) {
        read.port = server.substr(colon + 1);
        server = server.substr(0, colon);
    }
    if (bracket != 0) server = server.substr(1, bracket - 1);
    read.host = server;
    if (read.host.empty() || read.port.empty()) return std::nullopt;
    return read;
}

analysis::result<int> http_post(const http_address& to, std::string_view content_type,
                                std::string_view body) {
    const result<int> opened = connected(to);
    if (!opened) return opened.error();
    const connection socket(*opened);
    const std::string head =
        fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
                    "User-Agent: coroscope\r\nConnection: close\r\n\r\n",
                    to.path, host_header(to), content_type, body.size());
    int error = send_all(socket.descriptor(), head);
    if (error == 0) error = send_all(socket.descriptor(), body);
    if (error != 0) return socket_failure(error);
    const result<std::string> line = first_line(socket.descriptor());
    if (!line) return line.error();
    const int status = status_of(*line);
    if (status / 100 == 2) return status;
    return failure{fmt::format("the server answers \"{}\"", one_line(*line))};
}

}  // namespace coroscope::tools
