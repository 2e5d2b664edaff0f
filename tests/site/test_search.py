"""A reader who types a word of their own into the search of the site sees the right page near the top."""

from pathlib import Path

import pytest

from chromium import launched

SITE = Path(__file__).parents[2] / "site"
NEAR = 3  # pages at the top, of which one must be the right one
# What people type → the page that answers it.
QUESTIONS = {
    "quickstart": "start.html",
    "tutorial": "start.html",
    "install": "start.html",
    "getting started": "start.html",
    "MAP": "reference/measures.html",
    "average precision": "reference/measures.html",
    "MRR": "reference/measures.html",
    "recall": "reference/measures.html",
    "graded precision": "reference/measures.html",
    "Kaggle": "reference/dialects.html",
    "Wikipedia": "understand/ndcg.html",
    "formula": "understand/ndcg.html",
    "log2": "understand/logarithm.html",
    "ties": "understand/ties.html",
    "unjudged": "understand/unjudged_documents.html",
    "negative grades": "understand/bad_documents.html",
    "confidence interval": "guides/comparing.html",
    "significance test": "decide/which_test.html",
    "sample size": "decide/how_many_queries.html",
    "CI": "guides/ci.html",
    "RAG": "guides/rag.html",
    "chunks": "guides/rag.html",
    "LightGBM": "hosts/lightgbm.html",
    "pytrec_eval": "coming_from/pytrec_eval.html",
    "sklearn": "coming_from/scikit_learn.html",
    "annotation": "guides/annotation_teams.html",
    "Cohen's kappa": "guides/assessors.html",
    "LLM as a judge": "guides/model_judges.html",
    "reciprocal rank fusion": "guides/fusion.html",
    "CSV": "reference/formats.html",
    "diversity": "guides/beyond_relevance.html",
    "glossary": "reference/glossary.html",
    "coverage novelty": "guides/beyond_relevance.html",
    "different numbers": "reference/different_numbers.html",
}
META = "document.querySelector('.md-search-result__meta').textContent"
LINKS = """[...document.querySelectorAll('.md-search-result__item a.md-search-result__link')]
    .map((link) => link.getAttribute('href').split('?')[0].split('#')[0])"""


@pytest.fixture(scope="module")
def search():
    with launched() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(10_000)
        page.goto(f"file://{SITE}/index.html")
        page.click(".md-search__input")

        def pages(question):
            page.keyboard.press("Control+A")
            page.keyboard.press("Delete")
            page.wait_for_function(f"/start searching/.test({META})")
            page.keyboard.type(question)
            page.wait_for_function(f"/matching/.test({META})")
            links = [link.removeprefix(f"file://{SITE}/") for link in page.evaluate(LINKS)]
            return list(dict.fromkeys(links))

        yield pages


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_right_page_is_near_the_top(search, question):
    assert QUESTIONS[question] in search(question)[:NEAR]


def test_copies_of_files_are_not_results(search):
    assert not [page for page in search("judgments") if page.startswith("source/")]
