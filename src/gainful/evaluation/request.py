"""`Request`: the requested measures, the policy, and the tool to measure like."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gainful.array_types import AnyArray
from gainful.errors import (
    DisjointError,
    GainfulError,
    InputError,
    MeasureError,
    PolicyError,
    about,
    warn,
)
from gainful.matching.keyword_options import MeasuringOptions
from gainful.matching.reader import SPAN_OPTIONS, Reader, reading
from gainful.measures.measure import Measure, measures_inside, refuse_without_baseline
from gainful.measures.measure_family import EVIDENCE, GRADES
from gainful.measures.measures_by_need import parse_of
from gainful.measures.notation import (
    GivenMeasure,
    Measures,
    listed_measures,
    read_measure,
    read_measures,
)
from gainful.measures.policy import GivenPolicy, Policy, folding, read_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import counted, shown
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.input_types import Judgments

_LEAST_TOP, _FEW_STARS, _MOST_STARS = 4.5, 5.0, 10.0  # the highest ratings of the usual scales


@dataclass(frozen=True, slots=True)
class Request:
    """The measures, the policy and the tool of a call.

    Attributes:
        measures: the measures, in the requested order.
        policy: the caller's or the tool's policy, adapted to the measures by `policy_for`.
        tool: the dialect; None without one.
        tables: the options with the additional tables, for measures that need more than grades.
    """

    measures: tuple[Measure, ...]
    policy: Policy
    tool: Dialect | None
    tables: Mapping[str, object] = field(default_factory=dict)

    @property
    def has_evidence(self) -> bool:
        """Whether judgments are evidence: passages of documents."""
        needs = {measure.family.needs for measure in measures_inside(self.measures)}
        return EVIDENCE in needs or any(self.tables.get(name) is not None for name in SPAN_OPTIONS)

    @property
    def measure(self) -> Measure:
        """The only measure."""
        (found,) = self.measures
        return found

    @contextmanager
    def reader_of(self, judgments: Judgments | None, options: MeasuringOptions) -> Iterator[Reader]:
        """Yield a reader of judgments; errors about a policy choice mention the tool that set it."""
        needs = {measure.family.needs for measure in measures_inside(self.measures)}
        opened = reading(judgments, self.policy, options, evidence=EVIDENCE in needs)
        with speaking(self.tool), opened as reader:
            yield reader

    def warn_of_marks(self, reader: Reader) -> None:
        """Warn about −1 if it may mean "not judged"; a tool defines the meaning itself."""
        if self.tool is None:
            reader.warn_of_marks()

    def refuse_grades(self, listed: AnyArray, judged: AnyArray) -> None:
        """Reject grades that the tool doesn't accept; see `refuse_grades`."""
        refuse_grades(self.tool, listed, judged, self.measures)


def read_request(
    measures: Measures, options: MeasuringOptions, *, baseline: bool = False
) -> Request:
    """Read the caller's measures, policy and dialect; some measures need a baseline."""
    policy, tool = _policy_and_tool(options)
    try:
        asked = asked_of(measures, tool)
    except MeasureError:
        if baseline and _is_run(measures):  # only functions that compare accept several runs
            raise InputError(
                "runs",
                "all of them in one dict, {'old': old, 'new': new}",
                "one of them in place of the measures",
            ) from None
        raise
    if not baseline:
        refuse_without_baseline(asked)
    return Request(asked, policy_for(policy, asked), tool, options)


def _is_run(given: object) -> bool:
    """Return whether a run was passed as measures: a dict, a file or a frame."""
    if isinstance(given, Mapping):
        return any(not isinstance(one, str | Measure) for one in given.values())
    if isinstance(given, str):
        return os.path.isfile(given)  # noqa: PTH113 - a name that no path can have is no file
    return isinstance(given, os.PathLike) or hasattr(given, "columns")


def read_one(measure: GivenMeasure, options: MeasuringOptions) -> Request:
    """Read the caller's single measure, policy and dialect."""
    policy, tool = _policy_and_tool(options)
    asked = (read_measure(measure) if tool is None else tool.measure(measure),)
    refuse_without_baseline(asked)
    return Request(asked, policy_for(policy, asked), tool, options)


def read_unmeasured(options: MeasuringOptions) -> Request:
    """Read the caller's policy and dialect if nothing is measured."""
    return Request((), *_policy_and_tool(options))


def _policy_and_tool(options: MeasuringOptions) -> tuple[Policy, Dialect | None]:
    policy = options.get("policy")
    tool = read_tool(options.get("dialect"), policy)
    chosen = read_policy(policy) if tool is None else tool.for_files()
    return folding(chosen, options.get("chunks") is not None), tool


