"""The numbers of an Arrow stream, in blocks."""

import duckdb
import numpy as np
import pytest

from gainful.rows.arrow_numbers import StreamError, blocks_of_numbers


def stream(sql):
    connection = duckdb.connect()
    return lambda: connection.sql(sql).__arrow_c_stream__()


@pytest.mark.parametrize("size", [1, 7, 1000, 200_000, 1_000_000])
def test_blocks_contain_the_rows_in_order(size):
    sql = "SELECT range AS a, CAST(range % 100 AS TINYINT) AS b, CAST(range / 2 AS FLOAT) AS c FROM range(300_000)"
    sql = sql if size > 100 else sql.replace("300_000", "30")
    blocks = list(blocks_of_numbers(stream(sql), size))
    rows = 300_000 if size > 100 else 30
    assert [len(block["a"]) for block in blocks] == [
        min(size, rows - start) for start in range(0, rows, size)
    ]
    whole = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    assert [column.dtype for column in whole.values()] == [np.int64, np.int8, np.float32]
    assert whole["a"].tolist() == list(range(rows))
    assert whole["b"].tolist() == [number % 100 for number in range(rows)]
    assert whole["c"].tolist() == [number / 2 for number in range(rows)]


def test_no_rows_are_no_blocks():
    assert list(blocks_of_numbers(stream("SELECT range AS a FROM range(0)"), 10)) == []


def test_missing_values_and_errors_of_the_engine_are_raised():
    with pytest.raises(StreamError, match="a missing value"):
        list(blocks_of_numbers(stream("SELECT nullif(range, 3) AS a FROM range(9)"), 10))
    late = "SELECT CASE WHEN range < 200000 THEN range ELSE error('too late') END AS a FROM range(300000)"
    with pytest.raises((StreamError, duckdb.Error), match="too late"):
        list(blocks_of_numbers(stream(late), 10))
