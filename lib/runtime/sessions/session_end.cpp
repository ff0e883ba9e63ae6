// SPDX-License-Identifier: Apache-2.0
#include "session_end.hpp"

#include <cerrno>

#include "../kernel/watcher.hpp"
#include "../writer/registry.hpp"
#include "../writer/sites.hpp"
#include "crash_report.hpp"
#include "modules.hpp"
#include "retired_stores.hpp"
#include "session_start.hpp"

namespace coroscope::runtime::inline sessions {

// Read from memory of our own, because another process or a stray pointer may overwrite the trace's
// header. Overwritten records are not included.
std::uint64_t dropped_records(const session& slot) noexcept {
    const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
    const std::lock_guard registry(registry_mutex());
    std::uint64_t dropped = slot.lost_records.load(std::memory_order_relaxed) +
                            slot.lost_unnamed.load(std::memory_order_relaxed) +
                            slot.departed_losses.load(std::memory_order_relaxed);
    for (const detail::thread_record* record = first_thread(); record != nullptr;
         record = record->next) {
        for (const binding& bound : record->bindings) {
            if (bound.generation.load(std::memory_order_acquire) == generation)
                dropped += bound.lost.load(std::memory_order_relaxed);
        }
    }
    return dropped;
}

// The store uses ESTALE, EBADF and ENOENT with its own meanings.
const char* why_impaired(int error) noexcept {
    switch (error) {
        case ESTALE: return "Another process cut the trace file: all later records are lost.";
        case EBADF:
            return "The program closed the trace file's descriptor: the trace cannot grow, records "
                   "may be "
                   "lost.";
        case ENOENT: return "The trace file was removed: its records are lost.";
        default: return "The trace cannot grow: records may be lost.";
    }
}

void detach(session& slot) noexcept {
    const std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
    slot.ending.store(true, std::memory_order_relaxed);
    slot.live.store(false, std::memory_order_seq_cst);  // pairs with store_use
    slot.store->give_up();
    cut_off(generation);
    {
        // Until the chunks were taken away, a thread may have recorded a new site. A thread that
        // defines a site in this store has finished when we continue.
        const std::lock_guard definitions(sites_mutex());
        slot.takes_definitions.store(false, std::memory_order_release);
    }
    const std::lock_guard registry(registry_mutex());
    if (global_generation().load(std::memory_order_relaxed) == generation)
        global_generation().store(0, std::memory_order_release);
}

stop_result close_session(session& slot) noexcept {
    chunk_store& store = *slot.store;
    stop_result stopped;
    stopped.lost_records = dropped_records(slot);
    stopped.late_records = slot.late_records.load(std::memory_order_relaxed);
    stopped.without_data = slot.without_data.load(std::memory_order_relaxed);
    store.header().late_records = stopped.late_records;
    __atomic_fetch_add(&store.header().lost_records,
                       slot.lost_records.load(std::memory_order_relaxed), __ATOMIC_RELAXED);
    describe_modules(store);  // modules that were loaded since the start
    stop_watching(store);
    const bool in_memory = store.file_bytes() == 0;
    stopped.trace = store.close();
    stopped.lost_records += store.overwritten_records();
    const bool was_cut = store.write_error() == ESTALE;
    if (in_memory && stopped.trace.empty()) {
        stopped.error_number = ENOMEM;
        stopped.message = "There is no memory to hand the trace over: it is lost.";
    } else if (was_cut) {
        stopped.error_number = ESTALE;
        stopped.message = why_impaired(ESTALE);
    }
    wait_until_unused(slot.generation.load(std::memory_order_relaxed));
    // Not before: a thread that still records may touch a cut file.
    unwatch(number_of(slot), was_cut);
    slot.ending.store(false, std::memory_order_relaxed);
    give_up_slots();
    return stopped;
}

}  // namespace coroscope::runtime::inline sessions
