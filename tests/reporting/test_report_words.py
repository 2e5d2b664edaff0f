"""What a report says besides its numbers: what is undefined, what is counted, what it is called."""

import warnings
from pathlib import Path

import pytest

import gainful as gf

COOKING = Path(__file__).parents[2] / "examples" / "cooking"
JUDGMENTS = COOKING / "judgments.qrels"
RUNS = {name: COOKING / f"{name}.run" for name in ("keyword", "hybrid")}
EMPTY = {"q": {"a": 1}, "none": {"b": 0}}
ONE, TWO = {"q": {"a": 1}, "none": {"b": 1}}, {"q": {"b": 2, "a": 1}, "none": {"b": 1}}


def payload_of(*arguments, **options):
    return gf.report(*arguments, **options).payload()


def test_an_undefined_mean_is_explained_and_not_drawn():
    payload = payload_of(JUDGMENTS, RUNS, policy=gf.Policy(empty="nan"))
    assert [run["means"] for run in payload["runs"]] == [[None], [None]]
    (note,) = payload["means"]
    assert note == (
        "nDCG@10 of keyword, hybrid: 1 of 24 queries has no value, and policy empty=nan leaves the "
        "mean undefined (–). Marks and verdicts are over the queries that both runs have a value for."
    )
    assert payload["curve"]["rows"] == []
    assert payload["curve"]["why"] == (
        "Left out, as the mean is undefined (policy empty=nan): keyword, hybrid."
    )


def test_a_mean_that_is_not_over_all_queries_says_so():
    payload = payload_of(JUDGMENTS, RUNS, policy=gf.Policy(missing="skip"))
    assert payload["means"] == [
        "nDCG@10 of keyword: 1 of 24 queries has no value; the mean is over the others."
    ]
    assert payload["curve"]["why"] is None
    assert len(payload["curve"]["rows"]) == 40


def test_means_over_all_queries_need_no_word():
    assert payload_of(JUDGMENTS, RUNS)["means"] == []
    assert payload_of(EMPTY, {"one": ONE}, policy=gf.Policy(empty="zero"))["means"] == []


def test_two_shares_of_unjudged_documents_are_told_apart():
    coverage = payload_of(JUDGMENTS, RUNS)["coverage"]
    assert coverage["rows"][0][8:10] == [230, 89]
    assert not [note for note in coverage["notes"] if note.startswith("Unjudged")]
    notes = payload_of(JUDGMENTS, RUNS, ["nDCG@10", "P@20"])["coverage"]["notes"]
    (note,) = [note for note in notes if note.startswith("Unjudged")]
    assert note.startswith("Unjudged among all examined documents (down to rank 20): keyword ")
    assert note.endswith("; the columns count only ranks 1 to 10.")
    counts = gf.evaluate(JUDGMENTS, RUNS["keyword"], "P@20").coverage
    assert f"keyword {counts.unjudged} of {counts.seen} ({counts.unjudged_share:.1%})" in note
    deeper = payload_of(JUDGMENTS, RUNS, ["nDCG@10", "AP"])["coverage"]["notes"]
    (note,) = [note for note in deeper if note.startswith("Unjudged")]
    assert "(all ranks): keyword " in note
    assert ", hybrid " in note
    counts = gf.evaluate(JUDGMENTS, RUNS["hybrid"], "AP").coverage
    assert f"hybrid {counts.unjudged} of {counts.seen} ({counts.unjudged_share:.1%})" in note


def test_one_share_of_unjudged_documents_needs_no_word():
    notes = payload_of(EMPTY, {"one": ONE, "two": TWO})["coverage"]["notes"]
    assert not any(note.startswith("Unjudged") for note in notes)


def test_slices_have_the_notes_of_their_table():
    by = {query: {"half": "ab"[place % 2]} for place, query in enumerate(_judged())}
    slices = payload_of(JUDGMENTS, RUNS, slices=by)["slices"]
    assert slices["notes"] == [
        "p corrected over 2 comparisons of slices (holm)",
        "all 2 intervals hold simultaneously at 95%: each is a 97.5% interval",
    ]
    found = gf.compare(JUDGMENTS, RUNS, slices=by).slices_table()
    assert slices["notes"] == list(found.notes)


def _judged():
    return sorted({line.split()[0] for line in JUDGMENTS.read_text().splitlines()})


def test_columns_that_count_have_no_decimals():
    coverage = payload_of({"q": {"a": 1}}, {"one": {"q": {"a": 1}}})["coverage"]
    digits = dict(zip(coverage["columns"], coverage["digits"], strict=True))
    assert coverage["rows"][0][-1] == 1.0
    assert {name for name, number in digits.items() if number == 4} == {
        "share unjudged@10", "nDCG@10 at least", "nDCG@10 at most",
    }  # fmt: skip
    assert set(digits.values()) == {0, 4}


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": 1.0}},
        {"q": {"a": 1, "b": 2}, "r": {}},
        {"q": {"a": True}},
    ],
)
def test_a_run_without_a_name_is_told(run):
    message = r"^runs: expected \{name: run\}, .* found one run \{query: \{doc: score\}\}\. Give it a name"
    with pytest.raises(gf.errors.InputError, match=message):
        gf.report({"q": {"a": 1}}, run)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        ("a.run", r"^a\.run: expected a file"),
        (Path("a.run"), r"^a\.run: expected a file"),
        ([], r"^runs: expected a dict \{name: run\}"),
        (None, r"^runs: expected a dict \{name: run\}"),
    ],
)
def test_runs_that_are_no_dict_are_told(run, said):
    with pytest.raises(gf.errors.InputError, match=said):
        gf.report({"q": {"a": 1}}, run)


@pytest.mark.parametrize(
    ("names", "title"),
    [
        (["one"], "one"),
        (["one", "two", "three"], "one, two, three"),
        (["one", "two", "three", "four"], "3 runs against one"),
        (["a" * 40, "b" * 40], f"1 run against {'a' * 40}"),
        (["a" * 90], "a" * 90),
    ],
)
def test_the_title(names, title):
    runs = dict.fromkeys(names, ONE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gf.errors.GainfulWarning)
        assert payload_of(EMPTY, runs)["title"] == title
        assert payload_of(EMPTY, runs, title="mine")["title"] == "mine"


@pytest.mark.parametrize("name", ["x.pdf", "x.PNG", "x.svg", "x.csv", "x.json", "x.html.gz"])
def test_other_formats_are_refused(name, tmp_path):
    page = gf.report(EMPTY, {"one": ONE})
    for write in (page.write, gf.results.Report.check_path):
        with pytest.raises(gf.errors.InputError, match=r"a name that ends in \.html"):
            write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_path_is_checked_without_a_trace(tmp_path):
    kept = tmp_path / "page.html"
    kept.write_text("before")
    for path in (kept, tmp_path / "new.html", tmp_path / "page", "-", "/dev/null"):
        gf.results.Report.check_path(path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("page.html", "before")
    ]
    for path in (tmp_path, tmp_path / "no" / "such.html", kept / "under.html"):
        with pytest.raises(gf.errors.InputError, match="a file that can be written"):
            gf.results.Report.check_path(path)
