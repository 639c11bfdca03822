// Factorization by all processes of an ensemble: each gets the values of its columns, allocates its panels
// and tells the leader how it went.
#include <algorithm>
#include <utility>

#include "core/pack.hpp"
#include "solver/ensemble_order.hpp"
#include "solver/report_table.hpp"

namespace espalier {

namespace {
constexpr std::size_t smallest_budget = std::size_t{64} << 20;
} // namespace

template <class T> template <class F> Factor<F>& Ensemble<T>::factor() {
    return *slot<F>();
}

template <class T> template <class F>
std::vector<FactorResult> Ensemble<T>::factorize(std::span<F const> values, FactorForm form,
                                                 Allocation allocation, FactorizeOptions options) {
    Order order{.kind = OrderKind::factorize, .is_narrow = !std::is_same_v<F, T>};
    order.form = form;
    order.allocation = allocation;
    order.pivot_threshold = options.pivot_threshold;
    if (!is_alone()) give(order);
    return run_factorize<F>(order, values, options);
}

// `values` are the leader's: the whole matrix.
template <class T> template <class F> std::vector<FactorResult>
Ensemble<T>::run_factorize(Order const& order, std::span<F const> values, FactorizeOptions options) {
    options.messaging = messaging();
    std::vector<F> own; // of several processes
    {
        std::vector<std::vector<F>> of_process;
        std::vector<std::span<std::byte const>> from;
        all_succeed(messaging(), [&] {
            lend_tracks();
            allocate<F>(order);
            if (is_alone()) return;
            if (!leads()) return own.resize(own_values_);
            for (std::vector<Offset> const& sources : sources_) {
                auto& chosen = of_process.emplace_back();
                chosen.reserve(sources.size());
                for (Offset const at : sources) chosen.push_back(values[at]);
            }
            own = std::exchange(of_process[leader], {}); // it stays
            for (auto const& chosen : of_process) from.push_back(std::as_bytes(std::span(chosen)));
        });
        if (!is_alone()) {
            auto const into = leads() ? std::span<F>() : std::span<F>(own);
            scatter(comm_, from, std::as_writable_bytes(into), leader);
            values = own;
        }
    }
    return collect<F>(espalier::factorize<F>(values, *assembly_, *plan_, *slot<F>(), workers(), options));
}

// The memory of one is all that was asked for.
template <class T> template <class F> void Ensemble<T>::allocate(Order const& order) {
    if constexpr (!std::is_same_v<F, T>)
        full_.reset();
    else if constexpr (!std::is_same_v<Low, T>)
        narrow_.reset();
    auto& factor = slot<F>();
    if (!factor) factor = std::make_unique<Factor<F>>(*structure_);
    factor->allocate(order.form, plan_->owner_of_cblk, order.allocation, workers(), interrupt_.get());
    std::size_t largest = 0;
    PanelFormat const format{sizeof(F), order.form.has_upper()};
    for (std::int32_t const b : plan_->incoming) {
        FanInBlock const& block = plan_->factor.fan_in.blocks[b];
        Index const width = structure_->cblks[block.target].width();
        largest =
            std::max(largest, static_cast<std::size_t>(format.bytes(block.rows, block.rows_below, width)));
    }
    messaging_.exchange.receive_budget = std::max(smallest_budget, 2 * largest);
}

// With where the panels lie, on the leader.
template <class T> template <class F>
std::vector<FactorResult> Ensemble<T>::collect(FactorizeStats const& stats) {
    std::vector<FactorResult> results(1);
    std::vector<std::byte> bytes;
    all_succeed(messaging(), [&] {
        results[0] = {stats,
                      measure_placement(*slot<F>(), *plan_, stats.worker_of_task, workers(), *topology_),
                      *topology_};
        if (leads()) return;
        Packer packer;
        packer(results[0]);
        bytes = packer.take();
    });
    if (is_alone()) return results;
    std::vector<std::vector<std::byte>> const packed = gather(comm_, bytes, leader);
    for (std::size_t p = 1; p < packed.size(); ++p) {
        Unpacker unpacker(packed[p]);
        unpacker(results.emplace_back());
    }
    return results;
}

#define ESPALIER_INSTANTIATE_FACTORS(T, F)                                                                   \
    template std::vector<FactorResult> Ensemble<T>::factorize<F>(std::span<F const>, FactorForm, Allocation, \
                                                                 FactorizeOptions);                          \
    template std::vector<FactorResult> Ensemble<T>::run_factorize<F>(Order const&, std::span<F const>,       \
                                                                     FactorizeOptions);                      \
    template Factor<F>& Ensemble<T>::factor<F>();
#define ESPALIER_INSTANTIATE(T) ESPALIER_INSTANTIATE_FACTORS(T, T)
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE_FACTORS(double, float)
ESPALIER_INSTANTIATE_FACTORS(std::complex<double>, std::complex<float>)

} // namespace espalier
