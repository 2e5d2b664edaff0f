"""Tables that are no files: in databases, in lakes, at addresses, selected by SQL, and with keys of several columns."""

import json
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf
from postgres_fixtures import postgres_address, postgres_server  # noqa: F401 - fixtures

JUDGMENTS = {"q1": {"a": 1, "b": 2}, "q2": {"b": 1}}
ROWS = [("q1", "b", 3.0), ("q1", "a", 2.5), ("q2", "x", 2.0), ("q2", "b", 1.0)]
RUN = {"q1": {"b": 3.0, "a": 2.5}, "q2": {"x": 2.0, "b": 1.0}}
NAMES = ("query", "doc", "score")
TABLE = pa.table(dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True)))
EXPECTED = gf.evaluate(JUDGMENTS, RUN, "nDCG").per_query.to_dict()


def values_of(run, **options):
    return gf.evaluate(JUDGMENTS, run, "nDCG", **options).per_query.to_dict()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the same run in several kinds of databases and files."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("wh.duckdb") as connection:
        connection.register("rows", TABLE)
        connection.execute("CREATE TABLE bm25 AS FROM rows")
        connection.execute("CREATE SCHEMA lab")
        connection.execute('CREATE VIEW lab."two words" AS FROM bm25')
    with sqlite3.connect("wh.db") as connection:
        connection.execute("CREATE TABLE bm25 (query TEXT, doc TEXT, score REAL)")
        connection.executemany("INSERT INTO bm25 VALUES (?, ?, ?)", ROWS)
    connection.close()
    pq.write_table(TABLE, "run.parquet")
    TABLE.to_pandas().to_csv("run.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    "address",
    [
        "wh.duckdb::bm25",
        "wh.duckdb::lab.two words",
        "wh.db::bm25",
        "sql:SELECT query, doc, score FROM 'run.parquet'",
        "sql:FROM 'run.csv' ORDER BY score",
        "sql: WITH all_rows AS (FROM 'run.csv') SELECT * FROM all_rows;",
    ],
)
def test_a_run_at_an_address_is_that_of_the_file(folder, address):
    assert values_of(address) == EXPECTED
    assert values_of(Path(address)) == EXPECTED


def test_judgments_and_other_tables_have_addresses_too(folder):
    with duckdb.connect("wh.duckdb") as connection:
        connection.execute(
            "CREATE TABLE qrels AS FROM (VALUES ('q1','a',1), ('q1','b',2), ('q2','b',1)) t(query, doc, grade)"
        )
        connection.execute(
            "CREATE TABLE kinds AS FROM (VALUES ('q1','long'), ('q2','short')) t(query, kind)"
        )
    scores = gf.evaluate("wh.duckdb::qrels", "run.csv", "nDCG", slices="wh.duckdb::kinds")
    assert scores.per_query.to_dict() == EXPECTED
    assert {one.value for one in scores.slices if one.column == "kind"} == {"long", "short"}


def test_runs_are_named_after_their_tables(folder):
    found = gf.evaluate_runs(
        JUDGMENTS, ["wh.duckdb::bm25", "sql:FROM 'run.csv'", "run.parquet"], "nDCG"
    )
    assert [*found] == ["bm25", "sql", "run"]


