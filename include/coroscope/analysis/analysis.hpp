// SPDX-License-Identifier: Apache-2.0
#pragma once

// All headers that turn a trace into answers, as plain structs. Rendering has headers of its own.

#include <coroscope/analysis/add_process.hpp>          // IWYU pragma: export
#include <coroscope/analysis/averages.hpp>             // IWYU pragma: export
#include <coroscope/analysis/await_blame.hpp>          // IWYU pragma: export
#include <coroscope/analysis/await_statistics.hpp>     // IWYU pragma: export
#include <coroscope/analysis/blocking_statistics.hpp>  // IWYU pragma: export
#include <coroscope/analysis/build_tree.hpp>           // IWYU pragma: export
#include <coroscope/analysis/critical_path.hpp>        // IWYU pragma: export
#include <coroscope/analysis/device_statistics.hpp>    // IWYU pragma: export
#include <coroscope/analysis/enforce_unique.hpp>       // IWYU pragma: export
#include <coroscope/analysis/event_list.hpp>           // IWYU pragma: export
#include <coroscope/analysis/events_of.hpp>            // IWYU pragma: export
#include <coroscope/analysis/executor_statistics.hpp>  // IWYU pragma: export
#include <coroscope/analysis/fold_tasks.hpp>           // IWYU pragma: export
#include <coroscope/analysis/function_event.hpp>       // IWYU pragma: export
#include <coroscope/analysis/load.hpp>                 // IWYU pragma: export
#include <coroscope/analysis/load_averages.hpp>        // IWYU pragma: export
#include <coroscope/analysis/load_events.hpp>          // IWYU pragma: export
#include <coroscope/analysis/lock_holders.hpp>         // IWYU pragma: export
#include <coroscope/analysis/lock_statistics.hpp>      // IWYU pragma: export
#include <coroscope/analysis/memory_records.hpp>       // IWYU pragma: export
#include <coroscope/analysis/model.hpp>                // IWYU pragma: export
#include <coroscope/analysis/nvprof.hpp>               // IWYU pragma: export
#include <coroscope/analysis/percentiles.hpp>          // IWYU pragma: export
#include <coroscope/analysis/request_paths.hpp>        // IWYU pragma: export
#include <coroscope/analysis/request_statistics.hpp>   // IWYU pragma: export
#include <coroscope/analysis/resource_statistics.hpp>  // IWYU pragma: export
#include <coroscope/analysis/result.hpp>               // IWYU pragma: export
#include <coroscope/analysis/slow_requests.hpp>        // IWYU pragma: export
#include <coroscope/analysis/slowest_request.hpp>      // IWYU pragma: export
#include <coroscope/analysis/spawn_places.hpp>         // IWYU pragma: export
#include <coroscope/analysis/stream_statistics.hpp>    // IWYU pragma: export
#include <coroscope/analysis/string_table.hpp>         // IWYU pragma: export
#include <coroscope/analysis/task_statistics.hpp>      // IWYU pragma: export
#include <coroscope/analysis/value_statistics.hpp>     // IWYU pragma: export
