#include "machine/cost_model_store.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "kernels/blas.hpp"
#include "machine/flat_json.hpp"
#include "runtime/topology.hpp"

namespace espalier {

namespace {

constexpr int file_format = 1;
constexpr std::string_view measured_network = "measured", default_network = "default";
constexpr Scalar scalars[] = {Scalar::s, Scalar::d, Scalar::c, Scalar::z};
constexpr KernelKind kinds[] = {KernelKind::cholesky, KernelKind::ldl, KernelKind::lu};

template <class Term, class Names> std::string terms_json(PerTerm<Term> const& seconds, Names const& names) {
    std::string json;
    for (std::size_t t = 0; t < names.size(); ++t)
        json += fmt::format("{}\"{}\": {}", t > 0 ? ", " : "", names[t], seconds.value[t]);
    return "{" + json + "}";
}

std::string model_json(MeasuredModel const& model) {
    CostModel const& costs = model.calibration.model;
    std::string contention;
    for (auto const& [threads, factor] : model.contention)
        contention += fmt::format("{}{{\"threads\": {}, \"factor\": {}}}", contention.empty() ? "" : ", ",
                                  threads, factor);
    auto const quality = [](FitQuality const& fit) {
        return fmt::format("{{\"median_error\": {}, \"total_error\": {}}}", fit.median_error,
                           fit.total_error);
    };
    return fmt::format("  {{\"scalar\": \"{}\", \"kernels\": \"{}\",\n"
                       "   \"panel_s\": {},\n   \"update_s\": {},\n"
                       "   \"panel_fit\": {}, \"update_fit\": {},\n   \"contention\": [{}]}}",
                       to_string(model.scalar), to_string(costs.kernels.kind),
                       terms_json(costs.panel_seconds, panel_term_names),
                       terms_json(costs.update_seconds, update_term_names), quality(model.calibration.panel),
                       quality(model.calibration.update), contention);
}

// Reads what to_json wrote; `good` tells whether everything was there and made sense.
class Reader {
  public:
    explicit Reader(FlatJson const& json) : json_(json) {}
    [[nodiscard]] bool good() const { return good_; }

    std::string text(std::string const& path) {
        auto const at = json_.find(path);
        auto const* const value = at == json_.end() ? nullptr : std::get_if<std::string>(&at->second);
        return value ? *value : (good_ = false, std::string());
    }
    double number(std::string const& path, double least, double most) {
        auto const at = json_.find(path);
        auto const* const value = at == json_.end() ? nullptr : std::get_if<double>(&at->second);
        if (value && *value >= least && *value <= most) return *value;
        good_ = false;
        return least;
    }
    int count(std::string const& path, int least, int most) {
        return static_cast<int>(number(path, least, most));
    }
    [[nodiscard]] bool has(std::string const& path) const { return json_.contains(path); }

    MachineKey key() {
        return {text("machine.cpu"), count("machine.cores", 0, 1 << 30), text("machine.blas"),
                text("machine.blas_core"), text("machine.espalier")};
    }

    MeasuredModel model(std::string const& at) {
        constexpr double most_seconds = 1; // of one unit of a term
        MeasuredModel model;
        model.scalar = one_of(scalars, at + ".scalar");
        KernelKind const kind = one_of(kinds, at + ".kernels");
        CostModel& costs = model.calibration.model;
        costs = default_cost_model(model.scalar, kind);
        for (std::size_t t = 0; t < panel_term_names.size(); ++t)
            costs.panel_seconds.value[t] =
                number(fmt::format("{}.panel_s.{}", at, panel_term_names[t]), 0, most_seconds);
        for (std::size_t t = 0; t < update_term_names.size(); ++t)
            costs.update_seconds.value[t] =
                number(fmt::format("{}.update_s.{}", at, update_term_names[t]), 0, most_seconds);
        model.calibration.panel = quality(at + ".panel_fit");
        model.calibration.update = quality(at + ".update_fit");
        for (int c = 0; has(fmt::format("{}.contention.{}.threads", at, c)); ++c) {
            auto const one = fmt::format("{}.contention.{}", at, c);
            int const before = model.contention.empty() ? 1 : model.contention.back().first;
            int const threads = count(one + ".threads", before + 1, 1 << 20);
            model.contention.emplace_back(threads, number(one + ".factor", 0.01, 1e6));
        }
        return model;
    }

  private:
    FitQuality quality(std::string const& at) {
        return {number(at + ".median_error", 0, 1e6), number(at + ".total_error", -1, 1e6)};
    }
    template <class Value, std::size_t n> Value one_of(Value const (&values)[n], std::string const& path) {
        std::string const name = text(path);
        for (Value const value : values)
            if (name == to_string(value)) return value;
        good_ = false;
        return values[0];
    }

