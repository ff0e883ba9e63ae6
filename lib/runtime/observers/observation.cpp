// SPDX-License-Identifier: Apache-2.0

// Chooses the observers that see a scope, and calls their callbacks.

#include "observation.hpp"

#include <atomic>
#include <exception>
#include <new>

#include "../writer/recorder.hpp"
#include "observation_memory.hpp"
#include "observer_carrying.hpp"
#include "observer_faults.hpp"

namespace coroscope::detail {
namespace {

using namespace runtime;

constinit std::atomic<std::uint64_t> last_id{0};

// Marks that a callback runs on this thread, for its lifetime: its observer does not see the scopes
// in it.
class running_here {
public:
    running_here(observer_cache* cache, const observer_entry& entry) noexcept
        : cache_(cache), here_{&entry, cache == nullptr ? nullptr : cache->running} {
        if (cache_ != nullptr) cache_->running = &here_;
    }
    ~running_here() {
        if (cache_ != nullptr) cache_->running = here_.outer;
    }
    running_here(const running_here&) = delete;
    running_here& operator=(const running_here&) = delete;

private:
    observer_cache* cache_;
    running_callback here_;
};

bool runs_here(const observer_cache& cache, const observer_entry& entry) noexcept {
    for (const running_callback* at = cache.running; at != nullptr; at = at->outer)
        if (at->entry == &entry) return true;
    return false;
}

observer_cache* cache_here() noexcept {
    return this_thread.record == nullptr ? nullptr : this_thread.record->observers;
}

template <class Call>
bool call_guarded(const Call& call) noexcept {
    try {
        call();
        return true;
    } catch (const std::exception& error) {
        count_fault(observer_fault::callback_threw, error.what());
    } catch (...) {
        count_fault(observer_fault::callback_threw, "not a std::exception");
    }
    return false;
}

// Collects the observers of one scope.
class choice {
public:
    choice(observer_cache& cache, scope_kind kind, std::uint32_t capacity) noexcept
        : cache_(cache), kind_(kind), capacity_(capacity) {}

    /// Adds observers from one of the lists: the global one (0) or the carried one (1).
    void add_from(sampled_list* sampled, unsigned which) noexcept {
        if (sampled == nullptr) return;
        observer_countdowns* countdowns = sampled->countdowns();
        const std::uint32_t before = seen_ == nullptr ? 0 : seen_->count;
        for (observer_entry* each : *sampled->list) {
            if (is_chosen(*each, *countdowns++)) add(*each);
        }
        if (seen_ == nullptr || seen_->count == before) return;
        seen_->lists[which] = sampled;
        sampled->references.fetch_add(1, std::memory_order_relaxed);
    }
    observation* seen() const noexcept { return seen_; }

private:
    bool is_chosen(const observer_entry& entry, observer_countdowns& countdowns) noexcept {
        if (entry.removed.load(std::memory_order_relaxed)) return false;
        if ((entry.options.kinds & bit_of(kind_)) == 0 || runs_here(cache_, entry)) return false;
        if (entry.options.wanted != nullptr && !entry.options.wanted()) return false;
        return is_sampled(cache_, countdowns.of_kind[static_cast<unsigned>(kind_)],
                          entry.options.sampling_probability);
    }

    void add(observer_entry& entry) noexcept {
        if (seen_ == nullptr) seen_ = take_observation(cache_, capacity_);
        if (seen_ == nullptr) return;
        new (seen_->end()) started_observer{&entry, nullptr};
        ++seen_->count;
        seen_->needs_inputs |= entry.options.needs_inputs;
        seen_->needs_outputs |= entry.options.needs_outputs;
        seen_->needs_ids |= entry.options.needs_ids;
    }

