"""Names of runs, measures and queries on charts: never code, never cut so that two look the same."""

import json
import re

import pytest
import vl_convert
from chart_rows import EVERY

import gainful as gf
from gainful.output.plotting import charts, label_texts

MARK = "Zz9"
# What may end a text, of which another might hide one; and what is odd wherever it stands.
HOSTILE = ["\\", '"', '\\"', "'", "\\'", '\\"]+alert(1)+["', "${x}"]
ODD = ["\n", "\r\n", "\u2028", "\x00", "\x1b[31m", "\ud800", "<b>&amp;"]
CODE = {"signal", "expr", "test", "update", "init"}
NAMED = ("differences", "scatter")
NAMELESS = ("confusion", "query_agreement", "unjudged", "examination")  # only their rows have names
COMPARED = [name for name in EVERY if name not in (*NAMELESS, "assessor_means", "heat", "hard")]
QUERIES = [f"q{n}" for n in range(5)]
JUDGMENTS = {query: {"a": 1, "b": 2} for query in QUERIES}
ONE = {query: {"a": 2, "c": 1, "b": 0.5} for query in QUERIES}
TWO = {query: {"b": 2, "a": 1.5, "c": 1} for query in QUERIES}
LONG = [f"bm25-rm3-monot5-base-msmarco-10k-v{n}" for n in range(12)]


def code_in(part):
    """Yield all that Vega reads as code."""
    pairs = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in pairs:
        if isinstance(value, str):
            if key in CODE:
                yield value
        elif isinstance(value, dict | list):
            yield from code_in(value)


def renamed(value, name):
    """Return a value with a name in place of every text in it."""
    if isinstance(value, str):
        return name
    if isinstance(value, list):
        return [renamed(each, name) for each in value]
    if isinstance(value, dict):
        return {key: renamed(each, name) for key, each in value.items()}
    return value


def chart_of(name, text, width=600):
    fixed = {"outcome", "verdict"}
    rows = [
        {key: cell if key in fixed else renamed(cell, text) for key, cell in row.items()}
        for row in EVERY[name]
    ]
    words = {"measure": text, "base": text, "run": text} if name in NAMED else {"measure": text}
    words = {"base": text} if name == "intervals" else {} if name in NAMELESS else words
    return getattr(charts, name)(rows, width=width, **words)


def texts(chart):
    image = vl_convert.vegalite_to_svg(chart.to_dict())
    return re.findall(r"<(?:text|tspan)[^>]*>([^<]+)</(?:text|tspan)>", image)


def size(chart):
    image = vl_convert.vegalite_to_svg(chart.to_dict())
    return [
        float(number) for number in re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', image).groups()
    ]


@pytest.mark.parametrize("width", [600, "container"])
@pytest.mark.parametrize("name", EVERY)
def test_no_name_gets_into_code(name, width):
    spec = chart_of(name, f"{MARK} of mine", width).to_dict()
    assert MARK in json.dumps(spec)
    found = list(code_in(vl_convert.vegalite_to_vega(spec)))
    assert len(found) > 5
    assert not [each for each in found if MARK in each]


def test_a_name_in_code_would_be_found():
    chart = charts.curve(EVERY["curve"]).to_dict()
    chart["layer"][2]["encoding"]["tooltip"][0]["title"] = MARK
    found = list(code_in(vl_convert.vegalite_to_vega(chart)))
    assert [each for each in found if MARK in each]


def with_names(part, inside=None):
    """Return a specification as a page names it: the titles of axes, texts and descriptions."""
    if isinstance(part, list):
        return [with_names(each, inside) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        key: re.sub(r"\b(score|base|run|nDCG)\b", MARK, value)
        if isinstance(value, str)
        and ((key == "title" and inside == "axis") or key in ("text", "description"))
        else with_names(value, key)
        for key, value in part.items()
    }


@pytest.mark.parametrize("name", EVERY)
def test_no_name_that_a_page_gives_gets_into_code(name):
    spec = with_names(charts.empty(base=f"{MARK} base")[name])
    assert (MARK in json.dumps(spec)) != (name in NAMELESS)
    spec["data"]["values"] = EVERY[name]
    found = list(code_in(vl_convert.vegalite_to_vega(spec)))
    assert not [each for each in found if MARK in each]


@pytest.mark.parametrize("name", EVERY)
def test_what_a_field_is_called_has_no_word_that_stands_for_a_name(name):
    def fields(part):
        if isinstance(part, list):
            for each in part:
                yield from fields(each)
        elif isinstance(part, dict):
            if "field" in part and isinstance(part.get("title"), str):
                yield part["title"]
            for each in part.values():
                yield from fields(each)

    words = {word for title in fields(charts.empty()[name]) for word in re.findall(r"\w+", title)}
    assert not words & {"score", "base", "run", "nDCG"}


@pytest.mark.parametrize("odd", [*HOSTILE, " ".join(ODD)])
@pytest.mark.parametrize("name", EVERY)
def test_any_name_can_be_drawn(name, odd, tmp_path):
    chart_of(name, f"a{odd}b{odd}").save(tmp_path / "chart.png", scale_factor=0.2)


