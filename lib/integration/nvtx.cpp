// SPDX-License-Identifier: Apache-2.0

// Compiled with COROSCOPE_HAS_NVTX where NVTX's headers were found.

#include <coroscope/integration/nvtx.hpp>

#if COROSCOPE_HAS_NVTX

#include <nvtx3/nvToolsExt.h>

#include <memory>
#include <string>

#include "emitted_text.hpp"
#include "push_stack.hpp"

namespace coroscope {
namespace {

nvtxDomainHandle_t domain() noexcept {
    static const nvtxDomainHandle_t created = nvtxDomainCreateA("coroscope");
    return created;
}

nvtxEventAttributes_t attributes_of(const std::string& text) noexcept {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text.c_str();
    return attributes;
}

struct nvtx_stack {
    static void pop() noexcept { nvtxDomainRangePop(domain()); }
};
using pushed_scope = push_stack<nvtx_stack>::entry;

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
    explicit pushed_range(const nvtxEventAttributes_t& attributes)
        : entry_(push_stack<nvtx_stack>::push()) {
        nvtxDomainRangePushEx(domain(), &attributes);
    }
    ~pushed_range() override { push_stack<nvtx_stack>::end(entry_); }

private:
    pushed_scope& entry_;
};

std::unique_ptr<observer_context> begin(const scope_info& scope, const emitted_text& text) {
    const std::string message = text.of(scope);
    const nvtxEventAttributes_t attributes = attributes_of(message);
    if (scope.may_change_threads()) return std::make_unique<started_range>(attributes);
    return std::make_unique<pushed_range>(attributes);
}

observer make_nvtx(const emit_options& options) {
    auto text = std::make_shared<emitted_text>(options.record_shapes);
    observer made(
        [text](const scope_info& scope) { return begin(scope, *text); },
        [text](const scope_info& scope, observer_context*) { text->keep_outputs(scope); });
    made.needs_inputs(options.record_shapes)
        .needs_outputs(options.record_shapes)
        .needs_ids(options.record_shapes);
    return made;
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
        "Coroscope was built without NVTX.", "NVTX annotation context manager is not reentrant",
        true, nullptr};
    return kind;
}

}  // namespace coroscope::detail
