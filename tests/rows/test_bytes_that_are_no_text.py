"""Bytes that are no UTF-8: a column that is not used does no harm, one that is used is named by its line."""

import pytest

import gainful as gf

JUDGMENTS = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
BAD = b"caf\xe9"
ROWS = [(b"q1", b"a", b"2"), (b"q1", b"b", b"1"), (b"q2", b"c", b"3")]
VALUE = gf.evaluate(JUDGMENTS, {"q1": {"a": 2, "b": 1}, "q2": {"c": 3}}, "nDCG").means
FEW, MANY = 3, 25_000  # the latter are more than those of a small table
TREC = (b"query", b"Q0", b"doc", b"rank", b"score", b"tag")
TABLES = {"csv": b",", "tsv": b"\t", "trec": b" "}


def file_of(folder, form, column, count, place=1):
    """A run with odd bytes in a row of a column, which may be one of the three that are used."""
    names = TREC if form == "trec" else tuple(dict.fromkeys((b"query", b"doc", b"score", column)))
    rows = ROWS + [(b"z%d" % number, b"d", b"1") for number in range(count - len(ROWS))]
    lines = [] if form == "trec" else [TABLES[form].join(names)]
    for number, row in enumerate(rows):
        cells = {
            **dict.fromkeys(names, b"1"),
            **dict(zip((b"query", b"doc", b"score"), row, strict=True)),
        }
        if number == place:
            cells[column] = BAD
        lines.append(TABLES[form].join(cells[name] for name in names))
    path = folder / f"run.{'txt' if form == 'trec' else form}"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


@pytest.mark.parametrize(
    ("form", "column", "count"),
    [(form, column, FEW) for form in ("csv", "tsv") for column in (b"rank", b"text", b"iteration")]
    + [("trec", column, FEW) for column in (b"Q0", b"rank", b"tag")]
    + [("csv", b"rank", MANY), ("trec", b"tag", MANY)],
)
def test_a_column_that_is_not_used(tmp_path, form, column, count):
    path = file_of(tmp_path, form, column, count)
    assert gf.evaluate(JUDGMENTS, path, "nDCG").means == VALUE
    assert gf.check(JUDGMENTS, {"run": path}).counts["error"] == 0
    gf.write_run(path, tmp_path / "again.csv")
    assert gf.evaluate(JUDGMENTS, tmp_path / "again.csv", "nDCG").means == VALUE
    fused = gf.fuse({"one": path, "two": path})
    assert gf.evaluate(JUDGMENTS, dict(fused), "nDCG").means == VALUE


@pytest.mark.parametrize(
    ("form", "column", "count"),
    [(form, column, FEW) for form in TABLES for column in (b"query", b"doc", b"score")]
    + [("csv", b"doc", MANY), ("trec", b"score", MANY)],
)
def test_a_column_that_is_used(tmp_path, form, column, count):
    path = file_of(tmp_path, form, column, count)
    line = 2 if form == "trec" else 3
    for read in (
        lambda: gf.evaluate(JUDGMENTS, path, "nDCG"),
        lambda: gf.write_run(path, tmp_path / "again.csv"),
        lambda: gf.fuse({"one": path, "two": path}),
    ):
        with pytest.raises(gf.errors.InputError, match=f"run.*:{line}: expected") as problem:
            read()
        assert "caf" in str(problem.value)
    findings = gf.check(JUDGMENTS, {"run": path})
    assert findings.counts["error"] > 0
