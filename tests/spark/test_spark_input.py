"""What is wrong with Spark data frames is said as of any other input."""

import math
import sys
import time
import warnings
from random import Random
from threading import Event, Thread
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import gainful as gf
from gainful.evaluation.spark import evaluate
from gainful.matching.spark import partition_matching
from gainful.matching.spark import plan as cutting
from gainful.rows.spark_frames import (
    batches_by_rows,
    by_query,
    errors_of_spark,
    functions,
    in_python,
    is_faulty,
    is_spark,
    kept,
)
from spark_cases import rows_of

JUDGMENTS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
ROWS = [("q1", "a", 1.0), ("q1", "b", 0.5), ("q2", "c", 0.25)]
RUN = "query string, doc string, score double"


def message(judgments, run, measures="nDCG", **choices):
    with pytest.raises(gf.errors.GainfulError) as caught:
        gf.evaluate(judgments, run, measures, policy=gf.Policy(**choices))
    return str(caught.value)


@pytest.mark.parametrize("form", ["a dict", "a frame", "a column"])
def test_weights_and_clusters_of_frames(spark, form):
    judgments = {f"u{at // 3}_q{at}": {"a": 1, "b": 2} for at in range(36)}
    run = {query: {"a": at % 3, "b": 1.5, "c": at % 2} for at, query in enumerate(judgments)}
    weights = {query: 1.0 + at % 5 for at, query in enumerate(judgments)}
    users = {query: query.partition("_")[0] for query in judgments}
    rows = [(query, weight, users[query]) for query, weight in weights.items()]
    table = spark.createDataFrame(rows, "query string, weight double, user string")
    options = {
        "a dict": {"weights": weights, "clusters": users},
        "a frame": {"weights": table.select("query", "weight"), "clusters": "id:_"},
        "a column": {"slices": table, "weights": "weight", "clusters": "user"},
    }[form]
    frames = (
        spark.createDataFrame([*rows_of(judgments)], "query string, doc string, grade double"),
        spark.createDataFrame([*rows_of(run)], RUN),
    )
    scores = gf.evaluate(*frames, "nDCG@2", **options)
    expected = gf.evaluate(judgments, run, "nDCG@2", weights=weights, clusters=users)
    assert scores["nDCG@2"] == expected["nDCG@2"]
    assert scores.interval() == expected.interval()


@pytest.mark.parametrize("measure", ["nDCG@1", "nDCG"])
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((None, "a", 1.0), "run: expected an id as query, found nothing."),
        (("q1", None, 1.0), "run, query 'q1': expected an id as doc, found nothing."),
        (("q1", "z", None),
         "run, query 'q1', document 'z': expected a finite number as the score, found nothing."),
        (("q1", "z", float("nan")),
         "run, query 'q1', document 'z': expected a finite number as the score, found nan."),
        (("extra", "z", float("-inf")),
         "run, query 'extra', document 'z': expected a finite number as the score, found -inf."),
    ],
)  # fmt: skip
def test_rows_without_a_value(spark, row, expected, measure):
    assert message(JUDGMENTS, spark.createDataFrame([*ROWS, row], RUN), measure) == expected


def test_judgments_without_a_value(spark):
    schema = "query string, doc string, grade double"
    run = spark.createDataFrame(ROWS, RUN)
    for row, expected in {
        (
            "q1",
            "z",
            None,
        ): "judgments, query 'q1', document 'z': expected a finite number as the grade, found nothing. "
        "Give the document a grade, or remove the row: without one it is not judged.",
        (
            "q1",
            "a",
            2.0,
        ): "judgments: expected each document once for a query, found document 'a' of query 'q1' "
        "again. Remove one, or set the policy duplicates=best.",
    }.items():
        assert message(spark.createDataFrame([*ROWS, row], schema), run) == expected
    empty = spark.createDataFrame([], schema)
    assert message(empty, run) == "judgments: expected at least one judged document, found none."


