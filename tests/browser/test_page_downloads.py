"""Downloads: the files hold the data, every digit and every character of it."""

import csv
import json

import pytest


def download(page, table, kind):
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Download {table} as {kind}").click()
    return waiting.value


def rows_of(case, table):
    """Return the table as the payload has it."""
    payload, names = case.payload, case.names
    measures, scores = payload["measures"], payload["scores"]
    if table == "scores":
        head = ["run", "query", *measures]
        rows = [
            [name, query, *(scores[m][r][q] for m in range(len(measures)))]
            for r, name in enumerate(names)
            for q, query in enumerate(case.queries)
        ]
        return head, rows
    if table == "runs":
        head = ["run", "measure", "mean", "mark", "best", "signature"]
        rows = [
            [run["name"], m, *(run[key][p] for key in ("means", "marks", "best", "signatures"))]
            for run in payload["runs"]
            for p, m in enumerate(measures)
        ]
        return head, rows
    if table == "differences":
        head = ["measure", "baseline", "run", "query", "baseline_score", "run_score", "difference"]
        rows = [
            [m, names[0], names[r], query, a := scores[p][0][q], b := scores[p][r][q], b - a]
            for p, m in enumerate(measures)
            for r in range(1, len(names))
            for q, query in enumerate(case.queries)
        ]
        return head, rows
    if table == "verdicts":
        verdicts = payload["verdicts"]
        return None, verdicts
    return payload["coverage"]["columns"], payload["coverage"]["rows"]


def as_text(cell):
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else cell


def same(cell, text):
    """Say whether a cell of a CSV file is the value, a number to its last digit."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return float(text) == cell
    return text == as_text(cell)


@pytest.mark.parametrize("name", ["cooking", "hostile"])
def test_csv_files_equal_the_data(opened, reports, name):
    page, case = opened(name), reports(name)
    for table in ("scores", "runs", "differences", "coverage"):
        file = download(page, table, "CSV")
        assert file.suggested_filename.endswith(f"-{table}.csv")
        with file.path().open(encoding="utf-8", newline="") as lines:
            head, *rows = csv.reader(lines, strict=True)
        wanted_head, wanted = rows_of(case, table)
        assert head == wanted_head
        assert len(rows) == len(wanted)
        for row, cells in zip(rows, wanted, strict=True):
            assert all(same(cell, text) for cell, text in zip(cells, row, strict=True)), row


def test_lines_end_as_the_standard_says(opened):
    page = opened("cooking")
    content = download(page, "scores", "CSV").path().read_bytes()
    assert content.count(b"\r\n") == content.count(b"\n") == 1 + 3 * 24


@pytest.mark.parametrize("name", ["cooking", "hostile"])
def test_json_files_equal_the_data(opened, reports, name):
    page, case = opened(name), reports(name)
    for table in ("scores", "runs", "differences", "coverage", "verdicts"):
        found = json.loads(download(page, table, "JSON").path().read_text("utf-8"))
        head, rows = rows_of(case, table)
        wanted = rows if head is None else [dict(zip(head, row, strict=True)) for row in rows]
        assert found == wanted
