// SPDX-License-Identifier: Apache-2.0
#include "store.hpp"

#include "thread_name.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <coroscope/coroscope.hpp>

namespace http_service {

namespace {

net::thread_pool start_pool(unsigned threads) {
    const thread_name queries{"database"};
    return net::thread_pool{threads};
}

}  // namespace

/// A connection, borrowed for one query. There are as many as threads in the pool and a query does
/// not suspend while it holds one, so there is always one left.
class store::lease {
public:
    explicit lease(store& owner) : owner_{owner} {
        const std::lock_guard lock{owner_.mutex_};
        borrowed_ = std::move(owner_.idle_.back());
        owner_.idle_.pop_back();
    }
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() {
        const std::lock_guard lock{owner_.mutex_};
        owner_.idle_.push_back(std::move(borrowed_));  // within capacity: pop_back kept it
    }

    database& operator*() const { return *borrowed_; }

private:
    store& owner_;
    std::unique_ptr<database> borrowed_;
};

store::store(const std::string& file, unsigned threads)
    : pool_(start_pool(threads)), writer_{pool_.get_executor()} {
    for (unsigned count = 0; count < threads; ++count) {
        idle_.push_back(std::make_unique<database>(file));
    }
    idle_.front()->seed();
}

/// Runs on the pool. The arguments live in this coroutine's frame, not in that of the caller.
template <class Result, class... Parameters>
net::awaitable<Result> store::run_query(Result (database::*query)(const Parameters&...),
                                        Parameters... arguments) {
    COROSCOPE_FUNCTION();
    const lease connection{*this};
    co_return ((*connection).*query)(arguments...);
}

net::awaitable<std::optional<std::string>> store::get(std::string key) {
    COROSCOPE_FUNCTION();
    auto query = run_query(&database::get, std::move(key));
    co_return co_await COROSCOPE_AWAIT("db.get",
                                       net::co_spawn(pool_, std::move(query), net::use_awaitable));
}

net::awaitable<void> store::put(std::string key, std::string value) {
    COROSCOPE_FUNCTION();
    auto query = run_query(&database::put, std::move(key), std::move(value));
    co_await COROSCOPE_AWAIT("db.put",
                             net::co_spawn(writer_, std::move(query), net::use_awaitable));
}

net::awaitable<bool> store::erase(std::string key) {
    COROSCOPE_FUNCTION();
    auto query = run_query(&database::erase, std::move(key));
    co_return co_await COROSCOPE_AWAIT(
        "db.erase", net::co_spawn(writer_, std::move(query), net::use_awaitable));
}

net::awaitable<std::vector<std::string>> store::search(std::string text) {
    COROSCOPE_FUNCTION();
    auto query = run_query(&database::search, std::move(text));
    co_return co_await COROSCOPE_AWAIT("db.search",
                                       net::co_spawn(pool_, std::move(query), net::use_awaitable));
}

net::awaitable<void> store::checkpoint() {
    COROSCOPE_FUNCTION();
    auto query = run_query(&database::checkpoint);
    co_await COROSCOPE_AWAIT("db.checkpoint",
                             net::co_spawn(writer_, std::move(query), net::use_awaitable));
}

}  // namespace http_service
