// SPDX-License-Identifier: Apache-2.0

// Recipes of tables for database.cpp. A row is the number of its table and, for each of its
// columns, a kind and a value.

#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

#include "seeds.hpp"

namespace coroscope_fuzz {
namespace {

/// The value of one column.
class cell {
public:
    template <std::integral Number>
    cell(Number number) : bytes_(1, '\1') {  // NOLINT(google-explicit-constructor): in lists
        const std::int64_t words = number;
        bytes_.append(reinterpret_cast<const char*>(&words), sizeof words);
    }
    cell(const char* text) : bytes_(1, '\3') {  // NOLINT(google-explicit-constructor): in lists
        bytes_ += static_cast<char>(std::strlen(text));
        bytes_ += text;
    }
    static cell null() { return cell(); }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    cell() : bytes_(1, '\0') {}
    std::string bytes_;
};

const cell null = cell::null();

std::string row(char table, std::initializer_list<cell> columns) {
    std::string bytes(1, table);
    for (const cell& each : columns) bytes += each.bytes();
    return bytes;
}

namespace nvprof {

constexpr std::int64_t launch_call = 211;

std::string text(std::int64_t id, const char* value) { return row(0, {id, value}); }
/// A marker's end has the name 0.
std::string marker(std::int64_t rank, std::int64_t id, std::int64_t time, const cell& name) {
    return row(1, {rank, 2, time, id, 0, 0, name, 0});
}
std::string call(std::int64_t rank, std::int64_t cbid, std::int64_t start, std::int64_t end,
                 const cell& correlation) {
    return row(2, {rank, cbid, start, end, 1, 1, correlation, 0});
}
std::string kernel(std::int64_t rank, std::int64_t start, std::int64_t end, const cell& correlation,
                   std::int64_t name) {
    return row(3, {rank, start, end, correlation, 0, 7, name});
}

const std::string texts = text(1, "aten::mm") + text(2, "_Z4gemmPf") + text(3, "aten::bmm");
const std::string range = marker(1, 1, 10, 1) + marker(2, 1, 90, 0);
const std::string launch = call(1, launch_call, 20, 30, 5) + kernel(1, 40, 60, 5, 2);

}  // namespace nvprof

namespace nsight {

constexpr std::int64_t thread = 1 << 24 | 2;
constexpr std::int64_t other_process = 2 << 24 | 2;
constexpr std::int64_t push_pop = 59;
constexpr std::int64_t start_end = 60;

std::string text(std::int64_t id, const char* value) { return row(0, {id, value}); }
std::string range(std::int64_t start, const cell& end, std::int64_t type, const cell& name,
                  const cell& end_thread = null) {
    return row(1, {start, end, type, name, thread, end_thread, 1, 0});
}
std::string call(std::int64_t start, std::int64_t end, const cell& on, const cell& correlation) {
    return row(2, {start, end, on, correlation, 1});
}
std::string kernel(std::int64_t start, std::int64_t end, const cell& correlation) {
    return row(3, {start, end, 0, 7, correlation, 2});
}

const std::string texts = text(1, "cudaLaunchKernel") + text(2, "gemm");
const std::string launch = call(20, 30, thread, 5) + kernel(40, 60, 5);
const std::string session = row(6, {1'700'000'000'000'000'000});

}  // namespace nsight

}  // namespace

void add_nvprof_seeds(const seed_folder& folder) {
    using namespace nvprof;
    folder.add("launch", texts + range + launch);
    folder.add("nested", texts + range + marker(3, 2, 15, 3) + marker(4, 2, 50, 0) + launch);
    folder.add("outside", texts + marker(1, 1, 10, 1) + marker(2, 1, 15, 0) + launch);
    folder.add("without-call",
               texts + range + kernel(1, 40, 60, 5, 2) + kernel(2, 41, 61, null, 2));
    folder.add("two-kernels",
               texts + range + launch + kernel(2, 61, 70, 5, 2) + kernel(3, 71, 80, 5, 2));
    folder.add("endless", texts + marker(1, 1, 10, 1) + marker(2, 2, 12, 1) + launch);
    folder.add("nulls", texts + marker(1, 1, 10, null) + range +
                            call(1, launch_call, 20, 30, null) + kernel(1, 40, 60, null, 2));
    folder.add("twice", texts + range + marker(3, 1, 20, 1) + launch);
    folder.add("two-ends", texts + range + marker(3, 1, 95, 0));
    folder.add("unknown-call", texts + range + call(1, 1, 20, 30, 5) + kernel(1, 40, 60, 5, 2));
    folder.add("unknown-name",
               texts + range + call(1, launch_call, 20, 30, 5) + kernel(1, 40, 60, 5, 4));
    folder.add("backwards", texts + marker(1, 1, 90, 1) + marker(2, 1, 10, 0));
}

void add_nsight_seeds(const seed_folder& folder) {
    using namespace nsight;
    folder.add("launch", texts + range(1, 90, push_pop, "step") + launch + session);
    folder.add("nested", texts + range(1, 90, push_pop, "step") + range(5, 50, push_pop, null) +
                             range(6, 7, push_pop, "short") + launch);
    folder.add("across-threads", texts + range(1, 90, start_end, "step", thread + 1) + launch);
    folder.add("unfinished", texts + range(1, null, push_pop, "step") +
                                 range(2, null, start_end, "other") + launch);
    folder.add("without-call", texts + kernel(40, 60, 5) + kernel(40, 60, null));
    folder.add("same-correlation",
               texts + launch + call(21, 31, other_process, 5) + call(22, 23, thread, 5));
    folder.add("copies", texts + call(20, 30, thread, 5) + row(4, {40, 60, 0, 7, 5, 1}) +
                             row(4, {40, 60, 0, 7, 5, 99}) + row(5, {61, 70, 0, 7, null}));
    folder.add("nulls",
               texts + call(20, 30, null, null) + range(1, 90, push_pop, null) + row(6, {null}));
    folder.add("other-events", texts + range(1, 90, 34, "mark") + launch);
    folder.add("unknown-name", text(1, "cudaLaunchKernel") + launch);
    folder.add("backwards", texts + range(90, 1, push_pop, "step") + launch);
}

}  // namespace coroscope_fuzz
