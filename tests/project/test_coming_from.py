"""What the pages for users of other tools say is so: see coming_from.py. MTEB's is run in tests/hosts/."""

import json
import re

import pytest

import coming_from
import gainful as gf
import record_trec_eval
from heavy_hosts import HEAVY

LIGHT = [page for page in coming_from.DIALECTS if page not in (*HEAVY, "trec_eval", "mllib")]


def test_every_page_is_known():
    assert {page.stem for page in coming_from.PAGES.glob("*.md")} == set(coming_from.DIALECTS)
    for page in coming_from.PAGES.glob("*.md"):
        assert "\n## Where the numbers differ\n" in page.read_text(encoding="utf-8")


@pytest.fixture
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_elsewhere")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # of the tools
@pytest.mark.parametrize("page", LIGHT)
def test_a_page(page, cli):
    held = coming_from.check(page, cli)
    assert held["names"] + held["calls"] >= 5
    assert held["choices"] >= 2


@pytest.mark.usefixtures("_elsewhere", "spark")
def test_the_page_of_mllib(cli):
    held = coming_from.check("mllib", cli)
    assert held["names"] == 5
    assert held["choices"] == 1


@pytest.fixture
def trec_eval(tmp_path, monkeypatch):
    """Return a function to what trec_eval itself answered to a call, in a folder with the files of the calls."""
    recorded = json.loads(record_trec_eval.PLACE.read_text())
    assert record_trec_eval.put_files(tmp_path) == recorded["files"], "Record trec_eval anew."
    monkeypatch.chdir(tmp_path)
    return lambda call, version=10: recorded["answers"][f"{version}: {call}"]


def last_number(text):
    return float(text.split()[-1])


def ours(cli, call, files):
    """Return the mean that gainful has, with as many digits as trec_eval prints."""
    called = ["evaluate", *files.split(), *call.split(), "--format", "csv"]
    return round(float(cli(*called).stdout.split(",")[-1]), 4)


def test_the_page_of_trec_eval(cli, trec_eval):
    files = record_trec_eval.HYBRID
    held = coming_from.check(
        "trec_eval",
        cli,
        left=lambda option: last_number(trec_eval(f"{option} {files}")["output"]),
        right=lambda option: ours(cli, f"{option} --dialect trec_eval", files),
    )
    assert held["names"] >= 10
    assert held["choices"] == 2


def test_trec_eval_itself_prints_what_the_page_has(trec_eval):
    page = (coming_from.PAGES / "trec_eval.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ gainful trec_eval .*\n((?:.+\n)+?)```", page, re.MULTILINE)
    assert trec_eval(f"-m ndcg_cut.10 -m map {record_trec_eval.HYBRID}")["output"] == shown


@pytest.mark.parametrize("version", [9, 10])
def test_the_command_answers_as_trec_eval_itself(cli, trec_eval, version):
    measures = (
        f"{each} {record_trec_eval.HYBRID}" for each in record_trec_eval.named_on_the_page()
    )
    for call in (*measures, *record_trec_eval.CALLS):
        done = cli("trec_eval", "--version-of", str(version), *call.split())
        found = {"code": done.returncode, "output": done.stdout}
        assert found == trec_eval(call, version), call


@pytest.mark.parametrize(
    ("option", "theirs", "mine", "without"),
    [
        ("-l 2", "-l 2 -m P.5", "-m P(rel=2)@5", "-m P@5"),
        (
            "-J",
            "-J -m map",
            "--unjudged condense --negative unjudged -m AP",
            "--unjudged condense -m AP",
        ),
        ("-M 100", "-M 5 -m map", "-m AP@5", "-m AP"),  # the lists are shorter than 100
    ],
)
def test_an_option_of_trec_eval_has_its_counterpart(cli, trec_eval, option, theirs, mine, without):
    page = (coming_from.PAGES / "trec_eval.md").read_text(encoding="utf-8")
    assert f"\n| `{option}` | " in page
    files = record_trec_eval.HYBRID
    told = last_number(trec_eval(f"{theirs} {files}")["output"])
    assert ours(cli, mine, files) == told
    assert ours(cli, without, files) != told


def test_every_query_and_missing_ones(cli, trec_eval):
    files = record_trec_eval.HYBRID.split()
    lines = trec_eval(f"-q -m map {record_trec_eval.HYBRID}")["output"].splitlines()
    theirs = {query: float(value) for _, query, value in map(str.split, lines[:-1])}
    found = gf.evaluate(*files, "AP", dialect="trec_eval").per_query.to_dict()
    assert {query: round(row["AP"], 4) for query, row in found.items()} == theirs
    files = record_trec_eval.KEYWORD
    means = {
        version: last_number(trec_eval(f"{options}-m map {files}", version)["output"])
        for version, options in ((9, ""), (10, "-c "))
    }
    assert ours(cli, "--missing skip -m AP", files) == means[9]
    assert ours(cli, "-m AP", files) == means[10] < means[9]


def test_what_the_page_says_of_single_cases_is_so_of_trec_eval(trec_eval):
    for version in (9, 10):
        tried = [
            (
                "-m ndcg negative.qrels a_b.run",
                0.6309,
            ),  # −1 counts as 0, so b is 1/log2 3 of its best
            ("-m ndcg fractional.qrels b_a.run", 1),  # 1.9 is cut to 1, so the order is as good
            ("-m recip_rank second.qrels tied.run", 1),  # of two that tie, b stands before a
            ("-c -m map two.qrels a_b.run", 0.5),
        ]
        for call, value in tried:
            assert last_number(trec_eval(call, version)["output"]) == value
        assert trec_eval("-m map second.qrels twice.run", version) == {"code": 4, "output": ""}
    assert last_number(trec_eval("-m map two.qrels a_b.run", 9)["output"]) == 1
    assert trec_eval("-m map two.qrels a_b.run") == {"code": 4, "output": ""}


def test_a_table_that_is_wrong_is_found(tmp_path, monkeypatch, cli):
    page = tmp_path / "ranx.md"
    monkeypatch.setattr(coming_from, "PAGES", tmp_path)
    names = "| ranx | gainful |\n|---|---|\n| `a` | `{}` |\n"
    calls = "| before | with gainful |\n|---|---|\n| `float(1)` | so: `float({})` |\n"
    choices = '| | ranx | to get the old behaviour |\n|---|---|---|\n| x | y | `policy={{"ties": "{}"}}` |\n'
    globs = {"left": ord, "right": ord}
    for table, right, wrong in ((names, "a", "b"), (calls, "1", "2"), (choices, "order", "best")):
        page.write_text(table.format(right))
        assert sum(coming_from.check("ranx", cli, **globs).values()) == 1
        page.write_text(table.format(wrong))
        with pytest.raises(AssertionError):
            coming_from.check("ranx", cli, **globs)
    page.write_text(">>> 1 + 1\n3\n")
    with pytest.raises(AssertionError, match=re.escape("Expected:\n    3")):
        coming_from.check("ranx", cli)
