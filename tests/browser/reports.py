"""The reports that the browser opens, each with what it was made from."""

import csv
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import gainful as gf
from gainful.reporting.page.compose import page
from gainful.reporting.report import Report, report

EXAMPLES = Path(__file__).parents[2] / "examples" / "cooking"
MEASURES = ["nDCG@10", "AP", "P@5"]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>alert(1);window.ran=1</script>",
    "<!-- <script>",
    "javascript:alert(1)",
    "{{ 7 * 7 }} ${7*7} &lt;b&gt; &amp;",
    "=HYPERLINK(1)+1",
    "-1 'it''s' \"quoted\", with, commas\nand a line",
    "مرحبا بالعالم",
    "🍲 👩‍🍳 emoji",
    "x" * 400,
    "#query=%zz&a=b",
    "\u2028 line \u2029 paragraph",
]


ODD = [
    "ends with \\",
    'say \\"this\\"',
    "two\nlines",
    "it's ' + x + '",
    "part\u2028ed",
    "base",
    "run",
]


@dataclass
class Case:
    """A report and its parts."""

    judgments: Any
    runs: dict[str, Any]
    payload: dict[str, Any]
    html: str = ""
    path: Path = field(default_factory=Path)

    def __post_init__(self):
        self.html = self.html or page(self.payload)
        self.queries = [each["id"] for each in self.payload["queries"]]
        self.names = [each["name"] for each in self.payload["runs"]]

    def scores(self, run, measure=0):
        return self.payload["scores"][measure][self.names.index(run)]

    def by_difference(self, base, run, measure=0):
        """Return the queries from the largest gain to the largest loss."""
        pairs = zip(self.scores(base, measure), self.scores(run, measure), strict=True)
        differences = [b - a for a, b in pairs]
        order = sorted(range(len(self.queries)), key=lambda query: -differences[query])
        return [(self.queries[query], differences[query]) for query in order]


def cooking():
    """The shipped example, with texts."""
    judgments = EXAMPLES / "judgments.qrels"
    runs = {name: EXAMPLES / f"{name}.run" for name in ("keyword", "semantic", "hybrid")}
    ids = sorted({line.split()[0] for line in judgments.read_text().splitlines()})
    texts = {query: query.replace("-", " with ") for query in ids}
    made = report(
        judgments, runs, MEASURES, queries=texts, title="Cooking", created="2026-11-15",
        docs={"recipe-0044": ("Pad thai", "Soak the noodles; fry the rest.")},
    )  # fmt: skip
    return Case(judgments, runs, made.payload())


def hostile():
    """Ids, names and texts that would do harm if any were taken for markup."""
    rng = Random(7)  # noqa: S311
    docs = [f"{text} d" for text in HOSTILE]
    judgments = {query: {doc: float(rng.randint(0, 3)) for doc in docs} for query in HOSTILE}
    runs = {
        name: {query: {doc: rng.random() for doc in docs} for query in HOSTILE}
        for name in ("<b>base</b>", HOSTILE[1], HOSTILE[2], "x" * 120)
    }
    texts = {query: HOSTILE[-1 - place] for place, query in enumerate(HOSTILE)}
    titles = {doc: (HOSTILE[place], HOSTILE[-1 - place]) for place, doc in enumerate(docs)}
    made = report(judgments, runs, MEASURES, queries=texts, docs=titles, title=HOSTILE[2])
    return Case(judgments, runs, made.payload())


def single():
    """One run: nothing is compared."""
    judgments, runs = EXAMPLES / "judgments.qrels", {"hybrid": EXAMPLES / "hybrid.run"}
    return Case(judgments, runs, report(judgments, runs, MEASURES).payload())


def clicks():
    """Judgments from the clicks of a log, with something odd in it."""
    folder = EXAMPLES.parent / "clicks"
    table = list(csv.DictReader((folder / "impressions.csv").read_text().splitlines()))
    log = gf.behaviour.read_log([*table, *table[:3]], columns={"doc": "product"})
    judgments = gf.behaviour.click_judgments(log, "ctr")
    runs = {name: folder / f"{name}.run" for name in ("old", "new")}
    return Case(judgments, runs, report(judgments, runs, "nDCG@5", resamples=50).payload())


def family(measure):
    """A report whose first measure is no cumulated gain."""
    judgments = EXAMPLES / "judgments.qrels"
    runs = {name: EXAMPLES / f"{name}.run" for name in ("keyword", "hybrid")}
    return Case(judgments, runs, report(judgments, runs, measure, depth=5).payload())


def bare():
    """Scores from elsewhere, without documents."""
    scores = {"old": {"q1": 0.2, "q2": 0.5, "q3": 0.4}, "new": {"q1": 0.3, "q2": 0.5, "q3": 0.1}}
    return Case(None, scores, Report.of_comparison(gf.comparison.compare_scores(scores)).payload())


def own_ideals():
    """Each run has an ideal of its own, and the first lacks the query."""
    judgments = {"q": {"a": 2, "b": 1, "c": 1}, "r": {"a": 1}}
    runs = {
        "one": {"r": {"a": 1}},
        "<b>two</b>": {"q": {"a": 1, "x": 2}, "r": {"a": 1}},
    }
    made = report(judgments, runs, "nDCG(ideal=retrieved)@3")
    return Case(judgments, runs, made.payload())


