"""`ReadingOptions` and `MeasuringOptions`: the keyword options of every function that reads inputs."""

import functools
import inspect
import math
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import ParamSpec, TypedDict, TypeVar

from gainful.arithmetic.cores import at_most
from gainful.measures.policy import CHOICES, GivenPolicy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import did_you_mean, shown
from gainful.rows.duckdb_engine import Engine, Progress
from gainful.rows.input_types import Run, SamplingOptions, TableLike
from gainful.rows.spark_engine import Spark

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class InputOptions(TypedDict, total=False):
    """`ReadingOptions` without `queries`."""

    columns: Mapping[str, str | int | None] | None
    assessors: str | None
    grade_words: str | Mapping[str, float] | None
    engine: Engine | Spark | None
    progress: Progress | None


class ReadingOptions(InputOptions, total=False):
    """How inputs are read: the keyword options of every function that reads them.

    Attributes:
        columns: unusual column names by role: query, doc, grade, score, rank, or for only one side,
            such as judgments.query; slices.query is the query column in a table of slices. With None as
            grade, there is no column of grades, and every row has grade 1.
        assessors: how to merge the grades of several assessors into one per document. One of
            "mean", "median", "majority" (the lowest of equally frequent grades), "max", "min",
            "dawid-skene", or the name of the assessor whose grades count. `merge_judgments` defines them.
        grade_words: the number that each word stands for, if the grades are words: {"Exact": 3, "Irrelevant": 0},
            "Exact=3,Irrelevant=0", or a preset: "esci" (Exact 3, Substitute 2, Complement 1, Irrelevant 0,
            or their first letters) or "excellent-fair-bad" (1, 0, −1). Numbers stay as they are.
        engine: limits on memory and cores, as an `Engine`; or, in `evaluate`, `evaluate_runs` and
            `compare`, `Spark`, which then reads the files.
        progress: called with the share of the work that is done, from 0 to 1, and, if it accepts a
            second argument, the name of the current step: the run that is measured, or a step such as
            "reading". Spark reports its stages from a separate thread.
        queries: the query ids, in order, for an input that is a list of lists or of search responses;
            or the path of a file with one id per line.
    """

    queries: Iterable[str | int] | str | os.PathLike[str] | None


class PageOptions(InputOptions, total=False):
    """`MeasuringOptions` without `queries`, which means texts in `report`."""

    policy: GivenPolicy | None
    dialect: str | Dialect | None
    chunks: str | Mapping[str, str] | Callable[[str], str] | None


class ItemTables(TypedDict, total=False):
    """The additional inputs of measures of recommendations; each may be anything that can be read as a table.

    Attributes:
        items: the catalogue: ids, `{item: category}`, or a table with an item and columns of categories.
        vectors: `{item: [number, …]}`, a pair (ids, array), or a table of numbers.
        history: past interactions, `{user: {item: count}}`, `{user: [item, …]}`, or a table.
        expected: a run of a simple recommender, for Serendipity.
        separator: the text between several categories in one cell of the items, such as "|".
    """

    items: TableLike | None
    vectors: TableLike | None
    history: TableLike | None
    expected: Run | None
    separator: str | None


class SpanTables(TypedDict, total=False):
    """How evidence and chunks are read. With any of these, judgments are evidence: passages of documents.

    Attributes:
        documents: the text of the documents, `{document: text}`, a table, or a folder of text files, in which
            passages and chunks without offsets are found.
        offsets: what start and end count: "characters", "bytes" or "tokens"; or "documents", if each
            document is a passage as a whole.
        chunk_table: where the chunks of runs are, whose documents are ids of chunks: `{chunk: (document, start,
            end)}`, a table; or `{run: table}`, if the runs have different chunks.
    """

    documents: TableLike | None
    offsets: str | None
    chunk_table: TableLike | None


class TableOptions(ItemTables, SpanTables, total=False):
    """The additional inputs of measures that need more than grades: `ItemTables`, `SpanTables`, and these.

    Attributes:
        subtopics: judgments by subtopic, `{query: {subtopic: {doc: grade}}}`.
        subtopic_weights: `{query: {subtopic: probability}}`, or a table; all subtopics of a query are
            equally likely if None.
        nuggets: the facts that an answer needs, `{query: {nugget: {doc: support}}}` or a table, in which nuggets
            may have an importance, vital or okay.
        abstentions: `{query: {doc: probability}}`, or a table: how likely the reading model is to abstain if a
            passage is all that it sees.
        confidence: `{query: number}`, a table, or how to compute it from the scores of a run: "max", "std" or
            "diff1" (the lead of the first document).
        lengths: `{doc: {"words": number, "characters": number}}`, or a table: the lengths of documents, and, in a
            column `duplicate_of`, the document that another one repeats. A single number per document counts in the
            unit of the measure.
        sessions: `{session: [query, …]}`, or a table: the session of each query, and its place there; without a
            column `place`, the rows of a session are in order.
    """

    subtopics: TableLike | None
    subtopic_weights: TableLike | None
    nuggets: TableLike | None
    abstentions: TableLike | None
    confidence: TableLike | None
    lengths: TableLike | None
    sessions: TableLike | None


