"""A table fits the screen, says its policy briefly there and in full in a file, and no p is 0."""

import json
import re

import pytest

import gainful as gf
from gainful.measures.policy import brief_policy
from gainful.output.rendering.table_formats import (
    Note,
    PValue,
    Signed,
    Table,
    as_csv,
    as_json,
    as_markdown,
    as_text,
)

QUERIES = [f"q{number:02}" for number in range(40)]
JUDGMENTS = {query: {"good": 2, "fair": 1, "bad": 0} for query in QUERIES}
GOOD = {query: {"good": 3.0, "fair": 2.0, "bad": 1.0} for query in QUERIES}
POOR = {
    query: {"good": 1.0 + (number % 3) / 10, "fair": 1.15, "bad": 3.0}
    for number, query in enumerate(QUERIES)
}
FULL = "policy: ties=doc unjudged=zero absent=zero negative=keep"
WIDE = Table(
    ["name", "kind", *(f"column {number}" for number in range(12))],
    [["first", "a", *(float(n) for n in range(12))], ["second", "a", *(n / 7 for n in range(12))]],
)


@pytest.fixture
def screen(monkeypatch):
    def set_to(columns):
        monkeypatch.setenv("COLUMNS", str(columns))

    monkeypatch.delenv("COLUMNS", raising=False)
    return set_to


@pytest.fixture
def pair(files):
    lines = [f"{q} 0 {d} {g}" for q, docs in JUDGMENTS.items() for d, g in docs.items()]
    paths = [files("judged.qrels", "\n".join(lines) + "\n")]
    for name, run in (("poor", POOR), ("good", GOOD)):
        rows = [f"{q} Q0 {d} 1 {s} t" for q, docs in run.items() for d, s in docs.items()]
        paths.append(files(f"{name}.run", "\n".join(rows) + "\n"))
    return paths


def widest(text):
    return max(map(len, text.splitlines()))


def test_a_table_that_fits_stands_as_it_is(screen):
    small = Table(["run", "nDCG@10"], [["a", 0.5]])
    assert as_text(small) == "run   nDCG@10\n─────────────\na      0.5000"


def test_a_wide_table_is_shown_in_parts_with_all_its_cells(screen):
    text = as_text(WIDE)
    assert widest(text) <= 80
    parts = text.split("\n\n")
    assert [part.split()[0] for part in parts] == ["name"] * len(parts)
    assert len(parts) > 1
    assert "kind" in parts[0]
    assert "kind" not in parts[1]  # the same in every row: said once
    for number in range(12):
        assert text.count(f"column {number} ") + text.count(f"column {number}\n") == 1
    shown = [cell for line in text.splitlines() for cell in re.findall(r"\d+\.\d{4}", line)]
    cells = [f"{cell:.4f}" for row in WIDE.rows for cell in row[2:]]
    assert sorted(shown) == sorted(cells)


def test_a_wider_terminal_is_used(screen):
    screen(400)
    assert len(as_text(WIDE).splitlines()) == 4
    screen(20)  # narrower than 80 is not asked for
    assert 70 < widest(as_text(WIDE)) <= 80
    for nonsense in ("", "-5", "x", "9" * 50):
        screen(nonsense)
        assert widest(as_text(WIDE)) <= 80


def test_prose_is_folded_in_its_column(screen):
    table = Table(["run", "found"], [["one", "word " * 30 + "end"], ["two", "short"]])
    lines = as_text(table).splitlines()
    assert widest("\n".join(lines)) <= 80
    assert lines[2].startswith("one  word")
    assert lines[3].startswith("     word")
    assert " ".join(lines[2:]).count("word") == 30


def test_notes_are_folded_and_a_word_is_never_cut(screen):
    long = "x" * 100
    table = Table(["a"], [["b"]], notes=["  deep " + "note " * 30, long], title="title " * 30)
    lines = as_text(table).splitlines()
    assert long in lines
    assert [line for line in lines if len(line) > 80] == [long]
    deep = [line for line in lines if "note" in line]
    assert deep[0].startswith("  deep note")
    assert all(line.startswith("    note") for line in deep[1:])


