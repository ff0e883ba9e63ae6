// SPDX-License-Identifier: Apache-2.0

// Categories that are switched while a session runs.

#include <coroscope/categories.hpp>

#include <string>
#include <thread>

#include "../support/recording.hpp"

using namespace coroscope;
using namespace coroscope::test;

namespace {

void work() {
    COROSCOPE_CAT("net", 0, "net scope");
    COROSCOPE_CAT("cache", 0, "cache scope");
    COROSCOPE("plain scope");
    const int argument = 1;
    COROSCOPE_ARGS("with arguments", argument);
    COROSCOPE_REQUEST("request");
}

struct all_again {
    ~all_again() { set_categories("*"); }
};

}  // namespace

TEST_SUITE("categories") {
    TEST_CASE("a category is switched off and on while a session runs, for all threads") {
        const all_again after;
        recording session;
        work();
        CHECK(set_categories("*,-cache"));
        work();
        std::thread(work).join();
        CHECK(set_categories("*"));
        work();
        const recorded found = session.stop();
        CHECK(found.count("net scope") == 4);
        CHECK(found.count("cache scope") == 2);
        CHECK(found.count("plain scope") == 4);
        CHECK(found.count("request") == 4);
        CHECK_FALSE(found.trace.health.lost_records());
        CHECK(found.trace.categories == "*");
    }

    TEST_CASE("scopes without a category have the category of no name, and requests have none") {
        const all_again after;
        recording session({.all_threads = true, .record_arguments = true});
        CHECK(set_categories("net"));
        work();
        const recorded found = session.stop();
        CHECK(found.count("net scope") == 1);
        CHECK(found.count("cache scope") == 0);
        CHECK(found.count("plain scope") == 0);
        CHECK(found.count("with arguments") == 0);
        CHECK(found.count("request") == 1);
        CHECK(found.trace.categories == "net");
        CHECK(found.trace.health.warnings.empty());
    }

    TEST_CASE("a site that is first used while its category is off is not recorded") {
        const all_again after;
        recording session;
        CHECK(set_categories("*,-rare"));
        const auto rare = [] { COROSCOPE_CAT("rare", 0, "rare scope"); };
        rare();
        CHECK(set_categories("*"));
        rare();
        CHECK(session.stop().count("rare scope") == 1);
    }

    TEST_CASE("scopes that are named while they are open follow the categories, too") {
        const all_again after;
        recording session({.all_threads = true, .open_scopes = true});
        work();
        CHECK(set_categories("*,-cache"));
        work();
        const recorded found = session.stop();
        CHECK(found.count("cache scope") == 1);
        CHECK(found.count("net scope") == 2);
    }

    TEST_CASE("a list that is null or too long changes nothing") {
        const all_again after;
        recording session;
        CHECK_FALSE(set_categories(nullptr));
        CHECK_FALSE(set_categories(std::string(categories_chars + 1, 'x').c_str()));
        work();
        CHECK(session.stop().count("cache scope") == 1);
    }
}