@pytest.mark.parametrize("odd", ["a\\", 'a\\"b\n'])
def test_any_name_of_a_run_can_be_compared_and_drawn(odd, tmp_path):
    for runs in ({"base": ONE, odd: TWO}, {odd: ONE, "run": TWO}):
        plot = gf.compare(JUDGMENTS, runs, resamples=50).plot
        for name in COMPARED:
            getattr(plot, name)().save(tmp_path / f"{name}.svg")


def test_a_backslash_is_shown_as_it_is():
    shown = texts(charts.scatter(EVERY["scatter"], measure="m\\n", base='a\\"', run="b\\"))
    assert {'m\\n of a\\"', "m\\n of b\\", "b\\ better"} <= set(shown)


@pytest.fixture(scope="module")
def long():
    runs = dict.fromkeys(LONG, ONE) | {LONG[1]: TWO}
    return gf.compare(JUDGMENTS, runs, ["nDCG@10"], resamples=50)


def test_long_names_leave_the_chart_its_place(long):
    short = gf.compare(JUDGMENTS, {"a": ONE, "b": TWO}, ["nDCG@10"], resamples=50)
    for name in ("differences", "scatter"):
        (wide, high), (usual_width, usual_height) = (
            size(getattr(found.plot, name)()) for found in (long, short)
        )
        assert wide <= usual_width + 20
        assert high <= usual_height + 20


def test_both_long_names_are_on_the_chart_of_differences(long):
    shown = " ".join(texts(long.plot.differences()))
    assert f"nDCG@10: {LONG[1]} − {LONG[0]} (better ↑)" in shown


@pytest.mark.parametrize("name", ["curve", "distribution", "intervals"])
def test_long_names_are_whole(long, name):
    expected = LONG[1:] if name == "intervals" else LONG
    shown = texts(getattr(long.plot, name)())
    assert [text for text in shown if text.startswith("bm25")] == expected


def test_long_pairs_stand_on_two_lines():
    runs = dict.fromkeys(LONG[:3], ONE)
    found = gf.compare(JUDGMENTS, runs, ["nDCG@10"], pairs="all", resamples=50)
    shown = texts(found.plot.intervals())
    assert [text for text in shown if "bm25" in text] == [
        LONG[1], f"− {LONG[0]}", LONG[2], f"− {LONG[0]}", LONG[2], f"− {LONG[1]}",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["curve", "distribution", "intervals"])
def test_names_of_any_length_differ_in_their_ends(name):
    names = ["x" * 200 + end for end in ("-one", "-two")]
    rows = [{**EVERY[name][0], "run": run} for run in names]
    shown = [text for text in texts(getattr(charts, name)(rows)) if text.startswith("xxx")]
    assert [text[-4:] for text in shown] == ["-one", "-two"]
    assert all(len(text) == label_texts.LETTERS and "…" in text for text in shown)


def test_queries_with_long_ids_differ_in_their_ends():
    rows = [
        {**row, "query": f"msmarco-passage-dev-small-{n}"}
        for n, row in enumerate(EVERY["differences"])
    ]
    shown = [text for text in texts(charts.differences(rows)) if text.startswith("msmarco")]
    assert shown == [f"msmarco-pas…ev-small-{n}" for n in range(3)]


def test_more_runs_than_a_legend_has_by_itself():
    rows = [{"run": f"run{n}", "k": k, "value": n / 50} for n in range(50) for k in (1, 2)]
    shown = texts(charts.curve(rows))
    assert [text for text in shown if text.startswith("run")] == [f"run{n}" for n in range(50)]


def test_a_legend_of_short_names_is_one_line_and_of_long_ones_more():
    spec = charts.empty()["assessor_means"]
    assert spec["layer"][1]["encoding"]["color"]["legend"]["columns"] == {"expr": "columns"}

    def asked(names, width=600):
        rows = [{"run": name} for name in names]
        vega = {
            "signals": [
                {
                    "name": each["name"],
                    "update": each["expr"].replace("containerSize()[0]", str(width)),
                }
                for each in spec["params"]
            ],
            "data": [{"name": "rows", "values": rows}],
            "marks": [{"type": "text", "encode": {"enter": {"text": {"signal": "columns + '!'"}}}}],
        }
        return int(re.search(r"(\d+)!", vl_convert.vega_to_svg(vega))[1])

    assert asked(["keyword", "hybrid", "semantic"]) >= 3
    assert [asked(LONG, width) for width in (400, 600, 1100)] == [1, 2, 3]
    assert asked(["a", "b"], width=120) == 1


def test_titles_in_lines():
    assert label_texts.in_lines("nDCG@10 of new", 300) == "nDCG@10 of new"
    assert label_texts.in_lines("", 300) == ""
    lines = label_texts.in_lines("one two three (better →)", 7 * 10)
    assert lines == ["one two", "three", "(better →)"]
    wide = label_texts.in_lines("語" * 40, 7 * 40)
    assert [len(line) for line in wide] == [20, 20]


def test_names_are_shortened_in_the_middle():
    assert label_texts.shortened("short") == "short"
    assert label_texts.shortened("a\n b") == "a b"
    assert label_texts.shortened("abcdefgh", 5) == "ab…gh"
    assert len(label_texts.shortened("x" * 500)) == label_texts.LETTERS
