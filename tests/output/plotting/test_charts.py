"""Charts: their rows, their words, and that they can be drawn, with and without rows."""

import copy
import functools
import json
import math
import re
import subprocess
import sys
from itertools import pairwise

import altair as alt
import pytest
import vl_convert
from chart_rows import (
    AGREEMENT,
    ASSESSORS,
    BOUNDS,
    CONFUSION,
    CURVE,
    EVERY,
    INTERVALS,
    QUERIES,
    SCORES,
)

import gainful as gf
from gainful.output.plotting import charts, theme
from gainful.output.plotting.specifications import VERDICTS

NAMED = {"measure": "nDCG@10", "base": "old", "run": "new"}
EACH = pytest.mark.parametrize("name", EVERY)


def drawn(name, rows=None, **options):
    return getattr(charts, name)(EVERY[name] if rows is None else rows, **options)


@functools.cache
def _picture(spec):
    return vl_convert.vegalite_to_svg(spec)


def svg(chart):
    return _picture(json.dumps(chart.to_dict()))


def texts(chart):
    return re.findall(r"<(?:text|tspan)[^>]*>([^<]+)</(?:text|tspan)>", svg(chart))


def marks(chart, kind):
    """Return what a screen reader hears of the marks of a kind."""
    image = svg(chart)
    return re.findall(rf'aria-roledescription="{kind}"[^>]*aria-label="([^"]*)"', image) or (
        re.findall(rf'aria-label="([^"]*)"[^>]*aria-roledescription="{kind}"', image)
    )


@EACH
def test_the_rows_are_in_the_chart_as_they_are(name):
    rows = copy.deepcopy(EVERY[name])
    found = drawn(name, rows).to_dict()
    assert found["data"] == {"name": "rows", "values": EVERY[name]}
    assert "datasets" not in found
    assert rows == EVERY[name]


@EACH
def test_a_chart_is_one_of_altair(name):
    chart = drawn(name)
    assert isinstance(chart, alt.TopLevelMixin)
    titled = chart.properties(title="My title")
    assert titled.to_dict()["title"] == "My title"
    assert "My title" in texts(titled)
    moved = chart.interactive().to_dict()
    assert "scales" in [each.get("bind") for each in moved["params"]]


@EACH
def test_many_rows_are_no_error(name):
    rows = [
        {**EVERY[name][0], "query": f"q{place}", "place": place, "k": place + 1}
        for place in range(6_000)
    ]
    assert len(drawn(name, rows).to_dict()["data"]["values"]) == 6_000


@EACH
@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_theme_is_the_config(name, look):
    chart = drawn(name, theme=look)
    found = chart.to_dict()["config"]
    assert found["background"] == theme.THEMES[look]["background"]
    assert found["range"] == theme.THEMES[look]["range"]
    assert f'fill="{theme.THEMES[look]["background"]}"' in svg(chart)


@EACH
def test_a_specification_without_rows_is_legal_and_can_be_drawn(name):
    found = charts.empty()[name]
    assert found["data"] == {"name": "rows", "values": []}
    assert found["width"] == "container"
    assert "config" not in found
    alt.Chart.from_dict(found)  # checks it against the schema
    json.dumps(found, allow_nan=False)
    image = vl_convert.vegalite_to_svg({**found, "config": dict(theme.LIGHT)})
    assert "NaN" not in image
    assert "undefined" not in image


@EACH
def test_rows_that_come_later_give_the_same_picture(name):
    later = {**charts.empty()[name], "data": {"name": "rows", "values": EVERY[name]}}
    now = drawn(name, width="container", theme=None).to_dict()
    both = [vl_convert.vegalite_to_svg({**spec, "config": {}}) for spec in (later, now)]
    # Gradients are numbered over all pictures that the process has drawn.
    both = [re.sub(r"gradient_\d+", "gradient", image) for image in both]
    assert both[0] == both[1]


@EACH
def test_a_width_that_is_none(name):
    for width in (0, -5, "wide", True, 2.5):
        with pytest.raises(gf.errors.InputError, match="a number of pixels, or 'container'"):
            drawn(name, width=width)
    assert drawn(name, width="container")


