// SPDX-License-Identifier: Apache-2.0
#pragma once

// Enables the kinds of CUPTI records that Coroscope enables, and discards the records: the floor of
// their cost. Only one object may exist at a time.

namespace cuda_pipeline {

class cupti_alone {
public:
    /// Throws if CUPTI is not found or refuses.
    cupti_alone();
    cupti_alone(const cupti_alone&) = delete;
    cupti_alone& operator=(const cupti_alone&) = delete;
    ~cupti_alone();

private:
    void* library_;
};

}  // namespace cuda_pipeline
