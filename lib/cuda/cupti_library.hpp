// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUPTI, opened at run time: a program that is linked with this library runs on machines that have none. It is
// opened once per process and never closed, because its threads may be anywhere.

#include <cupti.h>

namespace coroscope::cuda {

/// The functions that are used, by CUPTI's own names. An older CUPTI lacks some of the optional ones: null there.
struct cupti_functions {
    // Without these nothing is recorded.
    decltype(&::cuptiActivityEnable) activity_enable;
    decltype(&::cuptiActivityDisable) activity_disable;
    decltype(&::cuptiActivityRegisterCallbacks) register_callbacks;
    decltype(&::cuptiActivityGetNextRecord) next_record;
    decltype(&::cuptiActivityFlushAll) flush_all;
    decltype(&::cuptiActivityGetNumDroppedRecords) dropped_records;
    decltype(&::cuptiActivityPushExternalCorrelationId) push_id;
    decltype(&::cuptiActivityPopExternalCorrelationId) pop_id;
    decltype(&::cuptiGetResultString) result_string;
    decltype(&::cuptiGetTimestamp) timestamp;
    decltype(&::cuptiSubscribe) subscribe;
    decltype(&::cuptiUnsubscribe) unsubscribe;
    decltype(&::cuptiEnableCallback) enable_callback;
    // Optional.
    decltype(&::cuptiEnableDomain) enable_domain;
    decltype(&::cuptiActivityRegisterTimestampCallback) register_timestamp;
    decltype(&::cuptiSetThreadIdType) set_thread_id_type;
    decltype(&::cuptiActivityEnableLatencyTimestamps) enable_latency;
    decltype(&::cuptiGetCallbackName) callback_name;
    decltype(&::cuptiGetContextId) context_id;
    decltype(&::cuptiGetStreamIdEx) stream_id;
};

/// The driver's own functions: null before the program's driver is loaded.
struct driver_functions {
    decltype(&::cuStreamGetCtx) stream_context;
    decltype(&::cuStreamIsCapturing) is_capturing;
};

/// The library that COROSCOPE_CUPTI names; else libcupti.so.13 or .12 where the loader looks; else in the toolkit of
/// CUDA_HOME or CUDA_PATH, or the one this library was compiled with. A program that gained privileges heeds none of
/// the variables. Null where there is none: why_no_cupti() says why. Thread-safe.
const cupti_functions* open_cupti() noexcept;

/// One line; empty where it was opened. After open_cupti(); lives as long as the program.
const char* why_no_cupti() noexcept;

/// CUPTI's own text for a result.
const char* text_of(const cupti_functions& cupti, CUptiResult result) noexcept;

/// From CUPTI's library where that has them, else from the driver that the program has loaded.
driver_functions find_driver_functions() noexcept;

}  // namespace coroscope::cuda