def test_ids_keep_their_zeros_and_missing_cells_are_found(folder):
    with sqlite3.connect("ids.db") as connection:
        connection.execute("CREATE TABLE run (query TEXT, doc TEXT, score)")
        connection.executemany(
            "INSERT INTO run VALUES (?, ?, ?)", [("007", "01", 1), ("007", "1", 2.5)]
        )
        connection.execute("CREATE TABLE holes (query TEXT, doc TEXT, score REAL)")
        connection.executemany(
            "INSERT INTO holes VALUES (?, ?, ?)", [("q1", "a", 1), ("q1", None, 2)]
        )
    connection.close()
    scores = gf.evaluate({"007": {"01": 1, "1": 3}}, "ids.db::run", "CG@1")
    assert scores.per_query.to_dict() == {"007": {"CG@1": 3.0}}
    with pytest.raises(gf.errors.InputError):
        gf.evaluate(JUDGMENTS, "ids.db::holes", "nDCG")


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("wh.duckdb::bm52", "expected the table 'bm52', found only 'bm25'"),
        ("wh.db::bm52", "expected the table 'bm52', found only 'bm25'"),
        ("wh.duckdb", "Name its table: wh.duckdb::my_table."),
        ("wh.db", "Name its table: wh.db::my_table."),
        ("gone.duckdb::bm25", "expected a file, found none of that name"),
        ("run.csv::bm25", "a table of a DuckDB database"),
        ("sql:DELETE FROM x", "expected a single SELECT, found DELETE FROM x."),
        ("sql:SELECT 1; SELECT 2", "expected a single SELECT"),
        ("sql:COPY (SELECT 1) TO 'new.csv'", "expected a single SELECT"),
        ("sql:SELEC 1", "expected a query that DuckDB can run"),
        ("sql:FROM nowhere", "nowhere does not exist"),
    ],
)  # fmt: skip
def test_errors_name_the_table(folder, address, message):
    with pytest.raises(gf.errors.InputError) as problem:
        values_of(address)
    assert message in str(problem.value)
    assert not Path("new.csv").exists()


def test_a_view_in_a_database_reads_no_other_file(folder):
    with duckdb.connect("wh.duckdb") as connection:
        connection.execute("CREATE VIEW outside AS SELECT * FROM 'run.parquet'")
    with pytest.raises(gf.errors.InputError):
        values_of("wh.duckdb::outside")


def test_nothing_in_a_database_is_changed(folder):
    before = {name: Path(name).read_bytes() for name in ("wh.duckdb", "wh.db")}
    values_of("wh.duckdb::bm25")
    values_of("wh.db::bm25")
    assert before == {name: Path(name).read_bytes() for name in before}


def test_postgresql(postgres_address):  # noqa: F811
    import psycopg

    with psycopg.connect(postgres_address) as connection:
        connection.execute("CREATE TABLE bm25 (query text, doc text, score numeric)")
        for row in ROWS:
            connection.execute("INSERT INTO bm25 VALUES (%s, %s, %s)", row)
    assert values_of(f"{postgres_address}::bm25") == EXPECTED
    with pytest.raises(gf.errors.InputError, match="expected the table 'bm52', found only 'bm25'"):
        values_of(f"{postgres_address}::bm52")


def test_lakes_are_read_by_their_own_readers(tmp_path):
    from deltalake import DeltaTable, write_deltalake
    from pyiceberg.catalog.sql import SqlCatalog

    deleted = pa.table({"query": ["q1"], "doc": ["z"], "score": [9.0]})
    write_deltalake(tmp_path / "delta", pa.concat_tables([TABLE, deleted]))
    DeltaTable(tmp_path / "delta").delete("doc = 'z'")
    assert values_of(tmp_path / "delta") == EXPECTED

    catalog = SqlCatalog(
        "lab", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse"
    )
    catalog.create_namespace("lab")
    table = catalog.create_table("lab.bm25", schema=TABLE.schema)
    table.append(pa.concat_tables([TABLE, deleted]))
    table.delete("doc = 'z'")
    folder = next((tmp_path / "warehouse").rglob("metadata")).parent
    assert values_of(folder) == EXPECTED
    # Without a catalogue, versions are numbered v1, v2, …: the tenth is newer than the ninth.
    versions = sorted(folder.glob("metadata/*.metadata.json"))
    for number, version in enumerate(versions, 11 - len(versions)):
        version.rename(version.with_name(f"v{number}.metadata.json"))
    assert values_of(folder) == EXPECTED