def test_grades_as_words(spark):
    """Words in frames count as in dicts; numbers among them, and columns of numbers, stay as they are."""
    words = {"q1": {"a": " exact", "b": "Irrelevant"}, "q2": {"c": "0.5", "d": "S"}}
    schema = "query string, doc string, label string"
    rows = [(query, doc, word) for query, docs in words.items() for doc, word in docs.items()]
    frame = spark.createDataFrame(rows, schema)
    run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"d": 2.0, "c": 1.0}}
    runs = (run, spark.createDataFrame([*rows_of(run)], RUN))
    choices = {"grade_words": "esci", "columns": {"grade": "label"}}
    expected = gf.evaluate(words, run, "nDCG@2", grade_words="esci")
    by_hand = [1 / math.log2(3), 1.0]
    assert expected.values[:, 0] == pytest.approx(by_hand)
    scores = gf.evaluate(frame, runs[1], "nDCG@2", **choices)
    assert dict(scores.per_query) == dict(expected.per_query)
    local = gf.evaluate(words, runs[1], "nDCG@2", grade_words="esci")
    assert dict(local.per_query) == dict(expected.per_query)
    compared = gf.compare(frame, {"one": runs[1], "two": runs[1]}, "nDCG@2", **choices)
    assert compared.differences[0].difference == 0
    numbers = spark.createDataFrame(
        [("q1", "a", 3.0), ("q1", "b", 0.0)], schema.replace("label string", "label double")
    )
    assert gf.evaluate(numbers, runs[1], "nDCG@2", **choices)["nDCG@2"] == 1 / math.log2(3)


def test_words_without_a_grade(spark):
    schema = "query string, doc string, grade string"
    rows = [("q1", "a", "Exact"), ("q1", "b", "exakt"), ("q2", "c", "Wrong")]
    run = spark.createDataFrame(ROWS, RUN)
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(spark.createDataFrame(rows, schema), run, grade_words="esci")
    assert str(caught.value) == (
        "judgments, query 'q1', document 'b': expected a finite number, or one of the words Exact, Substitute, "
        "Complement, Irrelevant, as the grade, found 'exakt'. Did you mean 'Exact'? Choices: "
        "Exact, Substitute, Complement, Irrelevant. Other words without a grade: Wrong."
    )
    said = message(spark.createDataFrame(rows, schema), run)
    assert "--grade-words" in said


