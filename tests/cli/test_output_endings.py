"""The name of an output tells its format, on the command line as in Python."""

import pytest

import gainful as gf
from gainful.output.writing.output_files import DOCUMENTS, OTHERS, POOLS, TABLES, read_naming

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


@pytest.mark.parametrize("name", ["x", "x.txt", "x.TXT", "x.other", "csv", ".csv"])
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


JUDGMENTS, RUN = "q 0 a 1\nq 0 b 0\nr 0 a 1\n", "q Q0 a 1 0.5 t\nr Q0 b 1 0.5 t\n"
COMMANDS = {
    "evaluate": ("evaluate", "{qrels}", "{run}"),
    "bounds": ("evaluate", "{qrels}", "{run}", "--bounds", "--grades", "0,1"),
    "compare": ("compare", "{qrels}", "{run}", "{other}"),
    "check": ("check", "{qrels}", "{run}"),
    "explain": ("explain", "{qrels}", "{run}", "-q", "q"),
    "explain grades": ("explain", "3,2,1"),
    "why": ("why", "{qrels}", "{run}", "--dialects", "ranx"),
    "pool": ("pool", "{run}"),
    "measures": ("measures",),
    "dialects": ("dialects",),
    "power": CALL,
}


@pytest.fixture
def call(cli, files):
    given = {"qrels": files("a.qrels", JUDGMENTS), "run": files("a.run", RUN)}
    given["other"] = files("b.run", RUN)
    return lambda name, *more: cli(*(part.format(**given) for part in COMMANDS[name]), *more)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_name_that_promises_something_else_is_refused_by_every_command(call, name, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for ending, said in (
        (".png", "promises a picture"),
        (".XLSX", "Spreadsheets open .csv."),
        (".pdf", "promises a printed page"),
    ):
        for more in ((), ("-f", "csv")):
            done = call(name, "-o", folder / f"x{ending}", *more)
            assert (done.returncode, done.stdout) == (2, "")
            assert said in done.stderr
    done = call(name, "-o", folder / "x.run")
    assert done.returncode == 2
    assert "promises a run or judgments" in done.stderr
    assert list(folder.iterdir()) == []


def test_the_other_files_of_a_command_have_their_endings(call, tmp_path):
    gate = ("--fail-if", "missing > 0")
    done = call("compare", *gate, "--junit", tmp_path / "x.xml", "--summary", tmp_path / "x.md")
    assert done.returncode == 0
    for option, right in (("--junit", ".xml"), ("--summary", ".md")):
        done = call("compare", *gate, option, tmp_path / "x.png")
        assert (done.returncode, f"End the name in {right}." in done.stderr) == (2, True)
    done = call("evaluate", "--save-baseline", tmp_path / "x.xlsx")
    assert (done.returncode, "End the name in .json." in done.stderr) == (2, True)
    done = call("compare", "--html", tmp_path / "x.png")
    assert (done.returncode, "an HTML page" in done.stderr) == (2, True)
    assert not (tmp_path / "x.png").exists()


def test_a_pool_has_its_endings_from_the_table(cli, files, tmp_path):
    run = files("r.run", "q Q0 a 1 0.5 t\n")
    for name in ("told.HTM", "told.htm", "told.QRELS.gz", "told.TREC"):
        assert cli("pool", run, "-o", tmp_path / name).returncode == 0
        gf.pool({"r": run}).write(tmp_path / f"as {name}")
        assert (tmp_path / name).read_bytes() == (tmp_path / f"as {name}").read_bytes()


def test_the_tables_are_public():
    assert gf.writing.endings() == gf.writing.endings(of="tables") == TABLES
    assert gf.writing.endings(of="documents") == DOCUMENTS
    assert gf.writing.endings(of="pools") == POOLS
    assert gf.writing.endings(of="others") == OTHERS
    assert not OTHERS.keys() & {*TABLES, *DOCUMENTS, *POOLS, ".gz", ".zst"}
    assert read_naming("x.htm", None, TABLES).format == "html"
    gf.writing.endings()[".csv"] = "json"
    assert gf.writing.endings()[".csv"] == "csv"
    with pytest.raises(gf.errors.InputError, match="Did you mean 'tables'"):
        gf.writing.endings(of="table")


def test_scores_are_written_to_htm_as_to_html(tmp_path):
    scores = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1}})
    for name in ("x.htm", "x.html"):
        scores.write(tmp_path / name)
    assert (tmp_path / "x.htm").read_bytes() == (tmp_path / "x.html").read_bytes()
    with pytest.raises(gf.errors.InputError, match=r"found '\.other'"):
        scores.write(tmp_path / "x.other")
