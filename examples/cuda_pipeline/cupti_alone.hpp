// SPDX-License-Identifier: Apache-2.0
#pragma once

// CUPTI with the same kinds of records as Coroscope's, which are thrown away: the floor of its cost. One at a time.

namespace cuda_pipeline {

class cupti_alone {
public:
    /// Throws where CUPTI is not found or refuses.
    cupti_alone();
    cupti_alone(const cupti_alone&) = delete;
    cupti_alone& operator=(const cupti_alone&) = delete;
    ~cupti_alone();

private:
    void* library_;
};

}  // namespace cuda_pipeline
