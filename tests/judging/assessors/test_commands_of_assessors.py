"""The commands about assessors: what they write over, which table they write, and what a project's file sets."""

import csv
import io
import json
import re

import pytest
from click.testing import CliRunner

import gainful as gf
from gainful.cli.commands import commands
from gainful.cli.main import main

ANN = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "b": 1}}
BOB = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 0, "b": 1}}
OLD = {"q1": {"c": 3, "b": 2, "a": 1}, "q2": {"a": 2, "b": 1}}
NEW = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"b": 2, "a": 1}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gf.write_judgments(ANN, "ann.qrels")
    gf.write_judgments(BOB, "bob.qrels")
    gf.write_run(OLD, "old.run")
    gf.write_run(NEW, "new.run")
    return tmp_path


def called(*words, code=0):
    done = CliRunner().invoke(commands, list(words))
    assert done.exit_code == code, done.output
    return done


def test_no_input_is_written_over_where_a_pattern_names_it(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for words in (
        ["agreement", "*.qrels", "-o", "ann.qrels", "-f", "json"],
        ["merge", "*.qrels", "-o", "bob.qrels"],
        ["sample", "*.run", "--documents", "--size", "3", "-o", "old.run", "-f", "json"],
    ):
        assert "is one of the inputs" in called(*words, code=2).output
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    called("merge", "*.qrels", "-o", "merged.qrels")
    assert "is one of the inputs" in called("merge", "*.qrels", "-o", "merged.qrels", code=2).output


def test_a_design_is_not_written_over(folder):
    model = {f"q{i}": {"a": i % 3, "b": 1} for i in range(40)}
    gf.write_judgments(model, "model.qrels")
    gf.write_run({query: {"b": 2, "a": 1} for query in model}, "run.run")
    design = gf.judging.sample_queries(model, 20)
    design.write("design.json")
    gf.write_judgments({query: model[query] for query in design.queries}, "people.qrels")
    kept = (folder / "design.json").read_bytes()
    words = [
        "calibrate",
        "--human",
        "people.qrels",
        "--model",
        "model.qrels",
        "run.run",
        "--design",
        "design.json",
    ]
    assert "is one of the inputs" in called(*words, "-o", "design.json", code=2).output
    assert (folder / "design.json").read_bytes() == kept
    told = called(*words, "--width", "1e-9", "-f", "csv").stdout
    assert "more" in next(csv.reader(io.StringIO(told)))  # whether or not a row can reach the width
    found = gf.judging.calibrate("people.qrels", "model.qrels", {"run": "run.run"}, design=design)
    assert any("were they really given by people?" in remark for remark in found.remarks)


def test_a_cache_has_a_file_of_its_own(folder):
    (folder / "model.py").write_text("def grade(prompt):\n    return 'grade: 1'\n")
    (folder / "queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    (folder / "docs.tsv").write_text("a\tx\nb\ty\nc\tz\n")
    asked = [
        "collect",
        "ann.qrels",
        "--queries",
        "queries.tsv",
        "--docs",
        "docs.tsv",
        "--call",
        "model:grade",
    ]
    for cache, output in (("z.csv", "z.csv"), ("./z.csv", "z.csv"), ("ann.qrels", "z.csv")):
        done = called(*asked, "--cache", cache, "-o", output, code=2)
        expected = "is one of the inputs" if cache == "ann.qrels" else "needs a file of its own"
        assert expected in done.output
    assert not (folder / "z.csv").exists()
    (folder / "mute.py").write_text("def grade(prompt):\n    return 'hm'\n")
    asked[-1] = "mute:grade"
    assert "0 of 5 documents graded" in called(*asked, "-o", "none.csv", code=1).output


def test_each_table_can_be_written_alone(folder):
    asked = ["agreement", "ann.qrels", "bob.qrels", "--run", "old.run", "--run", "new.run"]
    found = gf.judging.agreement(
        ["ann.qrels", "bob.qrels"], runs={"old": "old.run", "new": "new.run"}
    )
    for name, table in found.named_tables().items():
        rows = list(csv.reader(io.StringIO(called(*asked, "--table", name, "-f", "csv").stdout)))
        assert rows[0] == list(table.columns)
        assert len(rows) == 1 + len(table.rows)
    whole = called(*asked, "-f", "csv")
    assert "json for all" in whole.stderr
    assert "verdicts" in json.loads(called(*asked, "-f", "json").stdout)["conclusions"]
    assert (
        "requires --run"
        in called("agreement", "ann.qrels", "bob.qrels", "--table", "means", code=2).output
    )


def test_the_rule_of_a_project_is_for_others(folder, monkeypatch, capfd):
    (folder / "gainful.toml").write_text('assessors = "mean"\n')
    for words in (["agreement", "ann.qrels", "bob.qrels"], ["merge", "ann.qrels", "bob.qrels"]):
        monkeypatch.setattr("sys.argv", ["gainful", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code, capfd.readouterr().err


def test_a_file_without_assessors_says_so(folder):
    done = CliRunner().invoke(commands, ["evaluate", "ann.qrels", "old.run", "--assessors", "mean"])
    assert "no assessors" in str(done.exception or done.output)


def test_an_answer_that_cannot_be_read_is_asked_again_as_often_as_said(folder):
    asked = []

    def mute(prompt):
        asked.append(prompt)
        return "hm"

    for again, calls in ((0, 1), (1, 1), (2, 2), (0, 0)):
        asked.clear()
        gf.judging.collect_grades(
            {"q": ["a"]},
            mute,
            queries={"q": "one"},
            docs={"a": "text"},
            cache="c.jsonl",
            name="mute",
            ask_again=again,
        )
        assert len(asked) == calls, again
    asked.clear()
    gf.judging.collect_grades(
        {"q": ["a"]}, mute, queries={"q": "one"}, docs={"a": "text"}, ask_again=2
    )
    assert len(asked) == 3


GERMAN = ("query=Suche", "doc=Hotel", "assessor=Bewerter", "grade=Note")


@pytest.fixture
def german(folder):
    rows = ["Suche;Hotel;Bewerter;Note"]
    for name, judged in (("ann", ANN), ("bob", BOB)):
        rows += [
            f"{query};{doc};{name};{grade}"
            for query, docs in judged.items()
            for doc, grade in docs.items()
        ]
    (folder / "noten.csv").write_text("\n".join(rows) + "\n")
    rows = ["frage;Hotel;punkte"]
    rows += [f"{query};{doc};{score}" for query, docs in OLD.items() for doc, score in docs.items()]
    (folder / "alt.csv").write_text("\n".join(rows) + "\n")
    return folder


def named(*columns, side=""):
    return [word for column in columns for word in ("--columns", f"{side}{column}")]


def assessors_in(page):
    """Return the agreement that a page shows: its section about assessors."""
    text = page.read_text()
    return text[text.index("raw agreement") :][:200] if "raw agreement" in text else None


@pytest.mark.parametrize("runs", [["old.run"], ["old.run", "new.run"]])
def test_grades_of_a_report_are_read_by_their_columns(german, runs):
    called("report", "ann.qrels", *runs, "--grades", "ann.qrels", "--grades", "bob.qrels", "-o", "plain.html")  # fmt: skip
    plain = assessors_in(german / "plain.html")
    assert plain is not None
    own = named(*GERMAN, side="grades.")
    called("report", "ann.qrels", *runs, "--grades", "noten.csv", "-o", "own.html", *own)
    assert assessors_in(german / "own.html") == plain


def test_names_for_judgments_count_for_grades_where_they_fit(german):
    names = named(*GERMAN, side="judgments.")
    asked = ["report", "noten.csv", "old.run", "new.run", "--assessors", "ann", *names]
    called(*asked, "--grades", "noten.csv", "-o", "both.html")
    called(*asked, "--grades", "ann.qrels", "--grades", "bob.qrels", "-o", "one.html")
    plain = assessors_in(german / "both.html")
    assert plain is not None
    assert assessors_in(german / "one.html") == plain


def test_runs_beside_grades_are_read_by_their_columns(german):
    of_run = ["--columns", "run.query=frage", "--columns", "run.doc=Hotel", "--columns", "run.score=punkte"]  # fmt: skip
    (german / "new.csv").write_text((german / "alt.csv").read_text().replace(";3", ";0"))
    own = named(*GERMAN, side="grades.")
    called("report", "ann.qrels", "alt.csv", "new.csv", "--grades", "noten.csv", "-o", "page.html", *own, *of_run)  # fmt: skip
    assert assessors_in(german / "page.html") is not None


def test_columns_that_grades_do_not_have_are_refused(german):
    asked = ["report", "ann.qrels", "old.run", "new.run", "-o", "page.html"]
    done = called(*asked, "--grades", "noten.csv", "--columns", "grades.score=Note", code=2)
    assert "grades.query, grades.doc, grades.assessor, grades.grade" in done.output
    for words, told in (
        ([*asked, "--columns", "grades.query=Suche"], "found 'grades.query'"),
        (
            [*asked, "--grades", "noten.csv", *named("query=Frage", side="grades.")],
            "'Frage' for query",
        ),
    ):
        assert told in str(CliRunner().invoke(commands, words).exception)
    assert not (german / "page.html").exists()


def test_a_header_of_other_names_is_shown_in_columns(german):
    told = (
        r"found only 'Suche', 'Hotel', 'Bewerter', 'Note'\..*or name the column: columns query=…\.$"
    )
    with pytest.raises(gf.errors.InputError, match=told):
        gf.judging.agreement("noten.csv")
    with pytest.raises(gf.errors.InputError, match=told):
        gf.evaluate("noten.csv", "old.run", assessors="mean")
    done = CliRunner().invoke(
        commands, ["report", "ann.qrels", "old.run", "--grades", "noten.csv", "-o", "page.html"]
    )
    assert re.search(told, str(done.exception))


def test_a_column_for_each_assessor_is_shown_as_rows(tmp_path):
    (tmp_path / "wide.csv").write_text("query,doc,anna,ben,comment\nq,d,2,1,\n")
    advice = "table.melt(['query', 'doc'], value_vars=['anna', 'ben', …], var_name='assessor', value_name='grade').dropna()"
    for name in ("agreement", "merge"):
        done = CliRunner().invoke(commands, [name, str(tmp_path / "wide.csv")])
        assert advice in str(done.exception)
    (tmp_path / "wide.csv").write_text("Frage;Produkt;Anna;Ben;Cem\nq;d;2;1;1\n")
    done = CliRunner().invoke(commands, ["agreement", str(tmp_path / "wide.csv")])
    assert "a column for query" in str(done.exception)
    assert "table.melt(['Frage', 'Produkt'], value_vars=['Anna', 'Ben', …]" in str(done.exception)
    (tmp_path / "one.csv").write_text("query,doc,grade,comment\nq,d,2,\n")
    with pytest.raises(gf.errors.InputError) as refused:
        gf.judging.agreement(tmp_path / "one.csv")
    assert "melt" not in str(refused.value)


def test_nothing_to_settle_is_said():
    people = [{"q": {"a": 1, "b": first}, "r": {"a": 1}} for first in (0, 1)]
    runs = {name: {"q": ["a"], "r": ["a"]} for name in ("old", "new")}
    found = gf.judging.agreement(people, runs=runs, measures="P@1", resamples=20)
    (note,) = found.named_tables()["settle"].notes
    assert note == "nothing to settle: no difference depends on the 1 disputed item"


def test_the_brief_help_of_merge_lists_the_rules():
    done = CliRunner().invoke(commands, ["merge", "--help"])
    rules = "mean, median, majority, max, min, dawid-skene, or the name of an assessor."
    assert rules in " ".join(done.output.split())


def test_the_column_flips_of_a_pool_is_explained():
    judgments, runs = {"q": {"a": 1}}, {"old": {"q": ["a", "b"]}, "new": {"q": ["b", "a"]}}
    pool = gf.judging.next_to_judge(judgments, runs, "nDCG@2", compare=("old", "new"))
    note = "flips: whether its grade alone could change the order of the two runs"
    assert note in pool.table().notes
    pool = gf.judging.next_to_judge(judgments, runs, "nDCG@2")
    assert note not in pool.table().notes


def test_an_unknown_table_says_which_tables_need_runs(folder):
    done = CliRunner().invoke(commands, ["agreement", "ann.qrels", "bob.qrels", "--table", "foo"])
    said = " ".join((done.output + str(done.exception)).split())
    assert "Only with --run: means, orders, verdicts, settle." in said


MODEL = """
def quote(prompt):
    text = prompt.split("The text:\\n")[1].split("\\n\\nHow to copy")[0]
    return "passage: 25 days" if "25 days" in text else "passage: 30 days" if "lunch" in text else "passage: none"


def facts(prompt):
    return "vital: Leave is 25 days.\\nokay: It is paid."


def support(prompt):
    return "grade: support" if "25 days" in prompt.split("The text:")[1] else "grade: not_support"
"""
LEAVE, LUNCH = "How much leave is there?", "When is lunch?"


@pytest.fixture
def rag(tmp_path, monkeypatch):
    """A golden set of documents, the documents, and a run of chunks."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("# Leave\n\nThere are 25 days of it.\n")
    (tmp_path / "docs" / "bank.md").write_text("The bank is closed.\n")
    (tmp_path / "docs" / "day.md").write_text("We have lunch at noon.\n")
    golden = [{"question": LEAVE, "relevant": ["leave.md", "day.md"]}, {"question": LUNCH, "relevant": ["bank.md"]}]  # fmt: skip
    (tmp_path / "golden.jsonl").write_text("\n".join(map(json.dumps, golden)))
    chunks = [{"question": LEAVE, "retrieved": [{"document": "leave.md", "start": 0, "end": 25}]}]
    (tmp_path / "chunks.jsonl").write_text("\n".join(map(json.dumps, chunks)))
    return tmp_path


def test_evidence_is_collected_and_read(rag):
    ask = ["collect", "golden.jsonl", "--docs", "docs", "--ask", "evidence", "--call", "model:quote"]  # fmt: skip
    done = called(*ask, "-o", "e.csv")
    assert "1 passage for 2 queries, 1 quote left out" in done.stderr
    assert "unjudged: query How much leave is there?, document day.md, '30 days' does not occur" in done.stderr  # fmt: skip
    rows = [*csv.DictReader(io.StringIO((rag / "e.csv").read_text()))]
    assert [(row["query"], row["document"], row["start_char"], row["text"], row["grade"]) for row in rows] == [
        (LEAVE, "leave.md", "19", "25 days", "1"), (LUNCH, "", "", "", "0")
    ]  # fmt: skip
    assert "3 cached" in called(*ask, "-o", "e.csv").stderr
    score = ["evaluate", "e.csv", "chunks.jsonl", "--offsets", "characters", "-m", "evidence_recall", "-f", "csv"]  # fmt: skip
    (row,) = csv.DictReader(io.StringIO(called(*score).stdout))
    assert float(row["evidence_recall"]) == pytest.approx(
        6 / 7 / 2
    )  # of two questions, one without evidence
    chunked = called(
        "collect", "chunks.jsonl", "--depth", "3", "--offsets", "characters", *ask[2:], "-f", "jsonl"
    )  # fmt: skip
    assert "0 passages" in chunked.stderr  # the chunk ends within the passage
    assert "dry run" in called(*ask, "--dry-run").stderr
    assert "passage: none" in called(*ask, "--dry-run").stdout


def test_nuggets_and_their_support_are_collected_and_read(rag):
    both = ["collect", "golden.jsonl", "--docs", "docs", "--ask"]
    called(*both, "nuggets", "--call", "model:facts", "-o", "nuggets.csv")
    done = called(
        *both, "support", "--nuggets", "nuggets.csv", "--call", "model:support", "-o", "s.jsonl"
    )
    assert "4 nuggets; support: 6 of 6 answers read" in done.stderr
    (rag / "run.jsonl").write_text(json.dumps({"question": LEAVE, "retrieved": ["leave.md"]}))
    score = ["evaluate", "golden.jsonl", "run.jsonl", "--nuggets", "s.jsonl", "-m", "NuggetRecall@1", "-f", "csv"]  # fmt: skip
    (row,) = csv.DictReader(io.StringIO(called(*score).stdout))
    assert float(row["NuggetRecall@1"]) == 0.5  # the other question isn't in the run


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ask", "support"], "--ask support requires --nuggets"),
        (["--nuggets", "golden.jsonl"], "--nuggets requires --ask support"),
        (["--offsets", "bytes", "--depth", "1"], "--offsets requires --ask evidence"),
        (["--ask", "evidence", "--offsets", "bytes"], "--offsets requires --depth"),
        (["--ask", "evidence", "--grade", "1"], "--grade requires --ask grades"),
        (["--ask", "evidence", "--per-prompt", "2"], "--per-prompt must be 1"),
        (["--ask", "evidence", "-o", "e.qrels"], "TREC files contain no evidence"),
        (["--ask", "nuggets", "-f", "trec"], "TREC files contain no nuggets"),
    ],
)
def test_options_of_other_answers_are_rejected(rag, words, message):
    assert message in called("collect", "golden.jsonl", "--docs", "docs", "--call", "model:quote", *words, code=2).output  # fmt: skip
