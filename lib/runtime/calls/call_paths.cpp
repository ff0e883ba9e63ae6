// SPDX-License-Identifier: Apache-2.0
#include "call_paths.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "../base/kept_errno.hpp"
#include "code_owner.hpp"
#include "frame_rules.hpp"

namespace coroscope::runtime::inline calls {
namespace {

constexpr std::uintptr_t word_bytes = sizeof(std::uintptr_t);
// No step has a place beyond this one.
constexpr std::uintptr_t farthest_place = std::uintptr_t{1} << 15;

// Steps that are not the first ones behind another step, by that step and their word.
constexpr std::size_t branch_slots = 4096;
constexpr std::size_t most_branches = branch_slots / 4 * 3;
constexpr std::size_t most_steps = 8192;
constinit std::atomic<const call_step*> branches[branch_slots];
constinit std::atomic<const call_step*> first_step{nullptr};
constinit call_step* steps = nullptr;  // set once, before a path is looked for
constinit std::atomic<std::size_t> step_count{0};
constinit std::atomic<std::size_t> branch_count{0};

// Walks that found no path. After too many of them only the known paths are found, because a walk
// takes long.
constexpr std::size_t most_failures = 256;
constinit std::atomic<std::size_t> failures{0};

std::size_t slot_of(const call_step* before, std::uintptr_t word, std::size_t probe) noexcept {
    constexpr std::uintptr_t spread = 0x9e3779b97f4a7c15U;
    const std::uintptr_t mixed = (reinterpret_cast<std::uintptr_t>(before) ^ word) * spread;
    return ((mixed >> 40) + probe) % branch_slots;
}

// The stack above the walk's frame.
struct stack_view {
    std::uintptr_t frame;
    std::uintptr_t last;  // place of the last word, from `frame` on

    [[nodiscard]] bool has(std::uintptr_t place) const noexcept { return place <= last; }
    // The words belong to frames of other functions.
    [[nodiscard]] std::uintptr_t word(std::uintptr_t place) const noexcept {
        return *reinterpret_cast<const volatile std::uintptr_t*>(frame + place);
    }
    [[nodiscard]] std::uintptr_t word_of(const call_step& step) const noexcept {
        const std::uintptr_t found = word(step.place);
        return step.is_frame_pointer ? found - frame : found;
    }
};

const call_step* find_branch(const call_step* before, std::uintptr_t word) noexcept {
    for (std::size_t probe = 0; probe < branch_slots; ++probe) {
        // pairs with publish_branch()
        const call_step* const step =
            branches[slot_of(before, word, probe)].load(std::memory_order_acquire);
        if (step == nullptr || (step->before == before && step->word == word)) return step;
    }
    return nullptr;
}

// Follows the known steps as far as they agree with the stack. Returns the end of the path; null if
// it has a step that is not known, or one that is checked and beyond the stack.
template <bool Checked>
[[gnu::always_inline]] inline const call_step* follow(const stack_view& stack) noexcept {
    const call_step* at = first_step.load(std::memory_order_acquire);  // pairs with add_steps()
    if (at == nullptr) return nullptr;
    while (!Checked || stack.has(at->place)) {
        const std::uintptr_t word = stack.word_of(*at);
        if (word != at->word) [[unlikely]] {
            at = find_branch(at->before, word);
            if (at == nullptr) return nullptr;
        }
        const call_step* const next = at->next.load(std::memory_order_acquire);
        if (next == nullptr) return at;
        at = next;
    }
    return nullptr;
}

const call_step* find_step(const call_step* before, std::uintptr_t word) noexcept {
    // pairs with add_steps()
    const call_step* const first =
        (before == nullptr ? first_step : before->next).load(std::memory_order_acquire);
    return first == nullptr || first->word == word ? first : find_branch(before, word);
}

// A walk by the unwind tables, which notes the words that it depends on. The path ends in the first
// function of the program, at a frame without a rule or too far away, or when it is long enough.
class walker {
public:
    explicit walker(const stack_view& stack) noexcept : stack_(stack) {}

