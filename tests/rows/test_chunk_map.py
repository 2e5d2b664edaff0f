"""`read_chunk_map`: a chunk and its document on each line."""

import gzip
import sys

import pytest

import gainful as gf

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

TEXT = "\ufeffc1 d1\r\n\n c2\t\td1 \nc1 d1\nc\u00a03 d\u20283\n"
FOUND = {"c1": "d1", "c2": "d1", "c\u00a03": "d\u20283"}


def test_white_space_is_that_of_trec_files(files):
    assert gf.inputs.read_chunk_map(files("map", TEXT)) == FOUND
    assert gf.inputs.read_chunk_map(str(files("map", TEXT.strip()))) == FOUND


def test_packed_files(files):
    for name, pack in (("map.gz", gzip.compress), ("map", zstd.compress)):
        assert gf.inputs.read_chunk_map(files(name, pack(TEXT.encode()))) == FOUND


def test_it_says_which_document_a_chunk_belongs_to(files):
    chunks = gf.inputs.read_chunk_map(files("map", "a d\nb d\nx x\n"))
    run = {"q": {"a": 0.1, "x": 0.5, "b": 0.9}}
    policy = gf.Policy(fold="max")
    assert gf.evaluate({"q": {"d": 1}}, run, "nDCG", policy=policy, chunks=chunks)["nDCG"] == 1.0


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "{}: expected a chunk and its document on each line, found an empty file."),
        (b" \n\n", "{}: expected a chunk and its document on each line, found an empty file."),
        (
            b"a b\na b c\n",
            "{}:2: expected 2 fields (chunk document), found 3: 'a b c'. Write these fields",
        ),
        (
            b"a b\n\na c\n",
            "{}:3: expected each chunk once, found 'a' again, with another document. Remove",
        ),
        (b"a b\n\xe9 c\n", "{}:2: expected UTF-8 text, found "),
        (b"\xff\xfea\0", "{}: expected UTF-8 text, found UTF-16. Convert"),
    ],
)
def test_what_is_none(files, content, told):
    path = files("map", content)
    with pytest.raises(gf.errors.InputError) as caught:
        gf.inputs.read_chunk_map(path)
    assert str(caught.value).startswith(told.format(path))
    assert caught.value.remedy
