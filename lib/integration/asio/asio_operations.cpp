// SPDX-License-Identifier: Apache-2.0
#include "asio_operations.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <source_location>

#include <coroscope/detail/location.hpp>
#include <coroscope/fiber.hpp>
#include <coroscope/integration/asio_awaitable.hpp>
#include <coroscope/integration/asio_kind.hpp>
#include <coroscope/trace/await_format.hpp>

#include "../../runtime/writer/objects.hpp"
#include "../../runtime/writer/recorder.hpp"
#include "asio_check.hpp"

namespace coroscope::asio {

constinit std::atomic<std::uint64_t> recent_operations::slots[256];

namespace {

[[gnu::noinline]] std::uint32_t look_up(const char* type, const char* operation,
                                        const void* location) noexcept {
    site* where = runtime::intern_operation(type, operation, location);
    const std::uint32_t found = where == nullptr ? 0 : runtime::site_id(*where);
    if (scheduler_seen.load(std::memory_order_relaxed))
        recent_operations::keep(type, operation, location, found);
    return found;
}

// Replaces the type in the table of recent kinds.
constexpr char coroutine_type[] = "coroutine";

[[gnu::noinline]] std::uint32_t look_up_coroutine(const void* inside, const void* place) noexcept {
    site* where = runtime::intern_coroutine(inside, place == nullptr ? inside : place);
    const std::uint32_t found = where == nullptr ? 0 : runtime::site_id(*where);
    if (!is_library_place(inside))
        recent_operations::keep(coroutine_type, static_cast<const char*>(inside), place, found);
    return found;
}

}  // namespace

std::uint32_t coroutine_site(const void* inside, const void* place) noexcept {
    std::uint32_t found = 0;
    return find_coroutine_site(inside, place, found) ? found : look_up_coroutine(inside, place);
}

bool find_coroutine_site(const void* inside, const void* place, std::uint32_t& site) noexcept {
    return recent_operations::find(coroutine_type, static_cast<const char*>(inside), place, site);
}

bool is_library_place(const void* where) noexcept {
    // Most calls in turn are for places in one file, whose name is the same literal.
    static constinit std::atomic<const char*> recent_file = nullptr;
    const char* const file = detail::location_at(where).file_name();
    if (recent_file.load(std::memory_order_relaxed) == file) return false;
    if (std::strstr(file, "asio/experimental/awaitable_operators.hpp") != nullptr) return true;
    recent_file.store(file, std::memory_order_relaxed);
    return false;
}

std::uint32_t operation_site(const char* type, const char* operation,
                             const void* location) noexcept {
    std::uint32_t found = 0;
    if (recent_operations::find(type, operation, location, found)) [[likely]]
        return found;
    return look_up(type, operation, location);
}

std::uint32_t look_up_spawn(const runtime::call_names& of,
                            const runtime::call_step* calls) noexcept {
    const detail::fiber_state* const fiber = runtime::this_thread.fiber;
    if (calls == nullptr && fiber != nullptr && fiber->stack_low != 0)
        calls = runtime::find_call_path({fiber->stack_low, fiber->stack_bytes});
    if (calls == nullptr) return operation_site(of.type, of.operation, of.location);
    if (const std::uint32_t kept = runtime::kept_site(*calls, of)) return kept;
    site* const where = runtime::intern_operation(of.type, of.operation, of.location, calls);
    if (where == nullptr) return 0;
    const std::uint32_t found = runtime::site_id(*where);
    runtime::keep_site(*calls, of, found);
    return found;
}

namespace {

trace::object_kind object_kind_of(const char* type) noexcept {
    struct known_type {
        const char* name;
        trace::object_kind kind;
    };
    static constexpr known_type known[] = {
        {"deadline_timer", trace::object_kind::timer}, {"socket", trace::object_kind::socket},
        {"resolver", trace::object_kind::resolver},    {"signal_set", trace::object_kind::signals},
        {"descriptor", trace::object_kind::file},      {"channel", trace::object_kind::channel},
    };
    // Where Asio has the name of each type, once an operation of that type was seen: Asio names
    // types by literals, so few names are compared.
    static constinit std::atomic<const char*> literals[std::size(known)] = {};
    for (std::size_t at = 0; at < std::size(known); ++at)
        if (literals[at].load(std::memory_order_relaxed) == type) return known[at].kind;
    for (std::size_t at = 0; at < std::size(known); ++at) {
        if (std::strcmp(type, known[at].name) != 0) continue;
        literals[at].store(type, std::memory_order_relaxed);
        return known[at].kind;
    }
    return trace::object_kind::other;
}

}  // namespace

std::uint32_t number_of(const char* type, const void* object) noexcept {
    const trace::object_kind kind = object_kind_of(type);
    return runtime::object_number(object, kind, kind == trace::object_kind::other ? type : "");
}

operation_kind find_kind(const char* type, const char* operation) noexcept {
    return kind_of(type, operation);
}

context_type find_type(const char* type) noexcept { return type_of(type); }

}  // namespace coroscope::asio
