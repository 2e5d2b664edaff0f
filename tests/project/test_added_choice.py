"""A choice of the policy, added as the architecture page says, takes effect for every input and in every result."""

import json
import subprocess
import sys

import pytest

import gainful as gf
from added_choice import (
    JUDGMENTS,
    RUN,
    added_to,
    environment,
    in_small_letters,
    printed_by,
)
from input_forms import FORMS, as_dicts

MEASURES = ["nDCG@2", "P@1", "AP", "Judged@3"]
JUDGED, RETURNED = as_dicts(in_small_letters(JUDGMENTS)), as_dicts(in_small_letters(RUN))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return added_to(tmp_path_factory.mktemp("copy"))


@pytest.fixture(scope="module")
def expected():
    return gf.evaluate(JUDGED, RETURNED, MEASURES, policy={"ties": "doc"}).means


def test_for_every_form_of_input(folder, expected):
    program = f"""
from gainful.rows import table_source
from gainful.matching.input import TableInput

def means(form, name):
    path = folder / name
    path.mkdir()
    given = form.make(JUDGMENTS, "judgments", path), form.make(RUN, "run", path)
    return gf.evaluate(*given, {MEASURES}, policy=POLICY).means

seen = {{str(form): means(form, f"{{at}}") for at, form in enumerate(FORMS)}}
table_source.MOST_ROWS = 0
TableInput._clean_file = None
seen |= {{f"{{form}} on the engine": means(form, f"engine {{at}}") for at, form in enumerate(FORMS)}}
print(json.dumps(seen))
"""
    seen = printed_by(program, folder)
    assert len(seen) == 2 * len(FORMS)
    assert {name: means for name, means in seen.items() if means != expected} == {}


def test_in_every_result(folder, expected):
    program = f"""
import numpy as np
import pyarrow as pa
from gainful.matching.spark.partition_matching import bunches
from gainful.matching.spark.plan import JUDGMENT, PRESENT, RETRIEVED, Plan

judgments, run = as_dicts(JUDGMENTS), as_dicts(RUN)
runs, measures = {{"old": run, "new": run}}, {MEASURES}
ids = np.array([[*run["q1"]], [*run["q2"], "d", "e"]])
topics = {{"q1": {{"t": {{"a": 1, "XB": 1}}, "u": {{"XB": 1}}}}, "q2": {{"t": {{"a": 1}}}}}}
scores = gf.evaluate(judgments, run, measures, policy=POLICY)
gf.comparison.save_baseline(scores, folder / "baseline.json")
compared = gf.compare(judgments, runs, measures, policy=POLICY)
why = gf.why(judgments, run, "nDCG@2", dialects=["gainful", "trec_eval-10"], policy=POLICY)
which = gf.explanation.which(judgments, run, "nDCG@2", got=scores["nDCG@2"])

def on_spark(depth):
    rows = [(q, JUDGMENT, doc, None, grade) for q, doc, grade in JUDGMENTS]
    rows += [(q, RETRIEVED, doc, score, None) for q, doc, score in RUN]
    rows += [(query, PRESENT, None, None, None) for query in ("q1", "q2")]
    rows.sort(key=lambda row: (*row[:2], -(row[3] or 0.0)))
    types = pa.string(), pa.int8(), pa.string(), pa.float64(), pa.float64()
    columns = [pa.array(column, type_) for column, type_ in zip(zip(*rows), types)]
    keys = pa.array([hash(row[2]) % (1 << 62) for row in rows])
    batch = pa.record_batch([*columns, keys], ["query", "kind", "doc", "score", "value", "id"])
    plan = Plan(gf.Policy(**POLICY), depth, None, 1.0)
    (bunch,) = bunches([batch], plan)
    matched, _ = bunch.match()
    return [matched.rank.tolist(), matched.retrieved.tolist(), matched.pool_grades.tolist()]

print(json.dumps({{
    "choice": gf.measures.choices()[-1].name,
    "signature": scores.signature("AP").split(" | ")[1],
    "arrays of ids": gf.evaluate(judgments, ids, "P@1", policy=POLICY, queries=["q1", "q2"]).means,
    "compare": {{one.measure: one.run_mean for one in compared.differences}},
    "explain": gf.explain(judgments, run, "nDCG@2", query="q1", policy=POLICY).value,
    "report": gf.report(judgments, runs, measures, policy=POLICY, resamples=99).payload()["runs"][0]["means"],
    "bounds": gf.bounds(judgments, run, "AP", grades=(0, 3), policy=POLICY).table().rows[0][1],
    "baseline": gf.comparison.read_baseline(folder / "baseline.json").policy.capitals,
    "subtopics": gf.evaluate(judgments, run, "alpha_nDCG@2", policy=POLICY, subtopics=topics).means,
    "why": [cause.name for cause in why.causes],
    "which": [way.change for way in which.found],
    "on Spark": on_spark(None),
    "on Spark, cut": on_spark(1),
}}))
"""
    seen = printed_by(program, folder)
    topics = {"q1": {"t": {"a": 1}, "u": {}}, "q2": {"t": {"a": 1}}}
    of_topics = gf.evaluate(JUDGED, RETURNED, "alpha_nDCG@2", subtopics=topics)
    for name in ("which", "report"):
        assert seen.pop(name)[0] == {"which": "capitals=no", "report": expected["nDCG@2"]}[name]
    assert seen == {
        "choice": "capitals",
        "signature": "ties=doc capitals=no",
        "arrays of ids": {"P@1": expected["P@1"]},
        "compare": expected,
        "explain": gf.explain(JUDGED, RETURNED, "nDCG@2", query="q1").value,
        "bounds": expected["AP"],
        "baseline": "no",
        "subtopics": of_topics.means,
        "why": ["capitals"],
        "on Spark": [[2, 1], [2, 1], [2, 1, 2, 1]],
        "on Spark, cut": [[1], [2, 1], [2, 1, 2, 1]],
    }


def test_on_the_command_line(folder, expected):
    for name, rows in (("judgments.qrels", JUDGMENTS), ("my.run", RUN)):
        middle = "0" if name.endswith("qrels") else "Q0"
        tail = "" if name.endswith("qrels") else " tag"
        lines = [
            f"{query} {middle} {doc} {'' if not tail else '1 '}{number:g}{tail}"
            for query, doc, number in rows
        ]
        (folder / name).write_text("\n".join([*lines, ""]))

    def gainful(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "gainful", *arguments],
            capture_output=True,
            text=True,
            env=environment(folder),
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    command = ["evaluate", "judgments.qrels", "my.run", "-m", *MEASURES[:1], "-f", "json"]
    written = json.loads(gainful(*command, "--capitals", "no"))
    assert written["runs"][0]["means"] == {"nDCG@2": pytest.approx(expected["nDCG@2"])}
    assert "Do documents in capitals count?" in gainful("help", "policy")
    assert "--capitals" in gainful("help", "evaluate")
    (folder / "gainful.toml").write_text('[policy]\ncapitals = "no"\n')
    assert json.loads(gainful(*command)) == written
