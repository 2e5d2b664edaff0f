"""Numbers that a record has for the documents of its list, in a list of their own: grades, scores, ranks."""

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any

import numpy as np

from gainful.inputs.grades_scores_or_ranks import JUDGMENTS, RANKS, RUN, Kind
from gainful.inputs.list_field_names import BESIDE, RELEVANT, first_list, is_scalar, items_of
from gainful.inputs.run_and_judgment_columns import ALIASES, is_name_of_distances, plain_name
from gainful.inputs.search_responses import has_hits_within

# A record may have a text of its own under these names, such as tags.
_TAGS = frozenset(["label", "labels", "target", "targets"])


def _forms(name: str) -> tuple[str, ...]:
    """Return the names that a list of such numbers may have.

    >>> _forms("similarity")
    ('similarity', 'similaritys', 'similarities')
    """
    return (name, f"{name}s", *([f"{name[:-1]}ies"] if name.endswith("y") else []))


# What is relevant is a list of documents here, though the grades of a table may have that name.
_NAMES_OF_NUMBERS = {
    role: [one for one in names if one not in RELEVANT] for role, names in ALIASES.items()
}
_NUMBERS = {
    role: frozenset(form for one in names for form in _forms(one))
    for role, names in _NAMES_OF_NUMBERS.items()
}
"""The names of lists of numbers, by what these are."""


def numbers_beside(
    given: Mapping[Any, Any], name: str, kind: Kind, asked: str | None = None
) -> tuple[str, list[Any]] | None:
    """Return the field with a grade or a score for each item of a list of a record, and what it has.

    None where there is none. Of a record with what is relevant and what was retrieved, scores are
    those of the one, and ratings those of the other.

    Args:
        given: the record.
        name: the field of the list.
        kind: judgments or run.
        asked: the field, where the caller names it.

    >>> numbers_beside({"relevant": ["a", "b"], "grades": [0, 3]}, "relevant", JUDGMENTS)
    ('grades', [0, 3])
    >>> numbers_beside({"relevant": ["a"], "retrieved": ["b"], "scores": [9]}, "relevant", JUDGMENTS)
    """
    if asked is None and _NUMBERS[kind.number].isdisjoint(map(plain_name, given)):  # as most are
        return None
    if not name or (has_hits_within(given) and name not in RELEVANT):  # hits have their own
        return None
    if asked is not None:
        names = [asked] if asked in given else []
    else:
        others = _of_other(given, name, kind)
        aliases = [one for one in _NAMES_OF_NUMBERS[kind.number] if one not in others]
        plain = {plain_name(each): each for each in given}
        forms = (form for one in aliases for form in _forms(one))
        names = [plain[form] for form in forms if form in plain]
    for each in names:
        values = None if each == name or isinstance(given[each], Set) else items_of(given[each])
        if values is None or not all(is_scalar(one) or np.isscalar(one) for one in values):
            continue
        texts = values and all(isinstance(one, str) for one in values)
        if not (texts and plain_name(each) in _TAGS):
            return each, list(values)
    return None


def ranks_beside(
    given: Mapping[Any, Any], name: str, asked: str | None = None
) -> tuple[str, list[Any]] | None:
    """Return the field with a rank, or a distance, for each item of a list of a run, and what it has.

    None where there is none. Args are as those of `numbers_beside`.

    >>> ranks_beside({"retrieved": ["a", "b"], "ranks": [2, 1]}, "retrieved")
    ('ranks', [2, 1])
    >>> ranks_beside({"relevant": ["b"], "retrieved": ["a", "b"], "ranks": [2]}, "retrieved")
    """
    names = names_of_ranks((*given,)) if asked is None else (asked,)
    if not names or not name or has_hits_within(given):
        return None
    relevant = first_list(given, RELEVANT)
    for each in names:
        values = None if each == name or each not in given else items_of(given[each])
        if values is None or not all(is_scalar(one) or np.isscalar(one) for one in values):
            continue
        # Those at which the relevant documents were found are not those of the list.
        of_relevant = relevant is not None and len(values) == len(relevant) != len(given[name])
        if asked is not None or not of_relevant:
            return each, list(values)
    return None


@lru_cache(maxsize=64)  # most records have the same fields
def names_of_ranks(names: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the names of ranks and distances among those of some fields.

    >>> names_of_ranks(("id", "Position", "cosine_distance"))
    ('Position', 'cosine_distance')
    """
    known = _NUMBERS[RANKS.number]
    return tuple(one for one in names if plain_name(one) in known or is_name_of_distances(one))


def _of_other(given: Mapping[Any, Any], name: str, kind: Kind) -> tuple[str, ...]:
    """Return the names of numbers that belong to another list of a record, if it has one."""
    others = [one for one in BESIDE if one != name and items_of(given.get(one)) is not None]
    if not others and not has_hits_within(given):
        return ()
    scores, grades = ALIASES[RUN.number], ALIASES[JUDGMENTS.number]
    ratings = tuple(one for one in scores if one in grades and one != RUN.number)
    if kind.name == JUDGMENTS.name:
        return tuple(one for one in scores if one not in ratings)
    return ratings