def write_hudi(root, time, rows):
    """Write a commit of a copy-on-write table with one file group, which replaces the rows of earlier ones."""
    group, names = "11111111-2222-3333-4444-555555555555-0", ("query", "doc", "score")
    name = f"{group}_0-1-{time[7]}_{time}.parquet"
    (root / ".hoodie").mkdir(parents=True, exist_ok=True)
    count = len(rows)
    meta = {
        "_hoodie_commit_time": [time] * count,
        "_hoodie_commit_seqno": [f"{time}_0_{row}" for row in range(count)],
        "_hoodie_record_key": [f"query:{query},doc:{doc}" for query, doc, _ in rows],
        "_hoodie_partition_path": [""] * count,
        "_hoodie_file_name": [name] * count,
    }
    own = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    pq.write_table(pa.table(meta | own), root / name)
    fields = [
        {"name": name, "type": ["null", "double" if name == "score" else "string"]}
        for name in names
    ]
    written = {
        "fileId": group, "path": name, "partitionPath": "", "prevCommit": "null", "numWrites": count, "numInserts": count,
        "numDeletes": 0, "numUpdateWrites": 0, "totalWriteErrors": 0, "fileSizeInBytes": (root / name).stat().st_size,
    }  # fmt: skip
    commit = {
        "partitionToWriteStats": {"": [written]},
        "extraMetadata": {
            "schema": json.dumps({"type": "record", "name": "run", "fields": fields})
        },
        "operationType": "UPSERT",
    }
    for ending, text in (
        ("commit.requested", ""),
        ("inflight", ""),
        ("commit", json.dumps(commit)),
    ):
        (root / ".hoodie" / f"{time}.{ending}").write_text(text)
    (root / ".hoodie_partition_metadata").write_text(f"commitTime={time}\npartitionDepth=0\n")
    properties = {
        "name": "run", "type": "COPY_ON_WRITE", "version": 6, "base.file.format": "PARQUET",
        "recordkey.fields": "query,doc", "timeline.layout.version": 1,
    }  # fmt: skip
    (root / ".hoodie" / "hoodie.properties").write_text(
        "".join(
            f"hoodie.{'' if key.startswith('timeline') else 'table.'}{key}={value}\n"
            for key, value in properties.items()
        )
    )


def test_hudi_is_read_by_its_own_reader(tmp_path, cli):
    root = tmp_path / "hudi"
    write_hudi(root, "20260101000000000", [*ROWS, ("q1", "z", 9.0)])
    assert values_of(root) != EXPECTED
    write_hudi(root, "20260102000000000", ROWS)
    assert len([*root.glob("*.parquet")]) == 2
    assert values_of(root) == EXPECTED
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 2\nq2 0 b 1\n")
    done = cli("evaluate", tmp_path / "qrels", root, "-m", "nDCG", "-f", "csv", "--per-query")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "hudi,q1,1.0"
    assert gf.check(tmp_path / "qrels", {"hudi": root}).counts["error"] == 0


