"""`ReadingOptions` and `MeasuringOptions`: what every function that reads takes by keyword."""

import functools
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ParamSpec, TypedDict, TypeVar

from gainful.inputs.cores import at_most
from gainful.inputs.duckdb_engine import Engine, Progress
from gainful.inputs.spark_engine import Spark
from gainful.measures.dialect import Dialect
from gainful.measures.policy import CHOICES, GivenPolicy
from gainful.message_texts import did_you_mean, shown

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class InputOptions(TypedDict, total=False):
    """What `ReadingOptions` has, but for `queries`."""

    columns: Mapping[str, str | int | None] | None
    assessors: str | None
    engine: Engine | Spark | None
    progress: Progress | None


class ReadingOptions(InputOptions, total=False):
    """How inputs are read: what every function that reads them takes by keyword.

    Attributes:
        columns: names of columns that are not among the usual: query, doc, grade, score, rank, or
            of one side alone, such as judgments.query; slices.query is that of a table of slices. None
            as grade says that there is no column of grades: every row has grade 1.
        assessors: for judgments of several assessors, how their grades of a document become one. One of
            "mean", "median", "majority" (of several grades as frequent, the lowest), "max", "min",
            "dawid-skene", or the name of the assessor whose grades count. `merge_judgments` defines them.
        engine: what may be used of the machine, an `Engine`; or, in `evaluate`, `evaluate_runs` and
            `compare`, `Spark`, which then reads the files.
        progress: called with the share of the work that is done, from 0 to 1, and, if it takes a second
            argument, the name of what is being done: the run that is measured, or a step such as
            "reading". Spark reports its stages from a thread of its own.
        queries: for an input that is a list of lists, or of responses of a search, the ids of their
            queries, in order. Or the path of a file with an id on each line.
    """

    queries: Iterable[str | int] | str | os.PathLike[str] | None


class PageOptions(InputOptions, total=False):
    """What `MeasuringOptions` has, but for `queries`: those of `report` are texts."""

    policy: GivenPolicy | None
    dialect: str | Dialect | None
    chunks: str | Mapping[str, str] | Callable[[str], str] | None


class MeasuringOptions(PageOptions, ReadingOptions, total=False):
    """How runs are matched and measured: `ReadingOptions`, and these.

    Attributes:
        policy: the choices that are not the measure's, a `Policy` or a dict of those that differ
            from the defaults, such as {"missing": "skip"}.
        dialect: measure as another tool does, such as "trec_eval-9"; then there is no policy.
        chunks: the run has chunks of documents, which are folded. Give the delimiter before the
            number of a chunk ("first:::" cuts at the first "::"), a dict from chunk to document, or
            a function that returns the document of a chunk. A document has the highest score of its
            chunks, unless the policy `fold` says otherwise.
    """


def takes(
    record: type[InputOptions],
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Have a function take a record of options: `**options: Unpack[MeasuringOptions]`.

    Other keywords are refused, the signature shows what there is, and the whole call keeps to the
    cores that its engine allows.
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        plain = inspect.signature(function)
        own = [each for each in plain.parameters.values() if each.kind is not each.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for name, hint in inspect.get_annotations(record).items()
        ]
        known = {each.name: None for each in (*own, *options)}
        placed = _by_place(plain)

        @functools.wraps(function)
        def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
            _refuse_unknown(function.__name__, named, known)
            _refuse_more(function.__name__, len(given), placed)
            if callable(progress := named.get("progress")):
                named["progress"] = _taking_both(progress)
            engine = named.get("engine")
            with at_most(engine.threads if isinstance(engine, Engine) else None):
                return function(*given, **named)

        shown = plain.replace(parameters=[*own, *options])
        call.__signature__ = shown  # type: ignore[attr-defined]
        return call

    return decorate


def naming_keywords(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Have a function refuse a keyword that it does not have with the one that was meant."""
    plain = inspect.signature(function)
    known, placed = list(plain.parameters), _by_place(plain)
    others = [name for name in known if placed is not None and name not in placed][:2]
    such_as = f", such as {'=… and '.join(others)}=…" if others else ""

    @functools.wraps(function)
    def call(*given: Parameters.args, **named: Parameters.kwargs) -> Result:
        _refuse_unknown(function.__name__, named, known)
        _refuse_more(function.__name__, len(given), placed, such_as)
        return function(*given, **named)

    return call


def _taking_both(progress: Callable[..., object]) -> Callable[..., object]:
    """Return a function of a share and a name: one of the share alone is called without the name.

    >>> shares = []
    >>> _taking_both(shares.append)(0.5, "run")
    >>> shares
    [0.5]
    """
    try:
        inspect.signature(progress).bind(0.0, "")
    except TypeError:
        return lambda share, _: progress(share)
    except ValueError:  # of what is built in and says nothing of its arguments
        pass
    return progress


def _by_place(signature: inspect.Signature) -> list[str] | None:
    """Return the names of what a function takes by its place; None where that is any number."""
    kinds = {each.name: each.kind for each in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL in kinds.values():
        return None
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    return [name for name, kind in kinds.items() if kind not in by_name]


def _refuse_more(
    function: str, count: int, placed: Sequence[str] | None, such_as: str = ""
) -> None:
    """Refuse more arguments by place than there are, with what goes there and how to give the rest."""
    if placed is None or count <= len(placed):
        return
    taken = ", ".join(placed) or "nothing"
    message = f"{function}() takes {taken} by place, and anything else by its name{such_as}; "
    message += f"{count} came by place."
    if "runs" in placed:
        message += " Several runs are a dict {name: run}."
    raise TypeError(message)


def _refuse_unknown(function: str, named: Mapping[str, object], known: Collection[str]) -> None:
    for name, value in named.items():
        if name not in known:
            hint = _meant(name, value, known)
            message = f"{function}() got an unexpected keyword argument {name!r}. {hint}"
            raise TypeError(message.strip())


_SAME = {
    "k": ("cutoff",), "cutoff": ("k",),
    "metrics": ("measures", "measure"), "metric": ("measures", "measure"), "measure": ("measures",),
    "qrels": ("judgments",), "qrel": ("judgments",), "ground_truth": ("judgments",), "gold": ("judgments",),
    "results": ("run", "runs"), "predictions": ("run", "runs"), "base": ("baseline",),
    "qid": ("query",), "y_true": ("labels",), "y_score": ("scores",), "y_pred": ("scores",),
}  # fmt: skip
"""What other functions and other tools call a thing, and the names that it has here."""


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
