"""Systems × measures as papers show them, against tables written by hand."""

import json
import re

import pytest

import gainful as gf
from gainful.output.rendering.table_formats import Marked, Table

QUERIES = [f"q{n}" for n in range(8)]


def scores(*values):
    return dict(zip(QUERIES, values, strict=True))


LOW = scores(0.1, 0.2, 0.1, 0.2, 0.1, 0.2, 0.1, 0.2)  # mean 0.15
HIGH = scores(0.5, 0.6, 0.6, 0.5, 0.5, 0.6, 0.6, 0.5)  # mean 0.55
NEAR = scores(0.6, 0.5, 0.5, 0.6, 0.6, 0.5, 0.5, 0.6)  # mean 0.55
THREE = {"low": LOW, "high": HIGH, "near": NEAR}


def table(tables, **options):
    return gf.comparison.compare_scores(tables, resamples=200, **options).systems_table()


def test_against_the_baseline_in_latex():
    assert (
        gf.writing.render(table(THREE), "latex", digits=2)
        == r"""% 8 queries.
\begin{table}
\centering
\caption{Means over 8 queries, the best of each measure in bold. \dag{}: significantly better than low (paired t test with Holm correction over 2 comparisons, p \textless{} 0.05).}
\begin{tabular}{lr@{}l}
\toprule
run & value & \\
\midrule
low & 0.15 & \\
high & \textbf{0.55} & \textsuperscript{\dag{}} \\
near & \textbf{0.55} & \textsuperscript{\dag{}} \\
\bottomrule
\end{tabular}
\end{table}"""
    )


def test_all_pairs_in_markdown():
    assert (
        gf.writing.render(table(THREE, pairs="all"), "markdown", digits=2)
        == r"""| # | run | value |
| --- | --- | ---: |
| a | low | 0.15 |
| b | high | **0.55**<sup>a</sup> |
| c | near | **0.55**<sup>a</sup> |

Means over 8 queries, the best of each measure in bold. Letters name the runs that a run significantly beats (paired t test with Holm correction over 3 comparisons, p \< 0.05).

8 queries."""
    )


def test_all_pairs_as_text_with_numbers_under_each_other():
    assert gf.writing.render(table(THREE, pairs="all"), "table", digits=2).splitlines()[:5] == [
        "#   run       value",
        "───────────────────",
        "a   low     0.15",
        "b   high   *0.55* a",
        "c   near   *0.55* a",
    ]


def test_worse_than_the_baseline_and_equivalent_to_it():
    found = table(THREE, baseline="high", margin=0.2)
    assert [row[1].marks for row in found.rows] == ["‡", "", "≈"]
    assert "‡: significantly worse than high; ≈: equivalent to high within 0.2" in found.caption
    assert "†" not in found.caption
    assert r"\textsuperscript{$\approx$}" in gf.writing.render(found, "latex")


def test_no_difference_is_said():
    found = table({"high": HIGH, "near": NEAR}, level=0.99)
    assert [row[1].marks for row in found.rows] == ["", ""]
    assert "No significant difference from high (paired t test, p < 0.01)." in found.caption
    assert "{lr}" in gf.writing.render(found, "latex")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"test": "wilcoxon"}, "Wilcoxon signed-rank test with Holm correction over 2"),
        ({"test": "sign", "correction": "bonferroni"}, "sign test with Bonferroni correction"),
        ({"correction": "benjamini-hochberg"}, "Benjamini–Hochberg correction over 2"),
        ({"correction": "none"}, "(paired t test, 2 comparisons uncorrected, p < 0.05)"),
        ({"correction": "tukey"}, "(randomised Tukey HSD, 2 comparisons, p < 0.05)"),
        ({"test": "randomisation", "level": 0.9}, "randomisation test with Holm"),
    ],
)
def test_the_caption_says_how_it_was_tested(options, told):
    assert told in table(THREE, **options).caption


def test_several_measures_have_their_own_best_and_their_own_queries():
    one = {query: {"up": n / 10, "down": 0.5} for n, query in enumerate(QUERIES)}
    two = {query: {"up": n / 20, "down": 0.6} for n, query in enumerate(QUERIES)}
    del two["q0"]["down"]
    found = table({"one": one, "two": two})
    assert [[cell.best for cell in row[1:]] for row in found.rows] == [[True, False], [False, True]]
    assert "Means over 8 queries (up), 7 queries (down), the best" in found.caption


def test_the_numbers_are_those_of_the_comparison():
    found = gf.comparison.compare_scores(THREE, pairs="all")
    cells = {row[1]: row[2].number for row in found.systems_table().rows}
    for each in found.differences:
        assert (cells[each.baseline], cells[each.run]) == (each.baseline_mean, each.run_mean)
        better = each.verdict.word == "better"
        letter = "abc"[found.runs.index(each.baseline)]
        row = found.systems_table().rows[found.runs.index(each.run)]
        assert (letter in row[2].marks) == better


def test_the_policy_and_what_was_missing_stand_under_it():
    judgments = {query: {"a": 1} for query in QUERIES}
    whole = {query: {"b": 2, "a": 1} for query in QUERIES}
    part = {query: {"a": 2} for query in QUERIES[1:]}
    found = gf.compare(judgments, {"part": part, "whole": whole})
    for shown in (found.systems_table(), found.tests_table()):
        assert shown.notes[-1].startswith("policy: ties=doc ")
        assert "part: 1 of 8 queries returned nothing (scored 0)." in shown.notes
        assert [note for note in found.notes() if note in shown.notes] == shown.notes


