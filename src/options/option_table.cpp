#include "options/option_table.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "coarsen/coarse_string.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "core/suggest.hpp"
#include "options/parse_value.hpp"
#include "runtime/other_runtime.hpp"

namespace espalier {

namespace {

constexpr std::array<char const*, 2> off_on{"off", "on"};
constexpr double infinity = std::numeric_limits<double>::infinity();

template <auto member> using Member = std::remove_reference_t<decltype(std::declval<Options&>().*member)>;

// An enumeration, or a bool.
template <auto member> constexpr OptionRow choice(OptionHeading const& heading) {
    using Value = Member<member>;
    OptionRow row{heading};
    if constexpr (std::is_same_v<Value, bool>) {
        row.type = OptionType::flag;
        row.choices = off_on;
    } else {
        row.type = OptionType::choice;
        row.choices = spellings<Value>;
    }
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        options.*member = static_cast<Value>(parse_choice(self.name, text, self.choices));
    };
    row.get = [](Options const& options, OptionRow const& self) {
        return std::string(self.choices[static_cast<std::size_t>(options.*member)]);
    };
    row.set_index = [](Options& options, std::int64_t k) { options.*member = static_cast<Value>(k); };
    return row;
}

// An integer in [least, most]. The value 0 is spelled `unset`, unless that is empty.
template <auto member> constexpr OptionRow count(OptionHeading const& heading, std::int64_t least,
                                                 std::int64_t most, std::string_view unset = "") {
    OptionRow row{heading, OptionType::count, {}, least, most, unset};
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        bool const is_unset = !self.unset.empty() && text == self.unset;
        options.*member = static_cast<Member<member>>(
            is_unset ? 0 : parse_count(self.name, text, self.least, self.most, self.unset));
    };
    row.get = [](Options const& options, OptionRow const& self) {
        bool const is_unset = !self.unset.empty() && options.*member == 0;
        return is_unset ? std::string(self.unset) : std::to_string(options.*member);
    };
    return row;
}

// A number that is not negative. The value `unset_value`, which is not allowed otherwise, is spelled `unset`,
// unless that is empty.
template <auto member, int unset_value>
constexpr OptionRow real(OptionHeading const& heading, std::string_view unset = "auto") {
    OptionRow row{heading, OptionType::real};
    row.unset = unset;
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        if (!self.unset.empty() && text == self.unset)
            options.*member = unset_value;
        else
            options.*member = unset_value == 0 ? parse_positive(self.name, text, infinity, self.unset)
                                               : parse_not_negative(self.name, text, self.unset);
    };
    row.get = [](Options const& options, OptionRow const& self) {
        bool const is_unset = unset_value == 0 ? options.*member == 0 : options.*member < 0;
        return is_unset && !self.unset.empty() ? std::string(self.unset) : fmt::format("{}", options.*member);
    };
    return row;
}

constexpr OptionRow pivot_tolerance(OptionHeading const& heading) {
    OptionRow row{heading, OptionType::real};
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        options.pivot_tolerance = parse_positive(self.name, text, most_pivot_tolerance);
    };
    row.get = [](Options const& options, OptionRow const&) {
        return fmt::format("{}", options.pivot_tolerance);
    };
    return row;
}

constexpr OptionRow max_memory(OptionHeading const& heading) {
    OptionRow row{heading, OptionType::size};
    row.unset = "none";
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        options.max_memory = text == self.unset ? 0 : parse_size(self.name, text, self.unset);
    };
    row.get = [](Options const& options, OptionRow const& self) {
        return options.max_memory == 0 ? std::string(self.unset) : spell_size(options.max_memory);
    };
    return row;
}

constexpr std::array ordering_methods = {
    OrderingMethod::automatic, OrderingMethod::dissection, OrderingMethod::scotch, OrderingMethod::metis,
    OrderingMethod::amd,       OrderingMethod::natural,    OrderingMethod::rcm}; // `user` is a file
constexpr auto ordering_names = [] {
    std::array<char const*, ordering_methods.size()> names{};
    for (std::size_t k = 0; k < names.size(); ++k)
        names[k] = spellings<OrderingMethod>[static_cast<std::size_t>(ordering_methods[k])];
    return names;
}();

// The value of the option if Options::ordering_positions has the ordering.
constexpr std::string_view given_positions = "positions";

