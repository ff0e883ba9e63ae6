// SPDX-License-Identifier: Apache-2.0
#pragma once

// All headers that an instrumented program needs.

#include <coroscope/config.hpp>  // first: an unsuitable compiler gets one error

#include <coroscope/anomaly.hpp>
#include <coroscope/async_stack.hpp>
#include <coroscope/attribute.hpp>
#include <coroscope/categories.hpp>
#include <coroscope/context.hpp>
#include <coroscope/end_of_service.hpp>
#include <coroscope/executor_adaptor.hpp>
#include <coroscope/fiber.hpp>
#include <coroscope/future_adaptor.hpp>
#include <coroscope/identity.hpp>
#include <coroscope/instrumented.hpp>
#include <coroscope/macro.hpp>
#include <coroscope/memory.hpp>
#include <coroscope/modules.hpp>
#include <coroscope/observer.hpp>
#include <coroscope/profile.hpp>
#include <coroscope/propagate.hpp>
#include <coroscope/range.hpp>
#include <coroscope/record_function.hpp>
#include <coroscope/request.hpp>
#include <coroscope/resource.hpp>
#include <coroscope/scheduled_profile.hpp>
#include <coroscope/sequence.hpp>
#include <coroscope/shapes.hpp>
#include <coroscope/step_tracker.hpp>
#include <coroscope/stream_range.hpp>
#include <coroscope/task.hpp>
#include <coroscope/value.hpp>
