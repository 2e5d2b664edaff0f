"""Draw the picture of each guide that has neither a screenshot nor a chart of gainful's own plots.

Every number in them is computed from the files in examples/, or from the example on the page. A picture has the name of
its guide, and `python docs/charts.py` writes it, with its text for those who cannot see it.
"""

import csv
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from drawing import Interval, Plot, arrow, box, intervals, legend, picture, text

import gainful as gf

FOLDER = Path(__file__).resolve().parent / "guides" / "pictures"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
COOKING, HOTELS, FILMS = EXAMPLES / "cooking", EXAMPLES / "hotels", EXAMPLES / "films"


def recipe_runs(*names: str) -> dict[str, Path]:
    """Return runs of the recipe searches by name."""
    return {name: COOKING / f"{name}.run" for name in names}


def recipes_compared(base: str, run: str, **options: object) -> gf.results.Comparison:
    """Return the comparison of two recipe searches."""
    return gf.compare(COOKING / "judgments.qrels", recipe_runs(base, run), "nDCG@10", **options)


def beyond_relevance() -> str:
    """Draw how often each film is shown, by two recommenders."""
    runs = {name: FILMS / f"{name}.csv" for name in ("popular", "personal")}
    scores = gf.recommending.evaluate_recommendation_runs(
        runs, "Coverage@3", items=FILMS / "items.csv", separator="|"
    )
    films = [row["item"] for row in rows_of(FILMS / "items.csv")]
    shown = {
        name: Counter(row["item"] for row in rows_of(path) if int(row["rank"]) <= 3)
        for name, path in runs.items()
    }
    order = sorted(films, key=lambda film: (-shown["popular"][film], -shown["personal"][film]))
    plot = Plot((-0.5, len(films) - 0.5), (0, 6))
    bars = [
        plot.bar(number, place + (number - 0.5) * 0.42, counts[film], 0.36, "")
        for number, counts in enumerate(shown.values())
        for place, film in enumerate(order)
        if counts[film]
    ]
    named = [(place, film) for place, film in enumerate(order)]
    frame = plot.frame(named, range(0, 7, 2), "how many of 6 users see the film in their top 3", 0)
    titles = [f"{name}: Coverage@3 = {scores[name].run_values['Coverage@3']:.2f}" for name in runs]
    counted = "; ".join(
        f"{name}: {', '.join(f'{film} {counts[film]}' for film in order if counts[film])}"
        for name, counts in shown.items()
    )
    return picture(
        "Two recommenders and a catalogue of ten films",
        f"How many of the 6 users see each film in their top 3. {counted[0].upper()}{counted[1:]}. {'; '.join(titles)}.",
        frame + "".join(bars) + legend(titles, bars=True),
    )


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def ci() -> str:
    """Draw what a gate decides about three changes."""
    rows = []
    for base, run in (("keyword", "hybrid"), ("semantic", "keyword"), ("hybrid", "keyword")):
        compared = recipes_compared(base, run)
        (checked,) = compared.gate(["Δ nDCG@10 < -0.01"]).checked
        (found,) = compared.differences
        word = "fails" if checked.failed else "passes"
        if not checked.failed and found.interval.low < -0.01:
            word = "passes: it may be chance"
        rows.append(
            Interval(
                f"{base} → {run}",
                found.interval.low,
                found.difference,
                found.interval.high,
                word,
                int(checked.failed),
            )
        )
    body, height = intervals(
        rows,
        [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3],
        "change of nDCG@10, with its 95% interval",
        {"-0.01": -0.01},
        digits=1,
    )
    return picture(
        "The gate --fail-if 'Δ nDCG@10 < -0.01'",
        f"Three changes from one search to another, each with the interval of its difference: {said(rows)}. A gate fails only if the whole interval lies below -0.01.",
        body,
        height,
    )


def said(rows: list[Interval]) -> str:
    """Return intervals in words."""
    return "; ".join(
        f"{each.name} {each.value:+.4f}, from {each.low:+.4f} to {each.high:+.4f}{f', {each.note}' if each.note else ''}"
        for each in rows
    )


def clicks() -> str:
    """Draw how often users look at each rank, by the clicks of the example log, beside two discounts."""
    log = gf.behaviour.read_log(EXAMPLES / "clicks" / "impressions.csv", columns={"doc": "product"})
    bias = gf.behaviour.position_bias(log, depth=5)
    ranks = [row.rank for row in bias]
    series = {
        "estimated from clicks": [row.examination for row in bias],
        "1/log2(rank + 1)": [1 / np.log2(rank + 1) for rank in ranks],
        "1/rank": [1 / rank for rank in ranks],
    }
    plot = Plot((0.8, 5.2), (0, 1))
    lines = [
        plot.line(number, list(zip(ranks, map(float, values), strict=True)))
        for number, values in enumerate(series.values())
    ]
    frame = plot.frame([(rank, str(rank)) for rank in ranks], [0, 0.25, 0.5, 0.75, 1], "rank", 2)
    values = ", ".join(f"{row.examination:.2f}" for row in bias)
    return picture(
        "How often users look at each rank",
        f"How often users look at ranks 1 to 5, relative to rank 1 and estimated from the clicks: {values}. The closest discount is {bias.closest}.",
        frame + "".join(lines) + legend([*series]),
    )


