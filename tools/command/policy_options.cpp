#include "policy_options.hpp"

#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "help.hpp"
#include "numbers.hpp"
#include "option_value.hpp"

namespace espalier::command {

namespace {

SchedulePolicy parse_schedule(std::string const& text) {
    std::string known;
    using enum SchedulePolicy;
    for (SchedulePolicy const kind : {static_order, dynamic_tree, places, nas}) {
        if (text == to_string(kind)) return kind;
        known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
    }
    throw Error(Status::usage, fmt::format("--schedule has no value '{}'; it has {}", text, known));
}

} // namespace

void add_policy_options(CLI::App& command, PolicyOptions& options) {
    PolicySettings& settings = options.settings;
    add_option_value(command, "--schedule", "POLICY",
                     fmt::format("static, dynamic, places or nas [{}]", to_string(settings.kind)),
                     [&settings](std::string const& text) { settings.kind = parse_schedule(text); });
    auto const add_of_places = [&](std::string const& name, std::string const& placeholder,
                                   std::string const& description,
                                   std::function<void(std::string const&)> const& take) {
        add_option_value(command, name, placeholder, description,
                         [&options, name, take](std::string const& text) {
                             if (options.of_places.empty()) options.of_places = name;
                             take(text);
                         });
    };
    add_of_places(
        "--push-init", "HOW",
        fmt::format("of places: first tasks to NUMA nodes in turn or at random, cyclicnuma or randnuma [{}]",
                    to_string(settings.push_init)),
        [&settings](std::string const& text) { settings.push_init = parse_push_init(text); });
    add_of_places(
        "--push", "HOW",
        fmt::format("of places: where a task goes that became ready, pLoc, pLocNum, pNumaW or pNumaWLoc [{}]",
                    to_string(settings.push)),
        [&settings](std::string const& text) { settings.push = parse_push(text); });
    add_of_places(
        "--select", "HOW",
        fmt::format(
            "of places: from whom to steal, sRand, sRandNuma, sProc, sNuma, sProcNuma or sNumaProc [{}]",
            to_string(settings.select)),
        [&settings](std::string const& text) { settings.select = parse_select(text); });
    add_of_places("--seed", "K", "of places: of its random choices [0]",
                  [&settings](std::string const& text) {
                      settings.seed = static_cast<std::uint64_t>(parse_count("--seed", text, 0, INT64_MAX));
                  });
    command.add_flag("--strict", settings.strict,
                     wrapped("of dynamic, places and nas: tasks do not leave their NUMA node", 76));
}

void check(PolicyOptions const& options) {
    SchedulePolicy const kind = options.settings.kind;
    if (!options.of_places.empty() && kind != SchedulePolicy::places)
        throw Error(Status::usage, fmt::format("{} is an option of --schedule places, not of {}",
                                               options.of_places, to_string(kind)));
    if (options.settings.strict && kind == SchedulePolicy::static_order)
        throw Error(Status::usage, "--strict is about stealing, and --schedule static steals nothing");
}

} // namespace espalier::command
