#include "simulation/choose_schedule.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "core/timer.hpp"

namespace espalier {

namespace {

constexpr double worthwhile = 0.97;    // share of the predicted time of the default schedule
constexpr double most_tasks = 250'000; // number of tasks to simulate; a task takes about four microseconds
constexpr double least_simulations =
    3; // time for as many simulations of the default schedule is always allowed
constexpr double groups_of_panel = 8; // expected, if tasks are cut into groups of rows
constexpr Index widest = PieceWidths{}.most;
constexpr std::array<Index, 6> uniform_widths_to_try = {128, 96, 192, widest, 64, 48};
constexpr std::array<Index, 2> group_rows_to_try = {192, 768};
constexpr Index finer_subtrees = 8; // subtrees_per_worker

ScheduleSettings with(ScheduleSettings settings, SchedulePolicy policy, Splitting splitting) {
    settings.schedule = policy;
    settings.splitting = splitting;
    return settings;
}

// The defaults of the settings that the search chooses. All others are as given.
ScheduleSettings default_settings(ScheduleSettings const& given) {
    ScheduleSettings const defaults;
    ScheduleSettings settings = with(given, defaults.schedule, defaults.splitting);
    settings.push_init = defaults.push_init;
    settings.push = defaults.push;
    settings.select = defaults.select;
    settings.split_width = defaults.split_width;
    settings.split_rows = defaults.split_rows;
    settings.split_idle = defaults.split_idle;
    settings.split_seconds = defaults.split_seconds;
    settings.subtrees_per_worker = defaults.subtrees_per_worker;
    return settings;
}

class ScheduleSearch {
  public:
    ScheduleSearch(SupernodalStructure const& whole, CostModel const& model,
                   std::span<MachineModel const> machines, ScheduleOptions const& options,
                   Interrupt* interrupt)
        : whole_(whole), model_(model), machines_(machines), options_(options), interrupt_(interrupt),
          default_(default_settings(options)) {}

    ScheduleChoice run() {
        Timer const timer;
        simulate(default_, 0);
        double const plain = best_.default_seconds = best_.seconds;
        left_ = std::max(most_tasks, least_simulations * known_.at(default_.splitting).tasks);
        bool const is_parallel = machines_.front().num_workers() > 1;
        if (is_parallel) try_splittings();
        for (Index const width : uniform_widths_to_try)
            if (is_allowed(width)) try_with(&ScheduleSettings::max_block_width, width);
        if (is_parallel) {
            try_policies();
            try_groups();
            try_with(&ScheduleSettings::subtrees_per_worker, finer_subtrees);
            for (std::size_t shape = 1; shape < machines_.size(); ++shape) try_one(best_.settings, shape);
        }
        if (best_.seconds > worthwhile * plain) {
            best_.settings = default_;
            best_.machine = 0;
            best_.seconds = plain;
        }
        best_.search_seconds = timer.seconds();
        return best_;
    }

  private:
    /// The last simulation with a splitting.
    struct Known {
        double tasks = 0;
        Index width = widest; ///< The least upper bound of the width of a piece.
    };

    // Whether the search may set max_block_width to this.
    [[nodiscard]] bool is_allowed(Index width) const {
        return options_.max_block_width == 0 && width >= options_.min_block_width;
    }

    // Tries wide column blocks, which have fewer tasks, if narrow ones have too many.
    void try_splittings() {
        using enum Splitting;
        for (Splitting const splitting : {one_d, dynamic, two_d}) {
            ScheduleSettings settings = with(default_, SchedulePolicy::dynamic_tree, splitting);
            if (try_one(settings, best_.machine) || !is_allowed(widest)) continue;
            settings.max_block_width = widest;
            try_one(settings, best_.machine);
        }
    }
    void try_policies() {
        using enum SchedulePolicy;
        bool const has_nodes = machines_[best_.machine].num_nodes() > 1;
        for (SchedulePolicy const policy : {static_order, nas, places})
            if (policy != best_.settings.schedule && (policy == static_order || has_nodes))
                try_one(with(best_.settings, policy, best_.settings.splitting), best_.machine);
    }
    void try_groups() {
        if (best_.settings.splitting == Splitting::one_d) return;
        for (Index const rows : group_rows_to_try) try_with(&ScheduleSettings::split_rows, rows);
    }
    void try_with(Index ScheduleSettings::* member, Index value) {
        ScheduleSettings settings = best_.settings;
        settings.*member = value;
        try_one(settings, best_.machine);
    }

