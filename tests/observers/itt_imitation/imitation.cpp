// SPDX-License-Identifier: Apache-2.0

#include <ittnotify.h>

#include <map>
#include <mutex>
#include <utility>

namespace {

std::mutex mutex;
std::vector<std::string> calls;
std::map<std::string, __itt_string_handle> texts;

void note(const __itt_domain* domain, const std::string& call) {
    const std::lock_guard lock(mutex);
    std::string line = domain->name;
    calls.push_back(line.append(" ").append(call));
}

std::string number_of(const __itt_id& id) { return std::to_string(id.d2); }

}  // namespace

__itt_domain* __itt_domain_create(const char* name) {
    static __itt_domain created;
    created.name = name;
    return &created;
}
__itt_string_handle* __itt_string_handle_create(const char* text) {
    const std::lock_guard lock(mutex);
    return &texts.try_emplace(text, __itt_string_handle{text}).first->second;
}
__itt_id __itt_id_make(void* address, unsigned long long extra) {
    return {reinterpret_cast<unsigned long long>(address), extra, 0};
}
void __itt_task_begin(const __itt_domain* domain, __itt_id, __itt_id, __itt_string_handle* name) {
    note(domain, "begin " + name->text);
}
void __itt_task_end(const __itt_domain* domain) { note(domain, "end"); }
void __itt_task_begin_overlapped(const __itt_domain* domain, __itt_id task, __itt_id,
                                 __itt_string_handle* name) {
    note(domain, "begin " + number_of(task) + " " + name->text);
}
void __itt_task_end_overlapped(const __itt_domain* domain, __itt_id task) {
    note(domain, "end " + number_of(task));
}

std::vector<std::string> take_itt_calls() {
    const std::lock_guard lock(mutex);
    return std::exchange(calls, {});
}
