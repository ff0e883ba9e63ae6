// SPDX-License-Identifier: Apache-2.0

// A tool for NVTX is a library that replaces NVTX's functions, and is named by
// NVTX_INJECTION64_PATH. This one writes down every call for the test to compare.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <nvtx3/nvToolsExt.h>

namespace {

std::mutex mutex;
std::vector<std::string> calls;
std::atomic<std::uint64_t> last_range{0};

void note(std::string call) {
    const std::lock_guard lock(mutex);
    calls.push_back(std::move(call));
}

/// Whether categories and payloads are written down, too.
bool shows_attributes = false;

struct domain_of_test {
    std::string name;
};

std::string name_of(nvtxDomainHandle_t domain) {
    return reinterpret_cast<const domain_of_test*>(domain)->name;
}

std::string text_of(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    std::string text = name_of(domain) + ": " + attributes->message.ascii;
    if (!shows_attributes) return text;
    text += " (category " + std::to_string(attributes->category);
    if (attributes->payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
        text += ", payload " + std::to_string(attributes->payload.ullValue);
    if (attributes->colorType == NVTX_COLOR_ARGB)
        text += ", colour " + std::to_string(attributes->color);
    return text + ")";
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
    note(std::string("domain ") + name);
    return reinterpret_cast<nvtxDomainHandle_t>(new domain_of_test{name});
}
int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    note("push " + text_of(domain, attributes));
    return 0;
}
int NVTX_API pop(nvtxDomainHandle_t) {
    note("pop");
    return 0;
}
nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
    const std::uint64_t id = ++last_range;
    note("start " + std::to_string(id) + " " + text_of(domain, attributes));
    return id;
}
void NVTX_API name_category(nvtxDomainHandle_t, std::uint32_t number, const char* name) {
    if (shows_attributes) note("category " + std::to_string(number) + " is " + name);
}
void NVTX_API end(nvtxDomainHandle_t, nvtxRangeId_t id) { note("end " + std::to_string(id)); }

template <class Function>
void take_over(NvtxFunctionTable table, unsigned slot, Function* function) {
    *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" {

// NVTX looks for this name.
// NOLINTNEXTLINE(readability-identifier-naming)
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
    take_over(table, NVTX_CBID_CORE2_DomainCreateA, create);
    take_over(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
    take_over(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
    take_over(table, NVTX_CBID_CORE2_DomainRangePop, pop);
    take_over(table, NVTX_CBID_CORE2_DomainRangeStartEx, start);
    take_over(table, NVTX_CBID_CORE2_DomainRangeEnd, end);
    return 1;
}

/// Takes the calls so far, and counts ranges from 1 again. Later calls are written down with or
/// without categories, colours and payloads.
void take_nvtx_calls(std::vector<std::string>& into, bool with_attributes) {
    const std::lock_guard lock(mutex);
    shows_attributes = with_attributes;
    into.swap(calls);
    calls.clear();
    last_range = 0;
}
}
