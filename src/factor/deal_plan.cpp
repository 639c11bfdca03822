#include "factor/deal_plan.hpp"

#include <utility>

#include "comm/collective.hpp"
#include "core/pack.hpp"
#include "simulation/pack_plan.hpp"

namespace espalier {

namespace {

// Sends to each other process what `pack_part` packs for it on process 0. `take` unpacks it there.
template <class Pack, class Take>
void deal(Communicator const& comm, Pack const& pack_part, Take const& take) {
    std::vector<std::vector<std::byte>> parts;
    all_succeed(comm, [&] {
        if (comm.rank() > 0) return;
        parts.resize(comm.size());
        for (int p = 1; p < comm.size(); ++p) {
            parts[p] = pack_part(p);
        }
    });
    std::vector<std::byte> const mine = scatter(comm, parts, 0);
    all_succeed(comm, [&] {
        if (comm.rank() == 0) return;
        Unpacker unpacker(mine);
        take(unpacker);
    });
}

} // namespace

ProcessPart deal_plans(Communicator const& comm, ProcessPlans plans) {
    ProcessPart part = all_succeed(comm, [] { return ProcessPart(); });
    deal(
        comm,
        [&](int p) {
            std::vector<std::byte> packed = packed_plan(plans, p);
            plans.of_process[p] = {};
            plans.structures[p] = {};
            return packed;
        },
        [&](Unpacker& unpacker) {
            unpacker(static_cast<SharedPlan&>(part.plan), static_cast<LocalPlan&>(part.plan), part.structure);
        });
    if (comm.rank() == 0) {
        part.plan = {std::move(plans.shared), std::move(plans.of_process.front())};
        part.structure = std::move(plans.structures.front());
    }
    return part;
}

AssemblyPart deal_assembly(Communicator const& comm, AssemblyMap const& whole,
                           std::span<std::int32_t const> process_of_cblk, FactorPlan const& plan) {
    AssemblyPart part = all_succeed(comm, [] { return AssemblyPart(); });
    deal(
        comm,
        [&](int p) {
            part.sources.resize(comm.size());
            AssemblyMap const map = whole.part_of(process_of_cblk, p, part.sources[p]);
            Packer packer;
            packer(map, Offset{std::ssize(part.sources[p])});
            return packer.take();
        },
        [&](Unpacker& unpacker) { unpacker(part.map, part.values); });
    all_succeed(comm, [&] {
        if (comm.rank() == 0) {
            part.map = whole.part_of(process_of_cblk, 0, part.sources[0]);
            part.values = std::ssize(part.sources[0]);
        }
        part.map.add_ghosts(plan.owner_of_cblk);
    });
    return part;
}

} // namespace espalier
