"""Policy: the choices outside the measure itself that make two tools disagree.

The fields of `Policy` are the only table of them; the constructor, the command line, the help and the
documentation all read it.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from math import isfinite
from typing import Any

from gainful import arguments
from gainful.errors import InputError, MeasureError, PolicyError
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shown


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a policy: its question, and its named answers (default first) with their meanings.

    `grade` is the meaning of a number, if the choice also accepts a grade.
    """

    name: str
    question: str
    answers: Mapping[str, str]
    grade: str | None = None

    def __post_init__(self) -> None:
        for name in ("name", "question"):
            arguments.text(getattr(self, name), f"choice, {name}")
        arguments.refuse_unnamed(self.answers, "choice, answers", "a dict {answer: meaning}")
        for meaning in self.answers.values():
            arguments.text(meaning, "choice, answers", "a string as the meaning of each")
        if self.grade is not None:
            arguments.text(self.grade, "choice, grade")

    @property
    def default(self) -> str:
        """The default answer."""
        return next(iter(self.answers))

    def read(self, value: object) -> str | float:
        """Check an answer and return it as a name or a grade."""
        if isinstance(value, bool) and "yes" in self.answers:
            return "yes" if value else "no"
        if isinstance(value, str) and value in self.answers:
            return value
        expected = " or ".join([*self.answers, *(["a grade"] if self.grade else [])])
        if self.grade is not None and not (
            isinstance(value, str) and value == "e"
        ):  # Euler's number is a base, not a grade
            try:
                return read_number(value, where=self.name)
            except MeasureError:
                pass  # the error below is more helpful
        hint = did_you_mean(value, self.answers) if isinstance(value, str) else ""
        raise PolicyError(f"policy {self.name}", expected, shown(value), hint)


def _choice(question: str, answers: Mapping[str, str], *, grade: str | None = None) -> Any:
    """Return the field of a choice; its default is the first answer."""
    facts = {"question": question, "answers": answers, "grade": grade}
    return field(default=next(iter(answers)), metadata=facts)


# The answers that `auto` stands for if documents have ids.
_DECIDED = {"ties": "doc", "negative": "keep", "fold": "none"}