def shared_ranks():
    """Documents with equal scores share ranks."""
    judgments, runs = (
        {"q": {"a": 3, "b": 1, "c": 2}},
        {"one": {"q": {"a": 2, "b": 1, "c": 1, "d": 0.5}}},
    )
    made = report(judgments, runs, "nDCG@4", policy=gf.Policy(ties="average"))
    return Case(judgments, runs, made.payload())


def undefined():
    """A query without a value, so that no run has a mean."""
    judgments = EXAMPLES / "judgments.qrels"
    runs = {name: EXAMPLES / f"{name}.run" for name in ("keyword", "hybrid")}
    return Case(judgments, runs, report(judgments, runs, policy=gf.Policy(empty="nan")).payload())


def saved():
    """A saved baseline, which has no documents."""
    judgments = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    run = {"q": {"a": 1}, "r": {"a": 1}}
    old = gf.results.Baseline.of(
        gf.evaluate(judgments, {"q": {"b": 1, "a": 0}, "r": {"a": 1}}, "nDCG@10")
    )
    return Case(judgments, {}, report(judgments, {"old": old, "new": run}).payload())


def _made(names, queries):
    """Random lists of runs, in slices."""
    rng = Random(5)  # noqa: S311
    docs = [f"d{place}" for place in range(15)]
    judgments = {query: {doc: float(rng.randint(0, 3)) for doc in docs[:9]} for query in queries}
    runs = {
        name: {query: {doc: rng.random() for doc in docs} for query in queries} for name in names
    }
    slices = {query: {"half": "ab"[place % 2]} for place, query in enumerate(queries)}
    return judgments, runs, slices


def long_names():
    """Twelve runs whose names differ at their ends."""
    names = [f"msmarco-passage-v2-splade-pp-reranked-by-monot5-3b-epoch-{n:02d}" for n in range(12)]
    judgments, runs, slices = _made(names, [f"q{place}" for place in range(20)])
    return Case(judgments, runs, report(judgments, runs, slices=slices).payload())


def odd_names():
    """Names that would end a string or a line of code; one long id; all pairs."""
    queries = ["q" * 500, "back\\", 'a "quote"', "two\nlines", "plain"]
    judgments, runs, _ = _made(ODD, queries)
    return Case(judgments, runs, report(judgments, runs, pairs="all").payload())


def many():
    """More queries than a table shows at once."""
    rng = Random(3)  # noqa: S311
    names = [f"q{place:03d}" for place in range(250)]
    judgments = {
        query: {f"d{doc}": float(rng.randint(0, 3)) for doc in range(8)} for query in names
    }
    runs = {
        name: {query: {f"d{doc}": rng.random() for doc in range(8)} for query in names}
        for name in ("one", "two")
    }
    return Case(judgments, runs, report(judgments, runs, MEASURES).payload())


def left_out():
    """A page that keeps the detail of some queries only."""
    case = cooking()
    payload = json.loads(json.dumps(case.payload))
    payload["details"] = {"0": payload["details"]["0"]}
    for place, query in enumerate(payload["queries"]):
        query["detail"] = place == 0
    payload["kept"] = {"queries": 1, "of": len(payload["queries"]), "why": "the rest is left out"}
    payload["queries"][1]["id"] = "it's -a query"
    return Case(case.judgments, case.runs, payload)


def assessors():
    """Three assessors of the shipped example, one with a hostile name, and what that does to the runs."""
    known = {}
    for line in (EXAMPLES / "judgments.qrels").read_text().splitlines():
        query, _, doc, grade = line.split()
        known.setdefault(query, {})[doc] = int(grade)
    names = ["ann", "verdict", HOSTILE[1]]
    rng = Random(5)  # noqa: S311
    people = [
        {
            query: {doc: graded(grade) for doc, grade in docs.items()}
            for query, docs in known.items()
        }
        for graded in (
            lambda grade: grade,
            lambda grade: min(3, grade + rng.choice([0, 0, 1])),
            lambda grade: 3 - grade,  # whose verdicts are others
        )
    ]
    runs = {name: EXAMPLES / f"{name}.run" for name in ("keyword", "semantic", "hybrid")}
    found = gf.judging.agreement(
        people, names=names, runs=runs, measures=MEASURES[:2], resamples=100
    )
    merged = gf.judging.merge_judgments(people, names=names)
    made = report(merged, runs, MEASURES, agreement=found, created="2026-11-17")
    return Case(found, runs, made.payload())


def history(run="bm25", label="2.0"):
    """A history of two runs with a rise, a fall and new judgments."""
    judged = {f"q{at:02}": {"a": 1} for at in range(40)}
    stricter = {query: {"a": 1, "missed": 1} for query in judged}
    first, second = ({query: {"a": rank, "b": 1.5} for query in judged} for rank in (1, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "search.history")
        for day, scores in enumerate((first, first, second, second, first), 1):
            for name in (run, "dense"):
                truth = stricter if day == 5 else judged
                again = gf.evaluate(truth, second, ["AP", "P@1"]) if day == 5 else None
                gf.history.add(
                    path, gf.evaluate(truth, scores, ["AP", "P@1"]), run=name, again=again,
                    label=label if day == 3 else "", time=f"2026-05-0{day}", commit="abc",
                )  # fmt: skip
        return SimpleNamespace(html=gf.history.page(path, title="Search"))