    // Returns false if the tables lead out of the stack.
    bool run() noexcept {
        while (effort_ > 0 && count_ + 2 <= most_words) {
            const std::uintptr_t returns = frame_end_ - word_bytes;
            if (!stack_.has(returns)) return false;
            const std::uintptr_t address = stack_.word(returns);
            note({address, static_cast<std::uint32_t>(returns), false});
            frame_rule rule;
            if (!is_known_ && find_code_owner(address - 1) == code_owner::program) return true;
            if (!find_frame_rule(address, rule) || !leave(rule)) return true;
        }
        return true;
    }

    struct noted {
        std::uintptr_t word;
        std::uint32_t place;
        bool is_frame_pointer;
    };
    static constexpr std::size_t most_words = 2 * most_calls;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] const noted& operator[](std::size_t at) const noexcept { return words_[at]; }

private:
    // A word that is in the tree and is not the end of its path is not looked at again.
    void note(const noted& word) noexcept {
        words_[count_++] = word;
        if (is_known_) known_ = find_step(known_, word.word);
        is_known_ = is_known_ && known_ != nullptr && known_->word == word.word &&
                    known_->next.load(std::memory_order_acquire) != nullptr;
    }

    // Returns false if the frame ends too far away. A frame that ends beyond the stack is noticed
    // later.
    bool leave(const frame_rule& rule) noexcept {
        std::uintptr_t begin = frame_end_;
        effort_ -= rule.from == frame_base::stack_pointer ? 3 : 1;
        if (rule.from == frame_base::frame_pointer) {
            begin = stack_.word(pointer_at_) - stack_.frame;
            note({begin, static_cast<std::uint32_t>(pointer_at_), true});
        }
        const std::uintptr_t end = begin + static_cast<std::uintptr_t>(rule.size);
        if (begin > farthest_place || end <= frame_end_ || end > farthest_place ||
            end % word_bytes != 0)
            return false;
        if (rule.saved != 0) {
            const std::uintptr_t saved = end + static_cast<std::uintptr_t>(rule.saved);
            if (saved >= end) return false;
            pointer_at_ = saved;
        }
        frame_end_ = end;
        return true;
    }