def test_differences_are_bars_in_their_order():
    chart = charts.differences(QUERIES, **NAMED)
    shown = texts(chart)
    assert [text for text in shown if text in ("q1", "q2", "q3")] == ["q2", "q3", "q1"]
    assert "nDCG@10: new − old (better ↑)" in shown
    assert "queries, by their difference" in shown
    bars = [label for label in marks(chart, "bar") if "outcome" in label]
    assert [re.search(r"outcome: (\w+)", label)[1] for label in bars] == ["worse", "same", "better"]
    assert "−0.25" in bars[0]


def test_the_order_is_that_of_the_places_not_of_the_rows():
    one, two = (charts.differences(rows, **NAMED) for rows in (QUERIES, QUERIES[::-1]))
    names = [[text for text in texts(chart) if text in ("q1", "q2", "q3")] for chart in (one, two)]
    assert names[0] == names[1] == ["q2", "q3", "q1"]


def test_bars_that_are_many_have_no_names():
    rows = [
        {
            **QUERIES[0],
            "query": f"query-{place}",
            "place": place,
            "difference": (place - 500) / 1000,
        }
        for place in range(1_000)
    ]
    chart = charts.differences(rows, **NAMED)
    shown = texts(chart)
    assert not [text for text in shown if text.startswith("query-")]
    assert len([label for label in marks(chart, "bar") if "outcome" in label]) == 1_000


def test_what_is_told_of_a_query():
    hits = charts.differences(QUERIES, **NAMED).to_dict()["layer"][-1]["encoding"]["tooltip"]
    assert [(each["field"], each.get("title", each["field"])) for each in hits] == [
        ("query", "query"),
        ("text", "text"),
        ("base", "base"),
        ("run", "run"),
        ("difference", "difference"),
    ]
    bare = [{**row, "text": None} for row in QUERIES]
    told = charts.scatter(bare, **NAMED).to_dict()["layer"][-1]["encoding"]["tooltip"]
    assert [(each["field"], each.get("title")) for each in told] == [
        ("query", None),
        ("base", "across"),
        ("run", "upwards"),
        ("here", "queries here"),
    ]


def test_intervals_of_several_measures_stand_apart_in_their_order():
    shown = texts(charts.intervals(INTERVALS, base="old"))
    assert [text for text in shown if text in ("nDCG@10", "AP")] == ["nDCG@10", "AP"]
    assert shown.count("difference from old (better →)") == 2
    assert shown.count("new") == 2
    assert shown.count("other") == 1


def test_intervals_of_one_measure_name_it_on_the_axis():
    shown = texts(charts.intervals(INTERVALS[:2], base="old"))
    assert "nDCG@10: difference from old (better →)" in shown
    found = [word for word in VERDICTS if word in shown]
    occurring = {row["verdict"] for row in INTERVALS[:2]}
    assert found == [word for word in VERDICTS if word in occurring]
    assert {"new", "other"} <= set(shown)


def test_intervals_with_several_bases_name_both():
    shown = texts(charts.intervals(INTERVALS[:2]))
    assert {"new − old", "other − old", "nDCG@10: run − base (run better →)"} <= set(shown)


def test_an_interval_that_is_none_is_a_point_alone():
    chart = charts.intervals(INTERVALS, base="old", level=0.9)
    spans = [label for label in marks(chart, "rule mark") if "low" in label]
    assert [
        re.search(r"90% low: ([^;]+); 90% high: ([^;]+)$", each).groups() for each in spans
    ] == [
        ("+0.0500", "+0.1500"),
        ("−0.0400", "+0.0200"),
        ("none", "none"),
    ]
    unseen = re.findall(r'aria-label="([^"]*90% low[^"]*)"[^>]*opacity="0"', svg(chart))
    assert len(unseen) == 1
    assert "90% low: none" in unseen[0]
    assert len([label for label in marks(chart, "point") if "verdict" in label]) == 3


def test_an_interval_lies_between_the_bounds_and_may_be_none():
    chart = charts.bounds(BOUNDS, measure="nDCG@10", level=0.9)
    shown = texts(chart)
    assert [text for text in shown if text in ("zeta", "alpha")] == ["zeta", "alpha"]
    assert "nDCG@10" in shown
    lines = [label for label in marks(chart, "rule mark") if "at least" in label]
    assert re.search(r"at least: 0.4000; at most: 0.7000", lines[0])
    found = [
        re.search(r"estimate: ([^;]+); 90% low: ([^;]+); 90% high: ([^;]+)$", each).groups()
        for each in lines
    ]
    assert found == 2 * [
        ("0.5500", "0.5200", "0.6000"),
        ("none", "none", "none"),
    ]  # outside, then inside
    unseen = re.findall(r'aria-label="([^"]*at least[^"]*)"[^>]*opacity="0"', svg(chart))
    assert unseen
    assert all("estimate: none" in label for label in unseen)


