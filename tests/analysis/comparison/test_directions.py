"""Verdicts know whether higher or lower values of a measure are better, or neither."""

import pytest

import gainful as gf

# Every value of the run "more" is larger.
LESS = {f"u{i}": 0.1 + 0.01 * (i % 5) for i in range(40)}
MORE = {user: value + 0.05 + 0.01 * (i % 3) for i, (user, value) in enumerate(LESS.items())}


def compared(measure, **options):
    tables = {
        name: [{"query": user, measure: value} for user, value in values.items()]
        for name, values in (("less", LESS), ("more", MORE))
    }
    return gf.comparison.compare_scores(tables, **options)


@pytest.mark.parametrize(
    ("measure", "word"),
    [
        ("nDCG@10", "better"),
        ("Novelty@10", "better"),
        ("Miscalibration@10", "worse"),
        ("NumNonrelRet@10", "worse"),
        ("Popularity@10", "higher"),
        ("Judged@10", "higher"),
        ("my own score", "better"),
    ],
)
def test_the_word_of_a_higher_mean(measure, word):
    found = compared(measure).differences[0]
    assert found.difference > 0
    assert found.verdict.word == word
    assert f"more is {word} than less" in found.verdict.sentence
    turned = {"better": "worse", "worse": "better", "higher": "lower"}[word]
    assert compared(measure, baseline="more").differences[0].verdict.word == turned
    wins = 0 if word == "worse" else 40
    assert (found.wins, found.losses) == (wins, 40 - wins)


def test_the_best_run_has_the_lowest_miscalibration():
    tables = {
        name: [{"query": user, "Miscalibration@10": value} for user, value in values.items()]
        for name, values in (("less", LESS), ("more", MORE))
    }
    board = gf.comparison.leaderboard_of_scores(tables)
    assert board.runs == ("less", "more")
    assert [place.rank for place in board.places] == [1, 2]
    assert [place.best_rank for place in board.places] == [1, 2]


@pytest.mark.parametrize(
    ("measure", "best"), [("nDCG@10", "more"), ("Miscalibration@10", "less"), ("Popularity@10", "")]
)
def test_the_best_mean_is_bold(measure, best):
    from gainful.analysis.comparison.systems_table import systems_table

    table = systems_table(compared(measure))
    bold = [row[-2] if len(row) > 2 else row[0] for row in table.rows if row[-1].best]
    assert bold == ([best] if best else [])


def test_every_family_states_its_direction():
    families = gf.measures.families()
    assert {family.better for family in families} == {"higher", "lower", "neither"}
    assert {family.name for family in families if family.better == "lower"} >= {
        "Miscalibration", "Gini", "NumNonrelRet",
    }  # fmt: skip
    text = gf.writing.render(gf.measures.family("Miscalibration"))
    assert "lower values" in text


def test_own_measures_state_their_direction():
    @gf.measures.define("CostOfList", better="lower", per_query=True)
    def cost(found):
        """The number of documents that the user reads."""
        return float(found.grade.size)

    judgments = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(20)}
    runs = {"short": {q: ["a"] for q in judgments}, "long": {q: ["a", "b", "c"] for q in judgments}}
    found = gf.compare(judgments, runs, cost, baseline="short")
    assert found.differences[0].verdict.word == "worse"
    with pytest.raises(gf.errors.GainfulError, match="higher, lower or neither"):
        gf.measures.define("Other", better="up")


def test_charts_point_to_the_better_values():
    from gainful.analysis.comparison.plot import interval_rows
    from gainful.output.plotting import specifications

    def title(measure):
        rows = interval_rows(compared(measure))
        return str(specifications.intervals(rows, base="less", level=0.95, width=400))

    assert "(better →)" in title("nDCG@10")
    assert "(← better)" in title("Miscalibration@10")
    assert "better →" not in title("Popularity@10")
    assert "← better" not in title("Popularity@10")


def test_a_report_knows_the_better_values():
    items = {"a": "x", "b": "y", "c": "x"}
    history = {f"u{i}": ["a", "b"] for i in range(12)}
    judgments = {user: {"a": 1, "b": 1} for user in history}
    runs = {
        "one": {user: ["a", "c"] for user in history},
        "two": {user: ["a", "b"] for user in history},
    }
    page = gf.report(
        judgments,
        runs,
        ["nDCG@2", "Miscalibration@2", "Popularity@2"],
        items=items,
        history=history,
    )
    data = page.payload()
    assert data["better"] == ["higher", "lower", "neither"]
    assert [run["best"] for run in data["runs"]] == [[False] * 3, [True, True, False]]
