// SPDX-License-Identifier: Apache-2.0

// The build defines COROSCOPE_HAS_ITT for this file if it finds ITT's header and library. The tests
// compile this file with an imitation of both.

#include <coroscope/integration/itt.hpp>

#if COROSCOPE_HAS_ITT

#include <ittnotify.h>

#include <atomic>
#include <memory>

#include "push_stack.hpp"

namespace coroscope {
namespace {

__itt_domain* domain() noexcept {
    static __itt_domain* const created = __itt_domain_create("coroscope");
    return created;
}

// The collector keeps one handle per text.
__itt_string_handle* handle_of(const scope_info& scope) {
    return __itt_string_handle_create(scope.name().data());
}

struct itt_stack {
    static void pop() noexcept { __itt_task_end(domain()); }
};

class stacked_task final : public observer_context {
public:
    explicit stacked_task(__itt_string_handle* name) : entry_(push_stack<itt_stack>::push()) {
        __itt_task_begin(domain(), __itt_null, __itt_null, name);
    }
    ~stacked_task() override { push_stack<itt_stack>::end(entry_); }

private:
    push_stack<itt_stack>::entry& entry_;
};

std::atomic<unsigned long long> last_overlapped{0};

class overlapped_task final : public observer_context {
public:
    explicit overlapped_task(__itt_string_handle* name)
        : id_(__itt_id_make(domain(),
                            last_overlapped.fetch_add(1, std::memory_order_relaxed) + 1)) {
        __itt_task_begin_overlapped(domain(), id_, __itt_null, name);
    }
    ~overlapped_task() override { __itt_task_end_overlapped(domain(), id_); }

private:
    __itt_id id_;
};

std::unique_ptr<observer_context> begin(const scope_info& scope) {
    if (scope.may_change_threads()) return std::make_unique<overlapped_task>(handle_of(scope));
    return std::make_unique<stacked_task>(handle_of(scope));
}

observer make_itt(const emit_options&) { return observer(begin); }

}  // namespace
}  // namespace coroscope

#endif

namespace coroscope::detail {

const emitter_kind& itt_emitter() noexcept {
    static constexpr emitter_kind kind{
#if COROSCOPE_HAS_ITT
        make_itt,
#else
        nullptr,
#endif
        "Coroscope was built without ITT.", "ITT annotation context manager is not reentrant", true,
        nullptr};
    return kind;
}

}  // namespace coroscope::detail