def command_line() -> str:
    """Draw the commands by what they read and write."""
    answers = {
        "check": "anything wrong?",
        "evaluate": "how good is a run?",
        "explain, why": "why that number?",
        "compare": "is one really better?",
        "report": "show it to others",
    }
    parts = [
        box(20, 56, 150, 56, ("run, fuse", "create runs")),
        box(20, 136, 150, 56, ("pool, judge", "create judgments")),
        arrow((170, 84), (200, 84)),
        arrow((170, 164), (200, 164)),
        box(200, 56, 100, 56, ("runs",), "key"),
        box(200, 136, 100, 56, ("judgments",), "key"),
        arrow((300, 84), (318, 84), (318, 124), (340, 124)),
        arrow((300, 164), (318, 164), (318, 124), (340, 124)),
        box(340, 44, 280, 160, (), "good"),
    ]
    for place, (command, question) in enumerate(answers.items()):
        parts.append(text(352, 72 + 28 * place, command, "bold"))
        parts.append(text(462, 72 + 28 * place, question))
    listed = "; ".join(
        f"{command.replace(', ', ' and ')} ({question})" for command, question in answers.items()
    )
    return picture(
        "From files to answers",
        f"The commands run and fuse create runs, and pool and judge create judgments. Other commands read both: {listed}.",
        "".join(parts),
        222,
    )


def comparing_statistics() -> str:
    """Draw one difference and its three intervals."""
    (found,) = recipes_compared("keyword", "hybrid").differences
    rows = [
        Interval(name, each.low, found.difference, each.high, note, place)
        for place, (name, note) in enumerate(
            {"hall": "the default", "t": "symmetric", "bca": "bootstrap"}.items()
        )
        for each in (found.intervals[name],)
    ]
    body, height = intervals(
        rows,
        [0, 0.1, 0.2, 0.3],
        "hybrid − keyword in nDCG@10, 24 queries",
        {"no change": 0},
        digits=1,
    )
    return picture(
        "Three 95% intervals of one difference",
        f"The difference between two recipe searches on 24 queries: {said(rows)}. Hall's interval extends farther on the side of the rare large gains; the bootstrap interval is shorter.",
        body,
        height,
    )


def conformance() -> str:
    """Draw a slip that the cases reveal: the expected and the found value of each."""

    def slip(case: dict) -> float:
        if case["measure"]["name"] != "nDCG" or case["choices"].get("depth", "cutoff") != "cutoff":
            raise NotImplementedError("another measure, or another ideal")
        (query,) = case["queries"]
        grades = dict(query["judged"])
        ranked = sorted(query["run"], key=lambda pair: -pair[1])
        top = [grades.get(doc, 0) for doc, _ in ranked][: case["measure"]["k"]]
        return gf.dcg(top) / gf.dcg(sorted(top, reverse=True))

    failed = gf.vectors.conformance(slip, topics="ideal").failed
    rows = [
        Interval(each.case.id.removeprefix("ideal-"), expected, expected, wrong, other=wrong)
        for each in failed
        for expected, wrong in ((each.case.expect["value"], each.answer.value),)
    ]
    body, height = intervals(rows, [0, 0.2, 0.4, 0.6, 0.8, 1], "nDCG", {}, digits=1)
    numbers = "; ".join(f"{each.name} {each.value:.3f}, computed {each.high:.3f}" for each in rows)
    return picture(
        "An ideal of the first k documents only",
        f"For {len(rows)} cases, the expected value, and the value computed by an nDCG whose ideal contains only the first k documents: {numbers}.",
        body + legend(["expected", "computed"]),
        height,
    )


def experiments() -> str:
    """Draw the p of one difference, by how many comparisons are reported."""
    names = ("keyword", "hybrid", "semantic")
    cases = (
        (names[:2], ["nDCG@10"]),
        (names, ["nDCG@10"]),
        (names, ["nDCG@10", "AP"]),
        (names, ["nDCG@10", "AP", "RR"]),
    )
    counted = []
    for runs, measures in cases:
        judgments = COOKING / "judgments.qrels"
        found = gf.compare(judgments, recipe_runs(*runs), measures, baseline="keyword")
        counted.append((len(found.differences), found["hybrid", "nDCG@10"].p))
    plot = Plot((-0.6, len(counted) - 0.4), (0, 0.12))
    bars = [
        plot.bar(int(p > 0.05), place, p, 0.5, f"{p:.3f}") for place, (_, p) in enumerate(counted)
    ]
    ends = [(end, 0.05) for end in plot.x]
    level = plot.line(3, ends, marked=False)
    named = [(place, f"{count}") for place, (count, _) in enumerate(counted)]
    frame = plot.frame(named, [0, 0.05, 0.1], "comparisons that you report", 2)
    numbers = ", ".join(f"{p:.4f} for {count}" for count, p in counted)
    return picture(
        "p of the same difference, corrected by Holm",
        f"The p-value of the difference in nDCG@10 between hybrid and keyword, depending on the number of comparisons that it is corrected for: {numbers}. A line marks 0.05.",
        frame + "".join(bars) + level + legend(["below 0.05", "above 0.05"], bars=True),
    )


