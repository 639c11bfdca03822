// Options by name: one row of a table for each, with the way in and the way out. Names and spellings are
// those of the command line.
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include "espalier/options.hpp"
#include "solver/option_names.hpp"
#include "solver/parse_value.hpp"

namespace espalier {

namespace {

struct OptionRow {
    std::string_view name;
    void (*set)(Options&, std::string_view name, std::string_view text);
    std::string (*get)(Options const&);
};

// The value whose spelling is `text`.
template <class Enum>
Enum choice(std::string_view name, std::string_view text, std::initializer_list<Enum> values) {
    std::string spellings;
    for (Enum const value : values) {
        if (text == to_string(value)) return value;
        spellings += (spellings.empty() ? "" : ", ") + std::string(to_string(value));
    }
    throw Error(Status::usage, fmt::format("{} has no value '{}'; it has {}", name, text, spellings));
}

// The rows of a member whose type is an enumeration.
template <auto member, auto... values> constexpr OptionRow one_of(std::string_view name) {
    return {name,
            [](Options& options, std::string_view option, std::string_view text) {
                options.*member = choice(option, text, {values...});
            },
            [](Options const& options) { return std::string(to_string(options.*member)); }};
}

template <Toggle Options::*member> constexpr OptionRow toggle(std::string_view name) {
    return one_of<member, Toggle::automatic, Toggle::on, Toggle::off>(name);
}

template <bool Options::*member> constexpr OptionRow on_or_off(std::string_view name) {
    return {name,
            [](Options& options, std::string_view option, std::string_view text) {
                options.*member = choice(option, text, {Toggle::on, Toggle::off}) == Toggle::on;
            },
            [](Options const& options) { return std::string(options.*member ? "on" : "off"); }};
}

// A count of which 0 is left to the library, spelled "auto".
template <int Options::*member, int most> constexpr OptionRow count_or_auto(std::string_view name) {
    return {name,
            [](Options& options, std::string_view option, std::string_view text) {
                options.*member = text == "auto" ? 0 : static_cast<int>(parse_count(option, text, 1, most));
            },
            [](Options const& options) {
                return options.*member == 0 ? "auto" : std::to_string(options.*member);
            }};
}

template <Index Options::*member> constexpr OptionRow width(std::string_view name) {
    return {name,
            [](Options& options, std::string_view option, std::string_view text) {
                options.*member = parse_count(option, text, 1, 1'000'000);
            },
            [](Options const& options) { return std::to_string(options.*member); }};
}

void set_ordering(Options& options, std::string_view name, std::string_view text) {
    options.ordering_positions.clear();
    using enum OrderingMethod;
    if (text.empty())
        throw Error(Status::usage, fmt::format("{} needs scotch, metis, amd, natural or a file", name));
    for (OrderingMethod const method : {scotch, metis, amd, natural})
        if (text == to_string(method)) {
            options.ordering = method;
            options.ordering_file.clear();
            return;
        }
    options.ordering_file = text;
    options.ordering = user;
}

std::string get_ordering(Options const& options) {
    return options.ordering == OrderingMethod::user ? options.ordering_file : to_string(options.ordering);
}

using F = Factorization;
using R = RefineMethod;

constexpr std::array table = {
    one_of<&Options::factorization, F::automatic, F::llh, F::llt, F::ldlt, F::ldlh, F::lu>("factorization"),
    toggle<&Options::matching>("matching"),
    toggle<&Options::scaling>("scaling"),
    on_or_off<&Options::mixed_precision>("mixed-precision"),
    on_or_off<&Options::condition>("condition"),
    on_or_off<&Options::allow_singular>("allow-singular"),
    OptionRow{"ordering", set_ordering, get_ordering},
    count_or_auto<&Options::threads, 4096>("threads"),
    on_or_off<&Options::bind_threads>("bind"),
    OptionRow{"comm-threads",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.comm_threads = static_cast<int>(parse_count(name, text, 0, 2));
              },
              [](Options const& options) { return std::to_string(options.comm_threads); }},
    OptionRow{"topology",
              [](Options& options, std::string_view name, std::string_view text) {
                  if (text.empty())
                      throw Error(Status::usage,
                                  fmt::format("{} needs 'here', a description or a file", name));
                  options.topology = text == "here" ? "" : text;
              },
              [](Options const& options) {
                  return options.topology.empty() ? std::string("here") : options.topology;
              }},
    toggle<&Options::calibration>("calibration"),
    on_or_off<&Options::record_trace>("record-trace"),
    one_of<&Options::schedule, SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
           SchedulePolicy::places, SchedulePolicy::nas>("schedule"),
    one_of<&Options::push_init, PushInit::cyclicnuma, PushInit::randnuma>("push-init"),
    one_of<&Options::push, PushStrategy::loc, PushStrategy::loc_num, PushStrategy::numa_w,
           PushStrategy::numa_wloc>("push"),
    one_of<&Options::select, SelectStrategy::rand, SelectStrategy::rand_numa, SelectStrategy::proc,
           SelectStrategy::numa, SelectStrategy::proc_numa, SelectStrategy::numa_proc>("select"),
    on_or_off<&Options::strict>("strict"),
    OptionRow{"seed",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.seed = static_cast<std::uint64_t>(
                      parse_count(name, text, 0, std::numeric_limits<std::int64_t>::max()));
              },
              [](Options const& options) { return std::to_string(options.seed); }},
    one_of<&Options::allocation, Allocation::global, Allocation::local, Allocation::interleave>("alloc"),
    one_of<&Options::splitting, Splitting::one_d, Splitting::two_d>("split"),
    width<&Options::split_width>("split-width"),
    width<&Options::split_rows>("split-rows"),
    width<&Options::max_block_width>("max-block-width"),
    width<&Options::min_block_width>("min-block-width"),
    OptionRow{"amalgamation-fill",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.amalgamation_fill = parse_not_negative(name, text);
              },
              [](Options const& options) { return fmt::format("{}", options.amalgamation_fill); }},
    OptionRow{"pivot-threshold",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.pivot_threshold = text == "auto" ? -1 : parse_not_negative(name, text);
              },
              [](Options const& options) {
                  return options.pivot_threshold < 0 ? "auto" : fmt::format("{}", options.pivot_threshold);
              }},
    one_of<&Options::refine, R::automatic, R::none, R::ir, R::cg, R::gmres, R::bicgstab>("refine"),
    count_or_auto<&Options::max_refine_iterations, 1'000'000>("max-refine-iterations"),
    OptionRow{"tolerance",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.tolerance = text == "auto" ? 0 : parse_positive(name, text);
              },
              [](Options const& options) {
                  return options.tolerance == 0 ? "auto" : fmt::format("{}", options.tolerance);
              }},
    OptionRow{"max-memory",
              [](Options& options, std::string_view name, std::string_view text) {
                  options.max_memory = text == "none" ? 0 : parse_size(name, text);
              },
              [](Options const& options) {
                  return options.max_memory == 0 ? "none" : spell_size(options.max_memory);
              }},
};

OptionRow const& row_of(std::string_view name) {
    std::string names;
    for (OptionRow const& row : table) {
        if (row.name == name) return row;
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    throw Error(Status::usage, fmt::format("there is no option '{}'; there are {}", name, names));
}

} // namespace

void set_option(Options& options, std::string_view name, std::string_view value) {
    OptionRow const& row = row_of(name);
    row.set(options, row.name, value);
}

std::string get_option(Options const& options, std::string_view name) {
    return row_of(name).get(options);
}

std::size_t num_options() noexcept {
    return table.size();
}

char const* option_name(std::size_t k) noexcept {
    return table[k].name.data(); // a literal
}

std::vector<std::string_view> option_names() {
    std::vector<std::string_view> names;
    for (OptionRow const& row : table) names.push_back(row.name);
    return names;
}

} // namespace espalier
