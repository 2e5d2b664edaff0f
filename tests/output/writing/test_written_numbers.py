"""Numbers of every size read back bit for bit from what is written."""

import csv
import json
import random
import struct

import pytest

import gainful as gf


def numbers():
    """Powers of two, of which an engine writes some wrongly, and doubles of any bits."""
    rng = random.Random(4)  # noqa: S311
    drawn = [struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0] for _ in range(2000)]
    return [sign * 2.0**power for power in range(-1074, 1024) for sign in (1, -1)] + [
        number for number in drawn if abs(number) < float("inf")
    ]


def read(path):
    if path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        return {
            row["doc"]: next(float(row[name]) for name in ("score", "grade") if name in row)
            for row in rows
        }
    if path.suffix in (".csv", ".tsv"):
        lines = path.read_text().splitlines()
        rows = csv.DictReader(lines, delimiter="," if path.suffix == ".csv" else "\t")
        return {row["doc"]: float(row.get("score") or row["grade"]) for row in rows}
    lines = [line.split() for line in path.read_text().splitlines()]
    return {fields[2]: float(fields[4 if len(fields) == 6 else 3]) for fields in lines}


@pytest.mark.parametrize("ending", ["trec", "csv", "tsv", "jsonl"])
def test_scores_and_grades_of_any_size_read_back(ending, tmp_path):
    known = {f"d{place}": number for place, number in enumerate(numbers())}
    gf.write_run({"q": known}, tmp_path / f"run.{ending}")
    assert read(tmp_path / f"run.{ending}") == known
    gf.write_judgments({"q": known}, tmp_path / f"judged.{'qrels' if ending == 'trec' else ending}")
    assert read(tmp_path / f"judged.{'qrels' if ending == 'trec' else ending}") == known