def history() -> str:
    """Draw the mean of each release in a history, and the one real change."""
    draw = random.Random(1)  # noqa: S311 - as on the page
    judgments = {f"q{at}": {"a": 1} for at in range(60)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "search.history")
        for label, day, share in (("1.0", 1, 0.3), ("1.1", 2, 0.3), ("2.0", 3, 0.9)):
            run = {query: {"a": 2 if draw.random() < share else 0, "b": 1} for query in judgments}
            scores = gf.evaluate(judgments, run, "RR@10")
            gf.history.add(path, scores, label=label, time=f"2026-05-0{day}")
        entries = gf.history.read(path)
        real = {change.after for change in entries.changes()}
    rows = []
    for place, entry in enumerate(entries.entries):
        mean, (low, high) = entry.means["RR@10"], entry.intervals["RR@10"]
        word = "better than before" if entry.label in real else ""
        rows.append(Interval(str(entry.label), low, mean, high, word, place))
    body, height = intervals(rows, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0], "RR@10", {})
    numbers = "; ".join(
        f"{row.name} {row.value:.4f}, from {row.low:.4f} to {row.high:.4f}" for row in rows
    )
    return picture(
        "Three releases, and one real change",
        f"The mean RR@10 of each release in a history, with its interval: {numbers}. Only 2.0 differs from the release before it.",
        body,
        height,
    )


def watch() -> str:
    """Draw the changes of three days, of which the last fails the condition."""
    draw = random.Random(1)  # noqa: S311 - as on the page
    judgments = {f"q{at}": {"a": 1} for at in range(60)}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "search.history")
        for day, share in (("2026-05-01", 0.9), ("2026-05-02", 0.9), ("2026-05-03", 0.5)):
            run = {query: {"a": 2 if draw.random() < share else 0, "b": 1} for query in judgments}
            watched = gf.history.watch(
                path, judgments, {"search": run}, "RR@10", time=day, fail_if="Δ RR@10 < -0.05"
            )
            if (difference := watched[0].difference("RR@10")) is not None:
                value, low, high = difference
                row = Interval(day, low or value, value, high or value, watched.result, len(rows))
                rows.append(row)
    limit = {"-0.05": -0.05}
    body, height = intervals(rows, [-0.3, -0.2, -0.1, 0, 0.1, 0.2], "difference in RR@10", limit)
    numbers = "; ".join(
        f"{row.name} {row.value:+.4f}, from {row.low:+.4f} to {row.high:+.4f}, {row.note}"
        for row in rows
    )
    return picture(
        "Each day, compared with the day before",
        f"The difference in RR@10 from the day before, with its interval: {numbers}. The condition fails only if the whole interval is below -0.05.",
        body,
        height,
    )


def judging() -> str:
    """Draw the pool of two runs for one query."""
    runs = {
        "keyword": {"q1": {"a": 9, "b": 8, "c": 7}},
        "semantic": {"q1": {"b": 0.9, "d": 0.8, "a": 0.7}},
    }
    judgments = {"q1": {"a": 1, "d": 2}}
    pool = gf.pool(runs, depth=2, judgments=judgments)
    parts = []
    for place, (name, lists) in enumerate(runs.items()):
        y = 66 + 84 * place
        parts.append(text(20, y + 27, name, "bold"))
        for rank, doc in enumerate(lists["q1"]):
            kind = "key" if rank < 2 else "open"
            parts.append(box(116 + 62 * rank, y, 52, 44, (doc,), kind))
        parts.append(arrow((302, y + 22), (330, y + 22), (330, 130), (360, 130)))
    parts.append('<path class="line c3" d="M234 52V206"/>')
    parts.append(text(234, 226, "depth 2", "middle"))
    for place, row in enumerate(pool):
        grade = "to judge" if row.grade is None else f"grade {row.grade:g}"
        kind = "open" if row.grade is None else "good"
        parts.append(box(372, 58 + 52 * place, 60, 42, (row.doc,), kind))
        parts.append(text(446, 84 + 52 * place, grade))
    listed = ", ".join(
        f"{row.doc} ({'to judge' if row.grade is None else f'grade {row.grade:g}'})" for row in pool
    )
    return picture(
        "The pool of depth 2 for one query",
        f"keyword returns a, b, c, and semantic returns b, d, a. The first two documents of each run form the pool: {listed}.",
        "".join(parts),
        244,
    )


def large_data() -> str:
    """Draw what leaves each machine."""
    parts = []
    for place in range(3):
        y = 56 + 62 * place
        parts.append(box(20, y, 170, 48, ("rows of the run", "on this machine")))
        parts.append(arrow((190, y + 24), (216, y + 24)))
        parts.append(box(216, y, 170, 48, ("match", "judged documents"), "key"))
        parts.append(arrow((386, y + 24), (408, y + 24), (408, 142), (430, 142)))
    parts.append(box(430, 98, 190, 88, ("measure", "a few numbers", "per query"), "good"))
    return picture(
        "Rows stay where they are",
        "Each machine matches its rows of the run with the judgments; only the ranks and grades of judged documents reach the step that computes the measures.",
        "".join(parts),
        248,
    )


def leaderboards() -> str:
    """Draw the intervals of ranks of three runs."""
    board = gf.leaderboard(
        COOKING / "judgments.qrels", recipe_runs("keyword", "semantic", "hybrid"), "nDCG@10"
    )
    rows = [
        Interval(
            each.run,
            each.best_rank,
            each.rank,
            each.worst_rank,
            f"{each.value:.4f}, letter {each.letters}",
        )
        for each in board.places
    ]
    body, height = intervals(rows, range(4)[1:], "rank", {}, digits=0)
    listed = "; ".join(
        f"{each.name} {each.note}, rank {each.value}, from {each.low} to {each.high}"
        for each in rows
    )
    return picture(
        "The true rank of each run",
        f"Three runs by nDCG@10 with intervals for their ranks, which all hold simultaneously with a probability of about 95%: {listed}.",
        body,
        height,
    )