constexpr OptionRow ordering(OptionHeading const& heading) {
    OptionRow row{heading, OptionType::text, ordering_names};
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        if (text.empty())
            throw Error(Status::usage,
                        fmt::format("{} needs {} or a file", self.name, fmt::join(ordering_names, ", ")));
        if (text == given_positions) {
            if (options.ordering_positions.empty())
                throw Error(Status::usage, fmt::format("{0} '{1}' needs positions, but none were set; for "
                                                       "a file of this name, write './{1}'",
                                                       self.name, text));
            options.ordering_file.clear();
            options.ordering = OrderingMethod::user;
            return;
        }
        options.ordering_positions.clear();
        options.ordering_file.clear();
        for (std::size_t k = 0; k < ordering_methods.size(); ++k)
            if (text == ordering_names[k]) {
                options.ordering = ordering_methods[k];
                return;
            }
        options.ordering_file = text;
        options.ordering = OrderingMethod::user;
    };
    row.get = [](Options const& options, OptionRow const&) {
        if (options.ordering != OrderingMethod::user) return std::string(to_string(options.ordering));
        return options.ordering_positions.empty() ? options.ordering_file : std::string(given_positions);
    };
    return row;
}

constexpr std::array<char const*, 2> coarsenings{"auto", "none"};

void require_coarse_string(std::string_view option, std::string_view text) {
    if (std::ranges::find(coarsenings, text) != coarsenings.end()) return;
    try {
        static_cast<void>(parse_coarse_string(text));
    } catch (Error const& error) {
        throw Error(error.status(), fmt::format("{} needs {} or a coarse string such as CD(4): {}", option,
                                                fmt::join(coarsenings, ", "), error.what()));
    }
}

constexpr OptionRow coarsen(OptionHeading const& heading) {
    OptionRow row{heading, OptionType::text, coarsenings};
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        require_coarse_string(self.name, text);
        options.coarsen = text;
    };
    row.get = [](Options const& options, OptionRow const&) { return options.coarsen; };
    return row;
}

constexpr std::array<char const*, 1> this_machine{"here"};

constexpr OptionRow topology(OptionHeading const& heading) {
    OptionRow row{heading, OptionType::text, this_machine};
    row.set = [](Options& options, OptionRow const& self, std::string_view text) {
        if (text.empty())
            throw Error(Status::usage, fmt::format("{} needs 'here', a description or a file", self.name));
        if (text.ends_with(".json"))
            throw Error(Status::usage,
                        fmt::format("{0} '{1}' is a machine file, which only simulations read ('espalier "
                                    "simulate --machine'); {0} needs an XML file of lstopo, or a description "
                                    "such as 'numa:2 core:8'",
                                    self.name, text));
        options.topology = text == "here" ? "" : text;
    };
    row.get = [](Options const& options, OptionRow const&) {
        return options.topology.empty() ? std::string("here") : options.topology;
    };
    return row;
}

