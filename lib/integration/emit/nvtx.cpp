// SPDX-License-Identifier: Apache-2.0

// Compiled with COROSCOPE_HAS_NVTX if NVTX's headers were found.

#include <coroscope/integration/nvtx.hpp>

#if COROSCOPE_HAS_NVTX

#include <memory>
#include <string>
#include <string_view>

#include "emitted_text.hpp"
#include "nvtx_event.hpp"
#include "nvtx_tasks.hpp"

namespace coroscope {
namespace {

using nvtx::domain;
using nvtx::pushed_ranges;

class started_range final : public observer_context {
public:
    explicit started_range(const nvtxEventAttributes_t& attributes) noexcept
        : id_(nvtxDomainRangeStartEx(domain(), &attributes)) {}
    ~started_range() override { nvtxDomainRangeEnd(domain(), id_); }

private:
    nvtxRangeId_t id_;
};

class pushed_range final : public observer_context {
public:
    explicit pushed_range(const nvtxEventAttributes_t& attributes) : entry_(pushed_ranges::push()) {
        nvtxDomainRangePushEx(domain(), &attributes);
    }
    ~pushed_range() override { pushed_ranges::end(entry_); }

private:
    pushed_ranges::entry& entry_;
};

std::unique_ptr<observer_context> begin(const scope_info& scope, const emitted_text& text) {
    const std::string message = text.of(scope);
    const std::string_view name(scope.name().data(), scope.name().size());
    const nvtxEventAttributes_t attributes =
        nvtx::attributes_of(message.c_str(), name,
                            scope.where() == nullptr ? "" : scope.where()->category, scope.task());
    if (scope.may_change_threads()) return std::make_unique<started_range>(attributes);
    return std::make_unique<pushed_range>(attributes);
}

// Creates the domain first: NVTX loads a tool at its first call, and the tool may run any code. No
// lock of ours is held here.
observer make_nvtx(const emit_options& options) {
    domain();
    auto text = std::make_shared<emitted_text>(options.record_shapes);
    observer made(
        [text](const scope_info& scope) { return begin(scope, *text); },
        [text](const scope_info& scope, observer_context*) { text->keep_outputs(scope); });
    made.needs_inputs(options.record_shapes)
        .needs_outputs(options.record_shapes)
        .needs_ids(options.record_shapes);
    return made;
}

[[gnu::constructor]] void hold_lock_over_forks() noexcept {
    runtime::join_forks(emitted_text::mutex);
}

}  // namespace
}  // namespace coroscope

#endif

namespace coroscope::detail {

const emitter_kind& nvtx_emitter() noexcept {
    static constexpr emitter_kind kind{
#if COROSCOPE_HAS_NVTX
        make_nvtx,
#else
        nullptr,
#endif
        "Coroscope was built without NVTX.",
        "NVTX annotation context manager is not reentrant",
        true,
#if COROSCOPE_HAS_NVTX
        nvtx::switch_tasks,
#else
        nullptr,
#endif
    };
    return kind;
}

}  // namespace coroscope::detail