    FlatJson const& json_;
    bool good_ = true;
};

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 14695981039346656037U;
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

} // namespace

MachineKey this_machine() {
    Topology const topology = Topology::detect();
    BlasInfo const blas = blas_info();
    return {topology.cpu_model(), topology.num_cores(), blas.config, blas.core, ESPALIER_VERSION_TEXT};
}

std::optional<CostModel> MeasuredModel::for_threads(int threads, int cores) const {
    CostModel model = calibration.model;
    int const together = std::min(threads, cores);
    std::pair<int, double> below{1, 1.0};
    auto above = contention.begin();
    for (; above != contention.end() && above->first < together; ++above) below = *above;
    if (together > 1) {
        if (above == contention.end()) return std::nullopt;
        model.contention = below.second + (above->second - below.second) * (together - below.first) /
                                              (above->first - below.first);
    }
    model.threads_per_core = static_cast<double>(threads) / together;
    return model;
}

MeasuredModel const* MachineCosts::find(Scalar scalar, KernelKind kind) const {
    for (MeasuredModel const& model : models)
        if (model.scalar == scalar && model.calibration.model.kernels.kind == kind) return &model;
    return nullptr;
}

void MachineCosts::put(MeasuredModel model) {
    for (MeasuredModel& old : models) {
        if (old.scalar != model.scalar ||
            old.calibration.model.kernels.kind != model.calibration.model.kernels.kind)
            continue;
        for (auto const& known : old.contention)
            if (std::none_of(model.contention.begin(), model.contention.end(),
                             [&](auto const& fresh) { return fresh.first == known.first; }))
                model.contention.push_back(known);
        std::sort(model.contention.begin(), model.contention.end());
        old = std::move(model);
        return;
    }
    models.push_back(std::move(model));
}

std::string to_json(MachineCosts const& costs, MachineKey const& key) {
    Network const network = costs.network.value_or(Network{});
    std::string models;
    for (MeasuredModel const& model : costs.models)
        models += (models.empty() ? "" : ",\n") + model_json(model);
    return fmt::format(
        "{{\"format\": {},\n"
        " \"machine\": {{\"cpu\": {}, \"cores\": {}, \"blas\": {}, \"blas_core\": {}, \"espalier\": {}}},\n"
        " \"memory\": {{\"one_bytes_per_s\": {}, \"all_bytes_per_s\": {}}},\n"
        " \"network\": {{\"source\": \"{}\", \"latency_s\": {}, \"bytes_per_s\": {}}},\n"
        " \"models\": [\n{}]}}\n",
        file_format, json_quoted(key.cpu), key.cores, json_quoted(key.blas), json_quoted(key.blas_core),
        json_quoted(key.version), costs.memory.one, costs.memory.all,
        costs.network ? measured_network : default_network, network.latency, network.bandwidth, models);
}

std::optional<MachineCosts> parse_costs(std::string const& text, MachineKey const& key) {
    auto const json = parse_flat_json(text);
    if (!json) return std::nullopt;
    Reader reader(*json);
    if (reader.count("format", 0, 1 << 30) != file_format || !(reader.key() == key)) return std::nullopt;
    MachineCosts costs;
    costs.memory = {reader.number("memory.one_bytes_per_s", 1, 1e18),
                    reader.number("memory.all_bytes_per_s", 1, 1e18)};
    if (reader.text("network.source") == measured_network)
        costs.network = {reader.number("network.latency_s", 0, 1e6),
                         reader.number("network.bytes_per_s", 1, 1e18)};
    for (int m = 0; reader.has(fmt::format("models.{}.scalar", m)); ++m) {
        costs.put(reader.model(fmt::format("models.{}", m)));
        costs.models.back().calibration.model.bandwidth = costs.memory.one;
    }
    if (!reader.good()) return std::nullopt;
    return costs;
}

CostModelStore::CostModelStore(std::string folder, MachineKey key)
    : folder_(std::move(folder)), key_(std::move(key)) {
    if (folder_.empty()) return;
    std::string const whole = fmt::format("{}\n{}\n{}\n{}\n{}\n{}", file_format, key_.cpu, key_.cores,
                                          key_.blas, key_.blas_core, key_.version);
    path_ = fmt::format("{}/cost-model-{:016x}.json", folder_, hash_of(whole));
}

std::string CostModelStore::default_folder() {
    auto const variable = [](char const* name) {
        char const* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    // Relative paths are to be ignored, says the XDG base directory specification.
    if (std::string const cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
        return cache + "/espalier";
    if (std::string const home = variable("HOME"); home.starts_with('/')) return home + "/.cache/espalier";
    return {};
}

std::optional<MachineCosts> CostModelStore::load() const {
    constexpr std::size_t most_bytes = std::size_t{1} << 20;
    std::error_code error;
    if (path_.empty() || !std::filesystem::is_regular_file(path_, error)) return std::nullopt;
    std::ifstream file(path_, std::ios::binary);
    std::string text(most_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(most_bytes));
    text.resize(file.gcount());
    return parse_costs(text, key_);
}

bool CostModelStore::save(MachineCosts const& costs) const {
    if (path_.empty()) return false;
    try {
        std::filesystem::create_directories(folder_);
        AtomicFile file(path_);
        file.write(to_json(costs, key_));
        file.commit();
        return true;
    } catch (Error const&) {
        return false;
    } catch (std::filesystem::filesystem_error const&) {
        return false;
    }
}

} // namespace espalier