class MeasuringOptions(PageOptions, ReadingOptions, total=False):
    """How runs are matched and measured: `ReadingOptions`, and these.

    Attributes:
        policy: the choices that don't belong to a measure: a `Policy`, or a dict of choices that differ
            from the defaults, such as {"missing": "skip"}.
        dialect: the name of another tool whose numbers to reproduce, such as "trec_eval-9". A dialect
            includes a policy, so `policy` must not be passed with it.
        chunks: how to fold a run of chunks into a run of documents: the delimiter before the number of a
            chunk ("first:::" cuts at the first "::"), a dict from chunk to document, or a function that
            returns the document of a chunk. A document has the highest score of its chunks, unless the
            policy `fold` has another rule.
    """


class CalibratingOptions(MeasuringOptions, SpanTables, total=False):
    """The options of `calibrate`: `MeasuringOptions` and `SpanTables`."""


class EvaluatingOptions(MeasuringOptions, TableOptions, total=False):
    """The options of functions that compute every measure in the catalogue: `MeasuringOptions` and `TableOptions`."""


class AveragingOptions(EvaluatingOptions, SamplingOptions, total=False):
    """The options of functions that average over queries: `EvaluatingOptions` and `SamplingOptions`."""


def takes(
    record: type[object], defaults: Mapping[str, object] = MappingProxyType({})
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Make a function accept a record of options: `**options: Unpack[MeasuringOptions]`.

    Other keywords are rejected, the signature shows the options with their defaults (None if not named), and
    the whole call is limited to the cores that its engine allows.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        plain = inspect.signature(function)
        own = [each for each in plain.parameters.values() if each.kind is not each.VAR_KEYWORD]
        options = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=hint
            )
            for name, hint in inspect.get_annotations(record).items()
        ]
        shown = plain.replace(parameters=[*own, *options])
        checked = _checking(function, shown)

        @functools.wraps(function)
        def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
            if callable(progress := named.get("progress")):
                named["progress"] = _taking_both(progress)
            engine = named.get("engine")
            with at_most(engine.threads if isinstance(engine, Engine) else None):
                return checked(*given, **named)

        call.__signature__ = shown  # type: ignore[attr-defined]
        return call

    return decorate


def naming_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Make a function reject unknown keywords, with a suggestion."""
    signature = inspect.signature(function)
    others = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
    such_as = f", such as {'=… and '.join(others[:2])}=…" if others else ""
    return _checking(function, signature, such_as)


def _checking(
    function: Callable[Parameters, Result], signature: inspect.Signature, such_as: str = ""
) -> Callable[Parameters, Result]:
    """Make a function reject arguments that its signature lacks; `such_as` shows keywords."""
    parameters = signature.parameters.values()
    known = [each.name for each in parameters]
    kinds = {each.kind for each in parameters}
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    placed = [each.name for each in parameters if each.kind in by_place]
    most = math.inf if inspect.Parameter.VAR_POSITIONAL in kinds else len(placed)

    @functools.wraps(function)
    def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        for name, value in named.items():
            if name not in known:
                hint = _meant(name, value, known)
                message = (
                    f"{function.__name__}() got an unexpected keyword argument {name!r}. {hint}"
                )
                raise TypeError(message.strip())
        if len(given) > most:
            taken = ", ".join(placed) or "nothing"
            message = (
                f"{function.__name__}() takes {taken} by position, and everything else by keyword"
            )
            message += f"{such_as}; {len(given)} were passed by position."
            if "runs" in placed:
                message += " Several runs are a dict {name: run}."
            raise TypeError(message)
        return function(*given, **named)

    return call


def _taking_both(progress: Callable[..., object]) -> Callable[..., object]:
    """Return a function of a share and a name, even if `progress` accepts only the share.

    >>> shares = []
    >>> _taking_both(shares.append)(0.5, "run")
    >>> shares
    [0.5]
    """
    try:
        inspect.signature(progress).bind(0.0, "")
    except TypeError:
        return lambda share, _: progress(share)
    except ValueError:  # built-in functions may lack a signature
        pass
    return progress


_SAME = {
    "k": ("cutoff",), "cutoff": ("k",),
    "metrics": ("measures", "measure"), "metric": ("measures", "measure"), "measure": ("measures",),
    "qrels": ("judgments",), "qrel": ("judgments",), "ground_truth": ("judgments",), "gold": ("judgments",),
    "results": ("run", "runs"), "predictions": ("run", "runs"), "base": ("baseline",),
    "qid": ("query",), "grades": ("grade_words",), "y_true": ("labels",), "y_score": ("scores",), "y_pred": ("scores",),
}  # fmt: skip
"""What other functions and tools call an option, and its name here."""


def _meant(name: str, value: object, known: Collection[str]) -> str:
    """Return what to write instead of an unknown keyword."""
    for other in _SAME.get(name, ()):
        if other in known:
            return f"Did you mean {other!r}?"
    if name in ("k", "cutoff") and "measures" in known:
        return f"The cutoff is a part of the measure: measures='nDCG@{shown(value)}'."
    if name == "judged_only" and "policy" in known:
        return "It is a choice of the policy: policy={'unjudged': 'condense'}."
    if "policy" in known and any(choice.name == name for choice in CHOICES):
        return f"It is a choice of the policy: policy={{{name!r}: {shown(value)}}}."
    return did_you_mean(name, known)
