"""The evidence of a query in a report: the text around it, and the chunks that contain it."""

import gainful as gf

TEXT = "Staff have 25 days of leave. Unused days expire in March. Ask your manager."
JUDGED = {"How many days?": ["25 days of leave", "Unused days expire in March"]}
SMALL = {"How many days?": [("leave.md", 20, 40), ("leave.md", 0, 20)]}
LARGE = {"How many days?": [("leave.md", 0, 60)]}


def evidence_of(runs, **options):
    page = gf.report(JUDGED, runs, ["evidence_recall@1"], documents={"leave.md": TEXT}, **options)
    return page, page.payload()["details"]["0"]["evidence"]


def test_passages_with_the_chunks_that_contain_them():
    _, evidence = evidence_of({"small": SMALL, "large": LARGE}, offsets="characters", depth=2)
    assert evidence["unit"] == "characters"
    days, expire = evidence["passages"]
    assert (days["doc"], days["start"], days["end"]) == ("leave.md", 11, 27)
    assert (days["before"], days["after"]) == ("Staff have ", TEXT[27:107])
    assert days["runs"] == [
        [["25 days o", 11, 20, 2, 0, 20], ["f leave", 20, 27, 1, 20, 40]],
        [["25 days of leave", 11, 27, 1, 0, 60]],
    ]
    assert expire["runs"][0] == [
        ["Unused days", 29, 40, 1, 20, 40],
        [" expire in March", 40, 56, None, None, None],
    ]


def test_bytes_and_groups_and_the_page():
    page, evidence = evidence_of({"large": LARGE}, offsets="bytes", depth=1)
    assert [passage["group"] for passage in evidence["passages"]] == [None, None]
    assert "rank ${rank}" in page.to_html()
    # `gainful explain --swap` rejects measures of evidence, so the page doesn't suggest it.
    assert page.payload()["what_if"] == {
        "why": "evidence_recall@1 needs evidence", "explained": False,
    }  # fmt: skip
    either = gf.report(
        {"q": [["25 days", "March"]]}, {"run": {"q": [("leave.md", 0, 9)]}}, "evidence_groups@1",
        documents={"leave.md": TEXT}, offsets="characters",
    ).payload()["details"]["0"]["evidence"]  # fmt: skip
    assert [passage["group"] for passage in either["passages"]] == [1, 1]


def test_without_texts_only_offsets_are_shown():
    judged, run = {"q": [("d", 0, 9)]}, {"q": [("d", 3, 9)]}
    page = gf.report(judged, {"run": run}, "evidence_recall@1", offsets="tokens")
    (passage,) = page.payload()["details"]["0"]["evidence"]["passages"]
    assert passage["runs"] == [[[None, 0, 3, None, None, None], [None, 3, 9, 1, 3, 9]]]
    assert (
        "evidence" not in gf.report({"q": {"a": 1}}, {"r": {"q": ["a"]}}).payload()["details"]["0"]
    )


def test_the_number_of_passages_that_are_not_shown_is_known():
    judged = {"q": [("d", 10 * at, 10 * at + 5) for at in range(30)]}
    run = {"q": [("d", 0, 400)]}
    page = gf.report(judged, {"run": run}, "evidence_recall@1", offsets="characters")
    evidence = page.payload()["details"]["0"]["evidence"]
    assert (len(evidence["passages"]), evidence["of"]) == (20, 30)
