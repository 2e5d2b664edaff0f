"""`gainful pool`, as a user calls it."""

import json
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, KEYWORD, HYBRID = (
    str(COOKING / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run")
)


def test_without_judgments_it_lists_the_pool(cli):
    done = cli("pool", KEYWORD, HYBRID, "--depth", 3, "-f", "csv")
    assert done.returncode == 0
    expected = gf.pool({"keyword": KEYWORD, "hybrid": HYBRID}, depth=3)
    rows = [line.split(",") for line in done.stdout.splitlines()]
    assert rows[0] == ["query", "doc", "rank", "runs", "grade"]
    assert rows[1:] == [[row.query, row.doc, str(row.rank), str(row.runs), ""] for row in expected]
    assert done.stderr.strip() == expected.summary


def test_with_judgments_it_lists_what_to_judge_next(cli):
    arguments = ("-m", "nDCG@5", "--budget", 7, "--grades", "0,1,2,3")
    done = cli("pool", KEYWORD, HYBRID, "--judgments", JUDGMENTS, *arguments, "-f", "jsonl")
    assert done.returncode == 0
    runs = {"keyword": KEYWORD, "hybrid": HYBRID}
    expected = gf.judging.next_to_judge(JUDGMENTS, runs, "nDCG@5", budget=7, grades=(0, 1, 2, 3))
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["doc"] for record in records] == [row.doc for row in expected]
    assert [record["priority"] for record in records] == [row.priority for row in expected]


def test_two_runs_are_compared_by_their_names(cli):
    done = cli("pool", KEYWORD, HYBRID, "--judgments", JUDGMENTS, "--compare", "keyword", "hybrid")
    assert done.returncode == 0
    assert "flips" in done.stdout.splitlines()[0]
    notes = done.stdout.splitlines()[-2:]
    assert any("keyword minus hybrid" in note for note in notes)
    assert any(note.startswith("flips: whether") for note in notes)


def test_a_file_is_written_in_the_format_of_its_name(cli, tmp_path):
    target = tmp_path / "next.qrels"
    done = cli("pool", KEYWORD, "--judgments", JUDGMENTS, "--budget", 2, "-o", target)
    assert (done.returncode, done.stdout) == (0, "")
    fields = [line.split() for line in target.read_text().splitlines()]
    assert [(one, last) for _, one, _, last in fields] == [("0", "?")] * 2
    assert cli("pool", KEYWORD, "-f", "trec").stdout.splitlines()[0].endswith(" ?")


@pytest.mark.parametrize(
    "ending",
    [
        "csv",
        "tsv",
        "json",
        "jsonl",
        "parquet",
        "md",
        "tex",
        "html",
        "txt",
        "trec",
        "csv.gz",
        "JSON",
    ],
)
def test_every_ending_is_written_as_python_writes_it(cli, tmp_path, ending):
    target, expected = tmp_path / f"told.{ending}", tmp_path / f"expected.{ending}"
    assert cli("pool", KEYWORD, "--depth", 2, "-o", target)[:2] == (0, "")
    gf.pool({"keyword": KEYWORD}, depth=2).write(expected)
    assert target.read_bytes() == expected.read_bytes()


def test_a_name_without_an_ending_gets_the_table(cli, tmp_path):
    done = cli("pool", KEYWORD, "--depth", 2, "-o", tmp_path / "pool")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "pool").read_text()
    assert text == cli("pool", KEYWORD, "--depth", 2).stdout


@pytest.mark.parametrize("name", ["json", "parquet"])
def test_what_has_no_room_for_the_summary_says_it_beside(cli, tmp_path, name):
    done = cli("pool", KEYWORD, "--depth", 2, "-f", name, "-o", tmp_path / "pool")
    assert done.stderr.strip() == gf.pool({"keyword": KEYWORD}, depth=2).summary