def test_words_in_files_that_spark_reads(spark, tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("query,doc,grade\nq1,a,Exact\nq1,b,Irrelevant\n")
    run = tmp_path / "a.csv"
    run.write_text("query,doc,score\nq1,b,2\nq1,a,1\n")
    with pytest.raises(gf.errors.InputError, match=r"spark\.read\.csv"):
        gf.evaluate(str(path), str(run), grade_words="esci", engine=gf.Spark())


def test_what_is_wrong_with_judgments_is_told_before_what_is_wrong_with_a_run(spark):
    """The two are looked at at the same time."""
    judgments = spark.createDataFrame(
        [("q1", "a", 1.0), ("q1", None, 1.0)], "query string, doc string, grade double"
    )
    run = spark.createDataFrame([("q1", "a", 1.0), ("q1", None, 1.0)], RUN)
    for measure in ("nDCG@1", "nDCG"):
        assert message(judgments, run, measure).startswith("judgments, query 'q1': expected an id")


@pytest.mark.parametrize(
    ("user", "planned"), [(None, "201"), ("150", "201"), ("16", "16"), ("300", "300")]
)
def test_what_is_kept_is_sent_in_few_files_and_settings_are_put_back(spark, user, planned):
    """Only planned, with the settings that a session has by default and the tests' has not."""
    names = [
        "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning",
        "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
    ]
    usual = {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "200"}
    before = {name: spark.conf.get(name) for name in usual}
    for name, value in usual.items():
        spark.conf.set(name, value)
    if user is not None:
        spark.conf.set(names[1], user)
    try:
        told = [spark.conf.get(name, None) for name in names]
        frame = kept(spark.range(9).selectExpr("id % 3 AS part").groupBy("part").count())
        plan = frame._jdf.queryExecution().executedPlan().toString()
        frame.unpersist()
        assert f", {planned})" in plan
        assert [spark.conf.get(name, None) for name in names] == told
    finally:
        spark.conf.unset(names[1])
        for name, value in before.items():
            spark.conf.set(name, value)


class Conf(dict):
    """Settings of a session, as Spark has them."""

    set, unset = dict.__setitem__, dict.__delitem__


class Planned:
    """A data frame that takes a while to plan."""

    def __init__(self, conf, began):
        self.sparkSession = SimpleNamespace(conf=conf)
        self.began = began

    def persist(self):
        self.began.set()
        time.sleep(0.1)
        return self


def test_settings_are_put_back_where_two_threads_change_them():
    conf = Conf({"spark.sql.shuffle.partitions": "200"})
    began = Event()
    threads = [Thread(target=kept, args=[Planned(conf, began)]) for _ in range(2)]
    threads[0].start()
    assert began.wait(10)
    threads[1].start()
    for thread in threads:
        thread.join()
    assert conf == {"spark.sql.shuffle.partitions": "200"}


def test_batches_with_long_ids_are_not_put_together(monkeypatch):
    monkeypatch.setattr(partition_matching, "_BYTES", 1000)
    batches = [pa.record_batch({"doc": ["a" * 300] * count}) for count in (1, 1, 1, 1, 9, 1)]
    tables = list(partition_matching._together(batches))
    assert [table.num_rows for table in tables] == [4, 9, 1]


def test_ids_too_long_for_a_batch_have_spark_count_their_bytes():
    answers = [RuntimeError("… OversizedAllocationException: Memory required …"), []]

    def collect():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    notes = SimpleNamespace(collect=collect)
    rows = SimpleNamespace(select=lambda _column: notes)
    frame = SimpleNamespace(where=lambda _condition: rows, sparkSession=SimpleNamespace())
    with pytest.raises(gf.errors.InputError, match="at least one"):  # the second answer is empty
        evaluate._summary(frame)
    assert answers == []


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (': java.lang.NullPointerException: "org.apache.spark.SparkContext.dagScheduler()" is null',
         "Spark: expected a running session, found a stopped session"),
        (": java.lang.IllegalStateException: no disk.",
         "Spark: expected readable rows, found IllegalStateException: no disk."),
    ],
)  # fmt: skip
def test_what_java_says_is_told_in_a_sentence(said, expected):
    with pytest.raises(gf.errors.InputError) as caught, errors_of_spark():
        raise PySparkException(f"An error occurred while calling o1.collect.\n{said}\n\tat x")
    assert str(caught.value).startswith(expected)


def test_bytes_of_arrow_batches_are_not_added_up_unless_the_user_says_how_many(spark):
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    context = spark.sparkContext
    rows = spark.range(0, 1000, 1, 1).selectExpr("repeat('a', 1000) AS text")

    def lengths(batches):
        import pyarrow as pa

        for batch in batches:
            yield pa.record_batch([pa.array([batch.num_rows])], ["length"])

    def found():
        return [row["length"] for row in in_python(rows, lengths, "length bigint").collect()]

    with batches_by_rows(spark):
        assert found() == [1000]
        context.setLocalProperty(name, "100000")
        with batches_by_rows(spark):
            assert len(found()) > 5  # Spark looks where this is written
        assert context.getLocalProperty(name) == "100000"
    assert context.getLocalProperty(name) is None
    spark.conf.set(name, "100000")
    try:
        with batches_by_rows(spark):
            assert len(found()) > 5
    finally:
        spark.conf.unset(name)


@pytest.mark.parametrize(
    ("rows", "partitions"),
    [(0, 1), (30_000, 1), (100_000, 2), (500_000, 2), (10_000_000, 50), (None, 2)],
)
def test_rows_go_to_as_many_partitions_as_have_work(spark, rows, partitions):
    """Two tasks run at a time, and two partitions are what the session says."""
    assert spark.sparkContext.defaultParallelism == 2
    frame = spark.range(3).selectExpr("id AS query")
    assert by_query(frame, rows).rdd.getNumPartitions() == partitions