def losses() -> str:
    """Draw the loss of nDCG, and its smooth stand-ins, as one score moves."""
    grades, others = np.array([2, 1, 0]), (0.4, 1.1)
    steps = [other + side for other in others for side in (-1e-6, 1e-6)]
    places = sorted([*(place / 20 for place in range(-8, 39)), *steps])
    scores = np.array([[place, *others] for place in places])
    gains = (2.0**grades - 1) / gf.idcg([2, 1, 0], gain="exp2")

    def approximated(temperature: float) -> np.ndarray:
        """Return 1 − Σ G · D(r), where r sums the sigmoid of each difference of scores."""
        ahead = (scores[:, None, :] - scores[:, :, None]) / temperature
        ranks = 0.5 + (1 / (1 + np.exp(-ahead))).sum(axis=2)  # 0.5: a document beside itself
        return 1 - (gains / np.log2(ranks + 1)).sum(axis=1)

    exact = gf.metrics.ndcg(scores, np.tile(grades, (len(places), 1)), gain="exp2")
    series = {
        "1 − nDCG": 1 - exact,
        "approx, temperature 0.1": approximated(0.1),
        "0.5": approximated(0.5),
    }
    plot = Plot((places[0], places[-1]), (0, 0.5))
    lines = [
        plot.line(number, list(zip(places, values.tolist(), strict=True)), marked=False)
        for number, values in enumerate(series.values())
    ]
    ticks = [(others[0], "grade 1"), (others[1], "grade 0")]
    frame = plot.frame(
        ticks, [0, 0.1, 0.2, 0.3, 0.4, 0.5], "score of the document with grade 2, among two others"
    )
    ends = "; ".join(
        f"{name} falls from {values[0]:.3f} to {values[-1]:.3f}" for name, values in series.items()
    )
    return picture(
        "A step, and slopes to train on",
        f"How the loss changes as the score of the best document rises past the scores of two others: {ends}. Between the scores of those two, 1 − nDCG is flat, while the smooth losses are not.",
        frame + "".join(lines) + legend([*series]),
    )


