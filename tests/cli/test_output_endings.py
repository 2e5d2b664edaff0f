"""The name of an output tells its format, on the command line as in Python."""

import pytest

import gainful as gf
from gainful.writing.file_formats import DOCUMENTS, POOLS, TABLES, read_naming

CALL = ("power", "--sd", "0.2", "--queries", "50")
TEXTS = {ending: form for ending, form in TABLES.items() if form != "parquet"}


@pytest.fixture
def written(cli, tmp_path):
    def call(name):
        done = cli(*CALL, "-o", tmp_path / name)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        return (tmp_path / name).read_text()

    return call


@pytest.mark.parametrize("ending", TEXTS)
def test_every_ending_of_the_one_table_in_any_case(cli, written, ending):
    expected = cli(*CALL, "-f", TEXTS[ending]).stdout
    for name in (f"x{ending}", f"X{ending.upper()}", f"a.b{ending.title()}"):
        assert written(name) == expected, name


@pytest.mark.parametrize("name", ["x", "x.txt", "x.TXT", "x.other", "x.run", "csv", ".csv"])
def test_what_tells_nothing_is_text(cli, written, name):
    assert written(name) == cli(*CALL).stdout


@pytest.mark.parametrize("name", ["markdown", "latex"])
def test_the_name_of_a_format_is_an_ending_too(cli, written, name):
    assert written(f"x.{name}") == cli(*CALL, "-f", name).stdout


def test_a_format_that_is_said_wins_over_the_name(cli, tmp_path):
    cli(*CALL, "-o", tmp_path / "x.html", "-f", "csv")
    assert (tmp_path / "x.html").read_text() == cli(*CALL, "-f", "csv").stdout


@pytest.mark.parametrize("name", ["x.parquet", "x.PARQUET", "x.csv.gz", "x.csv.GZ", "x.zst"])
def test_what_is_no_text_is_refused(cli, tmp_path, name):
    done = cli(*CALL, "-o", tmp_path / name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "The output is text" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_pool_has_its_endings_from_the_table(cli, files, tmp_path):
    run = files("r.run", "q Q0 a 1 0.5 t\n")
    for name in ("told.HTM", "told.htm", "told.QRELS.gz", "told.TREC"):
        assert cli("pool", run, "-o", tmp_path / name).returncode == 0
        gf.pool({"r": run}).write(tmp_path / f"as {name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"as {name}").read_bytes()


def test_the_tables_are_public():
    assert gf.endings() == gf.endings(of="tables") == TABLES
    assert gf.endings(of="documents") == DOCUMENTS
    assert gf.endings(of="pools") == POOLS
    assert read_naming("x.htm", None, TABLES).format == "html"
    gf.endings()[".csv"] = "json"
    assert gf.endings()[".csv"] == "csv"
    with pytest.raises(gf.InputError, match="Did you mean 'tables'"):
        gf.endings(of="table")


def test_scores_are_written_to_htm_as_to_html(tmp_path):
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}})
    for name in ("x.htm", "x.html"):
        scores.write(tmp_path / name)
    assert (tmp_path / "x.htm").read_bytes() == (tmp_path / "x.html").read_bytes()
    with pytest.raises(gf.InputError, match=r"found '\.other'"):
        scores.write(tmp_path / "x.other")
