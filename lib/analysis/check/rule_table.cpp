// SPDX-License-Identifier: Apache-2.0

// The rules. docs/reference/findings.md has the same order.

#include <algorithm>
#include <iterator>

#include "rule_table.hpp"

#include "../model/missing_facts.hpp"
#include "crowd_rules.hpp"
#include "device_rules.hpp"
#include "family_rules.hpp"
#include "flow_rules.hpp"
#include "hold_rules.hpp"
#include "life_rules.hpp"
#include "queue_rules.hpp"
#include "setup_rules.hpp"
#include "slow_rules.hpp"
#include "timeout_rules.hpp"
#include "turn_rules.hpp"

namespace coroscope::analysis::inline checks {
namespace {

using enum finding_severity;

std::string lacks_nothing(const check_input&) { return {}; }

std::string lacks_requests(const check_input& input) {
    return input.basis() != finding_basis::tasks
               ? std::string()
               : "requests: COROSCOPE_REQUEST marks them (no request could be guessed)";
}

// Without the records of some tasks, the others seem to be the cause.
std::string lacks_losses(const check_input& input) {
    return has_losses(input.loaded()) ? "a trace without lost records" : std::string();
}

std::string lacks_comparison(const check_input& input) {
    const std::string requests = lacks_requests(input);
    return requests.empty() ? lacks_losses(input) : requests;
}

// clang-format off: a table
constexpr std::string_view queue_facts = "executors; the states of threads tell blocked from computing";

const rule_entry table[] = {
    {{"blocking-call", "Blocking call on an executor's thread", error,
      "A task keeps a thread of an event loop, or the only thread of a pool, in a call that sleeps in the kernel. Everything that is ready for this thread waits.",
      "The runs last at least 1 ms and four times as long as the jobs behind them. They are blocked for longer than they are on a processor. On an event loop, runs of the same kind as the delayed jobs need not be four times as long.",
      queue_facts,
      "Move the call to a pool of its own, or use the asynchronous form of the call.",
      "Without the states of threads a computation cannot be told from a call."},
     lacks_queues, find_blocking_calls},
    {{"long-computation", "Long computation on an executor's thread", warning,
      "A task computes on a thread of an event loop, or on the only thread of a pool, while other tasks are ready for it.",
      "The runs last at least 1 ms and four times as long as the jobs behind them. Time without a processor does not count.",
      queue_facts,
      "Compute on a pool of its own, or divide the computation and yield between the parts.",
      "If the states of threads are unknown, a busy machine lengthens short runs."},
     lacks_queues, find_long_computations},
    {{"executor-too-small", "Executor too small", warning,
      "The jobs of an executor wait for each other, and all its threads are busy with jobs of the same kind.",
      "The delayed jobs of the executor wait behind other jobs for at least as long as they run. They explain at least a third of the queue; for the rest, threads have no task or no processor. No other finding about the executor explains more of it.",
      queue_facts,
      "Give the executor more threads if its jobs block, else reduce the work in the named scope or the number of jobs.",
      "More threads do not help if the jobs compute on all processors."},
     lacks_queues, find_small_executors},
    {{"hot-strand", "One strand serialises the work", warning,
      "Jobs of a strand wait for each other, because a strand runs one job at a time, however many threads its context has.",
      "As for an executor that is too small, or as for a long run.",
      queue_facts,
      "Divide the strand, by key for example, or move the named work out of it.",
      "If the order of the jobs matters, the strand is right and its work must be reduced."},
     lacks_queues, find_hot_strands},
    {{"head-of-line", "Short jobs wait behind a slow job", warning,
      "Slow jobs of another kind occupy all threads of a pool, and short jobs wait behind them.",
      "The runs of the slow jobs last at least 1 ms and four times as long as the jobs behind them.",
      queue_facts,
      "Give slow jobs a pool of their own, or limit how many of them run at once.",
      "If the slow jobs are the urgent ones, their order is right."},
     lacks_queues, find_slow_jobs_ahead},
    {{"priority-inversion", "A backlog of other jobs runs first", warning,
      "Jobs of another kind, of which many are queued, run before the jobs of requests, because the executor keeps the order of arrival.",
      "On average at least four jobs of the other kind run ahead of each delayed job, which waits longer than it runs.",
      queue_facts,
      "Use separate executors or priorities for the two kinds, or limit the backlog.",
      "The trace does not know which kind is urgent: requests are taken to be."},
     lacks_queues, find_inversions},
    {{"periodic-pauses", "Periodic pauses", warning,
      "A background task that a timer wakes keeps a thread for long, again and again, and requests wait behind it.",
      "At least five runs of at least 1 ms, of one task that is no request; four of five of the times between them differ from the middle one by less than 30 %.",
      queue_facts,
      "Give the background work a thread of its own, do less each time, or let it yield.",
      "Regular requests may look like a period."},
     lacks_queues, find_pauses},
    {{"lock-held-across-wait", "Lock held while its holder waits", error,
      "The holder of a lock is suspended or blocked, and others wait for the lock all the time.",
      "More than half of the requests' time behind the holder passes while the holder itself waits.",
      "waits for locks: --record locks, traced_mutex or coroscope::resource; the states of threads show the longer ones",
      "Release the lock before the wait: copy the data, do the slow part, lock again to store the result.",
      "A lock that protects the slow operation itself must be held."},
     lacks_locks, find_held_locks},
    {{"contended-lock", "Lock held for long", warning,
      "Requests wait for a lock whose holder computes.",
      "Less than half of that time passes while the holder waits.",
      "waits for locks: --record locks, traced_mutex or coroscope::resource; the states of threads show the longer ones",
      "Do less under the lock, or divide the lock.",
      "If the holder has no processor, the machine is busy."},
     lacks_locks, find_contended_locks},
    {{"pool-exhausted", "Pool exhausted", warning,
      "Requests wait for an element of a pool or for a semaphore, while others keep all of it.",
      "The waits take at least 5 % of the request time.",
      "waits for resources: coroscope::resource of the kind pool around the pool, or traced_semaphore",
      "Return elements earlier, enlarge the pool, or give long uses a pool of their own.",
      "Of several holders those count that released the first element during a wait. If acquired() is only called after waits, the named work released it, perhaps for others."},
     lacks_resources, find_exhausted_pools},
    {{"serial-worker", "Requests wait for their turn at one task", warning,
      "One task serves requests one after the other (a connection, a channel's consumer), and slow items delay those behind them.",
      "The requests wait longer for the items of others than for their own, and at least 5 % of the request time.",
      "scopes around the items that the task serves",
      "Serve slow items elsewhere, use several such tasks, or let the answers overtake each other.",
      "The work of the task since it last waited outside items, or woke another task, is taken to be the item of the request."},
     lacks_nothing, find_serial_workers},
    {{"slowest-child", "A fan-out that its slowest child decides", warning,
      "A request awaits several tasks together, and one of them takes much longer than the others.",
      "The slowest child takes twice as long as the middle one of the others, without time in queues; the difference is at least a tenth of the request time.",
      "a trace without lost records",
      "Start the slow child earlier, divide it, bound it by a deadline, or ask a second replica after a delay.",
      "If the request needs the slow result and nothing else, the fan-out is not the cause."},
     lacks_losses, find_slowest_children},
    {{"ping-pong", "Ping-pong between executors", warning,
      "A request goes from one executor to another one and back, and waits for a thread after each change.",
      "At least six changes in a request, and the waits after them take at least a fifth of the request time.",
      queue_facts,
      "Do the small steps on the executor on which the request already is, or hand over once.",
      "A busy machine lengthens each wait for a thread."},
     lacks_queues, find_ping_pong},
    {{"cache-stampede", "Cache stampede", warning,
      "Requests that miss a cache make the same value at once, although another request is already making it.",
      "At least four of five requests that begin during a call make the call, too. At most one of five other requests makes it. At least five calls begin during another one. Calls whose last wait another request ends do not count.",
      "scopes around the calls; a complete trace of a session of all threads",
      "Let the first caller make the value, and the others await its result (single flight); renew values before they expire.",
      "Calls for different keys look alike: name the key by an attribute to check."},
     lacks_completeness, find_stampedes},
    {{"thundering-herd", "Thundering herd", warning,
      "One event wakes many tasks, of which one can go on; the others wait again.",
      "At least four tasks are woken at once, at least ten wakes and half of all of them are in vain, and the time after them is at least 2 % of the request time.",
      "",
      "Wake one task for one free place (notify_one, cancel_one), or hand the place over to it.",
      "A broadcast whose receivers wait for the next event in the same place looks alike."},
     lacks_nothing, find_herds},
    {{"n-plus-one", "Awaits in a loop (N + 1)", warning,
      "A request makes the same call again and again, one after the other, as for each element of a list.",
      "At least five calls, which take at least half of the request. Fewer equal calls may have been written one by one.",
      "tasks of the program, or scopes around the calls",
      "Ask for all elements by one call, or await the calls together, with a limit.",
      "If each call needs the result of the one before (pages of a list), they must wait."},
     lacks_nothing, find_repeated_calls},
    {{"polling", "Polling", warning,
      "A request waits by timers that it sets again and again, until something has happened.",
      "At least five timers at one place without a call between them take at least half of the request. Or a call is made more than three times, with the same delay between the calls.",
      "",
      "Let the event wake the request: a channel, a future, a condition.",
      "The cost is an upper limit: a part of the wait is needed."},
     lacks_nothing, find_polling},
    {{"retry-storm", "Attempts are repeated", warning,
      "A request makes the same call again after it failed, at once or after a delay.",
      "Calls that ended with an error, or delays that grow, or at most two delays, between equal calls.",
      "",
      "Find out why the attempts fail; limit the attempts by a budget, and let delays grow from a small one.",
      "If the outcome of the calls is unknown, a loop with a delay may be polling."},
     lacks_nothing, find_retries},
    {{"timeouts", "Time-outs end most attempts", warning,
      "A time-out cancels most of the operations that it guards.",
      "At least five and at least half of the attempts, which take at least 5 % of the request time. The canceller was woken by a timer, and either the cancelled wait was not for a timer, or it is the longer one, or its name says that it is a time-out.",
      "outcomes of awaits, and cancellations: Asio's tracking",
      "Find out why the operation takes so long; adapt the time-out to its 99th percentile.",
      "Of two timers that cancel each other, the trace does not show which one is the time-out."},
     lacks_outcomes, find_timeouts},
    {{"sequential-awaits", "Independent awaits in a row", note,
      "A request awaits several different calls one after the other, and does nothing between them.",
      "At least three calls, each at least a tenth and together at least six tenths of the request, in at least half of the requests of the type; the hint is worth at least a fifth of the request time.",
      "tasks of the program, or scopes around the calls",
      "If the calls do not need each other's results, start all of them and await them together.",
      "The trace does not show which call needs the result of another one."},
     lacks_nothing, find_sequential_awaits},
    {{"lost-wake-up", "Lost wake-up", error,
      "A task waits for other work of the program, and is never woken, although the service goes on.",
      "The wait lasts at least a fifth of the session, and at least five times as long as the longest other wait at its place. Work woke at least half of these other waits. The task is in a marked request, or later tasks of its kind have ended. Tasks that wait for sockets, and idle workers, do not count.",
      "a complete trace of a session of all threads",
      "Look for the path on which the notification is sent before the wait begins, or not at all (an early return, an exception).",
      "A request that is meant to wait for long at such a place."},
     lacks_completeness, find_lost_wakes},
    {{"destroyed-while-suspended", "Tasks destroyed while suspended", warning,
      "Tasks are destroyed in the middle of their work, while the program goes on.",
      "At least three tasks of a kind, and another task was spawned after their ends: it was not the end of the service. Generators do not count.",
      "a session of all threads",
      "Keep the owner of a task alive until the task has ended, or cancel it and await its end.",
      "If destruction is the program's way to cancel, it is intended."},
     lacks_threads, find_destroyed_tasks},
    {{"growing-tasks", "Live tasks only grow", error,
      "Tasks of a kind are spawned all the time, and most of them never end.",
      "At least sixteen tasks never end; they were spawned in at least six of eight parts of the session, and are half of those of its first half. Tasks that wait for sockets do not count.",
      "a complete trace of a session of all threads",
      "Look at the wait in which they stay: coroscope tasks, coroscope awaits. Bound it by a deadline.",
      "Tasks that are meant to live as long as the service, and are still being added."},
     lacks_completeness, find_growing_tasks},
    {{"cold-start", "The first requests are slow", warning,
      "The first requests of a type take much longer than the later ones.",
      "The type has at least ten requests. The slow ones take three times as long as the median, and at least 1 ms longer. The fastest of them takes at least twice as long as the slowest other one. Nearly all of the first requests are slow.",
      "requests: COROSCOPE_REQUEST; a trace without lost records",
      "Do the named work before the service takes requests.",
      "A session that begins in the middle of the load does not show the start of the service."},
     lacks_comparison, find_cold_starts},
    {{"slow-group", "Some requests take another way", warning,
      "Some requests of a type take much longer than the others, through one piece of work or one wait.",
      "The type has at least ten requests. At least three take three times as long as the median, and at least 1 ms longer. The fastest of them takes at least twice as long as the slowest other one. One part explains a fifth of the difference.",
      "requests: COROSCOPE_REQUEST; a trace without lost records",
      "Look at the difference: coroscope why. Give the slow way a type of its own if it is intended.",
      "If requests of one type do different amounts of work, that is the finding."},
     lacks_comparison, find_slow_groups},
    {{"oversized-frame", "Oversized coroutine frame", note,
      "A coroutine keeps a large object, such as a buffer, in its frame.",
      "32 KiB, eight pages: no state of a computation is so large.",
      "sizes of frames of instrumented coroutines",
      "Put the object into a block that ends before the co_await, or on the heap once per connection.",
      "A frame that lives as long as the service costs nothing again and again."},
     lacks_frames, find_large_frames},
    {{"device-idle", "The device is idle while tasks wait for it", warning,
      "Tasks await a stream of a device, and the device runs nothing for most of that time.",
      "More than half of the waits' time, and at least 5 % of the request time. Time in which the device runs other work does not count.",
      "activities of devices; a complete trace of a session of all threads",
      "Request the work earlier and in larger pieces, or use several streams.",
      "Another program may use the device: its work is not in the trace."},
     lacks_device_waits, find_idle_devices},
    {{"device-wait-blocks", "A thread waits for the device", warning,
      "A task keeps its thread in a call that waits for a device, instead of awaiting the stream.",
      "Calls of at least 1 ms, which a launch never takes, and at least 5 % of the request time.",
      "activities of devices",
      "Await the stream: coroscope::cuda::completion, or a callback.",
      "The first call of a process initialises the device."},
     lacks_devices, find_device_blocks},
    {{"recording-trouble", "The recording makes findings doubtful", note,
      "Records were lost, Asio is tracked in parts, or recording took much processor time.",
      "Any loss; any translation unit without tracking; a tenth of the processor time.",
      "",
      "Raise the limit of the trace, compile all of a target with coroscope-asio, record fewer scopes or sample requests.",
      "The cost of recording is an estimate."},
     lacks_nothing, find_recording_trouble},
};
// clang-format on

}  // namespace

std::span<const rule_entry> rule_table() noexcept { return table; }

}  // namespace coroscope::analysis::inline checks