def means_that_hold() -> str:
    """Draw one difference as if queries were independent, by user, and with an interval that holds at any time."""
    draw = random.Random(7)  # noqa: S311 - for a picture
    queries = [f"user{user}_q{number}" for user in range(40) for number in range(3)]
    habits = [draw.gauss(0.02, 0.08) for _ in range(40)]
    old = {query: draw.uniform(0.3, 0.7) for query in queries}
    new = {
        query: old[query] + habits[at // 3] + draw.gauss(0, 0.05)
        for at, query in enumerate(queries)
    }
    runs = {
        name: {query: {"nDCG@10": value} for query, value in run.items()}
        for name, run in (("old", old), ("new", new))
    }
    ways: dict[str, dict[str, Any]] = {
        "queries": {},
        "users": {"clusters": "id:_"},
        "any time": {"anytime": True},
    }
    found = {
        name: gf.comparison.compare_scores(runs, **options).differences[0]
        for name, options in ways.items()
    }
    rows = [
        Interval(
            name, each.interval.low, each.difference, each.interval.high, each.verdict.word, place
        )
        for place, (name, each) in enumerate(found.items())
    ]
    body, height = intervals(
        rows, [-0.04, -0.02, 0, 0.02, 0.04, 0.06, 0.08], "new − old", {"no change": 0}
    )
    return picture(
        "What the same 120 differences prove",
        "The difference between two runs over 120 queries from 40 users, with the queries treated as independent, with the "
        f"queries clustered by user, and with an interval that holds at any time: {said(rows)}.",
        body,
        height,
    )


def measure_cookbook() -> str:
    """Draw what a document counts at each rank, by three measures of the page and by nDCG."""
    ranks = range(1, 11)
    seen = [1, 0.6, 0.4, 0.3, 0.25, 0.2]
    reading = 4.4 + (0.018 * 400 + 7.8) * 0.64
    series = {
        "nDCG’s log": [gf.dcg([0] * (rank - 1) + [1]) for rank in ranks],
        "propensities": [
            gf.dcg([0] * (rank - 1) + [1], discount=[*seen, *[0.2] * 4]) for rank in ranks
        ],
        "time-biased": [2 ** (-reading * (rank - 1) / 224) for rank in ranks],
        "reciprocal": [1 / rank for rank in ranks],
    }
    plot = Plot((0.5, 10.5), (0, 1))
    lines = [
        plot.line(number, list(zip(ranks, values, strict=True)))
        for number, values in enumerate(series.values())
    ]
    frame = plot.frame([(rank, str(rank)) for rank in ranks], [0, 0.2, 0.4, 0.6, 0.8, 1], "rank")
    numbers = "; ".join(
        f"{name} {values[1]:.2f} at rank 2, {values[4]:.2f} at 5, {values[9]:.2f} at 10"
        for name, values in series.items()
    )
    return picture(
        "How much each rank counts",
        f"The weight of a relevant document at ranks 1 to 10, relative to its weight at rank 1: {numbers}.",
        frame + "".join(lines) + legend([*series]),
    )


def model_grades() -> str:
    """Draw what becomes of three answers."""
    answers = {"a": "grade: 3", "b": '{"grade": 0}', "c": "2 or 3"}
    found = gf.judging.collect_grades(
        {"q1": [*answers]},
        lambda prompt: next(answers[doc] for doc in answers if f"text {doc}" in prompt),
        queries={"q1": "how to bake bread"},
        docs={doc: f"text {doc}" for doc in answers},
    )
    parts = [
        box(20, 102, 116, 64, ("prompt", "query, text"), "plain"),
        arrow((136, 134), (160, 134)),
        box(160, 102, 90, 64, ("model",), "key"),
    ]
    outcomes = []
    for place, (doc, answer) in enumerate(answers.items()):
        y = 56 + 58 * place
        grade = found["q1"].get(doc)
        outcomes.append("unreadable" if grade is None else f"grade {grade:g}")
        parts.append(arrow((250, 134), (272, 134), (272, y + 22), (294, y + 22)))
        parts.append(box(294, y, 180, 44, (answer,), "plain"))
        parts.append(arrow((474, y + 22), (498, y + 22)))
        parts.append(box(498, y, 122, 44, (outcomes[-1],), "bad" if grade is None else "good"))
    listed = "; ".join(
        f"{answer!r}: {outcome}" for answer, outcome in zip(answers.values(), outcomes, strict=True)
    )
    return picture(
        "A grade counts only if it is unambiguous",
        f"A model answers a prompt, and gainful reads the grade from the answer. {listed}.",
        "".join(parts),
        238,
    )


def model_judges() -> str:
    """Draw the value of a run by people, by a model, and by both; and the truth."""
    rng = random.Random(7)  # noqa: S311 - as on the page
    truth = {
        f"q{i}": {f"d{j}": max(0, min(3, round(rng.gauss(0.5, 1)))) for j in range(15)}
        for i in range(500)
    }
    model = {
        query: {doc: min(3, grade + (rng.random() < 0.35)) for doc, grade in docs.items()}
        for query, docs in truth.items()
    }
    runs = {
        name: {
            query: {doc: grade + rng.gauss(0, noise) for doc, grade in docs.items()}
            for query, docs in truth.items()
        }
        for name, noise in (("old", 1.5), ("new", 1.2))
    }
    design = gf.judging.sample_queries(model, 60, seed=1)
    people = {query: truth[query] for query in design.queries}
    found = gf.judging.calibrate(people, model, runs, "nDCG@10", design=design)["new", "nDCG@10"]
    rows = [
        Interval("people", *ends(found.people), "60 queries"),
        Interval("model", *ends(found.model), "500 queries", 1),
        Interval("both", *ends(found.estimate), "calibrated", 2),
    ]
    true = gf.evaluate(truth, runs["new"], "nDCG@10")["nDCG@10"]
    body, height = intervals(
        rows, [0.76, 0.78, 0.8, 0.82, 0.84, 0.86], "nDCG@10 of the run new", {"truth": true}
    )
    return picture(
        "One run by people, by a model, and by both",
        f"The nDCG@10 of one run, with 95% intervals: {said(rows)}. The true value is {true:.4f}.",
        body,
        height,
    )


def ends(part: Any) -> tuple[float, float, float]:
    """Return the ends of an interval around its value."""
    return part.low, part.value, part.high


def python() -> str:
    """Draw the function for each kind of data."""
    rows = (
        ("grades in order", "3, 2, 0, 1", "gf.ndcg", "a number"),
        ("judgments, a run", "dicts, files, frames", "gf.evaluate", "scores per query"),
        ("several runs", "by name", "gf.compare", "a verdict"),
        ("labels, scores", "arrays", "gf.evaluate_arrays", "scores per list"),
    )
    parts = []
    for place, (data, kind, function, result) in enumerate(rows):
        y = 48 + 62 * place
        parts.append(box(20, y, 200, 50, (data, kind)))
        parts.append(arrow((220, y + 25), (246, y + 25)))
        parts.append(box(246, y, 176, 50, (function,), "key"))
        parts.append(arrow((422, y + 25), (448, y + 25)))
        parts.append(box(448, y, 172, 50, (result,), "good"))
    listed = "; ".join(
        f"{data} ({kind}) go to {function}, which returns {result}"
        for data, kind, function, result in rows
    )
    return picture(
        "The function for your data",
        f"Which function accepts which data: {listed}.",
        "".join(parts),
        302,
    )


def rag() -> str:
    """Draw chunks and the documents that they become."""
    lines = (EXAMPLES / "rag" / "fixed_chunks.jsonl").read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[0])
    chunks = record["retrieved"]
    right = json.loads(
        (EXAMPLES / "rag" / "expected.jsonl").read_text(encoding="utf-8").splitlines()[0]
    )["relevant"]
    documents = [*dict.fromkeys(chunk.partition("#")[0] for chunk in chunks)]
    parts = [text(20, 84, "chunks"), text(20, 172, "documents")]
    for rank, chunk in enumerate(chunks):
        document = chunk.partition("#")[0]
        kind = "good" if document in right else "plain"
        x, to = 102 + 131 * rank, 102 + 131 * documents.index(document)
        parts.append(box(x, 56, 125, 44, (chunk,), kind))
        parts.append(f'<path class="axis edge" d="M{x + 62} 100L{to + 62} 144"/>')
    for rank, document in enumerate(documents):
        kind = "good" if document in right else "plain"
        parts.append(box(102 + 131 * rank, 144, 125, 44, (document,), kind))
        parts.append(text(164 + 131 * rank, 210, f"rank {rank + 1}", "middle"))
    return picture(
        f"“{record['question']}”",
        f"The retriever returns the chunks {', '.join(chunks)}; they count as the documents {', '.join(documents)}, in this order. The relevant document is {', '.join(right)}.",
        "".join(parts),
        226,
    )


