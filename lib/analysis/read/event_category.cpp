// SPDX-License-Identifier: Apache-2.0
#include "event_category.hpp"

#include <algorithm>
#include <array>

namespace coroscope::analysis::reading {
namespace {

struct known_category {
    std::string_view name;
    category_meaning meaning;
};

constexpr std::array known_categories = {
    known_category{"cpu_op", {activity::cpu_op}},
    known_category{"Operator", {activity::cpu_op}},
    known_category{"user_annotation",
                   {activity::user_annotation, device_kind::cpu, row_user_annotation}},
    known_category{"cuda_runtime", {activity::runtime}},
    known_category{"cuda_driver", {activity::runtime}},
    known_category{"xpu_runtime", {activity::runtime}},
    known_category{"xpu_driver", {activity::runtime}},
    known_category{"privateuse1_runtime", {activity::runtime}},
    known_category{"privateuse1_driver", {activity::runtime}},
    known_category{"Runtime", {activity::runtime}},
    known_category{"kernel", {activity::kernel, device_kind::cuda}},
    known_category{"Kernel", {activity::kernel, device_kind::cuda}},
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

}  // namespace coroscope::analysis::reading
