// Fuzzes the readers of machine files and of stored cost models.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "machine/cost_model_store.hpp"
#include "machine/machine_file.hpp"
#include "tolerate.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace espalier;
    std::string const text(reinterpret_cast<char const*>(data), size);
    std::optional<SimulatedMachine> machine;
    fuzz::tolerate([&] { machine = parse_machine(text, "fuzz.json"); });
    if (machine) {
        // The file may have fewer computers, or no cost model for these kernels.
        for (int const processes : {1, 3})
            fuzz::tolerate([&] { require_valid(machine->model(processes, 2)); }, {Status::usage});
        fuzz::tolerate(
            [&] { (void)machine->costs(default_cost_model(Scalar::d, KernelKind::lu), Scalar::d); },
            {Status::usage});
    }
    static MachineKey const key{"cpu", 2, "blas", "core", "1"}; // as in the corpus
    if (auto const costs = parse_costs(text, key))
        for (MeasuredModel const& model : costs->models) (void)model.for_threads(2, 2);
    return 0;
}