    observer_cache& cache_;
    scope_kind kind_;
    std::uint32_t capacity_;
    observation* seen_ = nullptr;
};

std::uint32_t size_of(const sampled_list* sampled) noexcept {
    return sampled == nullptr ? 0 : sampled->list->size;
}

observation* choose(observer_cache& cache, scope_kind kind) noexcept {
    const carried_observers here = observers_here();
    if (!here.enabled) return nullptr;
    sampled_list* carried = carried_here(cache, here.list);
    if (cache.global == nullptr && carried == nullptr) close_observer_gate();
    choice chosen(cache, kind, size_of(cache.global) + size_of(carried));
    chosen.add_from(cache.global, 0);
    chosen.add_from(carried, 1);
    return chosen.seen();
}

void call_starts(observation& seen) noexcept {
    observer_cache* cache = cache_here();
    const scope_info info(seen.facts);
    for (started_observer& each : seen) {
        const running_here running(cache, *each.entry);
        const bool started = call_guarded([&] { each.context = each.entry->calls->start(info); });
        if (!started) each.entry = nullptr;
    }
}

void write_values(argument_writer& writer, const value_source& source) noexcept {
    source.write(writer, source.values);
    if (writer.cut()) count_fault(observer_fault::text_cut);
}

// The shapes of values as JSON, from the writer's four lines. Empty if there was no room.
struct written_shapes {
    explicit written_shapes(const value_source& source) noexcept {
        shape_writer writer;
        source.write_shapes(writer, source.values);
        const std::size_t bytes = writer.finish(lines);
        if (bytes == 0) count_fault(observer_fault::text_cut);
        while (size < bytes && lines[size] != '\n') ++size;
        lines[size] = '\0';
    }
    char lines[4 * shape_writer::line_bytes + 1];
    std::size_t size = 0;
};

[[gnu::noinline]] void call_starts_with(observation& seen, const value_source& inputs) noexcept {
    const scope_facts without = seen.facts;
    argument_writer writer;
    write_values(writer, inputs);
    const written_shapes shapes(inputs);
    value_addresses addresses;
    inputs.find(addresses, inputs.values);
    seen.facts.inputs = writer.terminated();
    seen.facts.inputs_size = writer.size();
    seen.facts.input_shapes = shapes.lines;
    seen.facts.input_shapes_size = shapes.size;
    seen.facts.input_addresses = addresses.of;
    seen.facts.input_addresses_size = addresses.count;
    call_starts(seen);
    seen.facts = without;
}

void call_ends(observation& seen) noexcept {
    observer_cache* cache = cache_here();
    const scope_info info(seen.facts);
    for (started_observer& each : seen) {
        if (each.entry == nullptr) continue;
        const running_here running(cache, *each.entry);
        call_guarded([&] { each.entry->calls->end(info, each.context); });
        delete each.context;
    }
}

observation* observation_of(const scope_start& start) noexcept {
    return reinterpret_cast<observation*>(start.mark);
}

}  // namespace

observation* choose_observers(scope_kind kind) noexcept {
    observer_cache* cache = current_cache(*this_thread.record);
    return cache == nullptr ? nullptr : choose(*cache, kind);
}

void start_observers(observation& seen, const scope_facts& facts,
                     const value_source* inputs) noexcept {
    seen.facts = facts;
    if (facts.where == nullptr) keep_name(seen);
    seen.facts.thread = this_thread.record->id;
    seen.facts.task = task_of(this_thread.mark);
    if (seen.needs_ids) seen.facts.id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
    if (seen.needs_inputs && inputs != nullptr) {
        call_starts_with(seen, *inputs);
    } else {
        call_starts(seen);
    }
}

void keep_observation(scope_start& start, observation& seen) noexcept {
    seen.ticks = start.ticks;
    seen.mark = start.mark;
    start.ticks = observed_ticks;
    start.mark = reinterpret_cast<std::uint64_t>(&seen);
}

void end_observation(const scope_start& start) noexcept {
    observation* seen = observation_of(start);
    call_ends(*seen);
    sampled_list* const lists[] = {seen->lists[0], seen->lists[1]};
    give_back(seen, cache_here());
    for (sampled_list* each : lists) release(each);
}

void take_outputs(const scope_start& start, const value_source& outputs) noexcept {
    observation& seen = *observation_of(start);
    if (!seen.needs_outputs) return;
    delete seen.outputs;
    seen.outputs = new (std::nothrow) kept_outputs;
    if (seen.outputs == nullptr) return count_fault(observer_fault::no_memory);
    write_values(seen.outputs->text, outputs);
    outputs.find(seen.outputs->addresses, outputs.values);
    seen.facts.outputs = seen.outputs->text.terminated();
    seen.facts.outputs_size = seen.outputs->text.size();
    seen.facts.output_addresses = seen.outputs->addresses.of;
    seen.facts.output_addresses_size = seen.outputs->addresses.count;
}

scope_start observed_start(const scope_start& start) noexcept {
    const observation& seen = *observation_of(start);
    return {seen.ticks, seen.mark};
}

}  // namespace coroscope::detail

namespace coroscope {

std::uint32_t scope_info::current_thread_id() noexcept {
    const detail::thread_record* record = runtime::register_thread(detail::this_thread);
    return record == nullptr ? 0 : record->id;
}

}  // namespace coroscope
