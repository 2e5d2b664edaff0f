"""The answers of models, kept in a file; the prompt, of which the key is a hash, has the document in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from gainful.assessors.model_endpoint import Reply
from gainful.calling.kept_answers import KeptAnswers


def answer_cache(path: str | None) -> KeptAnswers[Reply]:
    """Return the answers in a file, or none where there is no file."""
    return KeptAnswers(path, "answers of a model, as collect_grades keeps them", _parsed)


def record_of(reply: Reply, model: str, query: str, docs: Sequence[str]) -> dict[str, object]:
    """Return what is kept of an answer."""
    return {
        "model": model,
        "query": query,
        "docs": [*docs],
        "answer": reply.text,
        "tokens": [reply.tokens_in, reply.tokens_out],
        "cut": reply.cut,
    }


def _parsed(record: Mapping[str, Any]) -> Reply:
    text, (tokens_in, tokens_out) = record["answer"], record["tokens"]
    if not isinstance(text, str):
        raise TypeError
    return Reply(text, int(tokens_in), int(tokens_out), bool(record["cut"]))
