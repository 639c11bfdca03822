/* Options by function and by name, the report, and the functions that a solver calls. */

#include "check.h"
#include "problems.h"

static void expect_option(espalier_solver* solver, char const* name, char const* expected) {
    char const* value = NULL;
    OK(solver, espalier_get_option(solver, name, &value));
    if (!value || strcmp(value, expected) != 0) {
        ++failures;
        fprintf(stderr, "option %s is %s, not %s\n", name, value ? value : "(null)", expected);
    }
}

static void options(void) {
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, NULL);
    CHECK(espalier_option_count() >= 20);
    CHECK(espalier_option_name(-1) == NULL && espalier_option_name(espalier_option_count()) == NULL);
    CHECK(espalier_option_help(-1) == NULL && espalier_option_help(espalier_option_count()) == NULL);
    for (int64_t k = 0; k < espalier_option_count(); ++k) {
        CHECK(espalier_option_help(k) && strlen(espalier_option_help(k)) > 10);
        char const* value = NULL;
        OK(solver, espalier_get_option(solver, espalier_option_name(k), &value));
        char copy[64];
        snprintf(copy, sizeof copy, "%s", value);
        OK(solver, espalier_set_option(solver, espalier_option_name(k), copy));
        expect_option(solver, espalier_option_name(k), copy);
    }
#define SETS(name, expected, call)                                                                           \
    OK(solver, call);                                                                                        \
    expect_option(solver, name, expected)
    SETS("method", "ilu", espalier_set_method(solver, ESPALIER_METHOD_ILU));
    SETS("method", "auto", espalier_set_method(solver, ESPALIER_METHOD_AUTO));
    SETS("levels", "2", espalier_set_levels(solver, 2));
    SETS("block-size", "3", espalier_set_block_size(solver, 3));
    SETS("block-size", "auto", espalier_set_block_size(solver, 0));
    SETS("coarsen", "CD(4)", espalier_set_coarsen(solver, "CD(4)"));
    SETS("supernodes", "off", espalier_set_supernodes(solver, ESPALIER_OFF));
    SETS("supernodes", "auto", espalier_set_supernodes(solver, ESPALIER_AUTO));
    SETS("pivoting", "delayed", espalier_set_pivoting(solver, ESPALIER_PIVOTING_DELAYED));
    SETS("pivoting", "auto", espalier_set_pivoting(solver, ESPALIER_PIVOTING_AUTO));
    SETS("pivoting", "static", espalier_set_pivoting(solver, ESPALIER_PIVOTING_STATIC));
    SETS("pivot-tolerance", "0.1", espalier_set_pivot_tolerance(solver, 0.1));
    SETS("runtime", "openmp", espalier_set_runtime(solver, ESPALIER_RUNTIME_OPENMP));
    SETS("runtime", "tbb", espalier_set_runtime(solver, ESPALIER_RUNTIME_TBB));
    SETS("runtime", "espalier", espalier_set_runtime(solver, ESPALIER_RUNTIME_ESPALIER));
    SETS("ordering", "rcm", espalier_set_ordering(solver, ESPALIER_ORDERING_RCM));
    SETS("ordering", "auto", espalier_set_ordering(solver, ESPALIER_ORDERING_AUTO));
    SETS("ordering", "dissection", espalier_set_ordering(solver, ESPALIER_ORDERING_DISSECTION));
    SETS("factorization", "ldlh", espalier_set_factorization(solver, ESPALIER_LDLH));
    SETS("matching", "on", espalier_set_matching(solver, ESPALIER_ON));
    SETS("scaling", "off", espalier_set_scaling(solver, ESPALIER_OFF));
    SETS("mixed-precision", "on", espalier_set_mixed_precision(solver, 1));
    SETS("condition", "on", espalier_set_condition(solver, 1));
    SETS("allow-singular", "on", espalier_set_allow_singular(solver, 1));
    SETS("reuse-ordering", "on", espalier_set_reuse_ordering(solver, 1));
    SETS("ordering", "amd", espalier_set_ordering(solver, ESPALIER_ORDERING_AMD));
    SETS("ordering", "some/file", espalier_set_ordering_file(solver, "some/file"));
    SETS("threads", "2", espalier_set_threads(solver, 2));
    SETS("threads", "auto", espalier_set_threads(solver, 0));
    SETS("bind", "off", espalier_set_bind_threads(solver, 0));
    SETS("topology", "numa:2 core:4", espalier_set_topology(solver, "numa:2 core:4"));
    SETS("topology", "here", espalier_set_topology(solver, "here"));
    SETS("calibration", "off", espalier_set_calibration(solver, ESPALIER_OFF));
    SETS("record-trace", "on", espalier_set_record_trace(solver, 1));
    SETS("schedule", "auto", espalier_set_schedule(solver, ESPALIER_SCHEDULE_AUTO));
    SETS("schedule", "static", espalier_set_schedule(solver, ESPALIER_SCHEDULE_STATIC));
    SETS("alloc", "interleave", espalier_set_allocation(solver, ESPALIER_ALLOC_INTERLEAVE));
    SETS("split", "1d", espalier_set_splitting(solver, ESPALIER_SPLIT_1D));
    SETS("max-block-width", "auto", espalier_set_block_widths(solver, 16, 0));
    SETS("min-block-width", "auto", espalier_set_block_widths(solver, 0, 64));
    SETS("min-block-width", "32", espalier_set_block_widths(solver, 32, 64));
    expect_option(solver, "max-block-width", "64");
    SETS("amalgamation-fill", "0.25", espalier_set_amalgamation_fill(solver, 0.25));
    SETS("pivot-threshold", "1e-10", espalier_set_pivot_threshold(solver, 1e-10));
    SETS("pivot-threshold", "auto", espalier_set_pivot_threshold(solver, -1));
    SETS("refine", "bicgstab", espalier_set_refinement(solver, ESPALIER_REFINE_BICGSTAB));
    SETS("max-refine-iterations", "5", espalier_set_max_refine_iterations(solver, 5));
    SETS("tolerance", "1e-13", espalier_set_tolerance(solver, 1e-13));
    SETS("max-memory", "3M", espalier_set_max_memory(solver, (uint64_t)3 << 20));
    SETS("max-memory", "none", espalier_set_max_memory(solver, 0));