def refuse_option(options: Mapping[str, object], name: str, why: str) -> None:
    """Reject an option; the error says why there can't be one."""
    if options.get(name) is not None:
        raise InputError(name, f"none: {why}", shown(options[name]), "Leave it out.")


def refuse_answers(policy: Policy, answers: Mapping[str, Collection[str]], measured: str) -> None:
    """Reject a policy with answers that have no meaning for some measures.

    Args:
        policy: the policy.
        answers: the answers that have a meaning, by choice.
        measured: the measures in words.
    """
    for choice, known in answers.items():
        if getattr(policy, choice) not in known:
            expected = f"{' or '.join(known)} for {measured}"
            raise PolicyError(f"policy {choice}", expected, shown(getattr(policy, choice)))


def policy_for(policy: Policy, measures: tuple[Measure, ...]) -> Policy:
    """Return the policy for some measures, which may read a negative grade as a mark.

    If all do, a warning about marks is needless. infAP distinguishes marked documents from undrawn ones.
    """
    inside = measures_inside(measures)
    if policy.negative == "unjudged" and any(measure.name == "infAP" for measure in inside):
        raise PolicyError(
            "infAP",
            "another answer to the policy negative",
            "negative=unjudged, which drops the marks of its pool",
            "Measure it separately: it treats negative grades as not judged by itself.",
        )
    if policy.negative == "auto" and {measure.family.marks for measure in inside} == {True}:
        return replace(policy, negative="keep")
    return policy


def read_tool(dialect: str | Dialect | None, policy: GivenPolicy | None) -> Dialect | None:
    """Return the dialect, which has its own policy; None without one."""
    if dialect is None:
        return None
    from gainful.measures.dialect_catalogue import dialect as find_dialect

    tool = find_dialect(dialect)
    if policy is not None:
        raise InputError(
            "policy",
            f"none with the dialect {tool.name}, which has its own policy",
            shown(policy),
            "To change a choice of it: dataclasses.replace(gainful.measures.dialect(...).policy, ...), with "
            "the measure that gainful.measures.dialect(...).measure(...) returns.",
        )
    return tool


def asked_of(measures: Measures, tool: Dialect | None) -> tuple[Measure, ...]:
    """Return the measures as a tool defines them."""
    if tool is None:
        return read_measures(measures)
    translated: list[Measure] = []
    for one in listed_measures(measures):
        if isinstance(one, str):
            translated += tool.read(one)
        else:
            translated += [tool.measure(each) for each in read_measures([one])]
    return read_measures(translated)


def find_measure(
    measure: GivenMeasure, measures: Sequence[Measure], dialect: str | None = None
) -> Measure | None:
    """Return the measure, among the measures of some scores, that a spelling stands for; None if there isn't one.

    The spelling may be the measure's name, its name in the dialect of the scores, or another tool's name
    for a measure of subtopics or items.

    >>> from gainful.measures.dialect_catalogue import dialect as find_dialect
    >>> asked = asked_of(["nDCG@10", "P@5"], find_dialect("lightgbm"))
    >>> find_measure("ndcg@10", asked, "lightgbm")
    Measure('nDCG(gain=exp2, ideal=retrieved)@10')
    """
    for known in measures:  # a gain that is a function has no notation that reads back
        if isinstance(measure, str | Measure) and measure in (known, str(known)):
            return known
    from gainful.measures.dialect_catalogue import dialects

    readers = [read_measure, *(tool.measure for tool in dialects() if tool.name == dialect)]
    needs = dict.fromkeys(one.family.needs for one in measures)
    readers += [partial(parse_of, need) for need in needs if need != GRADES]
    problems = []
    for read in readers:
        try:
            known_measure = read(measure)
        except MeasureError as problem:
            problems.append(problem)
        else:
            if known_measure in measures:
                return known_measure
    if len(problems) == len(readers):
        raise problems[0]
    return None


def refuse_grades(
    tool: Dialect | None, listed: AnyArray, judged: AnyArray, measures: Iterable[Measure]
) -> None:
    """Reject grades that a tool doesn't accept, before anything is computed from them.

    Args:
        tool: the dialect; None without one.
        listed: (n,) grades of the documents in the lists, which is all that some tools see.
        judged: (m,) grades of all judged documents, which other tools receive.
        measures: the measures of the call.
    """
    if tool is not None and tool.grades is not None:
        seen = listed if tool.lists else judged
        tool.refuse(np.unique(seen).astype(np.float64).tolist(), measures)


