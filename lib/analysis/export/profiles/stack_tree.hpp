// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stacks of tasks and threads as a tree of frames, with a time at each.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <coroscope/analysis/critical_path.hpp>
#include <coroscope/analysis/event_exports.hpp>
#include <coroscope/analysis/folded_stacks.hpp>
#include <coroscope/analysis/model.hpp>

#include "scope_calls.hpp"

namespace coroscope::analysis::inline profiles {

/// A tree of frames. Nodes are numbers; 0 is the root, which has no frame.
class frame_tree {
public:
    frame_tree() : nodes_(1) {}

    /// Returns the child of a node with that frame, which is added if it does not exist. A node
    /// with most_folded_frames frames has one child for all deeper frames. Without the limit, the
    /// size of the output would be quadratic in the depth of a recursion.
    /// `site` is the frame's place, an index into trace::sites. A frame that has several places has
    /// none.
    [[nodiscard]] std::uint32_t child(std::uint32_t parent, std::string_view frame,
                                      std::uint32_t site = none);

    /// The same without the limit, for a frame that has no children.
    [[nodiscard]] std::uint32_t last_child(std::uint32_t parent, std::string_view frame,
                                           std::uint32_t site = none);

    /// The frame "[queued]" or of another kind, on top of all others.
    [[nodiscard]] std::uint32_t kind_child(std::uint32_t parent, path_kind kind);

    /// The same as child(), but returns `parent` itself if it has that frame.
    [[nodiscard]] std::uint32_t other_child(std::uint32_t parent, std::string_view frame,
                                            std::uint32_t site = none);

    void add(std::uint32_t node, std::int64_t time_ns);

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::int64_t time_of(std::uint32_t node) const { return nodes_[node].time_ns; }

    [[nodiscard]] std::uint32_t parent_of(std::uint32_t node) const { return nodes_[node].parent; }
    /// The number of the node's own frame. Precondition: it is not the root.
    [[nodiscard]] std::uint32_t frame_of(std::uint32_t node) const { return nodes_[node].frame; }

    /// Replaces `way` by the numbers of a node's frames, the outermost first.
    void way_to(std::uint32_t node, std::vector<std::uint32_t>& way) const;

    // The frames, by number. A text is valid UTF-8 on one line, without semicolons.
    [[nodiscard]] std::size_t frame_count() const noexcept { return frames_.size(); }
    [[nodiscard]] const std::string& text_of(std::uint32_t frame) const {
        return frames_[frame].text;
    }
    [[nodiscard]] std::uint32_t site_of(std::uint32_t frame) const { return frames_[frame].site; }

    /// Writes a line for each node with time. Lines are in the order of the nodes.
    [[nodiscard]] written write(const byte_sink& sink) const;

private:
    struct node {
        std::uint32_t parent = 0;
        std::uint32_t frame = 0;  // index into frames_
        std::uint32_t depth = 0;  // number of its frames
        std::int64_t time_ns = 0;
    };

    struct frame {
        std::string text;
        std::uint32_t site = none;  // index into trace::sites
    };

    std::vector<node> nodes_;
    std::vector<frame> frames_;
    std::unordered_map<std::string, std::uint32_t> frame_numbers_;
    std::unordered_map<std::uint64_t, std::uint32_t> children_;  // of (node, frame)
};

/// The nodes of a trace's tasks and scopes. A function's scope that has its task's name, and an
/// await that has its scope's, have no frame of their own. If the stack of a scope was recorded,
/// the functions between the enclosing frame and the scope are frames below the scope.
class stack_tree {
public:
    /// `from` must outlive it.
    explicit stack_tree(const trace& from);

    /// The node of a task's innermost scope (an index into trace::events), or of the task itself.
    [[nodiscard]] std::uint32_t node_of(std::uint32_t task, std::uint32_t event);

    /// The node of an await, above the scope around it.
    [[nodiscard]] std::uint32_t node_of_await(std::uint32_t await);

    /// The node of a scope outside tasks.
    [[nodiscard]] std::uint32_t node_on_thread(std::uint32_t thread, std::uint32_t event);

    [[nodiscard]] frame_tree& frames() noexcept { return frames_; }

private:
    [[nodiscard]] std::uint32_t node_of_task(std::uint32_t task);
    [[nodiscard]] std::uint32_t node_below(std::uint32_t await);
    [[nodiscard]] std::uint32_t node_at(const await_info& await, std::uint32_t task_node);
    [[nodiscard]] std::uint32_t node_of_scope(std::uint32_t event, std::uint32_t base);

    const trace& from_;
    scope_calls calls_;
    frame_tree frames_;
    std::vector<std::uint32_t> awaits_of_;    // by task: the last await for it, or none
    std::vector<std::uint32_t> task_nodes_;   // by task; 0: not known yet
    std::vector<std::uint32_t> scope_nodes_;  // by event; 0: not known yet
};

}  // namespace coroscope::analysis::inline profiles
