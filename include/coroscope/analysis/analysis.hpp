// SPDX-License-Identifier: Apache-2.0
#pragma once

// Everything that turns a trace into answers, as plain structs. Rendering stands apart.

#include <coroscope/analysis/averages.hpp>           // IWYU pragma: export
#include <coroscope/analysis/await_statistics.hpp>   // IWYU pragma: export
#include <coroscope/analysis/build_tree.hpp>         // IWYU pragma: export
#include <coroscope/analysis/device_statistics.hpp>  // IWYU pragma: export
#include <coroscope/analysis/enforce_unique.hpp>     // IWYU pragma: export
#include <coroscope/analysis/event_list.hpp>         // IWYU pragma: export
#include <coroscope/analysis/events_of.hpp>          // IWYU pragma: export
#include <coroscope/analysis/function_event.hpp>     // IWYU pragma: export
#include <coroscope/analysis/load.hpp>               // IWYU pragma: export
#include <coroscope/analysis/load_events.hpp>        // IWYU pragma: export
#include <coroscope/analysis/memory_records.hpp>     // IWYU pragma: export
#include <coroscope/analysis/model.hpp>              // IWYU pragma: export
#include <coroscope/analysis/nvprof.hpp>             // IWYU pragma: export
#include <coroscope/analysis/percentiles.hpp>        // IWYU pragma: export
#include <coroscope/analysis/result.hpp>             // IWYU pragma: export
#include <coroscope/analysis/slowest_request.hpp>    // IWYU pragma: export
#include <coroscope/analysis/stream_statistics.hpp>  // IWYU pragma: export
#include <coroscope/analysis/string_table.hpp>       // IWYU pragma: export
#include <coroscope/analysis/task_statistics.hpp>    // IWYU pragma: export
