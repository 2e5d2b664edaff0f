"""Grades as words: the same scores as with numbers, in every form of input; and errors that show the option to type."""

import json

import pandas as pd
import polars as pl
import pytest

import gainful as gf

WORDS = {"q1": {"a": "Exact", "b": "irrelevant", "c": " Substitute"}, "q2": {"d": "Complement"}}
NUMBERS = {"q1": {"a": 3, "b": 0, "c": 2}, "q2": {"d": 1}}
RUN = {"q1": ["a", "b", "c"], "q2": ["x", "d"]}
ESCI = {"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}
TYPED = "Exact=3, Substitute=2,Complement=1 ,Irrelevant=0"
OPTION = "--grade-words esci (in Python, grade_words='esci')"


def rows():
    return [
        {"query": query, "doc": doc, "esci_label": word}
        for query, docs in WORDS.items()
        for doc, word in docs.items()
    ]


def write(folder, form):
    frame, path = pd.DataFrame(rows()), folder / f"words.{form}"
    match form:
        case "csv" | "tsv":
            frame.to_csv(path, index=False, sep="," if form == "csv" else "\t")
        case "parquet":
            frame.to_parquet(path)
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)
        case "json":
            path.write_text(json.dumps(WORDS))
        case "qrels":
            lines = (f"{row['query']} 0 {row['doc']} {row['esci_label']}\n" for row in rows())
            path.write_text("".join(lines))
    return path


FILES = ["csv", "tsv", "parquet", "jsonl", "json", "qrels"]
OBJECTS = {
    "dict": lambda: WORDS,
    "records": rows,
    "pandas": lambda: pd.DataFrame(rows()),
    "categories": lambda: pd.DataFrame(rows()).astype({"esci_label": "category"}),
    "polars": lambda: pl.DataFrame(rows()),
    "arrow": lambda: pl.DataFrame(rows()).to_arrow(),
}
expected = gf.evaluate(NUMBERS, RUN, "nDCG@2 AP").means


@pytest.mark.parametrize("words", [ESCI, TYPED, "esci", "ESCI"])
def test_ways_to_give_the_grades_of_words(words):
    assert gf.evaluate(WORDS, RUN, "nDCG@2 AP", grade_words=words).means == expected


@pytest.mark.parametrize("form", FILES)
def test_files(tmp_path, form):
    path = write(tmp_path, form)
    assert gf.evaluate(path, RUN, "nDCG@2 AP", grade_words="esci").means == expected
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(path, RUN)
    assert caught.value.code == "rows.grade-word"
    assert OPTION in str(caught.value)
    with pytest.raises(gf.errors.InputError, match=r"found 'irrelevant'.*Other words") as caught:
        gf.evaluate(path, RUN, grade_words={"Exact": 1})
    assert "'b'" in caught.value.where or caught.value.where.endswith(
        {"csv": ":3", "tsv": ":3", "jsonl": ":2", "qrels": ":2"}[form]
    )


@pytest.mark.parametrize("form", OBJECTS)
def test_objects(form):
    assert gf.evaluate(OBJECTS[form](), RUN, "nDCG@2 AP", grade_words="esci").means == expected
    with pytest.raises(gf.errors.InputError) as caught:
        gf.evaluate(OBJECTS[form](), RUN)
    assert (caught.value.code, OPTION in str(caught.value)) == ("rows.grade-word", True)


def test_letters_of_esci():
    letters = {
        query: {doc: word.strip()[0] for doc, word in docs.items()} for query, docs in WORDS.items()
    }
    assert gf.evaluate(letters, RUN, "nDCG@2 AP", grade_words="esci").means == expected


def test_excellent_fair_bad_is_1_0_and_minus_1_instead_of_2_1_0():
    """With 1, 0, −1, a bad document at the end of the list costs; with 2, 1, 0 it costs nothing."""
    judged = {"q": {"a": "Excellent", "b": "Fair", "c": "Bad"}}
    short, long = {"q": ["a", "b"]}, {"q": ["a", "b", "c"]}
    scores = [
        gf.evaluate(judged, run, "DCG", grade_words="excellent-fair-bad") for run in (short, long)
    ]
    assert [one["DCG"] for one in scores] == [1.0, pytest.approx(1 - 1 / 2)]
    usual = {"Excellent": 2, "Fair": 1, "Bad": 0}
    scores = [gf.evaluate(judged, run, "DCG", grade_words=usual) for run in (short, long)]
    assert scores[0]["DCG"] == scores[1]["DCG"] == pytest.approx(2.63093)


def test_numbers_stay_numbers_and_may_be_given_other_grades():
    judged = {"q": {"a": "Exact", "b": 2, "c": "1.5"}}
    scores = gf.evaluate(judged, {"q": ["a", "b", "c"]}, "CG", grade_words={"Exact": 3})
    assert scores["CG"] == 6.5
    scores = gf.evaluate(judged, {"q": ["a", "b", "c"]}, "CG", grade_words={"Exact": 3, "2": 0})
    assert scores["CG"] == 4.5


def test_words_without_a_preset_are_all_in_the_option():
    judged = {"q": {"a": "good", "b": "poor", "c": 1, "d": "so-so"}}
    with pytest.raises(gf.errors.InputError, match="--grade-words 'good=…,poor=…,so-so=…'"):
        gf.evaluate(judged, {"q": ["a"]})


def test_repeated_documents_follow_the_policy():
    judged = [{"query": "q", "doc": "a", "grade": word} for word in ("Exact", "Irrelevant")]
    with pytest.raises(gf.errors.InputError, match="'a' of query 'q' again"):
        gf.evaluate(judged, {"q": ["a"]}, grade_words="esci")
    best = gf.evaluate(
        judged, {"q": ["a"]}, "CG", grade_words="esci", policy={"duplicates": "best"}
    )
    assert best["CG"] == 3.0