namespace option_rows {

using namespace subcommand;

constexpr std::string_view method = "Method", machine = "Machine", scheduling = "Schedule",
                           accuracy = "Accuracy";
constexpr int most_threads = 4096;
constexpr Index most_columns = 1'000'000;

constexpr std::array table = {
    choice<&Options::factorization>(
        {"factorization", analyses, method, "KIND",
         "factorization of the matrix: Cholesky (llh, llt), LDL (ldlt, ldlh) or LU (lu)",
         "chosen from its symmetry and diagonal"}),
    choice<&Options::matching>(
        {"matching", analyses, method, "WHEN",
         "permute rows (lu) or pair them for 2x2 pivots (ldlt, ldlh) by a maximum-product matching",
         "if a diagonal entry is zero or weak"}),
    choice<&Options::scaling>({"scaling", analyses, method, "WHEN", "scale rows and columns",
                               "for lu, ldlt and ldlh, and with mixed precision"}),
    choice<&Options::method>(
        {"method", here, method, "METHOD",
         "complete factorization, or incomplete factorization by level of fill (ILU, IC) as "
         "preconditioner of a Krylov method; auto: chosen by predicted memory and time"}),
    choice<&Options::mixed_precision>({"mixed-precision", systems, accuracy, "",
                                       "factorize in single precision and refine to the precision of the "
                                       "run; fall back to full precision if single precision is not accurate "
                                       "enough"}),
    choice<&Options::condition>(
        {"condition", subcommand::solve, accuracy, "",
         "estimate the condition number and the forward error, and print the determinant and the inertia"}),
    choice<&Options::allow_singular>(
        {"allow-singular", none, accuracy, "",
         "accept a matrix that is singular by its pattern, to compute its null space"}),
    ordering({"ordering", analyses, method, "METHOD|FILE",
              "ordering of the unknowns: a method, or a file with the new position of each row",
              "dissection, or amd or rcm if that saves time; natural for --method ilu"}),
    choice<&Options::reuse_ordering>({"reuse-ordering", none, method, "",
                                      "adapt the ordering of the solver's last analysis to a changed pattern "
                                      "instead of finding a new one"}),
    count<&Options::levels>({"levels", here, method, "K", "ilu: level of fill k of ILU(k) and IC(k)"}, 0,
                            1'000'000),
    count<&Options::block_size>(
        {"block-size", here, method, "B", "ilu: size of dense blocks", "found from the matrix"}, 1, 6,
        "auto"),
    coarsen({"coarsen", here, method, "STRING",
             "ilu: aggregation of rows into tasks by a coarse string such as CD(4) (docs/user-guide.md)"}),
    choice<&Options::runtime>(
        {"runtime", here, method, "RUNTIME",
         "ilu: runtime that executes the tasks: threads of Espalier with the policy of --schedule, or "
         "oneTBB or OpenMP, if this build has them"}),
    count<&Options::threads>({"threads", runs, machine, "T", "worker threads of each process",
                              "the cores that the process may use"},
                             1, most_threads, "auto"),
    choice<&Options::bind_threads>({"bind", none, machine, "", "bind worker threads to cores"}),
    count<&Options::comm_threads>(
        {"comm-threads", analyses, machine, "C",
         "communication threads of each process, if there are several: with 2 one sends and one "
         "receives, with 0 workers move messages between tasks; fewer if MPI does not allow as many"},
        0, 2),
    choice<&Options::comm_own_core>(
        {"comm-own-core", analyses, machine, "WHEN",
         "assume in plans and predictions that communication threads have cores of their own; otherwise they "
         "slow workers down",
         "if a process has cores without workers"}),
    topology({"topology", here | dense, machine, "MACHINE",
              "machine to plan for: an XML file of lstopo, or a description such as 'numa:2 core:8'; workers "
              "then have virtual cores and NUMA nodes",
              "this machine"}),
    choice<&Options::calibration>(
        {"calibration", analyses, machine, "WHEN",
         "predict times with a cost model measured on this machine: on measures it again, off uses the "
         "default model",
         "measured once before a long factorization, and kept"}),
    choice<&Options::record_trace>({"record-trace", none, scheduling, "", "record what each thread does"}),
    choice<&Options::schedule>({"schedule", runs, scheduling, "POLICY",
                                "which worker runs which task; static: lists made in advance; dynamic: a "
                                "tree of queues; places: queues of "
                                "cores and of NUMA nodes; nas: one queue for each NUMA node; auto: "
                                "simulations choose the policy, --split "
                                "and the widths of column blocks"}),
    choice<&Options::push_init>(
        {"push-init", runs, scheduling, "WHERE",
         "places: distribution of the panels or tiles over the NUMA nodes; a task runs where its data is"}),
    choice<&Options::push>(
        {"push", runs, scheduling, "WHERE", "places: list that receives a ready task (docs/scheduling.md)"}),
    choice<&Options::select>({"select", runs, scheduling, "WHERE",
                              "places: lists from which an idle worker steals (docs/scheduling.md)"}),
    choice<&Options::strict>(
        {"strict", runs, scheduling, "", "dynamic, places, nas: no stealing across NUMA nodes"}),
    count<&Options::seed>({"seed", runs, scheduling, "N", "places: seed of the random choices"}, 0,
                          std::numeric_limits<std::int64_t>::max()),
    choice<&Options::allocation>({"alloc", runs, machine, "POLICY",
                                  "where the coefficients are stored: near one thread, near the "
                                  "threads that own them, or on all NUMA "
                                  "nodes in turn"}),
    choice<&Options::splitting>(
        {"split", analyses, scheduling, "KIND",
         "tasks of a column block: 1d: one; 2d: one for each group of rows if the block is wide and several "
         "threads are candidates; dynamic: one, divided while it runs if threads are idle"}),
    count<&Options::split_width>({"split-width", analyses, scheduling, "COLUMNS",
                                  "2d, dynamic: minimum width of a column block that is split"},
                                 1, most_columns),
    count<&Options::split_rows>(
        {"split-rows", analyses, scheduling, "ROWS", "2d, dynamic: minimum number of rows in a group"}, 1,
        most_columns),
    count<&Options::split_idle>({"split-idle", analyses, scheduling, "N",
                                 "dynamic: minimum number of idle threads for which a task is divided"},
                                1, most_columns),
    real<&Options::split_seconds, -1>({"split-seconds", analyses, scheduling, "SECONDS",
                                       "dynamic: minimum predicted time of a task that is divided"},
                                      ""),
    count<&Options::subtrees_per_worker>(
        {"subtrees-per-worker", analyses, scheduling, "N",
         "a subtree of the elimination tree is one task if it costs at most 1/N of the work of a worker"},
        1, most_columns),
    count<&Options::max_block_width>({"max-block-width", analyses, scheduling, "COLUMNS",
                                      "maximum width of a column block; wider supernodes are split",
                                      "at most 256, down to 96 if several workers share it"},
                                     1, most_columns, "auto"),
    count<&Options::min_block_width>({"min-block-width", analyses, scheduling, "COLUMNS",
                                      "minimum width of the column blocks of a split supernode",
                                      "half of the largest"},
                                     1, most_columns, "auto"),
    real<&Options::amalgamation_fill, -1>(
        {"amalgamation-fill", none, method, "SHARE",
         "zeros that amalgamation may store, relative to the entries of the factor"},
        ""),
    choice<&Options::supernodes>(
        {"supernodes", systems, method, "WHEN",
         "factorize by dense blocks of columns (supernodes); off: by single columns, on one thread of one "
         "process (lu, llh, ldlt, ldlh)",
         "off if single columns are predicted to be faster"}),
    choice<&Options::pivoting>(
        {"pivoting", here, method, "KIND",
         "ldlt, ldlh, lu: static replaces small pivots; delayed eliminates columns without a good pivot "
         "later, in a larger block; auto: delayed where static would replace pivots or lose accuracy"}),
    pivot_tolerance(
        {"pivot-tolerance", here, method, "U",
         "delayed, auto: smallest accepted pivot, relative to the other entries of its column; above "
         "0 and at most 0.5"}),
    real<&Options::pivot_threshold, -1>(
        {"pivot-threshold", none, accuracy, "SHARE",
         "pivots below this share of the largest entry are replaced",
         "the square root of the machine epsilon; less if columns are delayed"}),
    choice<&Options::refine>(
        {"refine", systems, accuracy, "METHOD",
         "method that improves the solution: iterative refinement (ir) or a Krylov method",
         "ir, then gmres if ir stalls; with --method ilu gmres, preceded by cg for IC"}),
    count<&Options::max_refine_iterations>(
        {"max-refine-iterations", systems, accuracy, "N",
         "maximum number of steps of each method that improves the solution",
         "10 for ir, 300 for Krylov methods, 2000 with --method ilu"},
        1, 1'000'000, "auto"),
    real<&Options::tolerance, 0>({"tolerance", systems, accuracy, "E",
                                  "backward error up to which a system counts as solved",
                                  "1e-12 in double, 1e-5 in single precision"}),
    max_memory({"max-memory", here, machine, "SIZE",
                "memory limit, such as 512M, 4G or 1.5GiB: steps that need more are refused; the "
                "processes of "
                "a computer share the limit",
                "no limit"}),
};

} // namespace option_rows