def rank_agreement() -> str:
    """Draw two lists of one query, with lines between the same documents."""
    depth, query = 7, "pad-thai"
    lists = {}
    for name in ("keyword", "hybrid"):
        rows = [line.split() for line in (COOKING / f"{name}.run").read_text().splitlines()]
        scored = [(float(row[4]), row[2]) for row in rows if row[0] == query]
        lists[name] = [doc for _, doc in sorted(scored, reverse=True)][:depth]
    first, second = lists.values()
    value = gf.statistics.rbo(first, second)
    shared = [doc for doc in first if doc in second]
    parts = []
    for (name, docs), x in zip(lists.items(), (110, 390), strict=True):
        parts.append(text(x + 70, 62, name, "middle bold"))
        for rank, doc in enumerate(docs):
            kind = "key" if doc in shared else "open"
            parts.append(box(x, 72 + 34 * rank, 140, 28, (doc,), kind))
    for doc in shared:
        left, right = (86 + 34 * docs.index(doc) for docs in (first, second))
        parts.append(f'<path class="line c0" d="M250 {left}L390 {right}"/>')
    pairs = ", ".join(
        f"{doc} at ranks {first.index(doc) + 1} and {second.index(doc) + 1}" for doc in shared
    )
    return picture(
        f"The top {depth} of two runs for one query: RBO = {value:.3f}",
        f"{len(shared)} documents are in the top {depth} of both runs: {pairs}. RBO is {value:.3f}.",
        "".join(parts),
        72 + 34 * depth + 8,
    )


def recommenders() -> str:
    """Draw the nDCG of each user, by two recommenders."""
    runs = {name: FILMS / f"{name}.csv" for name in ("popular", "personal")}
    scores = gf.evaluate_runs(FILMS / "liked.csv", runs, "nDCG@3")
    users = [*scores["popular"].per_query.to_dict()]
    series = {name: scores[name].per_query["nDCG@3"] for name in runs}
    plot = Plot((-0.5, len(users) - 0.5), (0, 1.1))
    bars = [
        plot.bar(number, place + (number - 0.5) * 0.42, value, 0.38, f"{value:.2f}")
        for number, values in enumerate(series.values())
        for place, value in enumerate(values)
    ]
    titles = [f"{name}: mean {scores[name]['nDCG@3']:.3f}" for name in runs]
    frame = plot.frame([*enumerate(users)], [0, 0.2, 0.4, 0.6, 0.8, 1], "user")
    numbers = "; ".join(
        f"{name}: {', '.join(f'{user} {value:.2f}' for user, value in zip(users, values, strict=True))}"
        for name, values in series.items()
    )
    return picture(
        "nDCG@3 of each user",
        f"nDCG@3 of six users, {numbers}.",
        frame + "".join(bars) + legend(titles, bars=True),
    )


def recording_runs() -> str:
    """Draw what becomes of the responses."""
    rows = (
        ("a ranked list", "recorded", "good"),
        ("an empty response", "recorded as an empty list", "good"),
        ("a failure", "retried, then reported", "bad"),
    )
    parts = [
        box(20, 102, 104, 64, ("queries",)),
        arrow((124, 134), (148, 134)),
        box(148, 102, 104, 64, ("service",), "key"),
    ]
    for place, (response, outcome, kind) in enumerate(rows):
        y = 56 + 58 * place
        parts.append(arrow((252, 134), (272, 134), (272, y + 22), (292, y + 22)))
        parts.append(box(292, y, 124, 44, (response,)))
        parts.append(arrow((416, y + 22), (438, y + 22)))
        parts.append(box(438, y, 190, 44, (outcome,), kind))
    listed = "; ".join(f"{response} is {outcome}" for response, outcome, _ in rows)
    return picture(
        "From queries to a run",
        f"Each query goes to the service, whose response determines what is recorded: {listed}, and never recorded as an empty list.",
        "".join(parts),
        238,
    )


def search() -> str:
    """Draw what each rank of one list adds to DCG, and what it could add."""
    explained = gf.explain(
        EXAMPLES / "search" / "grades.csv",
        EXAMPLES / "search" / "after.jsonl",
        "nDCG@5",
        query="pad-thai",
        columns={"judgments.doc": "recipe"},
    )
    parts = explained.to_dict()["parts"]
    unjudged = {step["rank"] for step in parts["DCG@5"]["steps"] if step["grade"] is None}
    series = {
        name: {step["rank"]: step["contribution"] for step in parts[part]["steps"]}
        for name, part in (("the list", "DCG@5"), ("its ideal", "IDCG@5"))
    }
    ranks = range(1, 6)
    plot = Plot((0.4, 5.6), (0, 3.5))
    bars = [
        plot.bar(
            number,
            rank + (number - 0.5) * 0.42,
            values.get(rank, 0),
            0.38,
            f"{values.get(rank, 0):.2f}",
        )
        for number, values in enumerate(series.values())
        for rank in ranks
    ]
    named = [(rank, f"{rank}, unjudged" if rank in unjudged else f"{rank}") for rank in ranks]
    frame = plot.frame(named, [0, 1, 2, 3], "rank", 0)
    numbers = "; ".join(
        f"{name} {', '.join(f'{values.get(rank, 0):.3f}' for rank in ranks)}"
        for name, values in series.items()
    )
    return picture(
        f"What each rank of pad-thai adds: nDCG@5 = {explained.value:.3f}",
        f"What ranks 1 to 5 contribute to DCG for the query pad-thai: {numbers}. The first two documents are unjudged.",
        frame + "".join(bars) + legend([*series], bars=True),
    )


