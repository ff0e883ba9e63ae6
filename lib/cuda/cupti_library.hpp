// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opens CUPTI at run time, so that a program with this library also runs on machines without CUPTI.
// CUPTI is opened once per process. It is never closed, because threads of CUPTI may still run its
// code.

#include <cupti.h>

namespace coroscope::cuda {

/// The functions that we use, by CUPTI's own names. Optional functions that an older CUPTI lacks
/// are null.
struct cupti_functions {
    // Required: if CUPTI lacks one of these functions, no device is recorded.
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

/// Functions of the CUDA driver. They are null before the program has loaded the driver.
struct driver_functions {
    decltype(&::cuStreamGetCtx) stream_context;
    decltype(&::cuStreamIsCapturing) is_capturing;
    decltype(&::cuDeviceGetCount) device_count;
    decltype(&::cuDeviceGet) device;
    decltype(&::cuDeviceGetName) device_name;
};

/// Opens the library that COROSCOPE_CUPTI names; else libcupti.so.13 or .12 on the loader's path;
/// else that of the toolkit in CUDA_HOME or CUDA_PATH, or of the toolkit of this library's build. A
/// program with raised privileges ignores these variables. Returns null if no library can be used;
/// why_no_cupti() has the reason. Thread-safe.
const cupti_functions* open_cupti() noexcept;

/// Returns one line with the reason why CUPTI was not opened, or an empty text if it was. The
/// caller must call open_cupti() first. The text lives as long as the program.
const char* why_no_cupti() noexcept;

/// CUPTI's own text for a result.
const char* text_of(const cupti_functions& cupti, CUptiResult result) noexcept;

/// Returns the functions from CUPTI's library if it has them, else from the driver that the program
/// has loaded.
driver_functions find_driver_functions() noexcept;

}  // namespace coroscope::cuda
