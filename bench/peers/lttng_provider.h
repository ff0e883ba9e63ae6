// SPDX-License-Identifier: Apache-2.0

// LTTng includes this file several times, by the name below.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"

#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, scope_begin, LTTNG_UST_TP_ARGS(unsigned, site),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned, site, site)))
LTTNG_UST_TRACEPOINT_EVENT(bench, scope_end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())

#endif

#include <lttng/tracepoint-event.h>
