// SPDX-License-Identifier: Apache-2.0
#include "function_title.hpp"

namespace coroscope::runtime::inline writer {
namespace {

// g++ compiles the body of a coroutine as a function of its frame. Its signature has no list of
// template arguments: the name of the frame's type has them.
constexpr std::string_view frame_type = ".Frame*";
constexpr std::string_view mangled_name = "::_Z";

bool is_call_operator(const signature_part& part) noexcept { return part.name == "operator()"; }
bool is_conversion(const signature_part& part) noexcept {
    return part.name.starts_with("operator ") && part.name != "operator new" &&
           part.name != "operator delete";
}

}  // namespace

std::string_view function_title::make(std::string_view signature, std::uint32_t line) noexcept {
    out_.clear();
    path_.read(signature);
    bindings_.read(path_.rest);
    if (bindings_.of_gcc)
        bindings_.leave_out_members(signature.substr(0, signature.find(" [with ")));
    write_parts(line);
    return out_.text().empty() ? signature.substr(0, trace::payload_limit) : out_.text();
}

void function_title::write_parts(std::uint32_t line) noexcept {
    const signature_part* const end = path_.parts + path_.count;
    bool in_lambda = false;
    for (const signature_part* part = path_.parts; part != end; ++part) {
        const bool is_last = part + 1 == end;
        if (in_lambda && is_call_operator(*part)) {  // the lambda itself
            if (is_last) write_arguments({}, true);
            continue;
        }
        in_lambda = part->kind == part_kind::lambda;
        const bool is_own = is_last || (part + 2 == end && is_call_operator(part[1]));
        if (part->kind != part_kind::anonymous_namespace)
            write_part(*part, is_last, is_own ? line : 0);
    }
}

void function_title::write_part(const signature_part& part, bool is_last,
                                std::uint32_t line) noexcept {
    if (!out_.text().empty()) out_.put("::");
    switch (part.kind) {
        case part_kind::lambda:
            out_.put("{lambda");
            if (line != 0) {
                out_.put(':');
                out_.put(line);
            }
            out_.put('}');
            break;
        case part_kind::unnamed_type: out_.put("{unnamed}"); break;
        case part_kind::name: write_name(part.name); break;
        case part_kind::anonymous_namespace: break;
    }
    write_arguments(part, is_last);
}

// The name of a conversion function may contain template arguments.
void function_title::write_name(std::string_view name) noexcept {
    write_type(out_, name, list_for_names());
}

void function_title::write_arguments(const signature_part& part, bool is_last) noexcept {
    std::string_view own = part.arguments;
    if (is_last && own.empty()) own = arguments_of_frame(part);
    if (own.empty()) {
        if (is_last && !is_conversion(part)) write_bound_arguments();
        return;
    }
    out_.put('<');
    write_type(out_, own, list_for_names());
    out_.put('>');
    if (!bindings_.of_gcc) bindings_.take_arguments(own);
}

// g++ writes the parameters of class templates into names, clang the arguments.
template_bindings* function_title::list_for_names() noexcept {
    return bindings_.of_gcc ? &bindings_ : nullptr;
}

// The function's own: those that no class has.
void function_title::write_bound_arguments() noexcept {
    bool any = false;
    for (std::size_t at = 0; at < bindings_.count; ++at) {
        const template_bindings::entry& each = bindings_.entries[at];
        const std::string_view value = without_pack(each.value);
        if (each.used || value.empty()) continue;
        out_.put(any ? ", " : "<");
        write_type(out_, value, nullptr);
        any = true;
    }
    if (any) out_.put('>');
}

std::string_view function_title::arguments_of_frame(const signature_part& last) noexcept {
    const std::string_view frame = last.parameters;
    if (!frame.ends_with(frame_type)) return {};
    const std::size_t end = frame.rfind(mangled_name);
    if (end == std::string_view::npos) return {};
    frame_.read(frame.substr(0, end));
    return frame_.count == 0 ? std::string_view() : frame_.parts[frame_.count - 1].arguments;
}

}  // namespace coroscope::runtime::inline writer
