#include "analysis/options_without_effect.hpp"

#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/names.hpp"

namespace espalier {

namespace {

// Options as a user spells them, such as "levels 2".
class GivenOptions {
  public:
    template <class Value> void add(std::string_view name, Value const& value) {
        if constexpr (std::is_enum_v<Value>)
            texts_.push_back(fmt::format("{} {}", name, spellings<Value>[static_cast<std::size_t>(value)]));
        else
            texts_.push_back(fmt::format("{} {}", name, value));
    }
    /// Adds the option unless it has its default.
    template <class Value> void add(std::string_view name, Value const& value, Value const& usual) {
        if (value != usual) add(name, value);
    }
    /// Adds a note that these options have no effect under a condition, if there are any.
    void note_for(std::string_view condition, std::vector<std::string>& notes) const {
        if (!texts_.empty())
            notes.push_back(fmt::format("{} {} no effect {}", fmt::join(texts_, ", "),
                                        texts_.size() == 1 ? "has" : "have", condition));
    }

  private:
    std::vector<std::string> texts_;
};

void add_options_of_column_blocks(GivenOptions& given, Options const& options, Options const& usual) {
    given.add("split", options.splitting, usual.splitting);
    given.add("subtrees-per-worker", options.subtrees_per_worker, usual.subtrees_per_worker);
    given.add("max-block-width", options.max_block_width, usual.max_block_width);
    given.add("min-block-width", options.min_block_width, usual.min_block_width);
}

// Incomplete factors have neither column blocks nor an elimination tree, and run in the order of lists by
// default.
GivenOptions options_of_complete_factors(Options const& options, Options const& usual) {
    GivenOptions given;
    if (options.schedule == SchedulePolicy::automatic) given.add("schedule", options.schedule);
    add_options_of_column_blocks(given, options, usual);
    if (options.supernodes == Toggle::off) given.add("supernodes", options.supernodes);
    given.add("pivoting", options.pivoting, usual.pivoting);
    given.add("pivot-tolerance", options.pivot_tolerance, usual.pivot_tolerance);
    return given;
}

GivenOptions options_of_incomplete_factors(Options const& options, Options const& usual) {
    GivenOptions given;
    given.add("levels", options.levels, usual.levels);
    given.add("block-size", options.block_size, usual.block_size);
    given.add("coarsen", options.coarsen, usual.coarsen);
    given.add("runtime", options.runtime, usual.runtime);
    return given;
}

} // namespace

std::vector<std::string> options_without_effect(Options const& options, FactorForm const& form) {
    static Options const usual;
    std::vector<std::string> notes;
    if (options.method == SolveMethod::ilu) {
        options_of_complete_factors(options, usual).note_for("with method ilu", notes);
        return notes;
    }
    options_of_incomplete_factors(options, usual).note_for("with method direct", notes);
    // llh that was not asked for may be replaced by ldlt or ldlh, which have pivots.
    bool const has_pivots =
        options.factorization == Factorization::automatic || form.has_d() || form.has_upper();
    // With `condition`, columns may be delayed in any case.
    bool const may_delay = options.pivoting != Pivoting::static_pivots || options.condition;
    GivenOptions pivots;
    if (!has_pivots) pivots.add("pivoting", options.pivoting, usual.pivoting);
    if (!has_pivots || !may_delay)
        pivots.add("pivot-tolerance", options.pivot_tolerance, usual.pivot_tolerance);
    pivots.note_for(fmt::format("with {}", has_pivots ? "pivoting static" : to_string(options.factorization)),
                    notes);
    return notes;
}

std::vector<std::string> options_without_effect_on_columns(Options const& options, FactorForm const& form) {
    static Options const usual;
    GivenOptions given;
    if (form.has_upper()) { // with scales and an order of its own
        given.add("matching", options.matching, usual.matching);
        given.add("scaling", options.scaling, usual.scaling);
        if (options.ordering != OrderingMethod::amd && options.ordering != OrderingMethod::natural)
            given.add("ordering", options.ordering, usual.ordering);
    }
    given.add("schedule", options.schedule, usual.schedule);
    add_options_of_column_blocks(given, options, usual);
    given.add("amalgamation-fill", options.amalgamation_fill, usual.amalgamation_fill);
    std::vector<std::string> notes;
    given.note_for("without supernodes", notes);
    return notes;
}

} // namespace espalier