def may_be_ratings(lowest: float, highest: float) -> bool:
    """Return whether grades from the lowest to the highest may be ratings, which have no 0."""
    return lowest > 0 and _LEAST_TOP <= highest <= _MOST_STARS


def warn_of_ratings(grades: Sequence[float], measures: Iterable[Measure], what: str) -> None:
    """Warn if grades look like ratings, and a measure counts the worst of them as relevant.

    Ratings are 1 to 5, possibly with halves, or 1 to 10, without a 0. There is no warning for a
    measure with an explicit threshold `rel`; other grades of 1 and more mean that a document is
    relevant.

    Args:
        grades: the distinct grades of the judgments, ascending.
        measures: the measures of the call.
        what: the input with the grades: judgments or labels.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     warn_of_ratings([1, 2, 3, 4, 5], [Measure("nDCG"), Measure("R", cutoff=10)], "judgments")
    >>> print(seen[0].message)
    judgments: the grades look like ratings, from 1 to 5 without a 0, and R@10 counts a document with a rating of 1 as relevant. Name the lowest rating that is good: R(rel=4)@10. If every rated document is relevant, write R(rel=0.5)@10.
    """
    good, doubtful = _good_rating(grades), counting_every_rating(measures)
    if good is None or not doubtful:
        return
    first, others = doubtful[0], len(doubtful) - 1
    more = f" (and {counted(others, 'other measure')})" if others else ""
    verb = "count" if others else "counts"
    worst = next(grade for grade in grades if grade >= 1)
    warn(
        f"{what}: the grades look like ratings, from {grades[0]:g} to {grades[-1]:g} without a 0, and "
        f"{first}{more} {verb} a document with a rating of {worst:g} as relevant. Name the lowest rating "
        f"that is good: {first.having(rel=good)}. If every rated document is relevant, write "
        f"{first.having(rel=0.5)}.",
        "input.ratings",
    )


def counting_every_rating(measures: Iterable[Measure]) -> list[Measure]:
    """Return the measures that count any rating as relevant, because the caller named no lowest good one."""
    return [
        measure
        for measure in measures
        if measure.parameters.get("rel") == 1 and not measure.changes("rel")
    ]


def _good_rating(grades: Sequence[float]) -> int | None:
    """Return the lowest good rating of the grades' scale; None if they aren't ratings.

    >>> _good_rating([0.5, 2, 3.5, 5]), _good_rating([1, 3, 4, 6, 9]), _good_rating([1, 2, 3])
    (4, 8, None)
    """
    if not grades or not may_be_ratings(grades[0], grades[-1]):
        return None
    if any(not float(2 * grade).is_integer() for grade in grades):
        return None
    few = grades[-1] <= _FEW_STARS
    if grades[0] > 2 or len(grades) < (3 if few else 5):
        return None
    whole = all(float(grade).is_integer() for grade in grades)
    if few and (not whole or grades[-1] == _FEW_STARS):
        return 4
    return None if few or not whole else 8


@contextmanager
def naming_run(name: str, among: Mapping[str, object]) -> Iterator[None]:
    """Name the run in errors and warnings if there are several."""
    if len(among) == 1:
        yield
        return
    run = f"run {shown(name)}"
    try:
        with about(run):
            yield
    except InputError as problem:
        what, comma, place = problem.where.partition(", ")
        if isinstance(problem, DisjointError):
            raise problem.at(f"{run}, {problem.where}") from None
        if what != RUN.name:
            raise
        raise problem.at(f"{run}{comma}{place}") from None


@contextmanager
def speaking(dialect: str | Dialect | None) -> Iterator[None]:
    """Name the dialect in errors that its policy causes.

    Args:
        dialect: the dialect or its name; None without one.

    >>> with speaking("ranx"):
    ...     raise InputError("run", "all queries", "1 missing", choice="missing=error")
    Traceback (most recent call last):
        ...
    gainful.errors.InputError: run: expected all queries (policy missing=error, set by dialect ranx), found 1 missing. Without a dialect such queries count as 0, as with make_comparable.
    """
    try:
        yield
    except GainfulError as problem:
        if dialect is None or not problem.choice:
            raise
        said = problem.of(f"set by dialect {dialect}")
        if problem.choice == "missing=error" and not problem.remedy:
            from gainful.measures.dialect_catalogue import dialect as find_dialect

            said = said.with_remedy(find_dialect(dialect).on_missing)
        raise said from None