def test_wide_characters_count_twice(screen):
    from rich.cells import cell_len

    table = Table(["run", "text"], [["日本語 " * 3, "検索 の 評価 " * 12]])
    assert max(map(cell_len, as_text(table).splitlines())) <= 80


def test_a_p_value_is_never_0_for_people_and_exact_for_programs():
    table = Table(["p"], [[PValue(3e-9)], [PValue(0.00008)], [PValue(0.25)]])
    assert as_text(table).split()[2:] == ["<", "0.0001", "<", "0.0001", "0.2500"]
    assert "\\< 0.0001" in as_markdown(table)
    assert as_csv(table).split() == ["p", "3e-09", "8e-05", "0.25"]
    assert [row["p"] for row in json.loads(as_json(table))] == [3e-9, 0.00008, 0.25]
    assert "< 0.01" in as_text(Table(["p"], [[PValue(0.004)]], digits=2))


def test_a_comparison_says_p_below_the_last_digit():
    found = gf.compare(JUDGMENTS, {"poor": POOR, "good": GOOD}, ["nDCG@10", "P@1"])
    assert found.differences[0].p < 1e-6
    for text in (str(found), gf.writing.render(found.tests_table()), found.to_markdown()):
        assert "< 0.0001" in text
    assert "p < 0.0001" in found.verdicts[0]
    assert not re.search(r" 0\.0000 +\d", str(found).split("\n\n")[2])
    assert widest(str(found)) <= 80


LONG = "a_run_with_every_one_of_its_parameters_in_its_name_k1_0.9_b_0.4_rerank_{}"
BRIEF = ["run", "mean", "difference", "95%", "low", "95%", "high", "verdict"]


@pytest.mark.parametrize("pairs", ["baseline", "all"])
@pytest.mark.parametrize("measures", [["nDCG@10"], ["nDCG@10", "P@1"]])
@pytest.mark.parametrize("name", ["{}", LONG])
def test_a_comparison_is_its_verdicts_and_one_narrow_table(pairs, measures, name):
    runs = {name.format(run): docs for run, docs in (("poor", POOR), ("good", GOOD))}
    found = gf.compare(JUDGMENTS, runs, measures, pairs=pairs)
    text = str(found)
    assert text == gf.writing.render(found)
    said, table, notes = text.split("\n\n")
    assert " ".join(said.split()).startswith(f"{measures[0]}: {name.format('good')} is better")
    assert "policy: default" in notes
    assert widest(table) <= 80
    head, _, *rows = table.splitlines()
    assert len(rows) == len(measures) * (2 if pairs == "baseline" else 1)
    if pairs == "baseline" and name == "{}":
        assert head.split() == ["measure"] * (len(measures) > 1) + BRIEF
        assert [row.split()[-1] for row in rows] == ["baseline", "better"] * len(measures)
    else:
        assert {"difference", "verdict"} < {*head.split()}
    for hidden in ("effect", "settings", "resamples", "Holm", "moved"):
        assert hidden not in text
        assert hidden in gf.writing.render(found, verbose=True) or hidden == "Holm"
    everything = ["baseline mean", "effect", "wins", "queries", "p"]
    for whole in (found.table().columns, found.to_markdown().splitlines()[0], found.to_html()):
        assert all(column in whole for column in everything)


def test_slices_of_a_comparison_are_a_narrow_table_of_their_own():
    found = gf.compare(JUDGMENTS, {"poor": POOR, "good": GOOD}, by="baseline")
    table = str(found).split("Slices, worst first\n\n")[1].split("\n\n")[0]
    assert widest(table) <= 80
    assert table.splitlines()[0].split()[:3] == ["slice", "value", "run"]