BY_ID = ("doc", "doc_ascending")
"""The answers for ties that order documents by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The choices under which measures are computed; every result carries its own.

    Each argument is one of the names in the table of choices; `unjudged` and `absent` also
    accept a grade. `Policy()` is the default of every choice. Every function that accepts a policy
    also accepts a dict of choices: `policy={"missing": "skip"}`.

    >>> Policy(ties="average", unjudged=1)
    Policy(ties='average', unjudged=1.0)
    """

    ties: str = _choice(
        "How are documents with equal scores ordered?",
        {
            "auto": "order for responses of a search service, because users saw that order; otherwise, "
            "doc if documents have ids and average if they don't",
            "doc": "by document id, descending, compared as bytes",
            "doc_ascending": "by document id, ascending, compared as bytes",
            "average": "the exact expectation over all orders of the tied documents",
            "best": "best grades first: the highest possible value of any measure that rewards "
            "higher grades",
            "worst": "worst grades first: the lowest possible value of such a measure",
            "order": "in input order",
        },
    )
    unjudged: str | float = _choice(
        "How does a retrieved document without a judgment count?",
        {
            "zero": "with gain 0",
            "condense": "it is removed, and the documents below it move up",
            "error": "raise an error",
        },
        grade="as if judged with this grade, both in the list and in the ideal",
    )
    absent: str | float = _choice(
        "If a list is shorter than the cutoff, what fills the remaining ranks? (CG, DCG, IDCG and nDCG only)",
        {
            "zero": "nothing: these ranks have gain 0",
            "lowest": "documents with the lowest grade in the judgments",
        },
        grade="documents with this grade; if its gain is positive, they also enter the ideal, unless ideal or "
        "depth is changed",
    )
    negative: str = _choice(
        "How does a document with a negative gain count?",
        {
            "auto": "like keep, with a warning if −1 is the only negative grade, because it may mark documents "
            "that were not judged",
            "keep": "as a penalty: it lowers the value, possibly below 0",
            "zero": "with gain 0",
            "both": "as a penalty, in the list and in the ideal of IDCG and nDCG, which then contains every document, "
            "sorted by gain and cut at its depth",
            "unjudged": "as unjudged: a negative grade isn't a judgment",
            "error": "raise an error",
        },
    )
    missing: str = _choice(
        "How does a judged query count if the run has no results for it?",
        {
            "zero": "as 0, and it is reported",
            "skip": "it is left out of the mean, and reported",
            "error": "raise an error",
        },
    )
    empty: str = _choice(
        "How does a query without relevant documents count in normalised measures?",
        {
            "zero": "as 0, and it is reported",
            "skip": "it is left out of the mean, and reported",
            "skip_all": "it is left out of the means of all measures, normalised or not, and reported",
            "one": "as 1, and it is reported",
            "abstain": "as 1 if the run returns nothing for it, otherwise as 0, and it is reported: for systems that "
            "should stay silent if nothing is relevant",
            "error": "raise an error",
            "nan": "as NaN, which makes the mean NaN",
        },
    )
    duplicates: str = _choice(
        "What if a document is listed twice for the same query?",
        {
            "error": "raise an error that gives the location",
            "first": "the first one counts",
            "best": "the one with the highest score (or grade) counts",
        },
    )
    extra: str = _choice(
        "What if a query in the run has no judgments?",
        {
            "ignore": "it is ignored, and reported",
            "error": "raise an error",
        },
    )
    fold: str = _choice(
        "How are chunks combined into documents?",
        {
            "auto": "max if `chunks` maps chunks to documents, otherwise none",
            "none": "not at all: every chunk counts as a separate document",
            "max": "a document has the highest score of its chunks",
            "first": "a document has the score of the chunk that the run lists first",
            "in_place": "a document has the rank of its best chunk, and its other chunks keep their "
            "ranks but add nothing, so that a cutoff of 5 means the top 5 chunks",
        },
    )
    drop_self: str = _choice(
        "Is a document with the same id as its query removed?",
        {
            "no": "it stays, and counts like any other document",
            "yes": "it is removed from judgments and run: use this if queries are part of the collection and should not retrieve themselves",
            "run": "it is removed from the run only: if it is judged, it stays in the ideal",
        },
    )
    precision: str = _choice(
        "At what precision are a run's scores compared?",
        {
            "double": "as float64, exactly as written",
            "single": "after rounding to float32, as in trec_eval up to version 9: scores that "
            "are equal after rounding tie",
        },
    )

    def __post_init__(self) -> None:
        for choice in CHOICES:
            object.__setattr__(self, choice.name, choice.read(getattr(self, choice.name)))

    def resolved(self, *, ids: bool, in_order: bool = False) -> "Policy":
        """Return the policy with every `auto` replaced; ties depend on whether documents have ids.

        A run is `in_order` if documents with equal scores are in the order that users saw, as
        in the response of a search service. `fold="auto"` becomes "none" here; `folding`
        decides it earlier if there are chunks.

        >>> Policy().resolved(ids=True).ties, Policy().resolved(ids=True, in_order=True).ties
        ('doc', 'order')
        """
        return resolved(self, arguments.truth(ids, "ids"), arguments.truth(in_order, "in_order"))

    def folding(self, *, chunks: bool) -> "Policy":
        """Return the policy with `fold="auto"` replaced, depending on whether chunks are mapped to documents.

        >>> Policy().folding(chunks=True).fold, Policy().folding(chunks=False).fold
        ('max', 'none')
        """
        return folding(self, arguments.truth(chunks, "chunks"))

    def knowing(self, lowest: float) -> "Policy":
        """Return the policy with `absent="lowest"` replaced by the lowest grade.

        If no document is judged, `lowest` is infinite, and unfilled ranks have gain 0.

        >>> Policy(absent="lowest").knowing(-1)
        Policy(absent=-1.0)
        """
        if self.absent != "lowest":
            return self
        return dataclasses.replace(self, absent=lowest if isfinite(lowest) else "zero")

    def answers(self) -> dict[str, str]:
        """Return every choice with its answer as text.

        >>> Policy(absent=-1).answers()["absent"]
        '-1'
        """
        return {choice.name: _write(getattr(self, choice.name)) for choice in CHOICES}

    @property
    def brief(self) -> str:
        """The choices that differ from their defaults.

        >>> Policy(missing="skip", unjudged=1).brief, Policy().resolved(ids=True).brief
        ('unjudged=1 missing=skip, else default', 'default')
        """
        return brief_policy(str(self))

    def __str__(self) -> str:
        return " ".join(f"{name}={answer}" for name, answer in self.answers().items())

    def __repr__(self) -> str:
        given = (
            f"{choice.name}={getattr(self, choice.name)!r}"
            for choice in CHOICES
            if getattr(self, choice.name) != choice.default
        )
        return f"Policy({', '.join(given)})"


