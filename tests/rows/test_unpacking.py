"""Packed files are unpacked under a limit, which can be raised, and the progress is told."""

import gzip
import random

import pytest

import gainful as gf
from gainful.rows import files as reading
from gainful.rows.duckdb_engine import Engine, Session, bytes_of
from gainful.rows.files import plain_file
from gainful.rows.side_table_columns import QUERIES
from gainful.rows.side_table_reader import read_table
from input_forms import zstd

PACKINGS = {"gz": gzip.compress, "zst": zstd.compress}
BOMB = b"q Q0 a 1 1 t\n" + b" \n" * 200_000
MIXED = random.Random(20).randbytes(20_000).hex().encode()  # noqa: S311


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Limits that short files reach."""
    monkeypatch.setattr(reading, "_FREELY", 10_000)
    monkeypatch.setattr(reading, "_CHUNK", 1000)


def unpacked(path, **engine):
    """The length of what is unpacked, and the shares that were told on the way."""
    shares = []
    with Session(Engine(**engine), lambda share, _: shares.append(share)) as session:
        return plain_file(str(path), session).path.stat().st_size, shares


@pytest.mark.parametrize("ending", PACKINGS)
def test_what_is_packed_too_well_is_refused(ending, files, tmp_path):
    packed = PACKINGS[ending](BOMB)
    assert len(BOMB) > 200 * len(packed) + 10_000
    path = files(f"run.{ending}", packed)
    told = (
        rf"run\.{ending}: expected at most .*B after decompression, found more, from .*--unpacked"
    )
    folder = tmp_path / "temporary"
    folder.mkdir()
    for read in (
        lambda: unpacked(path, folder=folder),
        lambda: gf.evaluate({"q": {"a": 1}}, path, engine=gf.Engine(folder=folder)),
        lambda: gf.evaluate(path, {"q": {"a": 1}}, engine=gf.Engine(folder=folder)),
        lambda: read_table(path, QUERIES, "scores"),
        lambda: gf.inputs.read_chunk_map(path),
    ):
        with pytest.raises(gf.errors.InputError, match=told):
            read()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", PACKINGS)
def test_the_limit_can_be_raised_and_lowered(ending, files):
    path = files(f"run.{ending}", PACKINGS[ending](BOMB))
    assert unpacked(path, unpacked="1MB")[0] == len(BOMB)
    engine = gf.Engine(unpacked="1MB")
    assert gf.evaluate({"q": {"a": 1}}, path, "nDCG", engine=engine)["nDCG"] == 1.0
    path = files(f"few.{ending}", PACKINGS[ending](MIXED))
    for size in (f"{len(MIXED)}B", "0.1MB", "1 GiB"):
        assert unpacked(path, unpacked=size)[0] == len(MIXED)
    for size, told in ((f"{len(MIXED) - 1}B", "kB"), ("10B", "10 B"), ("2KB", "2 kB")):
        with pytest.raises(gf.errors.InputError, match=f"at most .*{told} after"):
            unpacked(path, unpacked=size)


@pytest.mark.parametrize("ending", PACKINGS)
def test_what_is_packed_as_usual_is_unpacked(ending, files):
    """However large it is, and however small it is where it is packed well."""
    path = files(f"run.{ending}", PACKINGS[ending](MIXED))
    assert len(MIXED) > 10_000
    found, shares = unpacked(path)
    assert found == len(MIXED)
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] == 1
    assert unpacked(files(f"short.{ending}", PACKINGS[ending](BOMB[:9000])))[0] == 9000


@pytest.mark.parametrize(
    ("size", "count"),
    [("1B", 1), ("10KB", 10_000), ("1.5MB", 1_500_000), ("2 GiB", 2 << 30), ("1tb", 10**12)],
)
def test_sizes(size, count):
    assert bytes_of(size) == count
