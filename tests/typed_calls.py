"""What type checkers accept and reject as judgments and runs: `make lint` checks it, nothing runs it.

A call that must be rejected carries `type: ignore`, and mypy reports an ignore that nothing needs.
"""

from pathlib import Path

import numpy as np

import gainful as gf
from gainful.inputs import Judgments, Run

judgments: Judgments = {"q1": {"d1": 1}}
run: Run = {"q1": {"d1": 0.5}}

gf.evaluate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0.5}})
gf.evaluate({"q1": ["d1"]}, {"q1": ["d2", "d1"]}, ["nDCG@10", "AP"])
gf.evaluate("judgments.qrels", Path("bm25.run"))
gf.evaluate([{"query": "q1", "doc": "d1", "grade": 1}], [("q1", "d1", 0.5)])
gf.evaluate([["d1"]], np.array([["d2", "d1"]]))
gf.compare(judgments, {"one": run, "two": "two.run"}, baseline="one")
gf.explain(judgments, run, "nDCG@10", query="q1")

gf.evaluate(3, run)  # type: ignore[arg-type]
gf.evaluate(judgments, 0.5)  # type: ignore[arg-type]
gf.evaluate(judgments, None)  # type: ignore[arg-type]
gf.evaluate(judgments, len)  # type: ignore[arg-type]
gf.explain(judgments, 3, "nDCG@10", query="q1")  # type: ignore[arg-type]
gf.explain(judgments, run, "nDCG@10", query=None)  # type: ignore[arg-type]
gf.ndcg([3, 2], gain={3: 2}, discount=np.array([1.0, 0.5]))
gf.ndcg([3, 2], gain=2)  # type: ignore[arg-type]
gf.dcg([3, 2], discount=2)  # type: ignore[arg-type]
gf.bounds(judgments, run, "nDCG@10", grades={0, 1, 3})
gf.bounds(judgments, run, "nDCG@10", grades=3)  # type: ignore[arg-type]