def slices_and_gates() -> str:
    """Draw a difference over all queries, and in two slices that disagree."""
    locales = {f"q{i}": {"locale": "de" if i % 3 else "fr"} for i in range(60)}
    old = {f"q{i}": 0.5 + (i % 7) / 100 for i in range(60)}
    new = {
        query: value + (0.03 if locales[query]["locale"] == "de" else -0.05)
        for query, value in old.items()
    }
    found = gf.comparison.compare_scores({"old": old, "new": new}, slices=locales, by="locale")
    parts = {"all": found.differences[0], **{each.value: each.difference for each in found.slices}}
    rows = [
        Interval(
            name, each.interval.low, each.difference, each.interval.high, each.verdict.word, place
        )
        for place, (name, each) in enumerate(parts.items())
    ]
    body, height = intervals(
        rows, [-0.06, -0.04, -0.02, 0, 0.02, 0.04], "new − old", {"no change": 0}
    )
    return picture(
        "A mean that hides two slices",
        f"The difference between two runs over all queries and by locale: {said(rows)}.",
        body,
        height,
    )


def tensors() -> str:
    """Draw a batch of scores, labels and a mask, and its values."""
    scores = np.array([[0.9, 0.1, 0.5], [0.2, 0.2, 0.2]])
    labels = np.array([[3, 2, 0], [1, 0, 0]])
    mask = np.array([[True, True, False], [True, True, True]])
    values = gf.metrics.ndcg(scores, labels, mask, k=2)
    parts = [
        text(20, 92, "list 1", "bold"),
        text(20, 140, "list 2", "bold"),
    ]
    for column, (name, array) in enumerate({"scores": scores, "labels": labels}.items()):
        left = 84 + 210 * column
        parts.append(text(left + 84, 60, name, "middle bold"))
        for place, row in enumerate(array):
            for item, number in enumerate(row):
                kind = "key" if mask[place, item] else "open"
                parts.append(box(left + 58 * item, 68 + 48 * place, 52, 40, (f"{number:g}",), kind))
    for place, value in enumerate(values):
        parts.append(arrow((474, 88 + 48 * place), (508, 88 + 48 * place)))
        parts.append(box(508, 68 + 48 * place, 100, 40, (f"{value:.4f}",), "good"))
    parts.append(text(558, 60, "ndcg, k=2", "middle bold"))
    parts.append(box(84, 170, 28, 24, (), "open"))
    parts.append(text(122, 187, "padding: the mask is False, and the values have no effect"))
    listed = ", ".join(f"{value:.4f}" for value in values)
    return picture(
        "A batch of two lists",
        f"Scores and labels for two lists of three documents; the last document of the first list is padding. gf.metrics.ndcg with k=2 returns {listed}.",
        "".join(parts),
        212,
    )


def trusting_a_model() -> str:
    """Draw the difference between two runs by a model, by people, and by both; and the truth."""
    runs = {name: HOTELS / f"{name}.run" for name in ("live", "rerank")}
    people = gf.judging.merge_judgments(HOTELS / "people.csv", "median")
    found = gf.judging.calibrate(
        people, HOTELS / "model.qrels", runs, "nDCG@10", design=HOTELS / "design.json"
    ).difference("rerank")
    rows = [
        Interval("model alone", *ends(found.model), "240 queries", 1),
        Interval("people alone", *ends(found.people), "60 queries"),
        Interval("both", *ends(found.estimate), "calibrated", 2),
    ]
    by_truth = gf.evaluate_runs(HOTELS / "truth.qrels", runs, "nDCG@10")
    true = by_truth["rerank"]["nDCG@10"] - by_truth["live"]["nDCG@10"]
    body, height = intervals(
        rows,
        [-0.08, -0.06, -0.04, -0.02, 0, 0.02, 0.04],
        "rerank − live in nDCG@10",
        {"truth": true, "no change": 0},
    )
    return picture(
        "Is rerank better than live?",
        f"The difference in nDCG@10 between rerank and live, with 95% intervals: {said(rows)}. The true difference is {true:+.4f}.",
        body,
        height,
    )


def correcting_a_model() -> str:
    """Draw the value of three runs by a model, and by people and the model; and the truth in words."""
    runs = {name: HOTELS / f"{name}.run" for name in ("live", "hybrid", "rerank")}
    people = gf.judging.merge_judgments(HOTELS / "people.csv", "median")
    found = gf.judging.calibrate(
        people, HOTELS / "model.qrels", runs, "nDCG@10", design=HOTELS / "design.json"
    )
    truth = gf.evaluate_runs(HOTELS / "truth.qrels", runs, "nDCG@10")
    rows = [
        Interval(
            name, *ends(each.estimate), f"truth {truth[name]['nDCG@10']:.3f}", 0, each.model.value
        )
        for name in runs
        for each in (found[name, "nDCG@10"],)
    ]
    body, height = intervals(rows, [0.84, 0.86, 0.88, 0.9, 0.92, 0.94, 0.96], "nDCG@10", {})
    listed = "; ".join(
        f"{each.name} {each.other:.3f} by the model alone, {each.value:.3f} by both, "
        f"from {each.low:.3f} to {each.high:.3f}, {each.note}"
        for each in rows
    )
    return picture(
        "Three runs by a model alone, and corrected",
        f"nDCG@10 of three runs: {listed}.",
        body + legend(["people and model", "model alone"]),
        height,
    )


