"""The name of an output tells its format, on the command line as in Python."""

import csv
import gzip
import sys
from pathlib import Path

import duckdb
import pytest

import gainful as gf
from gainful.cli.commands import commands
from gainful.output.writing.output_files import DOCUMENTS, OTHERS, POOLS, TABLES, read_naming

if sys.version_info >= (3, 14):
    from compression.zstd import decompress as zstd
else:
    from backports.zstd import decompress as zstd

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


@pytest.mark.parametrize("name", ["x", "x.txt", "x.TXT", "csv", ".csv"])
def test_what_tells_nothing_is_text(cli, written, name):
    assert written(name) == cli(*CALL).stdout


@pytest.mark.parametrize("name", ["markdown", "latex"])
def test_the_name_of_a_format_is_an_ending_too(cli, written, name):
    assert written(f"x.{name}") == cli(*CALL, "-f", name).stdout


def test_a_format_that_is_said_wins_over_the_name(cli, tmp_path):
    cli(*CALL, "-o", tmp_path / "x.html", "-f", "csv")
    assert (tmp_path / "x.html").read_text() == cli(*CALL, "-f", "csv").stdout


@pytest.mark.parametrize("name", ["x.csv.gz", "x.CSV.GZ", "x.csv.zst"])
def test_text_is_compressed(cli, tmp_path, name):
    assert cli(*CALL, "-o", tmp_path / name).returncode == 0
    assert unpacked(tmp_path / name) == cli(*CALL, "-f", "csv").stdout