def test_a_query_without_documents_stays_judged():
    judged = {"q": {"a": "Exact"}, "none": {}}
    assert gf.evaluate(judged, {"q": ["a"]}, grade_words="esci").queries == (
        gf.evaluate({"q": {"a": 3}, "none": {}}, {"q": ["a"]}).queries
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("escl", "Did you mean 'esci'"),
        ({}, "found none"),
        ({"good": "high"}, "found 'good': 'high'"),
        ({"good": float("nan")}, "a finite number"),
        ({"good": True}, "a finite number"),
        ({"good": 1, "Good": 2}, "two for 'Good'"),
        ("good=1,good=2", "two for 'good'"),
        (3, "found 3"),
    ],
)
def test_grades_of_words_that_are_rejected(words, message):
    with pytest.raises(gf.errors.InputError, match=message):
        gf.evaluate(NUMBERS, RUN, grade_words=words)


def test_grades_of_words_need_judgments():
    with pytest.raises(gf.errors.InputError, match="judgments, whose grades may be words"):
        gf.fuse({"a": RUN, "b": RUN}, grade_words="esci")


ASSESSED = [
    {"query": "q", "doc": doc, "assessor": name, "grade": word}
    for name, words in (("ann", ["Excellent", "Fair", "Bad"]), ("bob", ["Excellent", "Bad", "Bad"]))
    for doc, word in zip("abc", words, strict=True)
]


def test_assessors_and_agreement():
    run = {"q": ["a", "b", "c"]}
    scores = gf.evaluate(ASSESSED, run, "CG", assessors="mean", grade_words="excellent-fair-bad")
    assert scores["CG"] == 1 - 0.5 - 1
    found = gf.judging.agreement(ASSESSED, grade_words="excellent-fair-bad")
    numbers = {"Excellent": 1, "Fair": 0, "Bad": -1}
    same = gf.judging.agreement([row | {"grade": numbers[row["grade"]]} for row in ASSESSED])
    assert found["krippendorff_ordinal"] == same["krippendorff_ordinal"]
    with pytest.raises(gf.errors.InputError, match="--grade-words excellent-fair-bad"):
        gf.judging.agreement(ASSESSED)
    merged = gf.judging.merge_judgments(ASSESSED, "max", grade_words="excellent-fair-bad")
    assert dict(merged) == {"q": {"a": 1, "b": 0, "c": -1}}


def test_the_desk_reads_the_words_of_its_scale(tmp_path):
    study = gf.judging.Study.create(
        tmp_path / "study.db",
        runs={"r": RUN},
        queries={"q1": "one", "q2": "two"},
        docs={doc: doc for doc in "abcdx"},
        judgments=WORDS,
        scale="esci",
    )
    assert [(grade.value, grade.word) for grade in study.scale] == [
        (0, "Irrelevant"), (1, "Complement"), (2, "Substitute"), (3, "Exact"),
    ]  # fmt: skip
    known = dict(study.judgments())
    assert known == NUMBERS


@pytest.mark.parametrize("option", ["--grades", "--grade-words"])
def test_commands(tmp_path, cli, option):
    path, run = write(tmp_path, "csv"), tmp_path / "run.json"
    run.write_text(json.dumps(RUN))
    done = cli("evaluate", path, run, option, TYPED, "-m", "nDCG@2", "-f", "json")
    assert json.loads(done.stdout)["runs"][0]["means"]["nDCG@2"] == expected["nDCG@2"]
    assert "--grade-words esci" in cli("evaluate", path, run).stderr
    assert (
        "nDCG@2"
        in cli("explain", path, run, "--query", "q1", option, "esci", "-m", "nDCG@2").stdout
    )
    convert = ("convert", path, "-", "--as", "judgments", "--format", "trec")
    assert "q1 0 c 2" in cli(*convert, option, "esci").stdout


def test_possible_grades_and_the_grades_of_words_are_one_option(tmp_path, cli):
    path, run = write(tmp_path, "csv"), tmp_path / "run.json"
    run.write_text(json.dumps(RUN))
    bounds = cli("evaluate", path, run, "--bounds", "--grades", "esci")
    assert "Possible grades of unjudged documents: 0, 1, 2, 3." in bounds.stdout
    pooled = cli("pool", run, "--judgments", path, "--grades", "esci")
    assert "q2" in pooled.stdout
    done = cli("evaluate", path, run, "--grades", "0..3")
    assert "--grades requires --bounds" in done.stderr


def test_calibrate_reads_words_of_people_and_numbers_of_a_model():
    queries = [f"q{place}" for place in range(12)]
    grades = [3, 0, 2, 1]
    model = {query: dict(zip("abcd", grades, strict=True)) for query in queries}
    people = {query: model[query] for query in queries[:6]}
    words = {grade: word for word, grade in ESCI.items()}
    worded = {
        query: {doc: words[grade] for doc, grade in docs.items()} for query, docs in people.items()
    }
    runs = {
        "one": {key: list("abcd") for key in queries},
        "two": {key: list("dcba") for key in queries},
    }
    same = gf.judging.calibrate(people, model, runs, "nDCG@4", drawn="random")
    found = gf.judging.calibrate(worded, model, runs, "nDCG@4", drawn="random", grade_words="esci")
    assert str(found) == str(same)


def test_a_grade_of_minus_1_for_a_word_is_no_doubt(tmp_path, recwarn):
    path = tmp_path / "judgments.qrels"
    path.write_text("q1 0 a Excellent\nq1 0 b Bad\n")
    scores = gf.evaluate(path, {"q1": ["b", "a"]}, "CG", grade_words="excellent-fair-bad")
    assert scores["CG"] == 0.0
    assert not recwarn.list