@pytest.mark.parametrize("depth", [1, 10, 11, 40])
def test_so_many_documents_reach_the_edge(spark, depth):
    """Some queries have fewer documents than the depth, or many that tie, or one that is wrong."""
    random = Random(depth)  # noqa: S311 - no secret
    rows = [
        (
            f"q{query}",
            f"d{place}",
            float(random.randrange(query + 1) if query % 2 else random.random()),
        )
        for query in range(30)
        for place in range(random.choice([1, depth, 3 * depth, 200]))
    ]
    random.shuffle(rows)
    rows.append(("odd", "d", float("nan")))
    run = spark.createDataFrame(rows, "query string, doc string, number double")
    faulty = is_faulty(doc=False)
    stats = cutting._stats(run, faulty, f"(NOT {faulty})", depth)
    stats = {row["query"]: row for row in stats.collect()}
    assert len(stats) == 31
    assert stats.pop("odd")["faulty"]
    sent = 0
    for query, row in stats.items():
        scores = [score for name, _, score in rows if name == query]
        assert row["n"] == len(scores)
        assert not row["faulty"]
        reach = sum(score >= row["edge"] for score in scores)
        assert reach >= min(depth, len(scores))
        sent += reach if len(set(scores)) == len(scores) > 6 * depth else 0
    if depth == 10:  # 15.5 of so many parts are expected
        longest = sum(
            row["n"] > 6 * depth for query, row in stats.items() if int(query[1:]) % 2 == 0
        )
        assert sent < 25 * longest


def test_documents_that_are_judged_twice(spark):
    expected = (
        "judgments: expected each document once for a query, found document 'a' of query 'q1' "
        "again. Remove one, or set the policy duplicates=best."
    )
    rows = [*ROWS, ("q1", "a", -2.0)]
    judgments = spark.createDataFrame(rows, "query string, doc string, grade double")
    run = spark.createDataFrame(ROWS, RUN)
    broken = spark.createDataFrame([*ROWS, ("q1", "e", None)], RUN)
    twice = spark.createDataFrame([*ROWS, ROWS[0]], RUN)
    for measure in ("nDCG@10", "nDCG"):
        assert message(judgments, run, measure) == expected
    for other in (broken, twice):  # judgments are looked at first
        assert message(judgments, other, "nDCG@10") == expected
    for policy, chunks in (
        (gf.Policy(fold="max"), "#"),
        (gf.Policy(negative="unjudged"), None),
    ):
        with pytest.raises(gf.errors.InputError) as caught:
            gf.evaluate(judgments, run, "nDCG@10", policy=policy, chunks=chunks)
        assert str(caught.value) == expected
    best = gf.Policy(duplicates="best", negative="unjudged")
    found = gf.evaluate(judgments, run, "nDCG@10", policy=best)
    graded = spark.createDataFrame(ROWS, judgments.schema)
    assert found.means == gf.evaluate(graded, run, "nDCG@10").means
    lower = spark.createDataFrame([*ROWS, ("q1", "a", 0.125)], judgments.schema)
    found = gf.evaluate(lower, run, "nDCG@10", policy=gf.Policy(duplicates="best"))
    assert found.evidence.grades() == [0.25, 0.5, 1.0]  # what does not count is no grade of theirs


def test_judgments_and_run_in_each_others_place_are_told(spark):
    scored = [("q1", f"d{place}", 19.5 - place / 4) for place in range(20)]
    judged = {"q1": {f"d{place}": place % 3 for place in range(20)}}
    run = spark.createDataFrame(scored, RUN)
    with pytest.warns(gf.errors.GainfulWarning, match="have fractions, and all scores are whole"):
        gf.evaluate(run, judged, "nDCG@10")
    with pytest.warns(
        gf.errors.GainfulWarning, match="two runs without judgments.*columns grade=score"
    ):
        gf.evaluate(run, run.select("*"), "nDCG@10")
    named = {"grade": "score"}
    gf.evaluate(run, run.select("*"), "nDCG@10", columns=named)  # warnings are errors
    gf.evaluate(run.withColumnRenamed("score", "grade"), judged, "nDCG@10")
    with pytest.warns(gf.errors.GainfulWarning, match="judgments and run are the same object"):
        gf.evaluate(run, run, "nDCG@10", columns=named)
    both = run.selectExpr("*", "1.0 AS grade")
    gf.evaluate(both, both, "nDCG@10")


