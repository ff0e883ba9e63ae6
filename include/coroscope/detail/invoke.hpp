// SPDX-License-Identifier: Apache-2.0
#pragma once

// std::invoke for the headers that every program includes: the original is in <functional>.

#include <type_traits>

#include <coroscope/detail/hand_over.hpp>

namespace coroscope::detail {

template <class Member>
struct class_of_member;
template <class Member, class Class>
struct class_of_member<Member Class::*> {
    using type = Class;
};

template <class Owner, class Object>
inline constexpr bool is_owner = std::is_base_of_v<Owner, std::remove_reference_t<Object>>;

/// Returns the object that has the member: `object` itself, its pointee, or the referent of a
/// std::reference_wrapper.
template <class Member, class Object>
decltype(auto) owner_of(Object&& object) {
    using owner = typename class_of_member<std::remove_cvref_t<Member>>::type;
    if constexpr (is_owner<owner, Object>) {
        return static_cast<Object&&>(object);
    } else if constexpr (requires {
                             requires is_owner<owner, decltype(*static_cast<Object&&>(object))>;
                         }) {
        return *static_cast<Object&&>(object);
    } else {
        return object.get();
    }
}

/// std::is_invocable_v<Function, Arguments...> must be true.
template <class Function, class... Arguments>
std::invoke_result_t<Function, Arguments...> invoke(Function&& function, Arguments&&... arguments) {
    return static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
}
template <class Function, class Object, class... Arguments>
    requires std::is_member_object_pointer_v<std::remove_reference_t<Function>>
std::invoke_result_t<Function, Object> invoke(Function&& member, Object&& object) {
    return detail::owner_of<Function>(static_cast<Object&&>(object)).*member;
}

// g++ assumes a virtual table in objects without one.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"
template <class Function, class Object, class... Arguments>
    requires std::is_member_function_pointer_v<std::remove_reference_t<Function>>
std::invoke_result_t<Function, Object, Arguments...> invoke(Function&& member, Object&& object,
                                                            Arguments&&... arguments) {
    return (detail::owner_of<Function>(static_cast<Object&&>(object)).*
            member)(static_cast<Arguments&&>(arguments)...);
}
#pragma GCC diagnostic pop

}  // namespace coroscope::detail
