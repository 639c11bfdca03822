#include "incomplete/predicted_times.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace espalier {

namespace {

/// Rows of equal length are adjacent in a chunk, so a regular sample of many rows gives their mean cost.
constexpr BlockRow sampled_rows = 256;

/// Simulates a run in one direction, in which chunk c takes cost[c].
class SweepSimulation {
  public:
    SweepSimulation(ExecutionOrder const& order, SweepDirection direction, std::span<double const> cost,
                    RowCosts const& costs)
        : order_(order), forward_(direction == SweepDirection::forward), cost_(cost), costs_(costs),
          end_(order.num_chunks()), done_(order.num_workers, 0), clock_(order.num_workers, 0.0) {}

    double run() {
        for (bool moves = true; moves;) {
            moves = false;
            for (WorkerId w = 0; w < order_.num_workers; ++w)
                while (done_[w] < size_of(w) && start(w)) moves = true;
        }
        return clock_.empty() ? 0.0 : *std::max_element(clock_.begin(), clock_.end());
    }

  private:
    [[nodiscard]] std::int32_t size_of(WorkerId w) const {
        return order_.worker_ptr[w + 1] - order_.worker_ptr[w];
    }
    /// The k-th chunk of a worker in the direction of the run.
    [[nodiscard]] std::int32_t chunk(WorkerId w, std::int32_t k) const {
        return forward_ ? order_.worker_ptr[w] + k : order_.worker_ptr[w + 1] - 1 - k;
    }

    /// Runs the next chunk of a worker, unless it waits for a chunk that has not run.
    bool start(WorkerId w) {
        std::int32_t const next = chunk(w, done_[w]);
        auto const waits = (forward_ ? order_.forward : order_.backward).before(next);
        double begin = clock_[w] + costs_.chunk + costs_.check * static_cast<double>(waits.size());
        for (auto const& wait : waits) {
            if (done_[wait.worker] < wait.chunks) return false;
            begin = std::max(begin, end_[chunk(wait.worker, wait.chunks - 1)] + costs_.wait);
        }
        clock_[w] = end_[next] = begin + cost_[next];
        ++done_[w];
        return true;
    }

    ExecutionOrder const& order_;
    bool forward_;
    std::span<double const> cost_;
    RowCosts const& costs_;
    std::vector<double> end_;        ///< The end of each chunk.
    std::vector<std::int32_t> done_; ///< The number of chunks done by each worker.
    std::vector<double> clock_;      ///< The time at which each worker is free.
};

/// cost[c] is the sum of cost_of(row) over the rows of chunk c, from a sample of at most twice sampled_rows.
template <class CostOf> std::vector<double> chunk_costs(ExecutionOrder const& order, CostOf const& cost_of) {
    std::vector<double> cost(order.num_chunks(), 0.0);
    for (std::int32_t c = 0; c < order.num_chunks(); ++c) {
        BlockRow const first = order.chunk_ptr[c], end = order.chunk_ptr[c + 1];
        BlockRow const step = std::max(1, (end - first) / sampled_rows);
        BlockRow looked_at = 0;
        for (BlockRow p = first; p < end; p += step, ++looked_at) cost[c] += cost_of(order.row_at[p]);
        if (step > 1) cost[c] *= static_cast<double>(end - first) / looked_at;
    }
    return cost;
}

/// Predicts the times of sweeps.
class SweepModel {
  public:
    SweepModel(RowPattern const& pattern, int block_size, std::size_t scalar_bytes, RowCosts const& costs)
        : pattern_(pattern), costs_(costs),
          block_bytes_(static_cast<double>(block_size * block_size * scalar_bytes + sizeof(BlockRow))),
          vector_bytes_(static_cast<double>(2 * block_size * scalar_bytes)) {}

    [[nodiscard]] double lower(BlockRow i) const { return row(pattern_.lower(i).size()); }
    [[nodiscard]] double upper(BlockRow i) const { return row(pattern_.upper(i).size() + 1); }

    /// Sets solve_s and work_s.
    [[nodiscard]] SweepPrediction predict(ExecutionOrder const& order) const {
        auto const forward = chunk_costs(order, [&](BlockRow i) { return lower(i); });
        auto const backward = chunk_costs(order, [&](BlockRow i) { return upper(i); });
        SweepPrediction result;
        for (auto const* part : {&forward, &backward})
            for (double const cost : *part) result.work_s += cost;
        result.solve_s = SweepSimulation(order, SweepDirection::forward, forward, costs_).run() +
                         SweepSimulation(order, SweepDirection::backward, backward, costs_).run();
        return result;
    }

  private:
    [[nodiscard]] double row(std::size_t blocks) const {
        return costs_.row + costs_.byte * (static_cast<double>(blocks) * block_bytes_ + vector_bytes_);
    }

    RowPattern const& pattern_;
    RowCosts const& costs_;
    double block_bytes_, vector_bytes_;
};

} // namespace

RowCosts RowCosts::with_tasks() const {
    RowCosts costs = *this;
    costs.chunk = 4e-7;
    costs.wait = 1e-6;
    return costs;
}

SweepPrediction predict_sweeps(RowPattern const& pattern, ExecutionOrder const& order, int block_size,
                               std::size_t scalar_bytes, RowCosts const& costs) {
    SweepPrediction result = SweepModel(pattern, block_size, scalar_bytes, costs).predict(order);
    double const b = block_size;
    double const flops_of_block = b * b * b * (static_cast<double>(scalar_bytes) / sizeof(double));
    auto const factor = chunk_costs(order, [&](BlockRow i) {
        double updates = 0;
        for (BlockRow const k : pattern.lower(i)) updates += static_cast<double>(pattern.upper(k).size()) + 1;
        return costs.factor_row + static_cast<double>(pattern.row(i).size()) * b * b * costs.gather +
               updates * (costs.update + flops_of_block * costs.flop);
    });
    result.factor_s = SweepSimulation(order, SweepDirection::forward, factor, costs).run();
    return result;
}

ExecutionOrder choose_execution_order(RowPattern const& pattern, int workers, int block_size,
                                      std::size_t scalar_bytes, RowCosts const& costs,
                                      std::vector<int> const& node_of_worker, Interrupt* interrupt) {
    bool const is_pipeline = workers > 1 && has_pipeline(pattern, workers);
    ExecutionOrder best = make_execution_order(pattern, workers, is_pipeline ? pipeline_string(workers) : "",
                                               node_of_worker, interrupt);
    if (workers == 1) return best;
    SweepModel const model(pattern, block_size, scalar_bytes, costs);
    SweepPrediction fastest = model.predict(best);
    auto const is_good = [&](double efficiency) {
        return fastest.work_s >= efficiency * workers * fastest.solve_s;
    };
    if (is_pipeline && is_good(good_pipeline)) return best;
    std::vector<std::string> others{fmt::format("G({})", workers), "CD(4)", "D(400)", "F(32)"};
    if (is_pipeline) others.insert(others.begin(), "");
    for (std::string const& text : others) {
        if (text != "" && is_good(good_efficiency)) return best;
        ExecutionOrder other = make_execution_order(pattern, workers, text, node_of_worker, interrupt);
        SweepPrediction const predicted = model.predict(other);
        if (predicted.solve_s >= fastest.solve_s) continue;
        best = std::move(other);
        fastest = predicted;
    }
    // One chunk takes the time of all rows, and never waits.
    if (best.num_chunks() == 1 || fastest.work_s + 2 * costs.chunk < fastest.solve_s)
        return make_execution_order(pattern, workers, one_chunk, node_of_worker, interrupt);
    return best;
}

} // namespace espalier
