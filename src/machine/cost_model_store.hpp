// The measured cost models of this machine, kept for later runs in a file in the user's cache directory.
// There is one JSON file for each machine, BLAS and version of Espalier. It is replaced as a whole, and the
// last writer wins. A file that is damaged, or belongs to another machine or version, is ignored.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factor/kernel_timing.hpp"
#include "io/json.hpp"
#include "mapping/calibration.hpp"
#include "mapping/machine_model.hpp"

namespace espalier {

/// The properties that a measurement depends on.
struct MachineKey {
    std::string cpu;       ///< The model of the processor.
    int cores = 0;         ///< The cores that this process may use.
    std::string blas;      ///< The configuration of the BLAS.
    std::string blas_core; ///< The processor whose kernels the BLAS uses.
    std::string version;   ///< The version of Espalier, whose kernels change.
    bool operator==(MachineKey const&) const = default;
};
MachineKey this_machine();

/// The model of one scalar and kind of kernels.
struct MeasuredModel {
    Scalar scalar = Scalar::d;
    Calibration calibration; ///< For one thread, so its contention is 1.
    /// Numbers of threads above 1, ascending, and their factors.
    std::vector<std::pair<int, double>> contention;

    /// The model for `threads` on `cores`. Contention is interpolated between the measured numbers of
    /// threads; nothing is returned beyond the largest. More threads than cores share the cores.
    [[nodiscard]] std::optional<CostModel> for_threads(int threads, int cores) const;
};

struct MachineCosts {
    MemoryRates memory;
    std::optional<Network> network; ///< Between processes, if it was measured.
    std::vector<MeasuredModel> models;

    [[nodiscard]] MeasuredModel const* find(Scalar scalar, KernelKind kind) const;
    /// Adds the model, or replaces that of its scalar and kernels, whose other contention factors are kept.
    void put(MeasuredModel model);
};

/// A network as machine files and cost-model files write it. Missing members keep the values of `network`.
Network read_network(JsonField const& json, Network network);
/// The network of a cost-model file; nothing if it was not measured.
std::optional<Network> read_measured_network(JsonField const& json);
/// One of the "models" of a cost-model file. Error{bad_input}.
MeasuredModel read_model(JsonField const& json);

std::string to_json(MachineCosts const& costs, MachineKey const& key);
/// Nothing if the text was not written by to_json(), describes another machine, or has a value out of range.
std::optional<MachineCosts> parse_costs(std::string const& text, MachineKey const& key);

class CostModelStore {
  public:
    /// The folder is created when it is needed. If its name is empty, nothing is kept.
    CostModelStore(std::string folder, MachineKey key);
    /// $XDG_CACHE_HOME/espalier, or $HOME/.cache/espalier; empty when neither is set.
    static std::string default_folder();

    [[nodiscard]] std::string const& path() const { return path_; } ///< Empty if nothing is kept.
    [[nodiscard]] MachineKey const& key() const { return key_; }
    [[nodiscard]] std::optional<MachineCosts> load() const;
    /// False if the file cannot be written, which is not an error.
    bool save(MachineCosts const& costs) const;

  private:
    std::string folder_, path_;
    MachineKey key_;
};

} // namespace espalier