def domain_parts(domain):
    """Return what a domain is made of, but the line where there is no difference."""
    parts = domain["fields"] if isinstance(domain, dict) else [domain]
    return [part for part in parts if part != [0]]


@EACH
def test_a_chart_of_nothing_has_axes_all_the_same(name):
    chart = drawn(name, [])
    scales = vl_convert.vegalite_to_vega(chart.to_dict())["scales"]
    linear = [scale["domain"] for scale in scales if scale["type"] in ("linear", "sqrt")]
    assert linear
    # Vega finds no extent of nothing: no domain is looked for in data that has none.
    assert '"field"' not in json.dumps(linear)
    usual = ([0, 1], [1, 20])  # scores, and cutoffs
    assert all(part in usual for domain in linear for part in domain_parts(domain))
    sizes = re.search(r'viewBox="0 0 ([^ ]+) ([^"]+)"', svg(chart)).groups()
    assert all(0 < float(side) < 1000 for side in sizes)


def test_a_curve_leaves_out_what_has_no_value_and_says_so():
    odd = [{"run": "zeta", "k": k, "value": value} for k, value in ((8, None), (9, math.nan))]
    with pytest.warns(gf.errors.GainfulWarning, match="^curve: 'zeta' has no value at 2 cutoffs"):
        chart = charts.curve([*CURVE, *odd])
    assert chart.to_dict()["data"]["values"] == CURVE
    with pytest.warns(gf.errors.GainfulWarning, match="no value at 2 cutoffs"):
        nothing = charts.curve(odd)
    assert svg(nothing) == svg(charts.curve([]))


def test_queries_on_one_place_are_larger_and_counted():
    one = {"query": "a", "text": None, "base": 0.0, "run": 1.0, "outcome": "better"}
    same = {"text": None, "base": 0.1 + 0.2, "run": 0.3, "outcome": "same"}
    rows = [
        one,
        *({**same, "query": f"q{n}"} for n in range(8)),
        {**same, "base": 0.3, "query": "z"},
    ]
    chart = charts.scatter(rows, **NAMED)
    points = [label for label in marks(chart, "point") if "query" in label]
    counts = [re.search(r"queries here: (\d+)", label)[1] for label in points]
    assert counts == ["9"] * 9 + ["1"]  # the largest first, so that they cover no other
    widths = {
        float(width) for width in re.findall(r'queries here[^"]*"[^>]*d="M([\d.]+),0A', svg(chart))
    }
    assert list(widths) == [pytest.approx(math.sqrt(60 * 3) / 2, abs=1e-3)]  # 60 · √9 square pixels


def test_a_scatter_has_the_same_scores_on_both_axes():
    rows = [
        {"query": "a", "text": None, "base": 2.0, "run": 7.0, "outcome": "better"},
        {"query": "b", "text": None, "base": 3.0, "run": 1.0, "outcome": "worse"},
    ]
    shown = texts(charts.scatter(rows, **NAMED))
    assert [shown.count(f"{number}.0") for number in range(9)] == [2] * 8 + [0]
    assert {"new better", "old better", "nDCG@10 of old", "nDCG@10 of new"} <= set(shown)


def test_a_curve_has_a_line_and_a_shape_for_each_run_in_the_order_of_the_rows():
    chart = charts.curve(CURVE, measure="nDCG")
    shown = texts(chart)
    assert [text for text in shown if text in ("zeta", "alpha")] == ["zeta", "alpha"]
    assert {"cutoff k", "mean nDCG@k"} <= set(shown)
    points = [label for label in marks(chart, "point") if "run" in label]
    assert len(points) == 6
    assert "cutoff k: 1; mean: 0.3; run: zeta" in points[0]
    assert svg(chart).count(f'stroke="{theme.LIGHT["range"]["category"][0]}"') >= 1


def test_a_distribution_counts_and_has_the_mean():
    chart = charts.distribution(SCORES, measure="nDCG@10")
    shown = texts(chart)
    assert [text for text in shown if text in ("zeta", "alpha")] == ["zeta", "alpha"]
    assert {"mean 0.1667", "mean 0.7500"} <= set(shown)  # (0+0+½)/3 and (¼+1+1)/3
    bars = [label for label in marks(chart, "bar") if "share" in label]
    shares = sorted(float(re.search(r"share: ([\d.]+)", label)[1]) for label in bars)
    assert shares == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3], abs=1e-3)