def test_queries_left_out_are_said_under_it():
    found = gf.comparison.compare_scores(
        {"low": LOW, "other": {**dict(list(HIGH.items())[2:]), "x": 1.0}}
    )
    told = "value: 3 queries left out, because some run has no value"
    assert told in gf.writing.render(found.systems_table())
    assert told in gf.writing.render(found.tests_table())
    assert f"% {told}" in gf.writing.render(found.systems_table(), "latex").splitlines()


def test_more_systems_than_letters_have_numbers():
    many = {f"s{n}": {q: v + n / 100 for q, v in LOW.items()} for n in range(27)}
    found = gf.comparison.compare_scores(
        many, pairs="all", resamples=10, correction="none"
    ).systems_table()
    assert [row[0] for row in found.rows] == [str(n) for n in range(1, 28)]
    assert found.rows[2][2].marks == "1,2"
    assert "Numbers name the runs" in found.caption


ODD = [
    r"a_b",
    "50%",
    "a&b",
    "#1",
    "$x$",
    "{x}",
    "~",
    "^",
    "\\",
    "[x]",
    "*star",
    "a|b",
    "<b>",
    "new\nline",
    "`tick`",
    "a--b---c",
]


def balanced(text):
    depth = 0
    for at, character in enumerate(text):
        if character in "{}" and not (at and text[at - 1] == "\\"):
            depth += 1 if character == "{" else -1
        assert depth >= 0
    return depth == 0


@pytest.mark.parametrize("name", ODD)
def test_odd_names_in_latex(name):
    found = table({name: LOW, f"{name}2": HIGH})
    lines = gf.writing.render(found, "latex").split("\n")
    notes, lines = lines[:1], lines[1:]
    assert all(line.startswith("% ") and line.isprintable() for line in notes)
    assert balanced("\n".join(lines))
    row = lines[7:9]
    assert all(line.endswith(r" \\") for line in row)
    assert all(line.count("&") - line.count(r"\&") == 2 for line in row)
    # No character that LaTeX reads stands bare, nor one that would be an option of the last row.
    bare = re.sub(r"\\[A-Za-z]+\{\}|\\[&%$#_{}]|\{[\[\]*]\}|-\{\}", "", row[0].split(" & ")[0])
    assert not set(bare) & set("&%$#_{}~^\\[]*\n`")
    assert "--" not in row[0]  # LaTeX would print a dash


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\t", "\u2028"])
def test_a_name_of_two_lines_is_one_line_on_paper(end):
    found = table({f"new{end}line": LOW, "y": HIGH})
    assert r"new line & 0.1500 & \\" in gf.writing.render(found, "latex").splitlines()
    assert "| new line | 0.1500 |" in gf.writing.render(found, "markdown").split("\n")
    assert "than new line (paired" in gf.writing.render(found, "latex")
    assert json.loads(gf.writing.render(found, "json"))[0]["run"] == f"new{end}line"


def test_names_that_print_otherwise():
    found = Table(["a"], [["`x`"], ["v1--v2"], ["v---w"]])
    assert gf.writing.render(found, "latex").splitlines()[4:7] == [
        r"\textasciigrave{}x\textasciigrave{} \\",
        r"v1-{}-v2 \\",
        r"v-{}-{}-w \\",
    ]
    marks = Table(["a"], [["&lt;"], ["~~x~~"], ["$x$"]])
    assert gf.writing.render(marks, "markdown").splitlines()[2:] == [
        r"| \&lt; |", r"| \~\~x\~\~ |", r"| \$x\$ |",
    ]  # fmt: skip


def test_columns_of_one_name_are_both_written():
    both = Table(["system", "system"], [["x", 0.5], ["y", 0.25]])
    assert gf.writing.render(both, "csv") == "system,system\nx,0.5\ny,0.25"
    assert gf.writing.render(both, "tsv") == "system\tsystem\nx\t0.5\ny\t0.25"


def test_odd_names_in_markdown_and_html():
    found = table({"<b>|x": LOW, "y": HIGH})
    assert r"| \<b\>\|x | 0.1500 |" in gf.writing.render(found, "markdown")
    page = gf.writing.render(found, "html")
    assert "&lt;b&gt;|x" in page
    assert "<strong>0.5500</strong><sup>†</sup>" in page


def test_programs_get_the_numbers():
    found = table(THREE)
    assert gf.writing.render(found, "csv").splitlines()[1] == "low,0.15000000000000002"
    assert json.loads(gf.writing.render(found, "json"))[0] == {
        "run": "low",
        "value": pytest.approx(0.15),
    }


def test_a_table_that_has_no_marks_is_written_as_before():
    plain = Table(["a", "b"], [["x", 1.0], ["y", None]])
    assert gf.writing.render(plain, "latex").splitlines()[0] == r"\begin{tabular}{lr}"
    mixed = Table(["a", "b"], [["x", Marked(1.0, marks="a")], ["y", None]])
    assert gf.writing.render(mixed, "latex").splitlines()[4:6] == [
        r"x & 1.0000 & \textsuperscript{a} \\",
        r"y &  & \\",
    ]


def test_from_the_command_line(cli, files):
    text = "query,value\n" + "".join(f"{query},{value}\n" for query, value in LOW.items())
    low = files("low_1.csv", text)
    text = "query,value\n" + "".join(f"{query},{value}\n" for query, value in HIGH.items())
    high = files("high.csv", text)
    done = cli("compare", "--scores", low, high, "--systems", "--format", "latex")
    assert done.returncode == 0
    assert r"low\_1 & 0.1500 & \\" in done.stdout
    assert done.stderr == ""
    both = cli("compare", "--scores", low, high, "--systems", "--tests")
    assert both.returncode == 2
    assert "--systems cannot be combined with --tests" in both.stderr