CHOICES: tuple[Choice, ...] = tuple(Choice(one.name, **one.metadata) for one in fields(Policy))
"""The choices of a policy, in the order in which they are printed."""


def choices() -> tuple[Choice, ...]:
    """Return every choice of a policy, with its answers and their meanings.

    >>> [choice.name for choice in choices()][:3]
    ['ties', 'unjudged', 'absent']
    """
    return CHOICES


# Cached, because every evaluation needs the same policies.
@lru_cache(maxsize=256)
def resolved(policy: Policy, ids: bool, in_order: bool) -> Policy:  # noqa: FBT001 - a key of the cache
    """Return what `Policy.resolved` does, without checking the arguments."""
    if policy.ties in BY_ID and not ids:
        raise PolicyError(
            "policy ties",
            "average, best, worst or order for documents without ids",
            shown(policy.ties),
            "Arrays have no document ids to order ties by.",
        )
    usual = dict(_DECIDED)
    if in_order or not ids:
        usual["ties"] = "order" if in_order else "average"
    open_ = {name: answer for name, answer in usual.items() if getattr(policy, name) == "auto"}
    return dataclasses.replace(policy, **open_) if open_ else policy


@lru_cache(maxsize=256)
def folding(policy: Policy, chunks: bool) -> Policy:  # noqa: FBT001
    """Return what `Policy.folding` does, without checking the argument."""
    if policy.fold != "auto":
        return policy
    return dataclasses.replace(policy, fold="max" if chunks else "none")


GivenPolicy = Policy | Mapping[str, str | float]
"""What callers may pass as a policy: a `Policy`, or a dict of the choices that differ from the default."""


_DEFAULT = Policy()


def answers_in(text: str) -> dict[str, str] | None:
    """Parse a policy's text into the dict that `Policy.answers` returns; None for an empty text.

    >>> answers_in(str(Policy())) == Policy().answers(), answers_in("")
    (True, None)
    """
    return dict(pair.split("=", 1) for pair in text.split()) or None


def shared_policy(policies: Iterable[Policy]) -> Policy:
    """Return the common policy of several runs; `ties` is "auto" if the runs differ in it.

    >>> shared_policy([Policy(ties="order"), Policy(ties="order")]).ties
    'order'
    >>> shared_policy([Policy(ties="order"), Policy(ties="doc")]).ties
    'auto'
    """
    first, *others = policies
    same = all(each.ties == first.ties for each in others)
    return first if same else dataclasses.replace(first, ties="auto")


def read_policy(policy: GivenPolicy | None) -> Policy:
    """Return a caller's policy: a `Policy`, a dict of choices, or None for the default.

    >>> read_policy({"missing": "skip"})
    Policy(missing='skip')
    >>> read_policy({"mising": "skip"})
    Traceback (most recent call last):
        ...
    gainful.errors.PolicyError: policy: expected the name of a choice, found 'mising'. Did you mean 'missing'? Choices: ties, unjudged, absent, negative, missing, empty, duplicates, extra, fold, drop_self, precision.
    """
    if policy is None:
        return _DEFAULT
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, Mapping):
        raise InputError(
            "policy",
            "a gainful.Policy or a dict of choices",
            shown(policy),
            "E.g. policy={'missing': 'skip'}.",
        )
    names = [choice.name for choice in CHOICES]
    for name in policy:
        if not isinstance(name, str) or name not in names:
            hint = did_you_mean(name, names)
            raise PolicyError("policy", "the name of a choice", shown(name), hint)
    return Policy(**policy)  # type: ignore[arg-type]  # each is checked


def brief_policy(text: str) -> str:
    """Return the choices that differ from their defaults in a policy's text.

    >>> brief_policy("ties=doc unjudged=zero missing=skip")
    'missing=skip, else default'
    """
    usual = {f"{choice.name}={choice.default}" for choice in CHOICES}
    usual |= {f"{name}={answer}" for name, answer in _DECIDED.items()}
    others = [item for item in text.split(" ") if item not in usual]
    return f"{' '.join(others)}, else default" if others else "default"


def _write(answer: str | float) -> str:
    return answer if isinstance(answer, str) else write_number(answer)
