"""Policy: the choices that are not the measure's, and that make two tools differ.

`CHOICES` is the one table of them: the constructor, the command line, the help and the
documentation read it.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite

from gainful import arguments
from gainful.errors import InputError, MeasureError, PolicyError
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shown


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice of a policy: the question, its named answers (default first), their meaning.

    `grade` says what a number means, where a grade may stand instead of a name.
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
            arguments.text(meaning, "choice, answers", "a text as the meaning of each")
        if self.grade is not None:
            arguments.text(self.grade, "choice, grade")

    @property
    def default(self) -> str:
        """The answer that is taken when none is given."""
        return next(iter(self.answers))

    def read(self, value: object) -> str | float:
        """Check an answer, and return it as a name or as a grade."""
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
                pass  # what follows says more
        hint = did_you_mean(value, self.answers) if isinstance(value, str) else ""
        raise PolicyError(f"policy {self.name}", expected, shown(value), hint)


CHOICES: tuple[Choice, ...] = (
    Choice(
        "ties",
        "In which order do documents with equal scores stand?",
        {
            "auto": "order for the responses of search services, whose order is the one that was shown; else "
            "doc where documents have ids, average where they have none",
            "doc": "by document id, descending, compared as bytes",
            "doc_ascending": "by document id, ascending, compared as bytes",
            "average": "the exact expectation over all orders of the tied documents",
            "best": "the best grades first, which gives the highest value of measures that rise "
            "with the grades",
            "worst": "the worst grades first, which gives the lowest value of such measures",
            "order": "as they come in the input",
        },
    ),
    Choice(
        "unjudged",
        "What is a retrieved document without a judgment worth?",
        {
            "zero": "gain 0",
            "condense": "nothing: it is dropped, and those below it move up",
            "error": "an error",
        },
        grade="counts as judged with this grade, in the list and in the ideal",
    ),
    Choice(
        "absent",
        "What stands, for CG, DCG, IDCG and nDCG, at the ranks up to the cutoff that a shorter list leaves open?",
        {
            "zero": "gain 0",
            "lowest": "a document of the lowest grade in the judgments",
        },
        grade="a document of this grade, in the list and, with a positive gain and the default ideal and depth, "
        "in the ideal",
    ),
    Choice(
        "negative",
        "What does a document with a negative gain do?",
        {
            "auto": "as keep, with a warning where −1 is the only negative grade: it may mark what was not judged",
            "keep": "it costs: the value falls, and may fall below 0",
            "zero": "its gain is 0",
            "both": "it costs, in the list and in the ideal of IDCG and nDCG, which holds all documents, by gain "
            "descending, down to its depth",
            "unjudged": "a negative grade is no judgment: the document counts as one that has none",
            "error": "an error",
        },
    ),
    Choice(
        "missing",
        "What about a judged query that the run lacks?",
        {
            "zero": "counts as 0, and is reported",
            "skip": "left out of the mean, and reported",
            "error": "an error",
        },
    ),
    Choice(
        "empty",
        "What is a normalised measure of a query without positive gain?",
        {
            "zero": "0, and it is reported",
            "skip": "left out of the mean, and reported",
            "skip_all": "left out of the mean of every measure, normalised or not, and reported",
            "one": "1, and it is reported",
            "error": "an error",
            "nan": "not a number, and so is the mean",
        },
    ),
    Choice(
        "duplicates",
        "What if a document comes twice for a query?",
        {
            "error": "an error that says where",
            "first": "the first counts",
            "best": "the one with the highest score (or grade) counts",
        },
    ),
    Choice(
        "extra",
        "What about a query of the run that has no judgments?",
        {
            "ignore": "ignored, and reported",
            "error": "an error",
        },
    ),
    Choice(
        "fold",
        "What is the score of a document that was retrieved in chunks?",
        {
            "auto": "max where `chunks` says which document a chunk belongs to, none where nothing does",
            "none": "chunks are documents of their own",
            "max": "the highest score of its chunks",
            "first": "the score of the chunk that the run names first",
            "in_place": "each document takes the rank of its best chunk, and its other chunks keep their "
            "ranks and add nothing: the cutoff counts chunks, as in the documents in the top 5 chunks",
        },
    ),
    Choice(
        "drop_self",
        "Is a document with the id of the query left out?",
        {
            "no": "no, it counts as any other",
            "yes": "of judgments and run: the query is in the collection, and does not retrieve itself",
            "run": "of the run alone: where it is judged, it stays in the ideal",
        },
    ),
    Choice(
        "precision",
        "In which precision are the scores of a run compared?",
        {
            "double": "as float64, the way they are written",
            "single": "rounded to float32 first, as trec_eval up to version 9 does: scores that "
            "differ by less become ties",
        },
    ),
)


# What `auto` is, where documents have ids.
_DECIDED = {"ties": "doc", "negative": "keep", "fold": "none"}

BY_ID = ("doc", "doc_ascending")
"""The answers for ties that go by the ids of documents."""


def choices() -> tuple[Choice, ...]:
    """Return every choice of a policy with its answers and what they mean.

    >>> [choice.name for choice in choices()][:3]
    ['ties', 'unjudged', 'absent']
    """
    return CHOICES


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The choices under which measures are computed; every result carries its own.

    Each argument is one of the names in the table of choices; `unjudged` and `absent` also
    take a grade. `Policy()` is the default of every choice. Wherever a function takes a policy,
    a dict of choices does, too: `policy={"missing": "skip"}`.

    >>> Policy(ties="average", unjudged=1)
    Policy(ties='average', unjudged=1.0)
    """

    ties: str = "auto"
    unjudged: str | float = "zero"
    absent: str | float = "zero"
    negative: str = "auto"
    missing: str = "zero"
    empty: str = "zero"
    duplicates: str = "error"
    extra: str = "ignore"
    fold: str = "auto"
    drop_self: str = "no"
    precision: str = "double"

    def __post_init__(self) -> None:
        for choice in CHOICES:
            object.__setattr__(self, choice.name, choice.read(getattr(self, choice.name)))

    def resolved(self, *, ids: bool, in_order: bool = False) -> "Policy":
        """Return the policy with what is `auto` decided: ties by whether documents have ids.

        A run is `in_order` where documents with equal scores are in the order that was shown, as
        in the response of a search service. What is still open of `fold` folds nothing: `folding`
        decides it where chunks are given.

        >>> Policy().resolved(ids=True).ties, Policy().resolved(ids=True, in_order=True).ties
        ('doc', 'order')
        """
        known = arguments.truth(ids, "ids")
        if self.ties in BY_ID and not known:
            raise PolicyError(
                "policy ties",
                "average, best, worst or order for documents without ids",
                shown(self.ties),
                "Arrays have no document ids to order ties by.",
            )
        usual = dict(_DECIDED)
        shown_order = arguments.truth(in_order, "in_order")
        if shown_order or not known:
            usual["ties"] = "order" if shown_order else "average"
        open_ = {name: answer for name, answer in usual.items() if getattr(self, name) == "auto"}
        return dataclasses.replace(self, **open_) if open_ else self

    def folding(self, *, chunks: bool) -> "Policy":
        """Return the policy with `fold` decided by whether something tells chunks from documents.

        >>> Policy().folding(chunks=True).fold, Policy().folding(chunks=False).fold
        ('max', 'none')
        """
        known = arguments.truth(chunks, "chunks")
        if self.fold != "auto":
            return self
        return dataclasses.replace(self, fold="max" if known else "none")

    def knowing(self, lowest: float) -> "Policy":
        """Return the policy with the lowest grade in the place of `absent="lowest"`.

        Where no document is judged, which makes it infinite, absent ones have gain 0.

        >>> Policy(absent="lowest").knowing(-1)
        Policy(absent=-1.0)
        """
        if self.absent != "lowest":
            return self
        return dataclasses.replace(self, absent=lowest if isfinite(lowest) else "zero")

    def answers(self) -> dict[str, str]:
        """Every choice with its answer, as text.

        >>> Policy(absent=-1).answers()["absent"]
        '-1'
        """
        return {choice.name: _write(getattr(self, choice.name)) for choice in CHOICES}

    @property
    def brief(self) -> str:
        """What differs from the default of every choice.

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


GivenPolicy = Policy | Mapping[str, str | float]
"""What a caller may give as a policy: one, or a dict of those choices that differ."""


def answers_in(text: str) -> dict[str, str] | None:
    """Return the answers of a policy that is written as text, as `Policy.answers` has them; None without any.

    >>> answers_in(str(Policy())) == Policy().answers(), answers_in("")
    (True, None)
    """
    return dict(pair.split("=", 1) for pair in text.split()) or None


def shared_policy(policies: Iterable[Policy]) -> Policy:
    """Return the policy of several runs, which may differ in `ties`: each run has its own under `auto`.

    >>> shared_policy([Policy(ties="order"), Policy(ties="order")]).ties
    'order'
    >>> shared_policy([Policy(ties="order"), Policy(ties="doc")]).ties
    'auto'
    """
    first, *others = policies
    same = all(each.ties == first.ties for each in others)
    return first if same else dataclasses.replace(first, ties="auto")


def read_policy(policy: GivenPolicy | None) -> Policy:
    """Return the policy that a caller gives: one, a dict of choices, or the default for None.

    >>> read_policy({"missing": "skip"})
    Policy(missing='skip')
    >>> read_policy({"mising": "skip"})
    Traceback (most recent call last):
        ...
    gainful.errors.PolicyError: policy: expected choices by their names, found 'mising'. Did you mean 'missing'? Choices: ties, unjudged, absent, negative, missing, empty, duplicates, extra, fold, drop_self, precision.
    """
    if policy is None:
        return Policy()
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
            raise PolicyError("policy", "choices by their names", shown(name), hint)
    return Policy(**policy)  # type: ignore[arg-type]  # each is checked


def brief_policy(text: str) -> str:
    """Return what differs from the defaults in a policy as it is written, choice by choice.

    >>> brief_policy("ties=doc unjudged=zero missing=skip")
    'missing=skip, else default'
    """
    usual = {f"{choice.name}={choice.default}" for choice in CHOICES}
    usual |= {f"{name}={answer}" for name, answer in _DECIDED.items()}
    others = [item for item in text.split(" ") if item not in usual]
    return f"{' '.join(others)}, else default" if others else "default"


def _write(answer: str | float) -> str:
    return answer if isinstance(answer, str) else write_number(answer)
