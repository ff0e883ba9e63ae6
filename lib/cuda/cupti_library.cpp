// SPDX-License-Identifier: Apache-2.0
#include "cupti_library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "../trace/environment_variables.hpp"

namespace coroscope::cuda {
namespace {

constexpr const char* versions[] = {"libcupti.so.13", "libcupti.so.12"};
// Folders of toolkits with the library, from their root.
constexpr const char* folders[] = {"lib64", "extras/CUPTI/lib64"};

struct opened_cupti {
    void* library = nullptr;
    cupti_functions functions{};
    char why_not[320] = "";
};

void* open(const char* path) noexcept { return ::dlopen(path, RTLD_NOW | RTLD_LOCAL); }

void* open_in(const char* toolkit) noexcept {
    if (toolkit == nullptr || *toolkit == '\0') return nullptr;
    for (const char* folder : folders) {
        for (const char* version : versions) {
            char path[4096];
            const int size = std::snprintf(path, sizeof path, "%s/%s/%s", toolkit, folder, version);
            if (size < 0 || static_cast<std::size_t>(size) >= sizeof path) continue;
            if (void* library = open(path)) return library;
        }
    }
    return nullptr;
}

// Reports the error of the first attempt, which is the loader's own search.
void* find(char (&why_not)[320]) noexcept {
    if (const char* named = ::secure_getenv(trace::name_of(trace::variable::cupti));
        named != nullptr && *named != '\0') {
        void* library = open(named);
        if (library == nullptr)
            std::snprintf(why_not, sizeof why_not, "COROSCOPE_CUPTI cannot be opened: %.240s",
                          ::dlerror());
        return library;
    }
    for (const char* version : versions) {
        if (void* library = open(version)) return library;
        if (*why_not == '\0') {
            const char* error = ::dlerror();
            std::snprintf(why_not, sizeof why_not,
                          "CUPTI was not found (COROSCOPE_CUPTI may name it): %.200s",
                          error == nullptr ? version : error);
        }
    }
    const char* const toolkits[] = {::secure_getenv("CUDA_HOME"), ::secure_getenv("CUDA_PATH"),
                                    COROSCOPE_CUDA_TOOLKIT};
    for (const char* toolkit : toolkits) {
        if (void* library = open_in(toolkit)) return library;
    }
    return nullptr;
}

struct needed_function {
    void* library;
    const char* missing = nullptr;

    template <class Function>
    void find(Function& function, const char* name) noexcept {
        function = reinterpret_cast<Function>(::dlsym(library, name));
        if (function == nullptr) missing = name;
    }
};

template <class Function>
void find_optional(void* library, Function& function, const char* name) noexcept {
    function = reinterpret_cast<Function>(::dlsym(library, name));
}

const char* find_functions(void* library, cupti_functions& into) noexcept {
    needed_function needed{library};
    needed.find(into.activity_enable, "cuptiActivityEnable");
    needed.find(into.activity_disable, "cuptiActivityDisable");
    needed.find(into.register_callbacks, "cuptiActivityRegisterCallbacks");
    needed.find(into.next_record, "cuptiActivityGetNextRecord");
    needed.find(into.flush_all, "cuptiActivityFlushAll");
    needed.find(into.dropped_records, "cuptiActivityGetNumDroppedRecords");
    needed.find(into.push_id, "cuptiActivityPushExternalCorrelationId");
    needed.find(into.pop_id, "cuptiActivityPopExternalCorrelationId");
    needed.find(into.result_string, "cuptiGetResultString");
    needed.find(into.timestamp, "cuptiGetTimestamp");
    needed.find(into.subscribe, "cuptiSubscribe");
    needed.find(into.unsubscribe, "cuptiUnsubscribe");
    needed.find(into.enable_callback, "cuptiEnableCallback");
    find_optional(library, into.enable_domain, "cuptiEnableDomain");
    find_optional(library, into.register_timestamp, "cuptiActivityRegisterTimestampCallback");
    find_optional(library, into.set_thread_id_type, "cuptiSetThreadIdType");
    find_optional(library, into.enable_latency, "cuptiActivityEnableLatencyTimestamps");
    find_optional(library, into.callback_name, "cuptiGetCallbackName");
    find_optional(library, into.context_id, "cuptiGetContextId");
    find_optional(library, into.stream_id, "cuptiGetStreamIdEx");
    return needed.missing;
}

opened_cupti open_once() noexcept {
    opened_cupti opened;
    opened.library = find(opened.why_not);
    if (opened.library == nullptr) return opened;
    opened.why_not[0] = '\0';
    if (const char* missing = find_functions(opened.library, opened.functions)) {
        std::snprintf(opened.why_not, sizeof opened.why_not,
                      "The CUPTI that was found has no %s: one of CUDA 12 or 13 is needed.",
                      missing);
        opened.library = nullptr;
    }
    return opened;
}

const opened_cupti& the_cupti() noexcept {
    static const opened_cupti opened = open_once();
    return opened;
}

}  // namespace

const cupti_functions* open_cupti() noexcept {
    const opened_cupti& opened = the_cupti();
    return opened.library == nullptr ? nullptr : &opened.functions;
}

const char* why_no_cupti() noexcept { return the_cupti().why_not; }

const char* text_of(const cupti_functions& cupti, CUptiResult result) noexcept {
    const char* text = nullptr;
    return cupti.result_string(result, &text) == CUPTI_SUCCESS && text != nullptr
               ? text
               : "an error that CUPTI has no text for";
}

namespace {

driver_functions driver_functions_of(void* library) noexcept {
    driver_functions found{};
    find_optional(library, found.stream_context, "cuStreamGetCtx");
    find_optional(library, found.is_capturing, "cuStreamIsCapturing");
    find_optional(library, found.device_count, "cuDeviceGetCount");
    find_optional(library, found.device, "cuDeviceGet");
    find_optional(library, found.device_name, "cuDeviceGetName");
    return found;
}

driver_functions look_for_driver_functions() noexcept {
    const opened_cupti& opened = the_cupti();
    if (opened.library == nullptr) return {};
    const driver_functions beside = driver_functions_of(opened.library);
    if (beside.stream_context != nullptr) return beside;
    void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (driver == nullptr) return {};
    const driver_functions found = driver_functions_of(driver);
    ::dlclose(driver);  // the program holds it
    return found;
}

}  // namespace

driver_functions find_driver_functions() noexcept {
    static constinit std::mutex looking;
    static driver_functions found{};
    const std::lock_guard lock(looking);
    if (found.stream_context == nullptr) found = look_for_driver_functions();
    return found;
}

}  // namespace coroscope::cuda
