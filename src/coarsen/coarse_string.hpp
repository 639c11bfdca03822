// Coarse strings, such as "SD(300)F(32)": chains of operators that are applied from left to right, each to
// the coarse graph of the one before.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coarsen/aggregation.hpp"
#include "core/interrupt.hpp"
#include "espalier/coarsening.hpp"

namespace espalier {

/// An operator: aggregates the tasks of a graph that check_fine_graph() accepts. The argument is the number
/// in parentheses, or empty.
using CoarseOperator = std::function<Aggregation(TaskGraph const& graph, std::optional<Index> argument)>;

/// The operators that coarse strings may name, by their letters.
class CoarseOperators {
  public:
    /// S, F(N), D(M), C or C(k), B(k), T(k) (operators.hpp); H(cores) is HDagg, G(cores) GrowLocal
    /// (super_steps.hpp); and those of add_coarse_operator(). D, H and G look at the interrupt, which must
    /// outlive the operators.
    static CoarseOperators standard(Interrupt* interrupt = nullptr);

    /// Adds an operator of the user, or replaces one. quotient_graph() checks its aggregations. Error{usage}
    /// unless the letter is a capital letter.
    void add(char letter, CoarseArgument argument, CoarseOperator apply);

    struct Entry {
        CoarseArgument argument = CoarseArgument::none;
        CoarseOperator apply;
    };
    /// Null if there is none.
    [[nodiscard]] Entry const* find(char letter) const;
    [[nodiscard]] std::string letters() const; ///< Ascending, separated by commas.

  private:
    std::map<char, Entry> entries_;
};

/// One operator of a coarse string.
struct CoarseStep {
    char letter = 'S';
    std::optional<Index> argument; ///< At least 1.
    bool operator==(CoarseStep const&) const = default;
};

/// The operators of a coarse string, at least one. Error{usage} quotes the string and names the position,
/// counted from 1, of an unknown letter, of a number that is missing, not expected or outside 1 .. 2^31 - 1,
/// and of a missing parenthesis.
[[nodiscard]] std::vector<CoarseStep>
parse_coarse_string(std::string_view text, CoarseOperators const& operators = CoarseOperators::standard());

/// Applies a coarse string to a task graph. Errors of parse_coarse_string(), check_fine_graph() and
/// quotient_graph(). Error{cancelled} between two steps after the interrupt asks for it.
[[nodiscard]] CoarseGraph coarsen(TaskGraph const& graph, std::string_view text,
                                  CoarseOperators const& operators = CoarseOperators::standard(),
                                  Interrupt* interrupt = nullptr);

/// Runs the parts of an aggregate on a worker. The parts ascend.
using AggregateBody = std::function<void(std::span<TaskId const> parts, WorkerId worker)>;

/// The default: calls body(part, worker) for the parts in their order.
[[nodiscard]] AggregateBody parts_in_order(std::function<void(TaskId, WorkerId)> body);

/// The body of the coarse tasks, for a run of coarse.graph, which must remain alive.
[[nodiscard]] std::function<void(TaskId, WorkerId)> coarse_body(CoarseGraph const& coarse,
                                                                AggregateBody body);

} // namespace espalier