def test_lists_in_cells_are_told(spark):
    lists = spark.createDataFrame([("q1", ["a", "b"])], "query string, retrieved array<string>")
    expected = (
        "run: expected a row for each document, found lists in 'retrieved'. Turn them into rows"
    )
    assert expected in message(JUDGMENTS, lists)
    assert "lists in 'doc'" in message(JUDGMENTS, lists.withColumnRenamed("retrieved", "doc"))


def test_documents_that_come_twice(spark):
    expected = (
        "run: expected each document once for a query, found document 'b' of query 'q1' again. "
        "Remove one, or set the policy duplicates=best."
    )
    run = spark.createDataFrame([*ROWS, ("q1", "b", 2.0)], RUN)
    for measure in ("nDCG@10", "nDCG"):
        assert message(JUDGMENTS, run, measure) == expected
    with pytest.raises(gf.errors.InputError, match="each document once"):
        gf.evaluate(JUDGMENTS, run, "nDCG", policy=gf.Policy(fold="max"), chunks="#")
    found = gf.evaluate(JUDGMENTS, run, "nDCG", policy=gf.Policy(duplicates="best"))
    best = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 0.25}}
    assert found.means == gf.evaluate(JUDGMENTS, best, "nDCG").means


@pytest.mark.parametrize("together", ["true", "false"])
@pytest.mark.parametrize("chunks", [None, "#", str.upper], ids=["rows", "chunks", "function"])
def test_the_rows_of_a_query_are_in_one_place_after_grouping(spark, together, chunks):
    setting = "spark.sql.requireAllClusterKeysForDistribution"
    judged = {f"q{n}": {f"D{m}": m % 4 for m in range(12)} for n in range(6)}
    run = {query: {f"D{m}": float(m * 7 % 13) for m in range(20)} for query in judged}
    policy = gf.Policy(duplicates="best", fold="none" if chunks is None else "max")
    spark.conf.set(setting, together)
    try:
        frame = spark.createDataFrame(rows_of(run), RUN).repartition(3)
        found = gf.evaluate(judged, frame, "nDCG", policy=policy, chunks=chunks)
    finally:
        spark.conf.unset(setting)
    expected = gf.evaluate(judged, run, "nDCG", policy=policy, chunks=chunks)
    assert found.means == expected.means
    assert found.coverage == expected.coverage


def test_a_function_says_which_document_a_chunk_belongs_to(spark):
    rows = [("q1", "a, page 1", 1.0), ("q1", "b, page 2", 2.0), ("q1", "a, page 3", 3.0)]
    run = spark.createDataFrame([*rows, ("other", "c", 1.0)], RUN)
    judged = {"q1": {"a": 2, "b": 1}}
    found = gf.evaluate(judged, run, "nDCG", chunks=lambda chunk: chunk.split(", ")[0])
    assert found.means == {"nDCG": 1.0}
    assert (
        found.coverage.retrieved == 2
    )  # in one place, though Spark does not know what a function does
    known = {"a, page 1": "a", "a, page 3": "a"}
    with pytest.raises(
        gf.errors.InputError, match=r"found KeyError: 'b, page 2' for 'b, page 2'\.$"
    ):
        gf.evaluate(judged, run, "nDCG", chunks=lambda chunk: known[chunk])
    with pytest.raises(
        gf.errors.InputError, match=r"every chunk of the run, found none for 'b, page 2'"
    ):
        gf.evaluate(judged, run, "nDCG", chunks=known.get)