ODD = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "שלום",
    "🦆",
    "a\\b'c",
    "{{x}}",
]


def test_odd_names_are_text():
    """Each of a row of its own, and all of them in the words around the chart."""
    words = " ".join(ODD)
    rows = [{**QUERIES[0], "query": odd, "text": odd, "place": at} for at, odd in enumerate(ODD)]
    intervals = [{**INTERVALS[0], "run": odd, "base": odd, "measure": odd} for odd in ODD]
    for chart in (
        charts.differences(rows, measure=words, base=words, run=words),
        charts.intervals(intervals, base=words),
        charts.curve([{"run": odd, "k": 1, "value": 0.5} for odd in ODD], measure=words),
        charts.distribution([{"run": odd, "score": 0.5} for odd in ODD], measure=words),
    ):
        image = svg(chart)
        assert "<script" not in image
        assert "<img" not in image
        for shown in ("&lt;script&gt;alert(1)", "&lt;img src=x", "שלום", "🦆"):
            assert shown in image, shown


def test_without_altair_the_error_names_what_to_install():
    code = (
        "import sys; sys.modules['altair'] = None\n"
        "import gainful as gf\n"
        "scores = gf.evaluate({'q': {'a': 1}}, {'q': {'a': 1}})\n"
        "try: scores.plot.distribution()\n"
        "except gf.errors.MissingDependencyError as error: print(error)\n"
        "from gainful.output.plotting import charts; print(len(charts.empty()))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "a chart: expected the package altair, found none installed. From the root of gainful's repository, run: pip install '.[report]'",
        str(len(EVERY)),
    ]


def test_grades_that_meet_are_fields_in_the_order_of_the_scale():
    chart = charts.confusion(CONFUSION)
    assert [text for text in texts(chart) if "%" in text] == ["50.0%", "12.5%", "12.5%", "25.0%"]
    assert [text for text in texts(chart) if text in ("0", "2")] == ["0", "2", "0", "2"]


def test_queries_stand_by_their_agreement():
    chart = charts.query_agreement(AGREEMENT)
    told = re.findall(r"agreement: ([\d.]+%); documents of several: (\d)", svg(chart))
    assert told == [("25.0%", "4"), ("100.0%", "1")]
    assert "pairs of assessors who agree" in texts(chart)


def test_runs_are_lines_over_the_assessors_in_the_order_given():
    shown = texts(charts.assessor_means(ASSESSORS, measure="nDCG@10"))
    assert [text for text in shown if text in ("zoe", "ann", "mean")] == ["zoe", "ann", "mean"]
    assert [text for text in shown if text in ("zeta", "alpha")] == ["zeta", "alpha"]
    assert "mean nDCG@10" in shown


def test_lines_are_named_where_they_end():
    rows = [
        {"run": f"run{n}", "k": k, "value": 0.5 + n / 1000} for n in range(6) for k in (1, 2, 3)
    ]
    image = svg(charts.curve(rows))
    heights = {
        name: float(height)
        for height, name in re.findall(
            r'transform="translate\([\d.]+,([-\d.]+)\)"[^>]*>(run\d)<', image
        )
    }
    assert list(heights) == [f"run{n}" for n in range(6)]
    ordered = sorted(heights.values())
    assert all(after - before > 11 for before, after in pairwise(ordered))


def test_a_band_is_as_wide_as_the_interval():
    rows = [{**row, "low": row["value"] - 0.1, "high": row["value"] + 0.2} for row in CURVE]
    told = [label for label in marks(charts.curve(rows), "point") if "interval" in label]
    assert "interval: 0.2000 to 0.5000" in told[0]
    bare = [label for label in marks(charts.curve(CURVE), "point") if "interval" in label]
    assert "interval: none" in bare[0]


def test_only_the_largest_differences_have_labels():
    rows = [
        {"query": f"q{n}", "text": "", "base": 0.5, "run": 0.5 + n / 100, "outcome": "better"}
        for n in range(9)
    ]
    shown = [text for text in texts(charts.scatter(rows, **NAMED)) if text.startswith("q")]
    assert sorted(shown) == ["q4", "q5", "q6", "q7", "q8"]