def test_a_run_comes_from_standard_input(cli):
    done = cli("pool", "-", "-f", "csv", stdin="q Q0 a 1 0.5 t\n")
    assert (done.returncode, done.stdout) == (0, "query,doc,rank,runs,grade\nq,a,1,1,\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument"),
        (("none.run",), "none.run"),
        ((KEYWORD, "--depth", "0"), "--depth"),
        ((KEYWORD, "-m", "nDCG@5"), "--measure requires --judgments"),
        ((KEYWORD, "--budget", "5"), "--budget requires --judgments"),
        ((KEYWORD, "--grades", "0,1"), "--grades requires --judgments"),
        ((KEYWORD, "--judgments", JUDGMENTS, "--budget", "0"), "'--budget': 0 is not in the range"),
        ((KEYWORD, "--judgments", JUDGMENTS, "--grades", "0,low"), "--grades expects grades"),
        ((KEYWORD, "--judgments", JUDGMENTS, "-m", "nDGC"), "Did you mean"),
        ((KEYWORD, "--judgments", JUDGMENTS, "-m", "AP", "-m", "P@5"), "accepts one measure"),
        ((KEYWORD, "-o", "x.parquet.gz"), "Parquet is compressed internally"),
        ((KEYWORD, "--judgments", JUDGMENTS, "--compare", "keyword", "other"), "'other'"),
        ((KEYWORD, "-f", "xml"), "xml"),
        ((KEYWORD, "-o", KEYWORD), "one of the inputs"),
        (("-", "--judgments", "-"), "Standard input can be read only once"),
    ],
)
def test_what_does_not_fit_is_said_in_a_paragraph(cli, arguments, message):
    done = cli("pool", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_help_says_what_it_does(cli):
    done = cli("help", "pool")
    assert done.returncode == 0
    for word in ("--judgments", "--budget", "--grades", "--compare", "−1"):
        assert word in done.stdout
    assert "pool" in cli("--help").stdout


@pytest.mark.parametrize("ending", ["qrels", "csv", "tsv", "json", "jsonl", "parquet"])
def test_a_pool_is_no_judgments_before_it_is_filled_in(ending, cli, tmp_path):
    target = tmp_path / f"pool.{ending}"
    assert cli("pool", KEYWORD, HYBRID, "--depth", 3, "-o", target).returncode == 0
    assert b"-1" not in target.read_bytes() or ending == "parquet"
    done = cli("evaluate", target, KEYWORD)
    assert (done.returncode, done.stdout) == (2, "")


def test_a_pool_by_half_is_refused_and_without_its_open_lines_it_is_judgments(cli, tmp_path):
    target, half = tmp_path / "pool.qrels", tmp_path / "half.qrels"
    assert cli("pool", KEYWORD, HYBRID, "--depth", 3, "-o", target).returncode == 0
    lines = target.read_text().splitlines()
    assert all(line.endswith(" ?") for line in lines)
    filled = [line.replace(" ?", " 1") if place % 2 else line for place, line in enumerate(lines)]
    half.write_text("\n".join(filled) + "\n")
    done = cli("evaluate", half, KEYWORD)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{half}:1: expected a finite number as the grade, found '?'" in done.stderr
    assert "Give the document a grade, or remove the row" in done.stderr
    assert "[unreadable-row]" in cli("check", half, KEYWORD).stdout
    half.write_text("\n".join(filled[1::2]) + "\n")
    asked = ("-m", "Judged@3", "-m", "Unjudged@3", "--missing", "skip")
    done = cli("evaluate", half, KEYWORD, *asked)
    assert done.returncode == 0
    judged, unjudged = done.stdout.splitlines()[2].split()[1:]
    assert float(judged) + float(unjudged) == pytest.approx(1.0, abs=1e-4)
    assert float(judged) < 1


def test_a_pool_of_old_with_minus_one_is_warned_of(cli, tmp_path):
    half = tmp_path / "half.qrels"
    assert cli("pool", KEYWORD, HYBRID, "--depth", 3, "-o", half).returncode == 0
    lines = half.read_text().replace(" ?", " -1").splitlines()
    half.write_text(
        "\n".join(line.replace(" -1", " 1") if n % 2 else line for n, line in enumerate(lines))
        + "\n"
    )
    measures = ("-m", "Judged@3", "-m", "Unjudged@3", "--missing", "skip")
    asked = ("evaluate", half, KEYWORD, *measures)
    done = cli(*asked)
    assert "the only negative one" in done.stderr
    assert "negative=unjudged" in done.stderr
    assert done.stdout.splitlines()[2].split()[1:] == ["1.0000", "0.0000"]
    assert "no grade" not in done.stdout
    done = cli(*asked, "--negative", "unjudged")
    assert done.stderr == ""
    assert "; 0.0% of " not in done.stdout
    assert cli(*asked, "--negative", "keep").stderr == ""
    assert "[unjudged-mark]" in cli("check", half).stdout
    assert "[unjudged-mark]" not in cli("check", half, "--scale", "-1..1").stdout


def test_documents_that_clicks_say_little_about_come_first(cli, tmp_path):
    runs = {"keyword": KEYWORD, "hybrid": HYBRID}
    plain = gf.judging.next_to_judge(JUDGMENTS, runs, budget=9)
    shown = [(row.query, row.doc, 1000 if at % 2 else 1) for at, row in enumerate(plain)]
    log = tmp_path / "clicks.csv"
    lines = [f"{query},{doc},{count},{count // 4}" for query, doc, count in shown]
    log.write_text("\n".join(["query,sku,impressions,clicks", *lines]))
    columns = ("--columns", "clicks.doc=sku")
    call = ("pool", KEYWORD, HYBRID, "--judgments", JUDGMENTS, "--budget", 9, "-f", "jsonl")
    done = cli(*call, "--clicks", log, *columns)
    assert done.returncode == 0, done.stderr
    clicks = gf.behaviour.click_judgments(gf.behaviour.read_log(str(log), columns={"doc": "sku"}))
    expected = gf.judging.next_to_judge(JUDGMENTS, runs, budget=9, clicks=clicks)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["doc"] for record in records] == [row.doc for row in expected]
    assert [record["priority"] for record in records] == [row.priority for row in expected]
    assert [row.doc for row in expected] != [row.doc for row in plain]
    assert "--clicks requires --judgments" in cli("pool", KEYWORD, "--clicks", log).stderr
    assert "needs --clicks" in cli(*call, *columns).stderr
