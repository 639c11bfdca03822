// What was measured of this machine, kept in a file of the user's cache directory for later runs, and a
// choice among it. The file is JSON, one for each machine and BLAS; it is always whole, and the last one to
// write it wins. A file that is damaged, of another machine or of another version counts as none.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factor/kernel_timing.hpp"
#include "mapping/calibration.hpp"
#include "mapping/machine_model.hpp"

namespace espalier {

/// What a measurement depends on.
struct MachineKey {
    std::string cpu;       ///< Model of the processor.
    int cores = 0;         ///< Those that this process may use.
    std::string blas;      ///< Configuration of the library ...
    std::string blas_core; ///< ... and the processor it has kernels for.
    std::string version;   ///< Of Espalier: kernels change.
    bool operator==(MachineKey const&) const = default;
};
MachineKey this_machine();

/// The model of one scalar and kind of kernels.
struct MeasuredModel {
    Scalar scalar = Scalar::d;
    Calibration calibration;                        ///< Of one thread: its model has contention 1.
    std::vector<std::pair<int, double>> contention; ///< By number of threads, more than 1, ascending.

    /// For that many threads on that many cores: interpolated between numbers that were measured. Nothing
    /// when no number as large was. More threads than cores take turns.
    [[nodiscard]] std::optional<CostModel> for_threads(int threads, int cores) const;
};

struct MachineCosts {
    MemoryRates memory;
    std::optional<Network> network; ///< Between processes; nothing where it was not measured.
    std::vector<MeasuredModel> models;

    [[nodiscard]] MeasuredModel const* find(Scalar scalar, KernelKind kind) const;
    /// Takes the place of the one of the same scalar and kernels; its contention is added to what was known.
    void put(MeasuredModel model);
};

std::string to_json(MachineCosts const& costs, MachineKey const& key);
/// Nothing when the text is not that, is of another machine, or has a number that makes no sense.
std::optional<MachineCosts> parse_costs(std::string const& text, MachineKey const& key);

class CostModelStore {
  public:
    /// In `folder`, which is made when it is needed. Empty: nothing is kept.
    CostModelStore(std::string folder, MachineKey key);
    /// $XDG_CACHE_HOME/espalier, or $HOME/.cache/espalier; empty when neither is set.
    static std::string default_folder();

    [[nodiscard]] std::string const& path() const { return path_; } ///< Empty where nothing is kept.
    [[nodiscard]] MachineKey const& key() const { return key_; }
    [[nodiscard]] std::optional<MachineCosts> load() const;
    /// False when it could not be written, which is no error.
    bool save(MachineCosts const& costs) const;

  private:
    std::string folder_, path_;
    MachineKey key_;
};

} // namespace espalier
