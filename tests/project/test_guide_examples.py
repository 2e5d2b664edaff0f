"""The files that the guides start from are what their programs write, and one data set in two forms."""

import json
from runpy import run_path

import pytest

import gainful as gf
from example_programs import EXAMPLES

GRADES = {"columns": {"judgments.doc": "recipe"}}


@pytest.mark.parametrize("folder", ["search", "ltr"])
def test_the_files_are_what_the_program_writes(folder):
    written = run_path(str(EXAMPLES / folder / "make.py"))["files"]()
    assert {path.name for path in (EXAMPLES / folder).iterdir()} - {"__pycache__"} == {
        "make.py",
        *written,
    }
    for name, text in written.items():
        assert (EXAMPLES / folder / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize(("responses", "run"), [("before", "keyword"), ("after", "hybrid")])
def test_responses_and_a_spreadsheet_hold_what_the_trec_files_hold(responses, run):
    search, cooking = EXAMPLES / "search", EXAMPLES / "cooking"
    ours = gf.evaluate(search / "grades.csv", search / f"{responses}.jsonl", "nDCG@10", **GRADES)
    same = gf.evaluate(cooking / "judgments.qrels", cooking / f"{run}.run", "nDCG@10")
    assert ours.per_query.to_dict() == same.per_query.to_dict()


def test_the_questions_are_the_same_in_all_files():
    lines = {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in (EXAMPLES / "rag").glob("*.jsonl")
    }
    asked = [line["question"] for line in lines["expected"]]
    assert len(set(asked)) == len(asked) == 12
    of_spans = [line["question"] for line in lines["evidence"]]
    for name, each in lines.items():
        expected = of_spans if name == "evidence" or name.startswith("chunks_of") else asked
        assert [line["question"] for line in each] == expected, name


@pytest.mark.parametrize(
    ("page", "file"),
    [
        ("search", "search/grades.csv"),
        ("rag", "rag/expected.jsonl"),
        ("rag", "rag/fixed_chunks.jsonl"),
        ("recommenders", "films/liked.csv"),
        ("recommenders", "films/personal.csv"),
        ("learning_to_rank", "ltr/test.svm"),
        ("annotation_teams", "hotels/people.csv"),
    ],
)
def test_the_lines_that_a_guide_shows_are_those_of_the_file(page, file):
    text = (EXAMPLES.parent / "docs" / "guides" / f"{page}.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(f"`examples/{file}`:\n\n```")
    shown = rest.partition("\n")[2].partition("```")[0]
    assert shown
    assert (EXAMPLES / file).read_text(encoding="utf-8").startswith(shown)