    // Returns false if the simulation has too many tasks.
    bool try_one(ScheduleSettings const& settings, std::size_t shape) {
        check(interrupt_);
        auto widths = piece_widths(whole_.supernodes, settings, machines_[shape].num_workers());
        if (forecast(settings.splitting, narrowest(widths)) > left_) return false;
        simulate(settings, shape);
        return true;
    }

    static Index narrowest(std::vector<PieceWidths> const& widths) {
        Index least = std::numeric_limits<Index>::max();
        for (PieceWidths const& bounds : widths) least = std::min(least, bounds.most);
        return least;
    }

    // The number of tasks grows with the square of the number of column blocks.
    [[nodiscard]] double forecast(Splitting splitting, Index width) const {
        auto const same = known_.find(splitting);
        Known const& known = same != known_.end() ? same->second : known_.at(Splitting::one_d);
        double const cut = same == known_.end() && splitting == Splitting::two_d ? groups_of_panel : 1;
        double const finer = static_cast<double>(known.width) / static_cast<double>(width);
        return cut * known.tasks * finer * finer;
    }

    void simulate(ScheduleSettings const& settings, std::size_t shape) {
        MachineModel const& machine = machines_[shape];
        auto widths = piece_widths(whole_.supernodes, settings, machine.num_workers());
        if (widths != widths_) structure_ = split_structure(whole_, widths);
        widths_ = std::move(widths);
        ScheduleOptions options = options_;
        static_cast<ScheduleSettings&>(options) = settings;
        options.models_memory = true;
        Schedule const schedule = simulate_schedule(structure_, model_, machine, options);
        auto const tasks = static_cast<double>(schedule.tasks.graph.num_tasks());
        known_[settings.splitting] = {tasks, narrowest(widths_)};
        left_ -= tasks;
        if (best_.tried++ > 0 && schedule.makespan() >= best_.seconds) return;
        best_.settings = settings;
        best_.machine = shape;
        best_.seconds = schedule.makespan();
    }

    SupernodalStructure const& whole_;
    CostModel const& model_;
    std::span<MachineModel const> machines_;
    ScheduleOptions const& options_;
    Interrupt* interrupt_;
    ScheduleSettings default_;
    ScheduleChoice best_;
    double left_ = most_tasks;
    std::map<Splitting, Known> known_;
    std::vector<PieceWidths> widths_; // widths of pieces in structure_
    BlockStructure structure_;
};

} // namespace

ScheduleChoice choose_schedule(SupernodalStructure const& whole, CostModel const& model,
                               std::span<MachineModel const> machines, ScheduleOptions const& options,
                               Interrupt* interrupt) {
    if (options.schedule != SchedulePolicy::automatic) return {.settings = options};
    return ScheduleSearch(whole, model, machines, options, interrupt).run();
}

std::vector<PieceWidths> piece_widths(Supernodes const& supernodes, ScheduleSettings const& settings,
                                      int workers) {
    Index const most = settings.max_block_width, least = settings.min_block_width;
    std::vector<PieceWidths> widths =
        most > 0 ? uniform_widths(supernodes, {most, most}) : widths_for_workers(supernodes, workers);
    for (PieceWidths& bounds : widths) {
        bounds.most = std::max(bounds.most, least);
        bounds.least = least > 0 ? least : std::max<Index>(1, bounds.most / 2);
    }
    return widths;
}

} // namespace espalier
