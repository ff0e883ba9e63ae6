// SPDX-License-Identifier: Apache-2.0
#include "event_category.hpp"

#include <algorithm>
#include <array>

namespace coroscope::analysis::inline chrome {
namespace {

struct known_category {
    std::string_view name;
    category_meaning meaning;
};

constexpr known_category call_of(std::string_view name, std::string_view device) {
    return {name, {activity::runtime, device_kind::cpu, 0, device}};
}

/// Work of a device in a category that torch has no kind for (activity::other). It does not count
/// as device time.
constexpr known_category work_of(std::string_view name, activity what, std::string_view device) {
    return {name, {what, device_kind::cuda, 0, device}};
}

constexpr std::array known_categories = {
    known_category{"cpu_op", {activity::cpu_op}},
    known_category{"Operator", {activity::cpu_op}},
    known_category{"user_annotation",
                   {activity::user_annotation, device_kind::cpu, row_user_annotation}},
    call_of("cuda_runtime", "cuda"),
    call_of("cuda_driver", "cuda"),
    call_of("xpu_runtime", "xpu"),
    call_of("xpu_driver", "xpu"),
    call_of("privateuse1_runtime", "privateuse1"),
    call_of("privateuse1_driver", "privateuse1"),
    call_of("mtia_runtime", "mtia"),
    known_category{"glow_runtime", {activity::runtime}},
    known_category{"Runtime", {activity::runtime}},
    known_category{"kernel", {activity::kernel, device_kind::cuda}},
    known_category{"Kernel", {activity::kernel, device_kind::cuda}},
    work_of("mtia_ccp_events", activity::kernel, "mtia"),
    work_of("mtia_insight", activity::other, "mtia"),
    work_of("hpu_op", activity::kernel, "hpu"),
    known_category{"gpu_memcpy", {activity::gpu_memcpy, device_kind::cuda}},
    known_category{"Memcpy", {activity::gpu_memcpy, device_kind::cuda}},
    known_category{"gpu_memset", {activity::gpu_memset, device_kind::cuda}},
    known_category{"Memset", {activity::gpu_memset, device_kind::cuda}},
    known_category{"gpu_user_annotation",
                   {activity::gpu_user_annotation, device_kind::cuda, row_user_annotation}},
    known_category{"cuda_sync", {activity::synchronization, device_kind::cuda}},
    known_category{"python_function", {activity::python_function}},
    known_category{"overhead", {activity::overhead}},
    known_category{"Trace", {activity::other, device_kind::cpu, row_hidden}},
};

}  // namespace

category_meaning meaning_of(std::string_view category) {
    const auto found =
        std::find_if(known_categories.begin(), known_categories.end(),
                     [&](const known_category& each) { return each.name == category; });
    return found == known_categories.end() ? category_meaning{} : found->meaning;
}

}  // namespace coroscope::analysis::inline chrome
