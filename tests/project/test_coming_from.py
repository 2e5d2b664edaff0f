"""What the pages for users of other tools say is so: see coming_from.py. MTEB's is run in tests/hosts/."""

import re

import pytest

import coming_from
from heavy_hosts import HEAVY

ROOT = coming_from.PAGES.parents[1]
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


def test_the_page_of_trec_eval(cli):
    files = [ROOT / "examples" / "cooking" / name for name in ("judgments.qrels", "hybrid.run")]

    def left(option):
        printed = cli("trec_eval", *option.split(), *files).stdout
        return float(printed.split()[-1])

    def right(option):
        called = ["evaluate", *files, *option.split(), "--dialect", "trec_eval", "--format", "csv"]
        value = float(cli(*called).stdout.split(",")[-1])
        return round(value, 4)  # as many digits as trec_eval prints

    held = coming_from.check("trec_eval", cli, left=left, right=right)
    assert held["names"] >= 10
    assert held["choices"] == 2


def test_a_table_that_is_wrong_is_found(tmp_path, monkeypatch, cli):
    page = tmp_path / "ranx.md"
    monkeypatch.setattr(coming_from, "PAGES", tmp_path)
    names = "| ranx | gainful |\n|---|---|\n| `a` | `{}` |\n"
    calls = "| you write | here you write |\n|---|---|\n| `float(1)` | so: `float({})` |\n"
    choices = (
        '| | ranx | the old way alone |\n|---|---|---|\n| x | y | `policy={{"ties": "{}"}}` |\n'
    )
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