def test_differences_have_a_sign_and_long_numbers_are_short_for_people():
    table = Table(["d", "x"], [[Signed(0.5), 1e20], [Signed(-2e-7), 123456789012.5], [None, 2.0]])
    assert as_text(table).split()[3:] == ["+0.5000", "1e+20", "-2e-07", "1.23457e+11", "2.0000"]
    assert as_csv(table).split()[1:] == ["0.5,1e+20", "-2e-07,123456789012.5", ",2.0"]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({}, "default"),
        ({"ties": "doc", "negative": "keep"}, "default"),
        ({"missing": "skip"}, "missing=skip, else default"),
        ({"unjudged": 1, "empty": "one"}, "unjudged=1 empty=one, else default"),
    ],
)
def test_a_policy_in_brief(policy, said):
    chosen = gf.Policy(**policy).resolved(ids=True)
    assert chosen.brief == brief_policy(str(chosen)) == said
    scores = gf.evaluate(JUDGMENTS, GOOD, policy=gf.Policy(**policy))
    assert f"policy: {said}" in str(scores)
    full = gf.writing.render(scores, "markdown").replace("\\", "")
    assert f"policy: {chosen}" in full


def test_the_policy_is_brief_on_the_screen_and_full_in_files(cli, pair, tmp_path):
    for command in (["evaluate", *pair], ["compare", *pair]):
        shown = cli(*command).stdout
        assert "policy: default\n" in shown
        assert widest(shown) <= 80
        assert FULL in cli(*command, "--verbose").stdout
        for name in ("x.txt", "x.md", "x.html"):
            assert cli(*command, "-o", tmp_path / name).returncode == 0
            text = (tmp_path / name).read_text().replace("\\", "")
            assert FULL in text
            assert "policy: default" not in text
        assert widest((tmp_path / "x.txt").read_text()) <= 80
        done = cli(*command, "-f", "csv")
        assert FULL in done.stderr
        assert "ties" in cli(*command, "-f", "json").stdout
    shown = cli("evaluate", *pair, "--missing", "skip").stdout
    assert "policy: missing=skip, else default\n" in shown


def test_scores_say_their_policy_in_full_in_a_file(tmp_path, screen):
    screen(300)
    scores = gf.evaluate(JUDGMENTS, GOOD)
    scores.write(tmp_path / "scores.txt")
    text = (tmp_path / "scores.txt").read_text()
    assert "ties=doc unjudged=zero" in text
    assert widest(text) <= 80  # whatever the terminal is
    assert "policy: default" in gf.writing.render(scores)
    assert "ties=doc" in gf.writing.render(scores, verbose=True)
    assert widest(gf.writing.render(scores, width=60)) <= 60


@pytest.mark.parametrize("command", ["evaluate", "compare", "explain", "why", "power"])
def test_every_command_with_a_policy_has_verbose(cli, command):
    assert "--verbose" in cli(command, "--help").stdout


def test_one_of_a_kind_is_singular():
    one = gf.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert "1 query." in str(one)
    two = {name: {"a": 1, "b": 0} for name in ("q1", "q2")}
    runs = {name: {q: {"a": float(n % 2), "b": 0.5} for q in two} for n, name in enumerate("abc")}
    found = gf.compare(two, runs, "P@1", slices={"q1": {"x": "1"}, "q2": {"x": "2"}}, by="x")
    told = f"{found}\n" + "\n".join(found.notes()) + gf.writing.render(found.slices_table(3))
    assert not re.search(
        r"\b1 (more )?(queries|documents|slices|verdicts|comparisons|runs)\b", told
    )
    assert "1 more slice not shown" in gf.writing.render(found.slices_table(len(found.slices) - 1))


def test_a_note_is_its_full_text():
    note = Note("policy: all of it", "policy: default")
    assert (str(note), note.brief, note) == (
        "policy: all of it",
        "policy: default",
        "policy: all of it",
    )
    assert Note("alone").brief == "alone"
