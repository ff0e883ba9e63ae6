// SPDX-License-Identifier: Apache-2.0

// An operation logs two lines with spdlog's asynchronous logger. The calling thread takes the time
// of each line and queues the line. The logger's own thread formats the lines and writes them to a
// file. Texts have no arguments, the sink has no lock, and the pattern is the shortest one with
// time, thread and text. The queue has room for a burst of two threads, so no thread waits. Lines
// are not dropped (async_overflow_policy::block).

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>

#include <unistd.h>

#include "peer.hpp"

namespace bench {
namespace {

constexpr std::size_t room_for_bursts_of_two_threads = 1U << 16;

class log_file {
public:
    log_file()
        : path_(std::filesystem::temp_directory_path() /
                ("bench_spdlog." + std::to_string(getpid()))),
          pool_(std::make_shared<spdlog::details::thread_pool>(room_for_bursts_of_two_threads, 1)),
          log_(std::make_shared<spdlog::async_logger>(
              "bench", std::make_shared<spdlog::sinks::basic_file_sink_st>(path_.string(), true),
              pool_, spdlog::async_overflow_policy::block)) {
        log_->set_pattern("%E %F %t %v");
    }
    ~log_file() {
        log_.reset();
        pool_.reset();
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }
    log_file(const log_file&) = delete;
    log_file& operator=(const log_file&) = delete;

    spdlog::async_logger& log() { return *log_; }
    std::size_t queued() { return pool_->queue_size(); }

private:
    std::filesystem::path path_;
    std::shared_ptr<spdlog::details::thread_pool> pool_;
    std::shared_ptr<spdlog::async_logger> log_;
};

log_file& file() {
    static log_file only;
    return only;
}

std::uint64_t logged_lines(std::uint64_t operations) {
    spdlog::async_logger& log = file().log();
    return repeat(operations, [&] {
        log.info("begin bench");
        log.info("end bench");
    });
}

void wait_for_the_writer() {
    while (file().queued() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

std::vector<row> rows() {
    return {
        recording_peer("peer.spdlog.1", logged_lines, 1, wait_for_the_writer),
        recording_peer("peer.spdlog.2", logged_lines, 2, wait_for_the_writer),
    };
}

}  // namespace bench