@pytest.mark.parametrize(
    "choices",
    [{"ties": "order"}, {"duplicates": "first"}, {"fold": "first"}],
    ids=lambda each: next(iter(each)),
)
def test_rows_have_no_order(spark, choices):
    (name,) = choices
    with pytest.raises(
        gf.errors.PolicyError, match=f"policy {name}: .* order of rows, which Spark"
    ):
        gf.evaluate(
            JUDGMENTS,
            spark.createDataFrame(ROWS, RUN),
            policy=gf.Policy(**choices),
            chunks="#" if name == "fold" else None,
        )


def test_queries_and_documents_that_do_not_meet(spark):
    run = spark.createDataFrame([("Q1", "a", 1.0)], RUN)
    dicts = {"Q1": {"a": 1.0}}
    assert message(JUDGMENTS, run) == message(JUDGMENTS, dicts)
    assert message(JUDGMENTS, spark.createDataFrame([], RUN)) == (
        "run: expected at least one retrieved document, found none."
    )
    with pytest.warns(
        gf.errors.GainfulWarning, match="no retrieved document is judged.*case-insensitively"
    ):
        gf.evaluate(JUDGMENTS, spark.createDataFrame([("q1", "A", 1.0)], RUN), "nDCG")


@pytest.mark.parametrize("options", [{}, {"chunks": "#"}, {"policy": {"unjudged": 0.5}}], ids=str)
def test_documents_that_do_not_meet_are_told_as_of_dicts(spark, options):
    rows = [("q1", "A#1", 1.0), ("q1", "c", 0.5), ("q1", "A#2", 0.25), ("q2", "c#1#2", 1.0)]
    dicts = {"q1": {"A#1": 1.0, "c": 0.5, "A#2": 0.25}, "q2": {"c#1#2": 1.0}}
    told = []
    for run in (spark.createDataFrame(rows, RUN), dicts):
        with pytest.warns(gf.errors.GainfulWarning) as seen:
            gf.evaluate(JUDGMENTS, run, "nDCG@1", **options)
        told.append([str(each.message) for each in seen])
    assert told[0] == told[1]


def test_policies_that_refuse(spark):
    rows = [*ROWS, ("q1", "x", 3.0), ("q1", "y", 2.0), ("extra", "a", 1.0)]
    run = spark.createDataFrame(rows, RUN)
    dicts = {}
    for query, doc, score in rows:
        dicts.setdefault(query, {})[doc] = score
    judgments = {**JUDGMENTS, "q10": {"a": 0}, "q3": {"a": -1}}
    for choices in (
        {"missing": "error"},
        {"extra": "error"},
        {"empty": "error"},
        {"unjudged": "error"},
        {"negative": "error"},
    ):
        assert message(judgments, run, **choices) == message(judgments, dicts, **choices), choices
    assert message({"q9": {"a": 1}, "q1": {"a": 0}}, run, empty="skip", missing="skip") == message(
        {"q9": {"a": 1}, "q1": {"a": 0}}, dicts, empty="skip", missing="skip"
    )


def test_scores_that_a_float32_cannot_hold(spark):
    run = spark.createDataFrame([*ROWS, ("q1", "z", 1e39)], RUN)
    dicts = {"q1": {"a": 1.0, "z": 1e39}}
    assert message(JUDGMENTS, run, precision="single") == message(
        JUDGMENTS, dicts, precision="single"
    )


def test_chunks_without_a_document(spark):
    run, chunks = spark.createDataFrame(ROWS, RUN), {"a": "a", "b": "a"}
    with pytest.raises(gf.errors.InputError, match="none for 'c'"):
        gf.evaluate(JUDGMENTS, run, "nDCG", policy=gf.Policy(fold="max"), chunks=chunks)
    chunks["c"] = "c"
    found = gf.evaluate(JUDGMENTS, run, "nDCG", policy=gf.Policy(fold="max"), chunks=chunks)
    assert found.coverage.retrieved == 2


