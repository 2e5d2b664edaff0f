"""What Spark does: one exchange of the run, workers that die, queries that are large, the command line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.evaluation.spark.evaluate import measured_rows
from gainful.evaluation.spark.partition_measuring import Measuring
from gainful.matching.chunks_to_documents import Chunks
from gainful.matching.spark import plan as cutting
from gainful.matching.spark.plan import (
    Plan,
    RunWithJudgments,
    judgments_in_dicts,
    judgments_in_frame,
)
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.spark_frames import as_they_are
from spark_cases import QUICK_JAVA, on_spark, random_sides, rows_of

JUDGMENTS, RUN_DICTS = random_sides("at work")
QUICK = {**os.environ, "JDK_JAVA_OPTIONS": QUICK_JAVA}


def plan_of(spark, capsys, tmp_path, depth, *, local, chunks=None, **choices):
    """The physical plan of an evaluation of a run in Parquet, as `explain` prints it."""
    on_spark(spark, RUN_DICTS, "score").write.mode("overwrite").parquet(str(tmp_path / "run"))
    run = as_they_are(spark.read.parquet(str(tmp_path / "run")), RUN, read_columns(None))
    policy = gf.Policy(**{"ties": "doc", **choices})
    if local:
        judged = judgments_in_dicts(JUDGMENTS, spark, policy)
    else:
        on_spark(spark, JUDGMENTS, "grade").write.mode("overwrite").parquet(str(tmp_path / "j"))
        judged = judgments_in_frame(spark.read.parquet(str(tmp_path / "j")), {}, policy)
    plan = Plan(policy, depth, chunks, judged.facts().lowest)
    measuring = Measuring(plan, (gf.measure("nDCG@10"),), (10,), None)
    capsys.readouterr()
    measured_rows(RunWithJudgments(judged, run, plan), measuring).explain()
    return capsys.readouterr().out


def exchanges_of_the_run(plan):
    """Return how often rows of the run go over the network: exchanges above a scan of its scores.

    What has been added up to a row or a few for each query is no row of the run any more. The tree is read
    from its indentation: an exchange stands above all that is further to the right below it.
    """
    lines = [(len(re.match(r"[ :+-]*", line)[0]), line) for line in plan.splitlines()]
    most = 0
    for number, (indent, line) in enumerate(lines):
        if "FileScan" not in line or "score" not in line:
            continue
        count, level = 0, indent
        for above, text in reversed(lines[:number]):
            if above >= level:
                continue
            level = above
            count += " Exchange " in text.replace("+-", " ").replace(":-", " ")
            if re.search(r"HashAggregate\(keys=\[query#\d+.*functions=\[partial", text):
                break  # from here on it is a row for each query, or few
        most = max(most, count)
    return most


@pytest.mark.parametrize("local", [True, False], ids=["judgments here", "judgments on Spark"])
@pytest.mark.parametrize("depth", [None, 10], ids=["whole", "cut"])
def test_the_run_is_sent_once(spark, capsys, tmp_path, depth, local):
    plan = plan_of(spark, capsys, tmp_path, depth, local=local)
    assert exchanges_of_the_run(plan) == 1, plan
    assert ("edge#" in plan) == (depth is not None)


def test_what_is_below_all_edges_is_left_out_before_edges_are_looked_up(spark, capsys, tmp_path):
    plan = plan_of(spark, capsys, tmp_path, 1, local=False)
    below = plan[plan.index("BroadcastHashJoin") :]
    assert re.search(r"Filter [^\n]*score#\d+[^\n]* >= -?\d", below), plan


def test_a_run_of_very_many_queries_is_sent_once(spark, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(cutting, "FEW", 0)
    plan = plan_of(spark, capsys, tmp_path, 10, local=False)
    assert exchanges_of_the_run(plan) == 1, plan
    exchange = plan.index("Exchange hashpartitioning(query")
    assert exchange < plan.rindex("WindowGroupLimit"), plan  # cut before it is sent


def test_a_run_in_chunks_is_sent_once(spark, capsys, tmp_path):
    for chunks in ("#", {"d1": "d"}):
        plan = plan_of(spark, capsys, tmp_path, 10, local=True, chunks=Chunks(chunks), fold="max")
        assert exchanges_of_the_run(plan) == 1, plan


def test_an_exchange_is_counted():
    plan = """
    +- Exchange hashpartitioning(query#1, 2)
       +- Sort [query#1]
          +- Union
             :- Exchange hashpartitioning(query#1, 2)
             :  +- FileScan parquet [query#1,doc#2,score#3]
             +- FileScan parquet [query#1,doc#2,grade#3]
    """
    assert exchanges_of_the_run(plan) == 2


def test_a_worker_that_is_killed_changes_nothing(spark, tmp_path):
    marker = str(tmp_path / "killed")

    def gain(grade):
        import os
        import signal

        if not os.path.exists(marker):  # noqa: PTH110 - goes to another process as it is
            with open(marker, "w") as file:  # noqa: PTH123
                file.write(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return 2.0 * grade

    def twice(grade):
        return 2.0 * grade

    killing, plain = (gf.Measure("nDCG", cutoff=10, gain=each) for each in (gain, twice))
    found = gf.evaluate(JUDGMENTS, on_spark(spark, RUN_DICTS, "score"), killing)
    assert int(Path(marker).read_text()) != os.getpid()
    expected = gf.evaluate(JUDGMENTS, RUN_DICTS, plain)
    assert [*found.means.values()] == pytest.approx([*expected.means.values()], abs=1e-12)
    assert found.values == pytest.approx(expected.values, abs=1e-12)


@pytest.mark.parametrize("measure", ["RR@5", "RR"])
def test_a_file_that_changes_is_measured_anew(spark, tmp_path, measure):
    (tmp_path / "run").mkdir()
    for score, expected in ((1.0, 1.0), (0.1, 0.5)):
        table = pa.table({"query": ["q", "q"], "doc": ["a", "b"], "score": [score, 0.5]})
        pq.write_table(table, tmp_path / "run" / "part.parquet")
        run = spark.read.parquet(str(tmp_path / "run"))
        assert gf.evaluate({"q": {"a": 1}}, run, measure)[measure] == expected


@pytest.mark.parametrize("measure", ["nDCG@10", "nDCG"])
def test_a_query_with_very_many_documents(spark, measure):
    many = spark.range(60_000).selectExpr(
        "'large' AS query", "concat('d', id) AS doc", "cast(id % 30000 AS double) AS score"
    )
    few = on_spark(spark, {"small": {"d1": 1.0, "d2": 2.0}}, "score")
    judgments = {"large": {"d29999": 2, "d59999": 1, "d7": 3, "x": 1}, "small": {"d1": 1}}
    run = {"large": {f"d{n}": n % 30_000 for n in range(60_000)}, "small": {"d1": 1, "d2": 2}}
    found = gf.evaluate(judgments, many.union(few), measure)
    expected = gf.evaluate(judgments, run, measure)
    assert found.signature(measure) == expected.signature(measure)
    assert found.queries == expected.queries
    assert found.values == pytest.approx(expected.values, abs=1e-12)
    assert found.coverage == expected.coverage


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Judgments and a run as Parquet, CSV and JSON lines; one id begins with a zero."""
    folder = tmp_path_factory.mktemp("tables")
    sides = {"judgments": {**JUDGMENTS, "007": {"01": 1}}, "run": {**RUN_DICTS, "007": {"01": 1.0}}}
    for name, documents in sides.items():
        number = "grade" if name == "judgments" else "score"
        query, doc, value = zip(*rows_of(documents), strict=True)
        table = pa.table({"query": query, "doc": doc, number: value})
        pq.write_table(table, folder / f"{name}.parquet")
        table.to_pandas().to_csv(folder / f"{name}.csv", index=False)
        table.to_pandas().to_json(folder / f"{name}.jsonl", orient="records", lines=True)
    return folder


# The command line, which starts Java, and then frames of a session that is stopped.
PROCESS = """
import sys
import gainful as gf
from gainful.cli.main import main
try:
    main()
except SystemExit as done:
    assert done.code == 0, done
print("-----", flush=True)
spark = gf.Spark(master="local[1]").session()
run = spark.createDataFrame([("q", "a", 1.0)], "query string, doc string, score double")
scores = gf.evaluate({"q": {"a": 1}}, run, "AP")
spark.stop()
for ask in (scores.per_query.to_dict, lambda: gf.evaluate({"q": {"a": 1}}, run, "AP")):
    try:
        ask()
    except gf.errors.InputError as error:
        print(error)
"""


def test_the_command_line_and_a_session_that_was_stopped(tables):
    """In a process of its own, which has no session before."""
    measures = ["-m", "nDCG@10", "-m", "AP", "--format", "json"]
    files = [str(tables / name) for name in ("judgments.parquet", "run.parquet")]
    expected = CliRunner().invoke(commands, ["evaluate", *files, *measures])
    files = [tables / name for name in ("judgments.csv", "run.jsonl")]
    engine = ["--engine", "spark", "--master", "local[2]", "--memory", "1GB"]
    done = subprocess.run(
        [sys.executable, "-c", PROCESS, "evaluate", *files, *measures, *engine],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=QUICK,
    )
    assert done.returncode == 0, done.stderr
    found, _, messages = done.stdout.partition("-----\n")
    assert found == expected.stdout
    assert messages.count("a running session, found a stopped session") == 2


def test_the_command_line_compares(spark, tables):
    """In this process, which has a session: it is used as it is."""
    assert spark.version
    files = [str(tables / name) for name in ("judgments.parquet", "run.parquet", "run.csv")]
    outputs = [
        CliRunner().invoke(commands, ["compare", *files, "--format", "tsv", *options])
        for options in ([], ["--engine", "spark", "--threads", "2"])
    ]
    assert [each.exit_code for each in outputs] == [0, 0], outputs
    assert outputs[0].stdout == outputs[1].stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--master", "local[2]"], "--master requires --engine spark"),
        (
            ["--engine", "spark", "--bounds", "--grades", "0,1"],
            "--bounds cannot be combined with --engine",
        ),
        (
            ["--engine", "spark", "--master", "local[2]", "--threads", "2"],
            "cannot be combined with --threads",
        ),
        (["--engine", "spark"], "a run that Spark reads"),
    ],
)
def test_options_that_do_not_go_together(process, tmp_path, options, expected):
    for name, text in {"judgments.txt": "q 0 a 1\n", "run.txt": "q Q0 a 1 0.5 t\n"}.items():
        (tmp_path / name).write_text(text)
    found = process("evaluate", tmp_path / "judgments.txt", tmp_path / "run.txt", *options)
    assert found.returncode == 2
    assert expected in found.stderr
    assert "Traceback" not in found.stderr


def test_an_engine_is_checked():
    with pytest.raises(gf.errors.InputError, match="engine, memory"):
        gf.Spark(memory="much")
    with pytest.raises(gf.errors.InputError, match="engine, master"):
        gf.Spark(master="")
    with pytest.raises(gf.errors.InputError, match="Spark is an engine of evaluate"):
        gf.check({"q": {"a": 1}}, engine=gf.Spark())


def test_connect_gives_the_same(connect_port, tmp_path):
    """A process of its own: Connect and a classic session do not live in one.

    The server is in the Java machine of the tests, which saves the start of another.
    """
    script = Path(__file__).with_name("connect_session.py")
    done = subprocess.run(
        [sys.executable, str(script), f"sc://localhost:{connect_port}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines()[-1] == "the same"
