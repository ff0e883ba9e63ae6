// SPDX-License-Identifier: Apache-2.0
#pragma once

// The indices and views of an SQLite export. docs/reference/exports.md describes them.

#include <string_view>

namespace coroscope::analysis::inline data_tables {

/// Raised if a column or a view is removed or changes its meaning (PRAGMA user_version).
inline constexpr int sqlite_schema_version = 1;

inline constexpr std::string_view sqlite_indices = R"sql(
CREATE INDEX scopes_by_name ON scopes (name);
CREATE INDEX scopes_by_task ON scopes (task, start_ns);
CREATE INDEX scopes_by_parent ON scopes (parent);
CREATE INDEX tasks_by_number ON tasks (number);
CREATE INDEX tasks_by_name ON tasks (name);
CREATE INDEX tasks_by_parent ON tasks (parent);
CREATE INDEX slices_by_task ON slices (task, start_ns);
CREATE INDEX slices_by_thread ON slices (thread, start_ns);
CREATE INDEX awaits_by_task ON awaits (task, suspend_ns);
CREATE INDEX awaits_by_name ON awaits (name);
CREATE INDEX requests_by_type ON requests (type, wall_ns);
CREATE INDEX path_segments_by_request ON path_segments (request, start_ns);
CREATE INDEX attribute_values_by_attribute ON attribute_values (attribute, key);
CREATE INDEX attribute_values_by_value ON attribute_values (key, value);
CREATE INDEX numbers_by_name ON numbers (name, time_ns);
CREATE INDEX thread_states_by_thread ON thread_states (thread, start_ns);
CREATE INDEX device_activities_by_task ON device_activities (task);
)sql";

inline constexpr std::string_view sqlite_views = R"sql(
CREATE VIEW scope_statistics AS
SELECT name, category, COUNT(*) AS count,
       SUM(CASE WHEN nested THEN 0 ELSE running_ns END) AS total_ns,
       SUM(self_running_ns) AS self_ns,
       SUM(CASE WHEN nested THEN 0 ELSE suspended_ns END) AS suspended_ns,
       SUM(CASE WHEN nested THEN 0 ELSE queued_ns END) AS queued_ns,
       SUM(CASE WHEN nested THEN 0 ELSE waiting_ns END) AS waiting_ns,
       SUM(CASE WHEN nested THEN 0 ELSE wall_ns END) AS wall_ns,
       MIN(CASE WHEN clipped OR open THEN NULL ELSE wall_ns END) AS min_wall_ns,
       MAX(CASE WHEN clipped OR open THEN NULL ELSE wall_ns END) AS max_wall_ns,
       SUM(clipped OR open) AS partial_count
FROM scopes GROUP BY name, category ORDER BY wall_ns DESC;

CREATE VIEW task_statistics AS
SELECT tasks.name, sites.file || ':' || sites.line AS place, COUNT(*) AS count,
       SUM(state = 'finished') AS finished, SUM(state = 'failed') AS failed,
       SUM(wall_ns) AS wall_ns, SUM(running_ns) AS running_ns, SUM(suspended_ns) AS suspended_ns,
       SUM(queued_ns) AS queued_ns, SUM(waiting_ns) AS waiting_ns, MAX(wall_ns) AS max_wall_ns
FROM tasks LEFT JOIN sites ON sites.id = tasks.site
GROUP BY tasks.site ORDER BY wall_ns DESC;

CREATE VIEW await_statistics AS
SELECT awaits.name, sites.file || ':' || sites.line AS place, COUNT(*) AS count,
       SUM(length_ns) AS total_ns,
       SUM(suspended_ns) AS suspended_ns, SUM(queued_ns) AS queued_ns,
       SUM(waiting_ns) AS waiting_ns,
       MAX(CASE WHEN clipped THEN NULL ELSE length_ns END) AS max_ns, SUM(clipped) AS partial
FROM awaits LEFT JOIN sites ON sites.id = awaits.site
GROUP BY awaits.name, awaits.site ORDER BY total_ns DESC;

CREATE VIEW request_statistics AS
WITH ranked AS (
    SELECT type, wall_ns, is_late, outcome,
           ROW_NUMBER() OVER (PARTITION BY type ORDER BY wall_ns) AS place,
           COUNT(*) OVER (PARTITION BY type) AS count
    FROM requests WHERE is_whole)