def test_columns_of_any_type_and_name(spark):
    frame = spark.createDataFrame(
        [(1, 7, 3), (1, 8, 2)], "user bigint, item_id int, `my score` bigint"
    )
    columns = {"run.score": "my score"}
    found = gf.evaluate({"1": {"8": 1}}, frame, "nDCG", columns=columns)
    assert found.means == gf.evaluate({"1": {"8": 1}}, {"1": {"7": 3, "8": 2}}, "nDCG").means
    with pytest.raises(gf.errors.InputError, match="column for score"):
        gf.evaluate({"1": {"8": 1}}, frame)
    large = spark.createDataFrame([(1, 7, 2**53 + 1)], "user bigint, item_id int, score bigint")
    assert "a score that a float64 holds exactly, found 9007199254740993" in message(
        {"1": {"7": 1}}, large
    )
    texts = spark.createDataFrame(
        [("1", "7", "1e0"), ("1", "8", "1d")], "query string, doc string, score string"
    )
    assert "document '8': expected a finite number as the score, found 1d" in message(
        {"1": {"7": 1}}, texts
    )
    dates = spark.createDataFrame(ROWS, RUN).selectExpr("query", "doc", "current_date() AS score")
    assert "expected numbers as scores, found values of type date" in message(JUDGMENTS, dates)
    floats = spark.createDataFrame(ROWS, RUN).selectExpr("1.5D AS query", "doc", "score")
    assert "expected strings (or integers) as ids for query" in message(JUDGMENTS, floats)


def test_ids_come_back_as_the_type_they_had(spark):
    rows = [(7, 1, 1.0), (7, 2, 0.5), (12, 3, 0.25)]
    run = spark.createDataFrame(rows, "query bigint, doc int, score double")
    scores = gf.evaluate({7: {2: 1}, 12: {3: 1}}, run, "RR")
    found = scores.per_query.to_pandas()
    assert found["query"].dtype == "int64"
    assert found.to_numpy().tolist() == [[7, 0.5], [12, 1.0]]
    assert gf.evaluate({"007": {"2": 1}, "12": {"3": 1}}, run, "RR").per_query.to_pandas()[
        "query"
    ].tolist() == ["12", "007"]
    # On Spark they are strings, which Spark compares with integers by their value.
    joined = run.join(scores.per_query.to_spark(), "query").select("query", "RR").collect()
    assert {(int(row["query"]), row["RR"]) for row in joined} == {(7, 0.5), (12, 1.0)}


def test_rows_that_are_not_on_this_machine(spark):
    run = spark.createDataFrame(ROWS, RUN)
    for call in (
        lambda: gf.check(JUDGMENTS, {"run": run}),
        lambda: gf.pool({"run": run}, depth=2),
        lambda: gf.bounds(JUDGMENTS, run, grades=(0, 1)),
    ):
        with pytest.raises(gf.errors.InputError, match=r"a Spark data frame\. .*toPandas"):
            call()


def test_a_missing_spark_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(gf.errors.MissingDependencyError, match=r"pip install '\.\[spark\]'"):
        functions()
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    assert is_spark(frame)
    with pytest.raises(gf.errors.MissingDependencyError, match=r"pip install '\.\[spark\]'"):
        gf.evaluate(frame, {"q": {"a": 1}})
    with pytest.raises(gf.errors.MissingDependencyError, match=r"pip install '\.\[spark\]'"):
        gf.evaluate({"q": {"a": 1}}, "run.parquet", engine=gf.Spark())