    const stack_view& stack_;
    // Relative to the walk's frame, whose first words are the caller's frame pointer and the return
    // address.
    std::uintptr_t frame_end_ = 2 * word_bytes;
    std::uintptr_t pointer_at_ = 0;
    // Optimised code has fewer and larger frames. It finds them by the stack pointer.
    int effort_ = 36;
    const call_step* known_ = nullptr;
    bool is_known_ = true;
    std::size_t count_ = 0;
    noted words_[most_words];
};

bool is_step(const call_step& step, const walker::noted& word) noexcept {
    return step.word == word.word && step.place == word.place &&
           step.is_frame_pointer == word.is_frame_pointer;
}

// Takes `count` of something of which there are `most`. Returns the number taken before; `most` if
// there are not enough.
std::size_t take(std::atomic<std::size_t>& taken, std::size_t count, std::size_t most) noexcept {
    std::size_t before = taken.load(std::memory_order_relaxed);
    while (before + count <= most)
        if (taken.compare_exchange_weak(before, before + count, std::memory_order_relaxed))
            return before;
    return most;
}

// Makes the steps from `from` on behind `before`, not reachable yet. Returns the first one, or null
// if there is no room.
const call_step* make_steps(const call_step* before, const walker& walked,
                            std::size_t from) noexcept {
    const std::size_t count = walked.count() - from;
    if (steps == nullptr) return nullptr;
    const std::size_t begin = take(step_count, count, most_steps);
    if (begin == most_steps) return nullptr;
    for (std::size_t at = 0; at < count; ++at) {
        const walker::noted& word = walked[from + at];
        call_step& step = steps[begin + at];
        step.word = word.word;
        step.place = word.place;
        step.is_frame_pointer = word.is_frame_pointer;
        step.before = at == 0 ? before : &steps[begin + at - 1];
        if (at != 0) steps[begin + at - 1].next.store(&step, std::memory_order_relaxed);
    }
    return &steps[begin];
}

// Leaves the slot of a step with the same word that another thread has published meanwhile.
void publish_branch(const call_step& made) noexcept {
    for (std::size_t probe = 0; probe < branch_slots; ++probe) {
        std::atomic<const call_step*>& slot = branches[slot_of(made.before, made.word, probe)];
        const call_step* there = nullptr;
        // pairs with find_branch()
        if (slot.compare_exchange_strong(there, &made, std::memory_order_acq_rel)) return;
        if (there->before == made.before && there->word == made.word) return;
    }
}

// Adds the steps from `from` on behind `before`, unless another thread adds a step there at the
// same time. Returns false if there is no room.
bool add_steps(const call_step* before, const walker& walked, std::size_t from) noexcept {
    // The steps are constant only for readers.
    auto& first = before == nullptr ? first_step : const_cast<call_step*>(before)->next;
    const bool is_branch = first.load(std::memory_order_relaxed) != nullptr;
    if (is_branch && take(branch_count, 1, most_branches) == most_branches) return false;
    const call_step* const made = make_steps(before, walked, from);
    if (made == nullptr) return false;
    const call_step* none = nullptr;
    if (is_branch)
        publish_branch(*made);
    else
        first.compare_exchange_strong(none, made,
                                      std::memory_order_acq_rel);  // pairs with follow()
    return true;
}

bool is_end(const call_step* of) noexcept {
    return of != nullptr && of->next.load(std::memory_order_acquire) == nullptr;
}

// Returns the end of the walked path, whose steps are added as far as they are not known. Returns
// null if there is no room, or if the path disagrees with an earlier one, as after a library was
// replaced by another one.
const call_step* end_of(const walker& walked) noexcept {
    constexpr int most_tries = 8;  // each one fails only because of another thread
    const call_step* before = nullptr;
    std::size_t at = 0;
    for (int tries = 0; at < walked.count();) {
        const call_step* const step = find_step(before, walked[at].word);
        if (step != nullptr && step->word == walked[at].word) {
            if (!is_step(*step, walked[at])) return nullptr;
            before = step;
            ++at;
        } else if (is_end(before) || ++tries > most_tries || !add_steps(before, walked, at)) {
            return nullptr;
        }
    }
    return is_end(before) ? before : nullptr;
}

[[gnu::noinline, gnu::cold]] const call_step* walk_anew(stack_view stack) noexcept {
    if (failures.load(std::memory_order_relaxed) >= most_failures) return nullptr;
    const kept_errno programs;
    walker walked(stack);
    const call_step* const end = walked.run() ? end_of(walked) : nullptr;
    if (end == nullptr) failures.fetch_add(1, std::memory_order_relaxed);
    return end;
}

}  // namespace

// Has a frame pointer because it reads it, so its frame begins with the caller's frame pointer and
// the return address.
constinit std::atomic<bool> call_paths_wanted{false};

void look_for_call_paths() noexcept {
    if (call_paths_wanted.load(std::memory_order_relaxed)) return;
    void* const memory = ::mmap(nullptr, most_steps * sizeof(call_step), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    steps = static_cast<call_step*>(memory);
    std::uninitialized_default_construct_n(steps, most_steps);
    call_paths_wanted.store(true, std::memory_order_release);
}

[[gnu::noinline]] const call_step* find_call_path(stack_range stack) noexcept {
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const std::uintptr_t last = stack.low + stack.bytes - word_bytes - frame;
    if (last < word_bytes || last >= stack.bytes) [[unlikely]]
        return nullptr;
    const stack_view view{frame, last};
    const call_step* const end =
        view.has(farthest_place) ? follow<false>(view) : follow<true>(view);
    return end != nullptr ? end : walk_anew(view);
}

void keep_site(const call_step& end, const call_names& of, std::uint32_t site) noexcept {
    if (end.keeps.exchange(true, std::memory_order_relaxed)) return;
    end.type.store(of.type, std::memory_order_relaxed);
    end.operation.store(of.operation, std::memory_order_relaxed);
    end.location.store(of.location, std::memory_order_relaxed);
    end.site.store(site, std::memory_order_release);  // pairs with kept_site()
}

std::size_t calls_of(const call_step& end, std::uint64_t (&calls)[most_calls]) noexcept {
    std::size_t count = 0;
    for (const call_step* at = &end; at != nullptr && count < most_calls; at = at->before)
        if (!at->is_frame_pointer && at->word != 0) calls[count++] = at->word - 1;
    std::reverse(calls, calls + count);
    return count;
}

}  // namespace coroscope::runtime::inline calls