#undef SETS
    espalier_destroy(&solver);
}

static void report(void) {
    problem p = laplacian(8, 0);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    double b[64], x[64];
    for (int i = 0; i < p.n; ++i) b[i] = 1;
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, p.n, x, p.n));
    int64_t count = 0, whole = 0;
    OK(solver, espalier_report_count(solver, &count));
    CHECK(count > 40);
    for (int64_t k = 0; k < count; ++k) {
        char const *name = NULL, *text = NULL;
        char const* const* texts = NULL;
        double const* numbers = NULL;
        double number = 0;
        int truth = -1;
        int64_t length = -1;
        espalier_field_type type = (espalier_field_type)-1;
        OK(solver, espalier_report_field(solver, k, &name, &type));
        switch (type) {
        case ESPALIER_FIELD_BOOL:
            OK(solver, espalier_report_bool(solver, name, &truth));
            CHECK(truth == 0 || truth == 1);
            FAILS(solver, ESPALIER_USAGE, "a truth value, not a whole number",
                  espalier_report_int(solver, name, &whole));
            break;
        case ESPALIER_FIELD_INT:
            OK(solver, espalier_report_int(solver, name, &whole));
            OK(solver, espalier_report_real(solver, name, &number));
            CHECK(number == (double)whole);
            break;
        case ESPALIER_FIELD_REAL:
            OK(solver, espalier_report_real(solver, name, &number));
            FAILS(solver, ESPALIER_USAGE, name, espalier_report_string(solver, name, &text));
            break;
        case ESPALIER_FIELD_STRING:
            OK(solver, espalier_report_string(solver, name, &text));
            CHECK(text && text[0]);
            FAILS(solver, ESPALIER_USAGE, name, espalier_report_real(solver, name, &number));
            break;
        case ESPALIER_FIELD_REALS:
            OK(solver, espalier_report_reals(solver, name, &length, &numbers));
            CHECK(length >= 0 && numbers);
            FAILS(solver, ESPALIER_USAGE, name, espalier_report_strings(solver, name, &length, &texts));
            break;
        case ESPALIER_FIELD_STRINGS:
            OK(solver, espalier_report_strings(solver, name, &length, &texts));
            CHECK(length >= 0 && texts);
            for (int64_t i = 0; i < length; ++i) CHECK(texts[i][0]);
            FAILS(solver, ESPALIER_USAGE, name, espalier_report_reals(solver, name, &length, &numbers));
            break;
        default:
            CHECK(!"a type that there is not");
        }
    }
    char const *kind = NULL, *json = NULL;
    double error = 1;
    OK(solver, espalier_report_string(solver, "settings.factorization", &kind));
    CHECK(kind && strcmp(kind, "llh") == 0);
    OK(solver, espalier_report_real(solver, "backward_error", &error));
    CHECK(error >= 0 && error < 1e-14);
    OK(solver, espalier_report_json(solver, &json));
    CHECK(json && json[0] == '{' && strstr(json, "\"analysis\":{\"ordering_s\":") &&
          json[strlen(json) - 1] == '}');
    espalier_destroy(&solver);
    free_problem(&p);
}

typedef struct seen {
    int lines;
    int phases;
    int ended;
    double last;
    int wrong;
} seen;

static void count_line(char const* line, void* user) {
    seen* const s = user;
    s->lines += line[0] != '\0' && !strchr(line, '\n');
}

static void watch_progress(char const* phase, double fraction, void* user) {
    seen* const s = user;
    if (fraction <= 0)
        ++s->phases;
    else if (fraction < s->last)
        ++s->wrong;
    if (fraction == 1) ++s->ended;
    if (fraction > 1 || !phase[0]) ++s->wrong;
    s->last = fraction;
}

static int never(void* user) {
    ++*(int*)user;
    return 0;
}

static void callbacks(void) {
    problem p = laplacian(60, 0);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_set_threads(solver, 2));
    seen s = {0};
    int asked = 0;
    OK(solver, espalier_set_log(solver, count_line, &s));
    OK(solver, espalier_set_progress(solver, watch_progress, &s));
    OK(solver, espalier_set_cancel(solver, never, &asked));
    OK(solver, espalier_factorize(solver));
    CHECK(s.lines > 0 && s.phases > 1 && s.ended == s.phases && s.wrong == 0 && s.last == 1);
    CHECK(asked > 0);
    seen const before = s;
    OK(solver, espalier_set_log(solver, NULL, NULL));
    OK(solver, espalier_set_progress(solver, NULL, NULL));
    OK(solver, espalier_set_cancel(solver, NULL, NULL));
    OK(solver, espalier_analyze(solver));
    CHECK(s.lines == before.lines && s.phases == before.phases);
    espalier_destroy(&solver);
    free_problem(&p);
}

void test_settings(void) {
    options();
    report();
    callbacks();
}