def test_ranks_that_are_taken_for_scores(spark):
    """Ranks in every query are warned of, whatever the number of queries, but not where they fall."""
    schema = "query string, doc string, score double"

    def rows(numbers, queries):
        return [
            (f"q{query}", f"d{number}", float(number))
            for query in range(queries)
            for number in numbers
        ]

    def evaluate(rows, measure):
        gf.evaluate({"q0": {"d1": 1}}, spark.createDataFrame(rows, schema).coalesce(1), measure)

    # 100 queries have more rows than the first that are looked at.
    for ranks, measures in (
        (rows([1, 2, 3], 1), ["nDCG", "nDCG@3"]),
        (rows([1, 2, 3], 100), ["nDCG", "nDCG@3"]),
        (rows([0, 1, 2], 1), ["nDCG"]),
        (rows([2, 3, 1], 100), ["nDCG"]),
    ):
        for measure in measures:
            with pytest.warns(gf.errors.GainfulWarning, match=r"look like ranks.* columns rank="):
                evaluate(ranks, measure)
    late = [*rows([1, 2, 3], 100), ("q0", "x", 4.0), ("q99", "x", 3.0), ("q99", "y", 5.0)]
    for scores, measures in (
        (rows([3, 2, 1], 100), ["nDCG", "nDCG@3"]),
        (rows([1, 2, 3.5], 1), ["nDCG"]),
        ([*rows([1, 2, 3], 100), ("q0", "x", 9.0)], ["nDCG"]),
        (late, ["nDCG", "nDCG@3"]),
    ):
        for measure in measures:
            with warnings.catch_warnings():
                warnings.simplefilter("error", gf.errors.GainfulWarning)
                evaluate(scores, measure)


OTHER_PYTHON = """#!{python}
import sys
from collections import namedtuple
Version = namedtuple("Version", "major minor micro releaselevel serial")
sys.path.append(sys.path.pop(0))  # as python -m has it
{change}
import runpy
sys.argv = ["pyspark.daemon", *sys.argv[3:]]  # not that of the tests, which imports all at once
runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("sys.version_info = Version(3, 4, 9, 'final', 0)",
         rf"workers that run Python 3\.{sys.version_info[1]}, .*found Python 3\.4 \(\S+/other\)\. Set PYSPARK_PYTHON"),
        ("sys.modules['gainful'] = None",
         r"the package gainful in the Python of its workers, found none \(\S+/other\)\. Install .*PYSPARK_PYTHON"),
        ("sys.exit('no such luck')",
         r"a Python that its workers can run, found .*no such luck.*Set PYSPARK_PYTHON"),
        (None, r"a Python that its workers can run, found Cannot run .*other.*PYSPARK_PYTHON"),
    ],
    ids=["another version", "no gainful", "does not start", "not there"],
)  # fmt: skip
def test_workers_that_run_another_python(spark, tmp_path, monkeypatch, change, expected):
    """The session is told of another program, which makes itself out to be an older Python."""
    program = tmp_path / "other"
    if change is not None:
        program.write_text(OTHER_PYTHON.format(python=sys.executable, change=change))
        program.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(program))
    with pytest.raises(gf.errors.InputError, match=f"^Spark: expected {expected}"):
        gf.evaluate(JUDGMENTS, spark.createDataFrame(ROWS, RUN), "nDCG")


def test_folders_partitioned_by_columns_and_keys_of_several_columns(spark, tmp_path):
    """Spark computes the keys, and the parts of 01 stay text."""
    import duckdb

    rows = {
        "qrels": "(VALUES ('01', 'q', 'a', 1), ('02', 'q', 'b', 1)) t(month, id, doc, grade)",
        "run": "(VALUES ('01', 'q', 'b', 0.7), ('01', 'q', 'a', 0.5), ('02', 'q', 'b', 0.5)) t(month, id, doc, score)",
    }
    for name, values in rows.items():
        select = f"COPY (FROM {values}) TO '{tmp_path}/{name}' (FORMAT parquet, PARTITION_BY month)"
        duckdb.connect().execute(select)
    names = {"query": "month,id"}
    judgments, run = str(tmp_path / "qrels"), str(tmp_path / "run")
    here = gf.evaluate(judgments, run, "RR", columns=names).per_query.to_dict()
    assert here == {"01/q": {"RR": 0.5}, "02/q": {"RR": 1.0}}
    scores = gf.evaluate(judgments, run, "RR", columns=names, engine=gf.Spark())
    assert scores.per_query.to_spark().count() == len(here)
    assert scores.per_query.to_dict() == here
    frame = spark.createDataFrame(
        [("0/1", "q", "a", 0.5)], "month string, id string, doc string, score double"
    )
    with pytest.raises(gf.errors.InputError, match="expected values without '/'"):
        gf.evaluate(judgments, frame, "RR", columns=names)
