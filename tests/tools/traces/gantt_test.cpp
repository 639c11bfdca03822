#include "tools/traces/gantt.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <cairo.h>
#include <gtest/gtest.h>

#include "espalier/types.hpp"
#include "tools/traces/canvas.hpp"
#include "tools/traces/coverage.hpp"
#include "tools/traces/gantt_data.hpp"
#include "tools/traces/gantt_layout.hpp"
#include "trace/sample_trace.hpp"

namespace espalier::trace {
namespace {

// Many states, much narrower than a pixel.
TraceParts crowded(int count) {
    TraceParts parts = sample_parts();
    parts.states.clear();
    parts.links.clear();
    Nanoseconds time = 17;
    for (int i = 0; i < count; ++i) {
        State s;
        s.start = time, s.end = time + 1 + i * 7919 % 97, s.kind = static_cast<std::int16_t>(i % 3);
        s.container = 3, s.level = static_cast<std::int16_t>(i % 5), s.task = i, s.cblk = i;
        parts.states.push_back(s);
        time = s.end + (i % 11 == 0 ? 13 : 0);
    }
    return parts;
}

TEST(Coverage, KeepsEveryNanosecondOfNarrowStates) {
    Trace const trace(crowded(50'000));
    auto const expected = statistics(trace, whole(trace)).kinds;
    for (std::size_t const columns : {1u, 7u, 640u, 100'003u}) {
        Coverage coverage(whole(trace), columns, 3);
        for (State const& s : trace.states_of(3)) coverage.add(s.start, s.end, std::size_t(s.kind));
        std::vector<Nanoseconds> sum(3, 0);
        for (std::size_t c = 0; c < columns; ++c) {
            Nanoseconds in_column = 0;
            for (std::size_t k = 0; k < 3; ++k) {
                sum[k] += coverage.covered(c, k);
                in_column += coverage.covered(c, k);
            }
            ASSERT_LE(in_column, coverage.boundary(c + 1) - coverage.boundary(c));
        }
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(sum[k], expected[k].total) << columns;
    }
}

TEST(Coverage, CutsWindowsIntoColumnsWithoutOverflow) {
    Nanoseconds const week = Nanoseconds(7) * 86400 * 1'000'000'000;
    Coverage coverage({5, 5 + week}, 100'000, 1);
    EXPECT_EQ(coverage.boundary(0), 5);
    EXPECT_EQ(coverage.boundary(100'000), 5 + week);
    coverage.add(0, week * 2, 0);
    for (std::size_t c = 0; c < 100'000; c += 999) {
        EXPECT_EQ(coverage.covered(c, 0), coverage.boundary(c + 1) - coverage.boundary(c));
        EXPECT_EQ(coverage.column_of(coverage.boundary(c)), c);
    }
    EXPECT_THROW(Coverage({3, 3}, 10, 1), Error);
}

TEST(Coverage, MixesTheColorsOfAPixelByTime) {
    Coverage coverage({0, 400}, 4, 2);
    coverage.add(0, 100, 0);
    coverage.add(100, 150, 0);
    coverage.add(150, 200, 1);
    coverage.add(200, 300, 1);
    std::vector<Color> const colors{{255, 0, 0}, {0, 0, 255}};
    auto const runs = color_runs(coverage, colors, {255, 255, 255});
    ASSERT_EQ(runs.size(), 3u); // the last column is background
    EXPECT_EQ(runs[0].color, colors[0]);
    EXPECT_EQ(runs[1].color, (Color{188, 0, 188})); // half of the light of 255
    EXPECT_EQ(runs[2].color, colors[1]);
    EXPECT_EQ(runs[2].end, 3u);
}

TEST(SumUp, KeepsTheTimeOfEachKindAndLevelInEachBin) {
    Trace const trace(crowded(20'000));
    constexpr Nanoseconds bin = 1000;
    auto const states = trace.states_of(3);
    auto const few = sum_up(states, trace.begin(), bin);
    EXPECT_LT(few.size(), states.size() * 9 / 10);
    auto const covered = [&](std::span<State const> of) {
        std::map<std::tuple<Nanoseconds, int, int>, Nanoseconds> time;
        Nanoseconds last = 0;
        for (State const& s : of) {
            EXPECT_GE(s.start, last);
            last = s.end;
            for (Nanoseconds at = s.start; at < s.end;) {
                Nanoseconds const b = (at - trace.begin()) / bin,
                                  stop = std::min(s.end, trace.begin() + (b + 1) * bin);
                time[{b, s.kind, s.level}] += stop - at;
                at = stop;
            }
        }
        return time;
    };
    EXPECT_EQ(covered(few), covered(states));
}

// tests/cli/trace_test.py checks the elements of an SVG file.
TEST(Gantt, EscapesNamesInSvg) {
    auto parts = sample_parts();
    parts.containers[3].name = "<T&0>\"\x01\xff";
    Trace const trace(parts);
    auto const svg = gantt_svg({{&trace, whole(trace), "a & b"}});
    EXPECT_TRUE(std::ranges::all_of(svg, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
    // The colors are those of "factor" and "idle".
    for (char const* part : {"a &amp; b", "#0072b2", "#000000", "&lt;T&amp;0&gt;", "ready tasks"})
        EXPECT_NE(svg.find(part), std::string::npos) << part;
    auto const by_level = gantt_svg({{&trace, whole(trace), ""}}, {.color_by = ColorBy::level});
    EXPECT_NE(by_level.find("#fde74c"), std::string::npos); // root
    EXPECT_EQ(by_level.find("#0072b2"), std::string::npos);
}

// A PNG file as cairo reads it.
class Picture {
  public:
    explicit Picture(std::string_view file) {
        auto const read = [](void* rest, unsigned char* bytes, unsigned count) {
            auto& text = *static_cast<std::string_view*>(rest);
            if (text.size() < count) return CAIRO_STATUS_READ_ERROR;
            std::copy_n(text.begin(), count, bytes);
            text.remove_prefix(count);
            return CAIRO_STATUS_SUCCESS;
        };
        surface_.reset(cairo_image_surface_create_from_png_stream(read, &file));
        EXPECT_EQ(cairo_surface_status(surface_.get()), CAIRO_STATUS_SUCCESS);
    }
    [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_.get()); }
    [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_.get()); }
    [[nodiscard]] Color at(double x, double y) const {
        auto const* const row = cairo_image_surface_get_data(surface_.get()) +
                                int(y) * cairo_image_surface_get_stride(surface_.get());
        auto const pixel = reinterpret_cast<std::uint32_t const*>(row)[int(x)];
        return {std::uint8_t(pixel >> 16), std::uint8_t(pixel >> 8), std::uint8_t(pixel)};
    }

  private:
    struct Release {
        void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
    };
    std::unique_ptr<cairo_surface_t, Release> surface_;
};

TEST(Gantt, DrawsStatesAtTheirTimes) {
    auto parts = sample_parts();
    parts.states.back().end = 7000; // the phase ends before the threads
    Trace const trace(parts);
    GanttOptions const options{.width = 800, .scale = 1, .max_links = 0};
    std::vector<GanttPanel> const panels{{&trace, whole(trace), ""}};
    Picture const picture(gantt_png(panels, options));
    auto const layout = lay_out(panels, options);
    ASSERT_EQ(picture.width(), 800);
    ASSERT_EQ(picture.height(), int(layout.height));
    auto const at = [&](std::size_t row, Nanoseconds time) {
        auto const& place = layout.panels[0].rows[row];
        return picture.at(layout.left + layout.plot_width * double(time - 1000) / 6250,
                          place.y + place.height / 2);
    };
    // Row 0 is the phase, then the threads.
    EXPECT_EQ(at(1, 2000), (Color{0, 114, 178}));
    EXPECT_EQ(at(1, 4000), (Color{0, 0, 0}));
    EXPECT_EQ(at(1, 6000), (Color{230, 159, 0}));
    EXPECT_EQ(at(2, 5250), (Color{236, 236, 236}));
    EXPECT_EQ(at(0, 1100), (Color{255, 170, 187}));
}

TEST(Gantt, NamesASinglePhaseInsteadOfDrawingIt) {
    Trace const trace(sample_parts());
    std::vector<GanttPanel> const panels{{&trace, whole(trace), ""}};
    EXPECT_FALSE(lay_out(panels, {}).panels[0].rows[0].phase);
    EXPECT_NE(gantt_svg(panels).find("lap2d:3, solve, 2 threads"), std::string::npos);
    EXPECT_TRUE(lay_out({{&trace, {0, 7250}, ""}}, {}).panels[0].rows[0].phase);
}

TEST(Gantt, ExplainsArrowsAndCountsOmittedOnes) {
    Trace const trace(sample_parts());
    std::vector<GanttPanel> const panels{{&trace, whole(trace), ""}};
    auto const few = gantt_svg(panels), many = gantt_svg(panels, {.max_links = 1});
    EXPECT_NE(few.find(">message<"), std::string::npos);
    EXPECT_NE(few.find(">steal<"), std::string::npos);
    EXPECT_EQ(many.find(">message<"), std::string::npos);
    EXPECT_NE(many.find(">2 arrows not drawn<"), std::string::npos);
}

TEST(Gantt, DrawsAPredictionAboveTheRunOnOneAxis) {
    auto parts = sample_parts();
    parts.metadata["origin"] = "predicted";
    Trace const predicted(parts), measured(sample_parts());
    std::vector<GanttPanel> const panels{{&predicted, {1000, 4000}, ""}, {&measured, whole(measured), ""}};
    auto const layout = lay_out(panels, {});
    ASSERT_EQ(layout.panels.size(), 2u);
    EXPECT_EQ(layout.panels[0].title, "predicted");
    EXPECT_GT(layout.panels[1].rows[0].y, layout.panels[0].rows.back().y);
    auto const svg = gantt_svg(panels);
    EXPECT_LT(svg.find(">predicted<"), svg.find(">measured<"));
}

TEST(Gantt, StaysSmallWithManyStatesAndThreads) {
    TraceParts parts = crowded(200'000);
    for (int i = 0; i < 3000; ++i) parts.containers.push_back({std::to_string(i), Place::thread, 2});
    Trace const trace(parts);
    std::vector<GanttPanel> const panels{{&trace, whole(trace), ""}};
    EXPECT_LT(gantt_svg(panels, {.max_threads = 100}).size(), 1'000'000u);
    auto const layout = lay_out(panels, {});
    EXPECT_EQ(layout.panels[0].hidden_threads, 3002u - 1024u);
    EXPECT_LT(layout.height, 8000);
}

TEST(Gantt, GroupsThousandsOfLevels) {
    auto parts = sample_parts();
    parts.states[0].level = 32767;
    Trace const trace(parts);
    std::vector<GanttPanel> const panels{{&trace, whole(trace), ""}};
    GanttClasses const classes(panels, ColorBy::level);
    EXPECT_EQ(classes.size() - classes.first_level(), 256u);
    EXPECT_EQ(classes.of(0, trace.states_of(4)[1]), classes.size() - 1);
    EXPECT_NE(gantt_svg(panels, {.color_by = ColorBy::level}).find(">level 32767<"), std::string::npos);
}

TEST(Gantt, RefusesPicturesThatAreEmptyOrTooLarge) {
    Trace const trace(sample_parts());
    EXPECT_THROW(gantt_svg({}), Error);
    EXPECT_THROW(gantt_svg({{&trace, {5, 5}, ""}}), Error);
    EXPECT_THROW(gantt_png({{&trace, whole(trace), ""}}, {.scale = 1000}), Error);
    EXPECT_THROW(gantt_png({{&trace, whole(trace), ""}}, {.width = 10}), Error);
    EXPECT_THROW(gantt_html({}), Error);
}

TEST(GanttHtml, IsASelfContainedPage) {
    auto parts = sample_parts();
    parts.metadata["matrix"] = "</script><script>alert(1)</script>";
    Trace const trace(parts);
    auto const page = gantt_html({{&trace, whole(trace), ""}});
    EXPECT_EQ(page.find("<!DOCTYPE html>"), 0u);
    EXPECT_EQ(page.find("http"), page.npos);
    EXPECT_EQ(page.find(" src="), page.npos);
    EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
    for (char const* tag : {"html", "head", "body", "style", "script", "canvas", "select"})
        EXPECT_NE(page.find("</" + std::string(tag) + ">"), page.npos) << tag;
}

TEST(GanttHtml, NeedsAFewBytesPerStateAndSumsUpTheRest) {
    Trace const trace(crowded(100'000));
    auto const page = gantt_html({{&trace, whole(trace), ""}});
    EXPECT_NE(page.find("\"count\":100000}"), page.npos);
    EXPECT_LT(page.size(), 100'000u * 10 + 60'000);
    auto const small = gantt_html({{&trace, whole(trace), ""}}, {.max_states = 5000});
    EXPECT_LT(small.size(), 5000u * 12 + 60'000);
}

// Decodes the states of the rows like the script of the page.
std::vector<State> decode(std::string const& page, std::size_t count) {
    std::size_t const first = page.find("\"data\":\"") + 8;
    std::string const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0, held = 0;
    for (std::size_t i = first; page[i] != '"' && page[i] != '='; ++i) {
        bits = bits << 6 | std::uint32_t(letters.find(page[i]));
        if ((held += 6) >= 8) bytes += static_cast<char>(bits >> (held -= 8));
    }
    std::size_t at = 0;
    auto const number = [&] {
        std::int64_t value = 0;
        for (int shift = 0;; shift += 7) {
            auto const byte = static_cast<unsigned char>(bytes.at(at++));
            value |= std::int64_t(byte & 127) << shift;
            if (byte < 128) return value;
        }
    };
    auto const difference = [&] {
        auto const n = number();
        return n % 2 ? -(n + 1) / 2 : n / 2;
    };
    std::vector<State> states(count);
    State last;
    last.task = last.cblk = 0;
    for (State& s : states) {
        s.start = last.end + number();
        s.end = s.start + number();
        s.kind = static_cast<std::int16_t>(number());
        s.level = static_cast<std::int16_t>(number() - 1);
        s.cblk = last.cblk + difference();
        s.task = last.task + difference();
        last = s;
    }
    EXPECT_EQ(at, bytes.size());
    return states;
}

TEST(GanttHtml, ContainsTheStates) {
    TraceParts parts = crowded(1000);
    parts.states[500].task = -1;
    parts.states[501].cblk = std::int64_t(1) << 40;
    Trace const trace(parts);
    auto decoded = decode(gantt_html({{&trace, whole(trace), ""}}), 1000);
    for (State& s : decoded) s.start += trace.begin(), s.end += trace.begin(), s.container = 3;
    EXPECT_EQ(decoded, std::vector<State>(trace.states_of(3).begin(), trace.states_of(3).end()));
}

TEST(TimeTicks, AreRound) {
    auto const labels = [](Nanoseconds span) {
        std::string text;
        for (auto const& tick : time_ticks(span, 500)) text += tick.label + "|";
        return text;
    };
    EXPECT_EQ(labels(1'000'000'000), "0 s|0.2 s|0.4 s|0.6 s|0.8 s|1.0 s|");
    EXPECT_EQ(labels(73'000'000), "0 ms|20 ms|40 ms|60 ms|");
    EXPECT_EQ(labels(1200), "0 us|0.5 us|1.0 us|");
    EXPECT_EQ(labels(3), "0 ns|1 ns|2 ns|3 ns|");
    EXPECT_LT(time_ticks(9'000'000'000'000'000, 500).size(), 12u);
    EXPECT_EQ(readable_value(1.5e9, "bytes"), "1.5 GB");
}

TEST(Canvas, DrawsTextOfTheMeasuredWidthAndRectanglesInTheirPixels) {
    std::string const word = "Espalier & \x01 {19}";
    for (bool const bold : {false, true}) {
        double const width = text_width(word, 16, bold);
        auto const canvas = png_canvas(300, 30, 1);
        canvas->text(290, 20, word, {16, {0, 0, 0}, Anchor::end, bold});
        canvas->rectangle(3, 4, 2, 1, {1, 2, 3});
        Picture const picture(canvas->finish());
        double left = 300, right = 0;
        for (int x = 10; x < 300; ++x)
            for (int y = 0; y < 30; ++y)
                if (picture.at(x, y).red < 160) left = std::min<double>(left, x), right = x;
        EXPECT_NEAR(left, 290 - width, 4);
        EXPECT_NEAR(right, 290, 4);
        EXPECT_EQ(picture.at(3, 4), (Color{1, 2, 3}));
        EXPECT_EQ(picture.at(4, 4), (Color{1, 2, 3}));
        EXPECT_EQ(picture.at(5, 4), (Color{255, 255, 255}));
        EXPECT_EQ(picture.at(3, 5), (Color{255, 255, 255}));
    }
}

} // namespace
} // namespace espalier::trace