def unpacked(path):
    packed = path.read_bytes()
    return (gzip.decompress(packed) if path.suffix.lower() == ".gz" else zstd(packed)).decode()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x.parqet", "Did you mean '.parquet'?"),
        ("x.other", "Choices: .csv, .tsv, .json"),
        ("x.other.gz", "isn't the extension of a format"),
        ("x.parquet.gz", "Parquet is compressed internally"),
        ("none/x.parquet", "none/x.parquet: expected a file that can be written"),
    ],
)
def test_other_names_are_refused(cli, tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    done = cli(*CALL, "-o", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
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


EXAMPLES = Path(__file__).parents[2] / "examples" / "cooking"
J, ONE, TWO = (str(EXAMPLES / name) for name in ("judgments.qrels", "keyword.run", "hybrid.run"))
ANSWER = "import json, sys\nfor line in sys.stdin: print(json.dumps({'id': json.loads(line)['id'], 'value': 0.5}))"
LOG = "session,query,doc,position,clicked\n" + "".join(
    f"s{n},q,a,1,{n % 2}\ns{n},q,b,2,{n % 3 // 2}\n" for n in range(12)
)
TEAMS = "session,query,doc,position,clicked,team\ns1,q,a,1,1,one\ns1,q,b,2,0,two\n"
FILES = {
    "slices.csv": "query,kind\npad-thai,noodles\nroast-chicken,meat\n",
    "log.csv": LOG,
    "teams.csv": TEAMS,
    "ann.qrels": "q 0 a 1\nq 0 b 0\nr 0 a 2\n",
    "bob.qrels": "q 0 a 1\nq 0 b 1\nr 0 a 0\n",
    "u.qrels": "u 0 b 1\n",
    "items.csv": "item,genre\na,x\nb,y\n",
    "lists.run": "u Q0 a 1 2 t\nu Q0 b 2 1 t\n",
    "other.run": "u Q0 b 1 2 t\nu Q0 a 2 1 t\n",
}
QUICK = ("--resamples", "99")
TABLES_OF_COMMANDS = {
    "evaluate": ("evaluate", J, ONE, TWO, "-m", "nDCG@5,10"),
    "evaluate per query": ("evaluate", J, ONE, "--per-query"),
    "evaluate interval": ("evaluate", J, ONE, "--interval"),
    "evaluate slices": ("evaluate", J, ONE, "--slices", "slices.csv"),
    "evaluate worst": ("evaluate", J, ONE, "--worst", "3"),
    "evaluate bounds": ("evaluate", J, ONE, "--bounds"),
    "evaluate bounds per query": ("evaluate", J, ONE, "--bounds", "--per-query"),
    "compare": ("compare", J, ONE, TWO, *QUICK),
    "compare tests": ("compare", J, ONE, TWO, *QUICK, "--tests"),
    "compare systems": ("compare", J, ONE, TWO, *QUICK, "--systems"),
    "compare per query": ("compare", J, ONE, TWO, *QUICK, "--per-query"),
    "compare worst": ("compare", J, ONE, TWO, *QUICK, "--worst", "2"),
    "leaderboard": ("leaderboard", J, ONE, TWO, *QUICK),
    "leaderboards": ("leaderboard", J, ONE, TWO, *QUICK, "-m", "nDCG@10", "-m", "AP"),
    "calibrate": ("calibrate", "--human", "people.qrels", "--model", J, ONE, TWO, "--drawn-at-random"),
    "check": ("check", J, ONE),
    "explain": ("explain", J, ONE, "-q", "pad-thai"),
    "explain grades": ("explain", "3,2,1"),
    "explain against": ("explain", J, ONE, "--against", TWO, "-q", "pad-thai"),
    "why": ("why", J, ONE, "--dialects", "ir_measures"),
    "why got": ("why", J, ONE, "--got", "0.44"),
    "power": CALL,
    "measures": ("measures",),
    "measure": ("measures", "nDCG"),
    "dialects": ("dialects",),
    "dialect": ("dialects", "ranx"),
    "config": ("config",),
    "conformance": ("conformance", "--topic", "definition", sys.executable, "-S", "-c", ANSWER),
    "similar": ("similar", ONE, TWO),
    "similar measures": ("similar", ONE, TWO, "--judgments", J, "-m", "nDCG@10 AP"),
    "history add": ("history", "add", "new.history", J, ONE),
    "history show": ("history", "show", "old.history"),
    "history changes": ("history", "show", "old.history", "--changes"),
    "watch": ("watch", J, ONE, "--store", "watched.history", "--dry-run"),
    "agreement": ("agreement", "ann.qrels", "bob.qrels", *QUICK),
    "agreement pairs": ("agreement", "ann.qrels", "bob.qrels", *QUICK, "--table", "pairs"),
    "sample": ("sample", J, "--size", "5"),
    "merge": ("merge", "ann.qrels", "bob.qrels"),
    "pool": ("pool", ONE, "--depth", "2"),
    "pool effect": ("pool", ONE, "--judgments", J, "--budget", "3"),
    "clicks": ("clicks", "log.csv"),
    "clicks log": ("clicks", "log.csv", "--show", "log"),
    "clicks models": ("clicks", "log.csv", "--show", "models", "--rounds", "2"),
    "clicks positions": ("clicks", "log.csv", "--show", "positions"),
    "clicks preference": ("clicks", "teams.csv", "--show", "preference"),
    "clicks lists": ("clicks", "lists.run", "other.run", "--interleave"),
    "fuse": ("fuse", ONE, TWO),
    "recommend": ("recommend", "lists.run", "--items", "items.csv", "-m", "Coverage@2"),
    "recommend per user": (
        "recommend", "lists.run", "--items", "items.csv", "--judgments", "u.qrels", "-m", "HitRate@2", "--per-user",
    ),
}  # fmt: skip
OTHERS_OF_COMMANDS = {  # commands whose output is no table, or a file in another place
    "demo", "report", "judge", "collect", "run", "convert", "sql", "completion", "help", "mcp", "trec_eval",
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    lines = Path(J).read_text().splitlines(keepends=True)
    queries = sorted({line.split()[0] for line in lines})
    people = [line for line in lines if line.split()[0] in queries[::2]]
    (folder / "people.qrels").write_text("".join(people))
    best = {query: {} for query in queries}
    for line in lines:
        query, _, doc, grade = line.split()
        best[query][doc] = float(grade)
    for time, run in (("2026-05-01", ONE), ("2026-05-02", best)):
        gf.history.add(folder / "old.history", gf.evaluate(J, run), run="one", time=time)
    return folder


def test_every_command_is_in_one_list():
    listed = {call[0] for call in TABLES_OF_COMMANDS.values()}
    assert listed | OTHERS_OF_COMMANDS == {*commands.list_commands(None)}
    assert not listed & OTHERS_OF_COMMANDS


@pytest.mark.parametrize("name", TABLES_OF_COMMANDS)
def test_every_table_is_written_to_parquet_and_other_files(cli, place, monkeypatch, name):
    """Parquet has the cells of CSV."""
    monkeypatch.chdir(place)
    rows = {}
    for ending in ("parquet", "csv"):
        target = place / f"{name}.{ending}"
        command, *words = TABLES_OF_COMMANDS[name]
        done = cli(command, "-o", target, *words)
        assert done.returncode in (0, 1), done.stderr
        assert done.stdout == ""
        if ending == "parquet":
            read = duckdb.connect().sql(f"FROM '{target}'")
            columns = read.columns
            rows[ending] = [dict(zip(columns, row, strict=True)) for row in read.fetchall()]
        else:
            with target.open(newline="") as file:
                written = csv.DictReader(file)
                rows[ending] = [*written]
            assert [*written.fieldnames] == columns
        (place / "new.history").unlink(missing_ok=True)
    assert rows["parquet"]
    for row, text in zip(rows["parquet"], rows["csv"], strict=True):
        for column, cell in row.items():
            if isinstance(cell, float):
                assert float(text[column]) == cell, column
            else:
                assert text[column].removeprefix("'") == ("" if cell is None else str(cell)), column


def test_ids_keep_their_type_in_parquet(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = "(VALUES (1::INTEGER, 'a', 1.0), (2, 'b', 1.0)) t(query, doc, "
    for name, column in (("j", "grade"), ("r", "score")):
        duckdb.connect().execute(f"COPY (FROM {values}{column})) TO '{name}.parquet'")
    for more in (("--per-query",), ("--worst", "2")):
        done = cli("evaluate", "j.parquet", "r.parquet", *more, "-o", "s.parquet")
        assert done.returncode == 0, done.stderr
        types = duckdb.connect().sql("FROM 's.parquet'").types
        assert [*map(str, types)] == ["VARCHAR", "INTEGER", "DOUBLE"]


def test_parquet_to_standard_output(cli, tmp_path):
    import io
    import subprocess

    import pyarrow.parquet as pq

    done = subprocess.run(
        [sys.executable, "-m", "gainful", *CALL, "-f", "parquet"], capture_output=True, check=True
    )
    assert pq.read_table(io.BytesIO(done.stdout)).num_rows == 1