@pytest.fixture
def store(monkeypatch):
    """A filesystem in memory, to which s3:// belongs."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Store(MemoryFileSystem):
        protocol = ("s3", "s3a")
        store: ClassVar = {}
        pseudo_dirs: ClassVar = [""]

        @classmethod
        def _strip_protocol(cls, path):
            return "/" + path.split("://")[-1].strip("/")

    for scheme in Store.protocol:
        fsspec.register_implementation(scheme, Store, clobber=True)
    yield Store()
    for scheme in Store.protocol:
        fsspec.register_implementation(scheme, "s3fs.S3FileSystem", clobber=True)


FORMATS_OF_FILES = {
    "parquet": lambda frame, file: frame.to_parquet(file, index=False),
    "csv": lambda frame, file: file.write(frame.to_csv(index=False).encode()),
    "tsv": lambda frame, file: file.write(frame.to_csv(index=False, sep="\t").encode()),
    "jsonl": lambda frame, file: file.write(frame.to_json(orient="records", lines=True).encode()),
}


@pytest.mark.parametrize("ending", FORMATS_OF_FILES)
def test_remote_files_are_read_through_fsspec(store, cli, tmp_path, ending):
    frame = pd.DataFrame([("007", "01", 0.5), ("007", "1", 0.7)], columns=NAMES)
    with store.open(f"s3://lake/runs/bm25.{ending}", "wb") as file:
        FORMATS_OF_FILES[ending](frame, file)
    judgments = {"007": {"01": 1, "1": 0}}
    for address in (f"s3://lake/runs/bm25.{ending}", f"s3://lake/runs/*.{ending}"):
        scores = gf.evaluate(judgments, address, "RR")
        assert scores.per_query.to_dict() == {"007": {"RR": 0.5}}
    kinds = pd.DataFrame([("007", "x")], columns=["query", "kind"])
    with store.open(f"s3://lake/kinds.{ending}", "wb") as file:
        FORMATS_OF_FILES[ending](kinds, file)
    scores = gf.evaluate(judgments, address, "RR", slices=f"s3://lake/kinds.{ending}")
    assert {one.value for one in scores.slices if one.column == "kind"} == {"x"}
    with pytest.raises(
        gf.errors.InputError, match=f"s3://lake/gone.{ending}: expected a file that can be read"
    ):
        gf.evaluate(judgments, f"s3://lake/gone.{ending}?key=secret", "RR")


def test_a_file_on_a_web_server(tmp_path):
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    pq.write_table(TABLE, tmp_path / "run.parquet")
    for name in ("run.csv", "run.csv.gz"):
        TABLE.to_pandas().to_csv(tmp_path / name, index=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=tmp_path)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}"
            for name in ("run.parquet", "run.csv", "run.csv.gz", "run.parquet?token=hidden"):
                assert values_of(f"{address}/{name}") == EXPECTED
            with pytest.raises(gf.errors.InputError) as problem:
                values_of(f"{address.replace('//', '//me:hidden@')}/gone.csv?token=hidden")
            assert "hidden" not in str(problem.value)
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("address", "package"),
    [
        ("s3://lake/run.csv", "s3fs"),
        ("gs://lake/run.csv", "gcsfs"),
        ("az://lake/run.csv", "adlfs"),
    ],
)
def test_without_a_reader_one_command_installs_it(monkeypatch, address, package):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(gf.errors.InputError) as problem:
        values_of(address)
    assert f"To read it from there: pip install {package}." in str(problem.value)


def test_a_key_of_several_columns(folder, cli):
    rows = [
        ("2026-11-01", "de", "q1", "a", 1.0),
        ("2026-11-01", "fr", "q1", "a", 1.0),
        ("2026-11-02", "de", "q1", "b", 1.0),
    ]
    names = ["day", "segment", "query_id", "doc", "score"]
    frame = pd.DataFrame(rows, columns=names)
    frame.to_csv("keys.csv", index=False)
    frame.to_parquet("keys.parquet", index=False)
    frame.rename(columns={"score": "grade"}).to_csv("graded.csv", index=False)
    columns = {"query": "day,segment,query_id"}
    expected = {"2026-11-01/de/q1": 1.0, "2026-11-01/fr/q1": 1.0, "2026-11-02/de/q1": 1.0}
    for run in ("keys.csv", "keys.parquet", frame, "sql:FROM 'keys.csv'"):
        scores = gf.evaluate("graded.csv", run, "nDCG", columns=columns)
        assert {
            query: found["nDCG"] for query, found in scores.per_query.to_dict().items()
        } == expected
    done = cli(
        "evaluate", "graded.csv", "keys.csv", "--columns", "query=day,segment,query_id,doc=doc"
    )
    assert done.returncode == 0
    with pytest.raises(gf.errors.InputError, match="expected the column 'day,segments' for query"):
        gf.evaluate("graded.csv", "keys.csv", "nDCG", columns={"query": "day,segments"})
    frame.assign(segment="a/b").to_csv("slashes.csv", index=False)
    with pytest.raises(gf.errors.InputError, match="column 'segment': expected values without '/'"):
        gf.evaluate("graded.csv", "slashes.csv", "nDCG", columns=columns)


KEYED = [("2026-11-01", "de", "q1"), ("2026-11-01", "fr", "q1"), ("2026-11-02", "de", "q1")]
PARTS = ["day", "segment", "query_id"]
JOINED = ["/".join(key) for key in KEYED]


def table_of(columns, rows, form, name):
    """A table with keys of several columns: in front of other cells, in a form that people use."""
    frame = pd.DataFrame([(*key, *row) for key, row in rows], columns=[*PARTS, *columns])
    path = f"{name}.{form}"
    match form:
        case "csv":
            frame.to_csv(path, index=False)
        case "parquet":
            frame.to_parquet(path, index=False)
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)
        case "frame":
            return frame
        case "records":
            return frame.to_dict("records")
    return path


FORMS = ("csv", "parquet", "jsonl", "frame", "records")
# Each table that accompanies judgments and runs: its columns besides the key, its rows, and a value to check.
BESIDES = {
    "slices": (["kind"], [("x",), ("y",), ("x",)], lambda scores: {s.value for s in scores.slices if s.column == "kind"} == {"x", "y"}),
    "weights": (["traffic"], [(3.0,), (0.0,), (0.0,)], lambda scores: scores["nDCG"] == 1.0),
    "clusters": (["user"], [("u",), ("u",), ("v",)], lambda scores: scores.sample is not None),
    "confidence": (["confidence"], [(0.9,), (0.5,), (0.1,)], lambda scores: scores["nAUC(nDCG)"] is not None),
    "sessions": (["session"], [("s1",), ("s1",), ("s2",)], lambda scores: len(scores.per_query) == 2),
    "nuggets": (["nugget", "doc", "support"], [("n", "a", "support"), ("n", "b", "support"), ("n", "b", "support")], lambda scores: scores["NuggetRecall@5"] == 1.0),
    "abstentions": (["doc", "probability"], [("a", 0.5), ("b", 0.5), ("b", 0.5)], lambda scores: scores["UDCG@5"] > 0),
    "subtopics": (["subtopic", "doc", "grade"], [("s", "a", 1), ("s", "b", 1), ("s", "b", 1)], lambda scores: scores["alpha_nDCG@5"] == 1.0),
}  # fmt: skip
MEASURES_OF = {
    "confidence": "nAUC(nDCG)", "sessions": "session_nDCG", "nuggets": "NuggetRecall@5", "abstentions": "UDCG@5",
    "subtopics": "alpha_nDCG@5",
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *(("slices", form) for form in FORMS),
        *((kind, "csv") for kind in BESIDES if kind != "slices"),
    ],
)
def test_tables_beside_judgments_have_keys_of_several_columns(tmp_path, monkeypatch, kind, form):
    monkeypatch.chdir(tmp_path)
    graded = [*zip(KEYED, [("a", 1), ("a", 1), ("b", 1)], strict=True)]
    ranked = [*zip(KEYED, [("a", 2.0), ("b", 2.0), ("b", 2.0)], strict=True)]
    judgments = table_of(["doc", "grade"], graded, form, "judgments")
    run = table_of(["doc", "score"], ranked, form, "run")
    columns, cells, is_right = BESIDES[kind]
    table = table_of(columns, [*zip(KEYED, cells, strict=True)], form, kind)
    measure = MEASURES_OF.get(kind, "nDCG")
    how = {"columns": {"query": "day, segment,query_id"}, kind: table}
    scores = gf.evaluate(judgments, run, measure, **how)
    assert is_right(scores)
    if kind != "sessions":
        assert {*scores.per_query.to_dict()} == {*JOINED}
    if kind == "subtopics":  # judgments, whose columns are named
        return
    # A table whose keys are joined already is read as well.
    joined = pd.DataFrame(
        [(key, *row) for key, row in zip(JOINED, cells, strict=True)], columns=["query", *columns]
    )
    assert gf.evaluate(judgments, run, measure, **how | {kind: joined}).means == scores.means


def test_slices_leave_out_the_part_of_a_key_that_is_called_like_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graded = table_of(["doc", "grade"], [(key, ("a", 1)) for key in KEYED], "csv", "graded")
    ranked = table_of(["doc", "score"], [(key, ("a", 1)) for key in KEYED], "csv", "ranked")
    slices = table_of(
        ["kind"], [(key, (kind,)) for key, kind in zip(KEYED, "xyx", strict=True)], "csv", "slices"
    )
    for columns in (
        {"query": "day,segment,query_id"},
        {"query": "day,segment,query_id", "slices.query": "day,segment,query_id"},
    ):
        scores = gf.evaluate(graded, ranked, "nDCG", columns=columns, slices=slices)
        assert {one.column for one in scores.slices} == {"day", "segment", "kind"}


def test_documents_and_items_have_keys_of_several_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = {"doc": "shop,sku"}
    graded = pd.DataFrame(
        {"query": ["q", "q"], "shop": ["s", "t"], "sku": ["1", "1"], "grade": [1, 0]}
    )
    ranked = graded.rename(columns={"grade": "score"})
    lengths = graded[["shop", "sku"]].assign(words=[100, 400])
    graded.to_csv("graded.csv", index=False)
    ranked.to_csv("ranked.csv", index=False)
    lengths.to_csv("lengths.csv", index=False)
    joined = {"s/1": {"words": 100}, "t/1": {"words": 400}}
    values = [
        gf.evaluate("graded.csv", "ranked.csv", "TBG", columns=columns, lengths=given)["TBG"]
        for given in ("lengths.csv", joined)
    ]
    assert values[0] == values[1] > 0
    graded[["shop", "sku"]].assign(genre=["x", "y"]).to_csv("items.csv", index=False)
    diversity = [
        gf.recommending.evaluate_recommendations(
            "ranked.csv", "ILD(by=genre)@2", items=given, columns=columns
        )["ILD(by=genre)@2"]
        for given in ("items.csv", {"s/1": {"genre": "x"}, "t/1": {"genre": "y"}})
    ]
    assert diversity == [1.0, 1.0]
    page = gf.report(
        "graded.csv", {"one": "ranked.csv"}, "nDCG@5", columns=columns,
        docs=graded[["shop", "sku"]].assign(title=["the first text", "another"]),
    ).to_html()  # fmt: skip
    assert page
    evidence = graded[["query", "shop", "sku"]].assign(start=0, end=5)
    chunks = ranked.assign(start=[0, 3], end=[5, 9])
    scores = gf.evaluate(
        evidence, chunks, "evidence_recall@2", columns=columns, offsets="characters"
    )
    assert scores["evidence_recall@2"] > 0


def test_clicks_have_keys_of_several_columns(tmp_path, monkeypatch, cli):
    monkeypatch.chdir(tmp_path)
    log = [
        (key, (f"s{number}", doc, rank, int(rank == number % 2)))
        for number in range(6)
        for key in KEYED[:2]
        for rank, doc in enumerate("ab")
    ]
    names = ["session", "doc", "position", "clicked"]
    for form in FORMS:
        given = table_of(names, log, form, "log")
        read = gf.behaviour.read_log(given, columns={"query": "day,segment,query_id"})
        assert {*gf.behaviour.click_judgments(read)} == {*JOINED[:2]}
    done = cli("clicks", "log.csv", "--columns", "query=day,segment,query_id", "-f", "csv")
    assert done.returncode == 0, done.stderr
    assert {line.split(",")[0] for line in done.stdout.splitlines()[1:]} == {*JOINED[:2]}


def test_strata_and_texts_have_keys_of_several_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(("2026", f"s{n % 2}", str(n)), ("a", 1)) for n in range(12)]
    graded = table_of(["doc", "grade"], rows, "csv", "graded")
    strata = table_of(["part"], [(key, (key[1],)) for key, _ in rows], "csv", "strata")
    columns = {"query": "day,segment,query_id"}
    design = gf.judging.sample_queries(graded, 4, strata=strata, by="part", columns=columns)
    assert {stratum.name for stratum in design.strata} == {"s0", "s1"}
    assert all(query.count("/") == 2 for query in design.queries)


def test_keys_of_several_columns_on_standard_input(tmp_path):
    table_of(["doc", "grade"], [(key, ("a", 1)) for key in KEYED], "csv", tmp_path / "graded")
    run = "day;segment;query_id;doc;score\n" + "".join(f"{';'.join(key)};a;1.5\n" for key in KEYED)
    done = subprocess.run(
        [
            sys.executable, "-m", "gainful", "evaluate", tmp_path / "graded.csv", "-", "-m", "RR", "-f", "csv",
            "--columns", "query=day,segment,query_id",
        ],
        input=run.encode(), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.decode().splitlines()[1].endswith(",1.0")


def test_addresses_on_the_command_line(folder, cli):
    done = cli(
        "evaluate", "sql:SELECT query, doc, 1 AS grade FROM 'run.csv'", "one=wh.duckdb::bm25",
        "sql:SELECT * FROM 'run.csv' WHERE score = 3", "-m", "nDCG", "-f", "csv",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("one,1.0")
    assert done.stdout.splitlines()[2].startswith("sql,")
