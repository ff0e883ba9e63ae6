// SPDX-License-Identifier: Apache-2.0
#pragma once

// The asynchronous face of the database. A query runs on a thread pool, on a connection of its own,
// while the coroutine that awaits it is suspended; it continues on its own executor. Any thread may
// call any member.

#include "database.hpp"
#include "http.hpp"

#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace http_service {

class store {
public:
    /// Opens one connection per thread and fills an empty database. Throws `sqlite::error`.
    store(const std::string& file, unsigned threads);

    [[nodiscard]] net::awaitable<std::optional<std::string>> get(std::string key);
    [[nodiscard]] net::awaitable<void> put(std::string key, std::string value);
    [[nodiscard]] net::awaitable<bool> erase(std::string key);
    [[nodiscard]] net::awaitable<std::vector<std::string>> search(std::string text);
    [[nodiscard]] net::awaitable<void> checkpoint();

    /// Waits for the queries that still run. No member may be called after it.
    void join() { pool_.join(); }

private:
    class lease;

    template <class Result, class... Parameters>
    net::awaitable<Result> run_query(Result (database::*query)(const Parameters&...),
                                     Parameters... arguments);

    std::mutex mutex_;
    std::vector<std::unique_ptr<database>> idle_;  ///< guarded by mutex_
    net::thread_pool pool_;
    net::strand<net::thread_pool::executor_type>
        writer_;  ///< SQLite has one writer at a time: queue here, not there
};

}  // namespace http_service
