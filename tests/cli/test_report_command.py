"""`gainful report` and `gainful compare --html`, as a user calls them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import gainful as gf
from page_data import payload_in

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS, KEYWORD, HYBRID, QUERIES, DOCS = (
    str(COOKING / name)
    for name in ("judgments.qrels", "keyword.run", "hybrid.run", "queries.tsv", "docs.tsv")
)
TWO = (JUDGMENTS, KEYWORD, HYBRID)
RUNS = {"keyword": KEYWORD, "hybrid": HYBRID}


def payload_of(path):
    """Return the data of a page."""
    return payload_in(path.read_text())


def plain(payload):
    return json.loads(json.dumps(payload))


def test_a_page(cli, tmp_path):
    target = tmp_path / "page.html"
    code, out, err = cli(
        "report", *TWO, "-m", "nDCG@5", "-m", "AP", "--queries", QUERIES, "--docs", DOCS,
        "--by", "judged", "--title", "Cooking & <more>", "-o", target,
    )  # fmt: skip
    assert (code, out) == (0, "")
    assert err == f"{target}: {target.stat().st_size / 1e6:.1f} MB, 24 of 24 queries in detail\n"
    expected = gf.report(
        JUDGMENTS, RUNS, ["nDCG@5", "AP"], queries=QUERIES, docs=DOCS, by="judged",
        title="Cooking & <more>",
    )  # fmt: skip
    assert payload_of(target) == plain(expected.payload())


def test_one_run_with_options(cli, tmp_path):
    target = tmp_path / "page.html"
    code, _, _ = cli(
        "report", JUDGMENTS, HYBRID, "--ties", "average", "--depth", "3", "--output", target
    )
    assert code == 0
    expected = gf.report(
        JUDGMENTS, {"hybrid": HYBRID}, policy=gf.Policy(ties="average"), depth=3
    ).payload()
    assert payload_of(target) == plain(expected)


def test_a_baseline_by_name(cli, tmp_path):
    target = tmp_path / "page.html"
    assert cli("report", *TWO, "--baseline", "hybrid", "-o", target)[0] == 0
    assert payload_of(target)["baseline"] == "hybrid"


def test_from_standard_input_to_standard_output(cli):
    done = cli("report", JUDGMENTS, "-", "-o", "-", stdin=Path(KEYWORD).read_text())
    assert done.returncode == 0
    assert done.stdout.lower().startswith("<!doctype html>")
    assert done.stderr == "-: 24 of 24 queries in detail\n"


def test_comparing_writes_the_same_page(cli, tmp_path):
    one, two = tmp_path / "page.html", tmp_path / "other.html"
    code, out, _ = cli("compare", *TWO, "-m", "nDCG@5", "--html", one)
    assert code == 0
    assert out == cli("compare", *TWO, "-m", "nDCG@5").stdout
    assert cli("report", *TWO, "-m", "nDCG@5", "--title", "page", "-o", two)[0] == 0
    assert one.read_text() == two.read_text()


def test_a_gate_stands_in_the_notes(cli, tmp_path):
    target = tmp_path / "page.html"
    assert cli("compare", *TWO, "--fail-if", "missing > 3", "--fail-unless", "Δ nDCG@10 > 0.9",
                  "--html", target)[0] == 1  # fmt: skip
    notes = payload_of(target)["notes"]
    assert "gate passed: hybrid: fail if missing > 3: missing is 0" in notes
    assert any(
        note.startswith("gate failed: hybrid: fail unless Δ nDCG@10 > 0.9:") for note in notes
    )


def test_a_page_of_scores(cli, tmp_path):
    old, new, target = (tmp_path / name for name in ("old.csv", "new.csv", "page.html"))
    old.write_text("query,mine\n" + "".join(f"q{n},{n / 10}\n" for n in range(9)))
    new.write_text("query,mine\n" + "".join(f"q{n},{n / 9}\n" for n in range(9)))
    assert cli("compare", "--scores", old, new, "--html", target)[0] == 0
    payload = payload_of(target)
    assert payload["measures"] == ["mine"]
    assert payload["kept"]["why"] == "the scores come without documents"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*TWO,), "Missing option '--output'"),
        ((JUDGMENTS, "-o", "x.html"), "Expected JUDGMENTS RUN"),
        (("-", "-", "-o", "x.html"), "Standard input can be read only once"),
        ((JUDGMENTS, KEYWORD, "--queries", "-", "--docs", "-", "-o", "x"), "can be read only once"),
        ((*TWO, "--baseline", "third", "-o", "x.html"), "baseline: expected one of the runs"),
        ((*TWO, "--queries", "no such", "-o", "x.html"), "no such: expected a file"),
        ((*TWO, "--docs", "no such", "-o", "x.html"), "no such: expected a file"),
        ((JUDGMENTS, KEYWORD, "--by", "judged", "-o", "x.html"), "several runs"),
        ((*TWO, "-o", "no/such/folder/x.html"), "expected a file that can be written"),
    ],
)
def test_wrong_calls(cli, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = cli("report", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_page(cli, tmp_path):
    code, out, err = cli("report", *TWO, "-o", tmp_path)
    assert (code, out) == (2, "")
    assert f"{tmp_path}: expected a file that can be written, found Is a directory" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "x.pdf",
            "x.pdf: expected a name that ends in .html, because a report is an HTML page, found",
        ),
        ("x.json", "found '.json'"),
        ("no/such/x.html", "no/such/x.html: expected a file that can be written"),
        (".", "expected a file that can be written, found Is a directory"),
    ],
)
def test_where_to_write_is_checked_before_the_work(cli, tmp_path, monkeypatch, target, said):
    monkeypatch.chdir(tmp_path)
    nothing = ("no-such.qrels", "no-such.run", "no-such-either.run")
    for command in (("report", *nothing, "-o", target), ("compare", *nothing, "--html", target)):
        code, out, err = cli(*command)
        assert (code, out) == (2, "")
        assert said in err
        assert "no-such" not in err
    assert list(tmp_path.iterdir()) == []


def test_two_results_do_not_share_standard_output(cli, tmp_path):
    table = tmp_path / "table.json"
    for more in ((), ("-o", "-")):
        code, out, err = cli("compare", *TWO, "--html", "-", "--format", "json", *more)
        assert (code, out) == (2, "")
        assert "pass -o FILE" in err or "file of its own" in err
    code, out, _ = cli("compare", *TWO, "--html", "-", "--format", "json", "-o", table)
    assert code == 0
    assert payload_in(out)["title"] == "keyword, hybrid"
    assert json.loads(table.read_text())


def test_texts_that_match_nothing_are_told(cli, tmp_path):
    texts = tmp_path / "docs.tsv"
    texts.write_text("foo\tbar\tbaz\n1\ta\tb\n")
    done = cli("report", *TWO, "--docs", texts, "-o", tmp_path / "page.html")
    assert done.returncode == 0
    told = "docs: none of its ids is shown, so there are no texts: it has 'foo', and the"
    assert told in done.stderr
    assert ".py" not in done.stderr
    texts.write_text('{"title": "a", "text": "b"}\n')
    code, _, err = cli("report", *TWO, "--docs", texts, "-o", tmp_path / "page.html")
    assert code == 2
    assert "docs.tsv:1: expected a column for the id of each doc" in err
    assert "Give it one of these names: _id, " in err


def test_a_page_is_replaced(cli, tmp_path):
    target = tmp_path / "page.html"
    target.write_text("before")
    assert cli("report", JUDGMENTS, KEYWORD, "-o", target)[0] == 0
    assert target.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("judgments", "runs", "said"),
    [
        ("q1 0 a 1\n", ["q1 Q0 a 1 0.5 r\n"], "1 of 1 query in detail"),
        ("q1 0 a 1\n", ["q1 Q0 a 1 0.5 r\n", "q1 Q0 a 1 0.5 r\n"], "1 of 1 query in detail"),
        ('{"q1": {"a": 1}, "q2": {"b": 1}}', ['{"q1": {"a": 1}, "q2": {}}'], "2 of 2 queries"),
    ],
)
def test_few_queries(cli, tmp_path, judgments, runs, said):
    files = [tmp_path / f"{place}.txt" for place in range(1 + len(runs))]
    for file, text in zip(files, [judgments, *runs], strict=True):
        file.write_text(text)
    code, _, err = cli("report", *files, "-o", tmp_path / "page.html")
    assert (code, err.count("\n")) == (0, 1)
    assert said in err


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("other Q0 a 1 0.5 r\n", "found none in common"),
        ("{}", "expected at least one retrieved document"),
        ("", "found an empty file"),
    ],
)
def test_a_run_that_has_nothing_to_show(cli, tmp_path, run, said):
    judgments, good, bad = (tmp_path / name for name in ("qrels.txt", "good.txt", "bad.txt"))
    judgments.write_text("q1 0 a 1\n")
    good.write_text("q1 Q0 a 1 0.5 r\n")
    bad.write_text(run)
    for runs in ([bad], [good, bad]):
        code, out, err = cli("report", judgments, *runs, "-o", tmp_path / "page.html")
        assert (code, out) == (2, "")
        assert said in err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("place", range(4))
def test_no_input_is_written_over(cli, tmp_path, place):
    files = []
    for name in (JUDGMENTS, KEYWORD, QUERIES, DOCS):
        files.append(tmp_path / Path(name).name)
        files[-1].write_bytes(Path(name).read_bytes())
    judgments, run, queries, docs = files
    code, _, err = cli(
        "report", judgments, run, "--queries", queries, "--docs", docs, "-o", files[place]
    )
    assert code == 2
    assert "is one of the inputs" in err
    assert files[place].read_bytes() == (COOKING / files[place].name).read_bytes()


def test_a_missing_package_is_told_before_the_work(cli, monkeypatch, tmp_path):
    import importlib.util

    known = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "altair" else known(name)
    )
    code, _, err = cli("report", "no-such", "no-such.run", "-o", tmp_path / "x.html")
    assert code == 2
    assert "pip install '.[report]'" in err


LIMITED = """
import resource, runpy, sys, gainful as gf

size = 2_000_000_000
resource.setrlimit(resource.RLIMIT_AS, (size, size))
if sys.argv[1] == "chart":
    gf.curve({"q": {"a": 1}}, {"q": {"a": 1}}, upto=3).plot().save(sys.argv[2])
sys.argv[0] = "gainful"
runpy.run_module("gainful", run_name="__main__")
"""


@pytest.mark.parametrize(
    "call",
    [
        ("report", *TWO, "--resamples", "99", "-o", "page.html"),
        ("compare", *TWO, "--resamples", "99", "--html", "page.html"),
        ("chart", "page.svg"),
    ],
    ids=lambda call: call[0],
)
def test_a_limit_of_memory_under_which_no_chart_can_be_drawn(call, tmp_path):
    """The engine of the renderer would end the process with SIGTRAP and a native backtrace."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *call], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == (1 if call[0] == "chart" else 2), done.stderr
    *before, said = done.stderr.splitlines()
    assert "expected some 70 GB of address space" in said
    assert "found a limit of 2 GB for this process" in said
    assert bool(before) == (call[0] == "chart")  # in Python it is an exception
    assert not [*tmp_path.iterdir()]
