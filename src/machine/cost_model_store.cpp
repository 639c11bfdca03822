#include "machine/cost_model_store.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "io/atomic_file.hpp"
#include "kernels/blas.hpp"
#include "runtime/topology.hpp"

namespace espalier {

namespace {

constexpr int file_format = 3;
constexpr char const* measured_network = "measured";
constexpr double most_bytes_per_s = 1e18, most_seconds = 1e6;

template <class Term, class Names> Json terms_json(PerTerm<Term> const& seconds, Names const& names) {
    Json json = Json::object();
    for (std::size_t t = 0; t < names.size(); ++t) json.set(std::string(names[t]), seconds.value[t]);
    return json;
}

Json quality_json(FitQuality const& fit) {
    return Json::object({{"median_error", fit.median_error}, {"total_error", fit.total_error}});
}

Json model_json(MeasuredModel const& model) {
    CostModel const& costs = model.calibration.model;
    Json contention = Json::array();
    for (auto const& [threads, factor] : model.contention)
        contention.append(Json::object({{"threads", threads}, {"factor", factor}}));
    return Json::object({{"scalar", to_string(model.scalar)},
                         {"kernels", to_string(costs.kernels.kind)},
                         {"panel_s", terms_json(costs.panel_seconds, panel_term_names)},
                         {"update_s", terms_json(costs.update_seconds, update_term_names)},
                         {"panel_fit", quality_json(model.calibration.panel)},
                         {"update_fit", quality_json(model.calibration.update)},
                         {"contention", contention}});
}

MachineKey read_key(JsonField const& json) {
    return {json["cpu"].text(), json["cores"].count(0, 1 << 30), json["blas"].text(),
            json["blas_core"].text(), json["espalier"].text()};
}

template <class Term, class Names> PerTerm<Term> read_terms(JsonField const& json, Names const& names) {
    constexpr double most_seconds_of_term = 1;
    PerTerm<Term> seconds;
    for (std::size_t t = 0; t < names.size(); ++t)
        seconds.value[t] = json[names[t]].number(0, most_seconds_of_term);
    return seconds;
}

FitQuality read_quality(JsonField const& json) {
    if (!json) return {};
    return {json["median_error"].number(0, 1e6), json["total_error"].number(-1, 1e6)};
}

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
        if (&old != find(model.scalar, model.calibration.model.kernels.kind)) continue;
        for (auto const& known : old.contention)
            if (std::ranges::count(model.contention, known.first, &std::pair<int, double>::first) == 0)
                model.contention.push_back(known);
        std::ranges::sort(model.contention);
        old = std::move(model);
        return;
    }
    models.push_back(std::move(model));
}

Network read_network(JsonField const& json, Network network) {
    if (auto const latency = json["latency_s"]) network.latency = latency.number(0, most_seconds);
    if (auto const bandwidth = json["bytes_per_s"]) network.bandwidth = bandwidth.number(1, most_bytes_per_s);
    if (auto const overhead = json["overhead_s"]) network.overhead = overhead.number(0, most_seconds);
    if (auto const copies = json["copy_bytes_per_s"])
        network.copy_bandwidth = copies.number(1, most_bytes_per_s);
    if (auto const touch = json["first_touch_bytes_per_s"])
        network.first_touch_bandwidth = touch.number(1, most_bytes_per_s);
    return network;
}

std::optional<Network> read_measured_network(JsonField const& json) {
    auto const source = json["source"];
    if (!source || source.text() != measured_network) return std::nullopt;
    return read_network(json, {});
}

MeasuredModel read_model(JsonField const& json) {
    MeasuredModel model;
    model.scalar = json["scalar"].choice(std::array{Scalar::s, Scalar::d, Scalar::c, Scalar::z});
    KernelKind const kind =
        json["kernels"].choice(std::array{KernelKind::cholesky, KernelKind::ldl, KernelKind::lu});
    CostModel& costs = model.calibration.model;
    costs = default_cost_model(model.scalar, kind);
    costs.panel_seconds = read_terms<PanelTerm>(json["panel_s"], panel_term_names);
    costs.update_seconds = read_terms<UpdateTerm>(json["update_s"], update_term_names);
    model.calibration.panel = read_quality(json["panel_fit"]);
    model.calibration.update = read_quality(json["update_fit"]);
    if (auto const contention = json["contention"])
        for (JsonField const& one : contention.items()) {
            int const before = model.contention.empty() ? 1 : model.contention.back().first;
            int const threads = one["threads"].count(before + 1, 1 << 20);
            model.contention.emplace_back(threads, one["factor"].number(0.01, 1e6));
        }
    return model;
}

std::string to_json(MachineCosts const& costs, MachineKey const& key) {
    Network const network = costs.network.value_or(Network{});
    Json models = Json::array();
    for (MeasuredModel const& model : costs.models) models.append(model_json(model));
    Json const machine = Json::object({{"cpu", key.cpu},
                                       {"cores", key.cores},
                                       {"blas", key.blas},
                                       {"blas_core", key.blas_core},
                                       {"espalier", key.version}});
    Json const memory = Json::object({{"one_bytes_per_s", costs.memory.one},
                                      {"all_bytes_per_s", costs.memory.all},
                                      {"one_read_bytes_per_s", costs.memory.read_one},
                                      {"all_read_bytes_per_s", costs.memory.read_all},
                                      {"first_touch_bytes_per_s", costs.memory.first_touch}});
    return Json::object({{"format", file_format},
                         {"machine", machine},
                         {"memory", memory},
                         {"network", Json::object({{"source", costs.network ? measured_network : "default"},
                                                   {"latency_s", network.latency},
                                                   {"bytes_per_s", network.bandwidth}})},
                         {"models", models}})
               .text(1) +
           '\n';
}

std::optional<MachineCosts> parse_costs(std::string const& text, MachineKey const& key) {
    std::string const source = "cost models";
    try {
        Json const document = Json::parse(text, source);
        JsonField const json(document, source);
        if (json["format"].count(0, 1 << 30) != file_format || read_key(json["machine"]) != key)
            return std::nullopt;
        MachineCosts costs;
        auto const rate = [&](char const* name) { return json["memory"][name].number(1, most_bytes_per_s); };
        costs.memory = {rate("one_bytes_per_s"), rate("all_bytes_per_s"), rate("one_read_bytes_per_s"),
                        rate("all_read_bytes_per_s"), rate("first_touch_bytes_per_s")};
        costs.network = read_measured_network(json["network"]);
        for (JsonField const& one : json["models"].items()) costs.put(read_model(one));
        return costs;
    } catch (Error const&) {
        return std::nullopt;
    }
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
    // The XDG base directory specification ignores relative paths.
    if (std::string const cache = variable("XDG_CACHE_HOME"); cache.starts_with('/'))
        return cache + "/espalier";
    if (std::string const home = variable("HOME"); home.starts_with('/')) return home + "/.cache/espalier";
    return {};
}

std::optional<MachineCosts> CostModelStore::load() const {
    std::error_code error;
    if (path_.empty() || !std::filesystem::is_regular_file(path_, error)) return std::nullopt;
    std::ifstream file(path_, std::ios::binary);
    std::string text(longest_json, '\0');
    file.read(text.data(), std::ssize(text));
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