using option_rows::table;

} // namespace

// "FILE" of "METHOD|FILE".
static std::string other_text(std::string_view placeholder) {
    return std::string(placeholder.substr(placeholder.find('|') + 1));
}

std::string OptionRow::description() const {
    std::string text(help);
    if (type == OptionType::flag) return text;
    if (choices.size() > 1)
        text += fmt::format(" ({}{})", fmt::join(choices, ", "),
                            type == OptionType::text ? " or " + other_text(placeholder) : "");
    text += " [" + get(Options{}, *this);
    if (!automatic.empty()) text += ": " + std::string(automatic);
    return text + "]";
}

std::span<OptionRow const> option_table() noexcept {
    return table;
}

OptionRow const& option_row(std::string_view name) {
    for (OptionRow const& row : table)
        if (row.name == name) return row;
    auto const names = option_names();
    throw Error(Status::usage, fmt::format("unknown option '{}'{}; the options are {}", name,
                                           did_you_mean(name, names), fmt::join(names, ", ")));
}

void set_option_index(Options& options, std::string_view name, std::int64_t k) {
    OptionRow const& row = option_row(name);
    if (k < 0 || k >= std::ssize(row.choices))
        throw Error(Status::usage,
                    fmt::format("{} = {} is outside of 0 .. {}", name, k, row.choices.size() - 1));
    row.set_index(options, k);
}

void set_option(Options& options, std::string_view name, std::string_view value) {
    OptionRow const& row = option_row(name);
    row.set(options, row, value);
}

std::string get_option(Options const& options, std::string_view name) {
    OptionRow const& row = option_row(name);
    return row.get(options, row);
}

std::vector<std::string_view> option_names() {
    std::vector<std::string_view> names;
    for (OptionRow const& row : table) names.push_back(row.name);
    return names;
}

} // namespace espalier
