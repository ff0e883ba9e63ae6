// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects the anomalies that are found during its lifetime.

#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <coroscope/anomaly.hpp>
#include <coroscope/coroscope.hpp>

namespace coroscope::test {

struct anomaly_copy {
    anomaly_kind kind;
    std::string type;
    std::string what;
    std::string message;
    async_stack stack;
    std::exception_ptr exception;
};

class anomalies {
public:
    anomalies() : detection_(&collect, this) {}

    void drop_exceptions() {
        for (anomaly_copy& each : list) each.exception = nullptr;
    }

    std::vector<anomaly_copy> list;

private:
    // The contract guarantees one call at a time, so no lock is needed.
    static void collect(const anomaly& found, void* data) {
        static_cast<anomalies*>(data)->list.push_back({found.kind, found.type, found.what,
                                                       found.message, *found.stack,
                                                       std::current_exception()});
    }

    anomaly_detection detection_;
};

inline std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size()))
        ++found;
    return found;
}

}  // namespace coroscope::test
