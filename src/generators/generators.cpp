// The table of generators and the parser of "kind:arguments". The number of entries is estimated in floating
// point before any integer computation, so no size overflows.
#include "generators/generators.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "generators/generate.hpp"

namespace espalier {
namespace {

using Arguments = std::array<Index, 3>;

constexpr double max_entries = 0x1p40;

double real(Index n) {
    return static_cast<double>(n);
}

struct Kind {
    GeneratorHelp help;
    std::string_view declared;          ///< Type in the format of a file header.
    double (*stored)(Arguments const&); ///< Upper bound of the stored entries (and of the rows).
    AnyMatrix (*make)(Arguments const&);
};

template <int entries> double times_cube(Arguments const& a) {
    return entries * real(a[0]) * real(a[0]) * real(a[0]);
}
template <auto generate> AnyMatrix make(Arguments const& a) {
    return generate(a[0]);
}

constexpr std::string_view real_general = "real general";
constexpr std::string_view real_spd = "real symmetric positive definite";

constexpr Kind kinds[] = {
    {{"lap2d", "N", "5-point Laplacian of a square, N^2 rows, symmetric positive definite"},
     real_spd,
     [](Arguments const& a) { return 3 * real(a[0]) * real(a[0]); },
     make<generate_lap2d>},
    {{"lap3d", "N", "7-point Laplacian of a cube, N^3 rows, symmetric positive definite"},
     real_spd,
     times_cube<4>,
     make<generate_lap3d>},
    {{"elast3d", "N",
      "elasticity of N^3 bricks with stiff inclusions, 3N(N+1)^2 rows, symmetric positive definite"},
     real_spd,
     [](Arguments const& a) { return 126 * std::pow(real(a[0]) + 1, 3); },
     make<generate_elast3d>},
    {{"convdiff3d", "N", "convection and diffusion of 5 coupled fields on N^3 nodes, 5N^3 rows, unsymmetric"},
     real_general,
     times_cube<175>,
     make<generate_convdiff3d>},
    {{"helmholtz3d", "N", "Helmholtz equation with absorbing boundary, N^3 rows, complex symmetric"},
     "complex symmetric",
     times_cube<4>,
     make<generate_helmholtz3d>},
    {{"hermitian3d", "N", "particle in a magnetic field, N^3 rows, complex Hermitian positive definite"},
     "complex hermitian positive definite",
     times_cube<4>,
     make<generate_hermitian3d>},
    {{"spe10like", "NXxNYxNZ",
      "three-phase flow in layered rock, 3 unknowns per cell, badly scaled, unsymmetric"},
     real_general,
     [](Arguments const& a) { return 63 * real(a[0]) * real(a[1]) * real(a[2]); },
     [](Arguments const& a) -> AnyMatrix { return generate_spe10like(a[0], a[1], a[2]); }},
    {{"saddle3d", "N",
      "Stokes flow on a staggered grid, 4N^3-2N^2 rows, symmetric indefinite, zero pressure block"},
     "real symmetric indefinite",
     times_cube<19>,
     make<generate_saddle3d>},
    {{"random", "N:NNZ:SEED", "N rows, about NNZ entries at random places besides the diagonal, unsymmetric"},
     real_general,
     [](Arguments const& a) { return real(a[0]) + real(a[1]); },
     [](Arguments const& a) -> AnyMatrix { return generate_random(a[0], a[1], a[2]); }},
};

/// The required arguments, for messages.
std::string_view needed(std::string_view arguments) {
    if (arguments == "N") return "a positive integer N";
    if (arguments == "NXxNYxNZ") return "positive integers NX, NY and NZ";
    return "integers N >= 1, NNZ from 0 to N(N-1), and SEED from 0 to 2^63 - 2";
}

Kind const* find_kind(std::string_view name) {
    for (Kind const& kind : kinds)
        if (kind.help.kind == name) return &kind;
    return nullptr;
}

/// Parses decimal digits; a number that does not fit becomes the largest Index, which all generators reject.
std::optional<Index> parse_count(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    Index value = 0;
    auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc::result_out_of_range ? std::numeric_limits<Index>::max() : value;
}

/// Parses as many numbers as the form has, with the same separators.
std::optional<Arguments> parse_arguments(std::string_view form, std::string_view text) {
    char const separator = form.find(':') != std::string_view::npos ? ':' : 'x';
    bool const single = form == "N";
    Arguments arguments{};
    for (int i = 0; i < (single ? 1 : 3); ++i) {
        bool const last = single || i == 2;
        auto const end = last ? text.size() : text.find(separator);
        if (end == std::string_view::npos) return std::nullopt;
        auto const value = parse_count(text.substr(0, end));
        if (!value) return std::nullopt;
        arguments[i] = *value;
        text.remove_prefix(last ? end : end + 1);
    }
    return arguments;
}

bool in_range(Kind const& kind, Arguments const& a) {
    if (kind.help.kind == "random")
        return a[0] >= 1 && a[2] < std::numeric_limits<Index>::max() &&
               real(a[1]) <= real(a[0]) * real(a[0] - 1);
    return a[0] >= 1 && (kind.help.arguments == "N" || (a[1] >= 1 && a[2] >= 1));
}

[[noreturn]] void misuse(std::string const& message) {
    throw Error(Status::usage, message);
}

[[noreturn]] void reject_unknown(std::string_view spec) {
    std::string known;
    for (Kind const& kind : kinds)
        known += fmt::format("{}{}:{}", known.empty() ? "" : ", ", kind.help.kind, kind.help.arguments);
    misuse(fmt::format("'{}' is not a generator; the generators are {}", spec, known));
}

} // namespace

bool is_generator(std::string_view spec) {
    auto const colon = spec.find(':');
    return colon != std::string_view::npos && find_kind(spec.substr(0, colon)) != nullptr;
}

NamedMatrix generate_matrix(std::string_view spec) {
    auto const colon = spec.find(':');
    Kind const* const kind = find_kind(spec.substr(0, colon));
    if (!kind) reject_unknown(spec);
    auto const text = colon == std::string_view::npos ? std::string_view() : spec.substr(colon + 1);
    auto const arguments = parse_arguments(kind->help.arguments, text);
    if (!arguments || !in_range(*kind, *arguments))
        misuse(fmt::format("{}:{} needs {}, got '{}'", kind->help.kind, kind->help.arguments,
                           needed(kind->help.arguments), spec));
    double const entries = kind->stored(*arguments);
    if (!(entries <= max_entries))
        misuse(fmt::format("'{}' is too large: it has about {:.1e} entries; the limit is 2^40 = {:.1e}", spec,
                           entries, max_entries));

    NamedMatrix result;
    try {
        result.matrix = kind->make(*arguments);
    } catch (std::bad_alloc const&) {
        throw Error(Status::out_of_memory,
                    fmt::format("not enough memory for the {:.1e} entries of '{}'", entries, spec));
    }
    result.description.name = spec;
    result.description.format = "generator";
    result.description.declared = kind->declared;
    result.description.entries_in_file =
        std::visit([](auto const& matrix) { return matrix.stored(); }, result.matrix);
    return result;
}

std::vector<GeneratorHelp> generator_help() {
    std::vector<GeneratorHelp> help;
    for (Kind const& kind : kinds) help.push_back(kind.help);
    return help;
}

} // namespace espalier