def unjudged_estimates() -> str:
    """Draw a difference between its bounds, as three methods estimate it; and the truth."""
    truth, model = (grades_in(HOTELS / f"{name}.qrels") for name in ("truth", "model"))
    runs = {name: HOTELS / f"{name}.run" for name in ("live", "hybrid")}
    first = {name: first_documents(path, 10) for name, path in runs.items()}
    judgments = {q: {doc: truth[q][doc] for doc in docs} for q, docs in first["live"].items()}
    unjudged = [
        (q, d) for q, docs in first["hybrid"].items() for d in docs if d not in judgments[q]
    ]
    draw = random.Random(7)  # noqa: S311 - for a picture
    single: dict[str, dict[str, int]] = {}
    for query, doc in draw.sample(sorted(unjudged), 60):
        single.setdefault(query, {})[doc] = truth[query][doc]
    complete = {query: truth[query] for query in draw.sample(sorted(truth), 40)}
    needs: dict[str, dict[str, Any]] = {
        "bootstrap": {},
        "conformal": {"model": model, "random_sample": complete},
        "prediction-powered": {"model": model, "random_sample": single},
    }
    notes = {
        "bootstrap": "no more grades",
        "conformal": "40 complete queries",
        "prediction-powered": "60 documents",
    }
    rows = []
    for place, (method, options) in enumerate(needs.items(), 1):
        bound = gf.bounds(
            judgments, runs["hybrid"], "nDCG@10", against=runs["live"], estimate=method, **options
        )["nDCG@10"]
        inside: Any = bound.estimate
        rows.append(Interval(method, inside.low, inside.value, inside.high, notes[method], place))
    rows.insert(0, Interval("bounds", bound.low, bound.value, bound.high, "dot: unjudged as 0"))
    scores = gf.evaluate_runs(truth, runs, "nDCG@10")
    true = scores["hybrid"]["nDCG@10"] - scores["live"]["nDCG@10"]
    body, height = intervals(
        rows, [-0.06, -0.03, 0, 0.03, 0.06, 0.09], "hybrid − live", {f"truth {true:.3f}": true}
    )
    return picture(
        "A difference between its bounds",
        f"The difference in nDCG@10 between two runs, with judgments pooled from only one of them: {said(rows)}. "
        f"The true difference is {true:.3f}.",
        body,
        height,
    )


def user_models() -> str:
    """Draw how many users still look at each rank, if a long or a short document is on top."""
    judgments = {"q2": {"d": 1, "e": 1}}
    runs = {"long first": {"q2": ["y", "d", "e"]}, "short first": {"q2": ["z", "d", "e"]}}
    lengths = {doc: {"words": 300} for doc in "dez"} | {"y": {"words": 4000}}
    shares, values = {}, {}
    for name, run in runs.items():
        worked = gf.explain(judgments, run, "TBG", query="q2", lengths=lengths)
        shares[name] = [step.discount for step in worked.parts[0].steps]
        values[name] = gf.evaluate(judgments, run, "TBG", lengths=lengths)["TBG"]
    plot = Plot((1, 3), (0.8, 1))
    frame = plot.frame([(rank, str(rank)) for rank in (1, 2, 3)], [0.8, 0.9, 1], "rank")
    lines = [
        plot.line(number, [*enumerate(some, 1)]) for number, some in enumerate(shares.values())
    ]
    names = [f"{name}: TBG {values[name]:.3f}" for name in runs]
    numbers = "; ".join(
        f"{name} {', '.join(f'{share:.3f}' for share in some)}" for name, some in shares.items()
    )
    return picture(
        "The share of users still reading at each rank",
        f"The share of users who have time left at ranks 1, 2 and 3: {numbers}. A long document at the top costs every later document some of its readers.",
        legend(names) + frame + "".join(lines),
    )


def grades_in(path: Path) -> dict[str, dict[str, int]]:
    """Return the grades of a TREC file."""
    grades: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, doc, grade = line.split()
        grades.setdefault(query, {})[doc] = int(grade)
    return grades


def first_documents(path: Path, depth: int) -> dict[str, list[str]]:
    """Return the first documents of each query of a TREC run."""
    first: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, doc, rank, *_ = line.split()
        if int(rank) <= depth:
            first.setdefault(query, []).append(doc)
    return first


PICTURES: dict[str, Callable[[], str]] = {
    each.__name__: each
    for each in (
        beyond_relevance,
        ci,
        clicks,
        command_line,
        comparing_statistics,
        conformance,
        experiments,
        history,
        judging,
        large_data,
        leaderboards,
        losses,
        means_that_hold,
        measure_cookbook,
        model_grades,
        model_judges,
        python,
        rag,
        rank_agreement,
        recommenders,
        recording_runs,
        search,
        slices_and_gates,
        tensors,
        trusting_a_model,
        correcting_a_model,
        watch,
        unjudged_estimates,
        user_models,
    )
}


def drawn() -> dict[Path, str]:
    """Return every picture, by its file."""
    return {FOLDER / f"{name}.svg": drawing() for name, drawing in PICTURES.items()}
