"""Folders of Delta Lake, Iceberg and Hudi hold deleted rows, too: without their readers, they are rejected wherever a path is taken."""

import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
TABLES = {
    "Delta Lake": ("_delta_log/00000000000000000000.json", "deltalake", "delta"),
    "Iceberg": ("metadata/00001-1f2e.metadata.json", "pyiceberg", "iceberg"),
    "Hudi": (".hoodie/hoodie.properties", "hudi", "hudi"),
}
WITHIN = {"Delta Lake": ".", "Iceberg": "data", "Hudi": "day=1"}
PLACES = ("table", "folder inside", "file", "pattern", "pattern of folders")


@pytest.fixture(params=TABLES)
def lake(request, tmp_path, monkeypatch):
    """A folder of one of the formats, whose reader isn't installed, named in several ways."""
    for reader in ("deltalake", "pyiceberg.table", "hudi"):
        monkeypatch.setitem(sys.modules, reader, None)
    marker, package, on_spark = TABLES[request.param]
    root = tmp_path / "lake" / "table"
    inside = root / WITHIN[request.param] / "locale=de"
    inside.mkdir(parents=True)
    (root / marker).parent.mkdir()
    (root / marker).write_text("{}")
    rows = {"query": ["q1", "q2"], "doc": ["a", "b"], "score": [1.0, 1.0], "slice": ["x", "y"]}
    pq.write_table(pa.table(rows), inside / "part-0.parquet")
    names = {
        "table": root,
        "folder inside": inside,
        "file": inside / "part-0.parquet",
        "pattern": inside / "*.parquet",
        "pattern of folders": root / "**" / "*.parquet",
    }
    advice = (
        f"Pass the folder {root}, after installing its reader: pip install {package}. "
        f"On Spark, pass spark.read.format({on_spark!r}).load({str(root)!r})."
    )
    return {place: str(path) for place, path in names.items()}, f"{request.param} table", advice


USES = {
    "judgments": lambda path: gf.evaluate(path, RUN, "nDCG"),
    "run": lambda path: gf.evaluate(JUDGMENTS, path, "nDCG"),
    "runs": lambda path: gf.evaluate_runs(JUDGMENTS, [path], "nDCG"),
    "compare": lambda path: gf.compare(JUDGMENTS, {"one": RUN, "two": path}, "nDCG"),
    "check": lambda path: gf.check(JUDGMENTS, {"run": path}),
    "check judgments": lambda path: gf.check(path, {"run": RUN}),
    "slices": lambda path: gf.evaluate(JUDGMENTS, RUN, "nDCG", slices=path),
    "write_run": lambda path: gf.write_run(path, "never.run"),
    "fuse": lambda path: gf.fuse([path, RUN]),
    "Spark": lambda path: gf.evaluate(JUDGMENTS, path, "nDCG", engine=gf.Spark()),
    "assessors": lambda path: gf.judging.merge_judgments(path),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("use", USES)
def test_python(lake, use, place):
    paths, table, advice = lake
    with pytest.raises(gf.errors.InputError) as problem:
        USES[use](paths[place])
    assert table in str(problem.value)
    assert advice in str(problem.value)


@pytest.mark.parametrize("place", PLACES)
def test_commands(lake, place, tmp_path, cli):
    paths, table, advice = lake
    (tmp_path / "judgments.qrels").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "one.run").write_text("q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")
    judgments, run, path = (
        str(tmp_path / "judgments.qrels"),
        str(tmp_path / "one.run"),
        paths[place],
    )
    for words in (
        ("evaluate", judgments, path), ("evaluate", path, run), ("compare", judgments, run, path),
        ("check", judgments, path), ("evaluate", judgments, run, "--slices", path),
    ):  # fmt: skip
        done = cli(*words)
        assert done.returncode == 2, (words, done.stderr)
        assert table in done.stderr
        assert advice in done.stderr


def test_folders_without_a_log_are_read_as_before(tmp_path):
    (tmp_path / "table" / "metadata").mkdir(parents=True)
    (tmp_path / "table" / "metadata" / "about.json").write_text("{}")
    rows = {"query": ["q1", "q2"], "doc": ["a", "b"], "score": [1.0, 1.0]}
    pq.write_table(pa.table(rows), tmp_path / "table" / "part-0.parquet")
    assert gf.evaluate(JUDGMENTS, tmp_path / "table", "nDCG")["nDCG"] == 1.0


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_table_is_an_error(tmp_path, table):
    marker = tmp_path / "lake" / TABLES[table][0]
    marker.parent.mkdir(parents=True)
    marker.write_text("{")
    with pytest.raises(gf.errors.InputError, match="expected a table that its reader can read"):
        gf.evaluate(JUDGMENTS, tmp_path / "lake", "nDCG")