SELECT type, MAX(count) AS count, SUM(outcome = 'failed') AS failed, SUM(is_late) AS late,
       SUM(wall_ns) AS total_ns,
       MAX(CASE WHEN place = (count * 50 + 99) / 100 THEN wall_ns END) AS p50_ns,
       MAX(CASE WHEN place = (count * 90 + 99) / 100 THEN wall_ns END) AS p90_ns,
       MAX(CASE WHEN place = (count * 99 + 99) / 100 THEN wall_ns END) AS p99_ns,
       MAX(wall_ns) AS max_ns
FROM ranked GROUP BY type ORDER BY total_ns DESC;

CREATE VIEW slowest_requests AS
SELECT id, type, wall_ns, running_ns, suspended_ns, queued_ns, waiting_ns, on_cpu_ns, blocked_ns,
       preempted_ns, outcome, is_late, start_ns
FROM requests WHERE is_whole ORDER BY wall_ns DESC;

CREATE VIEW request_parts AS
SELECT request, path_segments.kind, path_segments.name,
       sites.file || ':' || sites.line AS place,
       COUNT(*) AS segments, SUM(length_ns) AS length_ns
FROM path_segments LEFT JOIN sites ON sites.id = path_segments.site
GROUP BY request, path_segments.kind, path_segments.name, path_segments.site
ORDER BY request, length_ns DESC;

CREATE VIEW parts_of_types AS
SELECT requests.type, path_segments.kind, path_segments.name,
       sites.file || ':' || sites.line AS place,
       COUNT(DISTINCT request) AS requests, SUM(length_ns) AS length_ns
FROM path_segments JOIN requests ON requests.id = path_segments.request
     LEFT JOIN sites ON sites.id = path_segments.site
GROUP BY requests.type, path_segments.kind, path_segments.name, path_segments.site
ORDER BY requests.type, length_ns DESC;

CREATE VIEW request_attributes AS
SELECT requests.id AS request, attribute_values.key, attribute_values.value
FROM requests
     LEFT JOIN scopes ON scopes.id = requests.scope
     LEFT JOIN tasks ON tasks.id = requests.task
     JOIN attribute_values ON attribute_values.attribute = COALESCE(scopes.attribute, tasks.attribute);

CREATE VIEW lock_statistics AS
SELECT lock, address, COUNT(*) AS count, SUM(end_ns - start_ns) AS total_ns,
       MAX(end_ns - start_ns) AS max_ns, SUM(gave_up) AS gave_up
FROM lock_waits GROUP BY lock, address ORDER BY total_ns DESC;

CREATE VIEW resource_statistics AS
SELECT name, instance, capacity, COUNT(*) AS count, SUM(end_ns - start_ns) AS total_ns,
       MAX(end_ns - start_ns) AS max_ns, SUM(gave_up) AS gave_up
FROM resource_waits GROUP BY name, instance, capacity ORDER BY total_ns DESC;

CREATE VIEW blocking_statistics AS
SELECT function, descriptor, scopes.name AS scope, COUNT(*) AS count,
       SUM(blocking_calls.end_ns - blocking_calls.start_ns) AS total_ns,
       MAX(blocking_calls.end_ns - blocking_calls.start_ns) AS max_ns
FROM blocking_calls LEFT JOIN scopes ON scopes.id = blocking_calls.scope
GROUP BY function, descriptor, scopes.name ORDER BY total_ns DESC;

CREATE VIEW executor_statistics AS
SELECT executors.name, executors.kind, COUNT(*) AS waits, SUM(queued_ns) AS queued_ns,
       MAX(queued_ns) AS max_queued_ns
FROM (SELECT executor, queued_ns FROM awaits
      UNION ALL
      SELECT executor, queued_ns - COALESCE(
          (SELECT SUM(queued_ns) FROM awaits WHERE awaits.task = tasks.id), 0) FROM tasks) AS waits
JOIN executors ON executors.id = waits.executor
GROUP BY executors.id ORDER BY queued_ns DESC;

CREATE VIEW number_statistics AS
SELECT name, COUNT(*) AS count, MIN(number) AS min, AVG(number) AS mean, MAX(number) AS max,
       SUM(number) AS sum
FROM numbers GROUP BY name ORDER BY count DESC;
)sql";

}  // namespace coroscope::analysis::inline data_tables
