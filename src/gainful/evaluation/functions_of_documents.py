"""Ask measures that are functions of the documents themselves, in data frames, what the queries of a run are worth."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gainful.errors import InputError
from gainful.matching.ranked_documents import rank_documents
from gainful.matching.reader import Reader
from gainful.measures.baseline_in_formulas import changed_inside, measures_inside
from gainful.measures.ir_measures_definitions import DocumentMeasure
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.message_texts import shortened, shown
from gainful.rendering.table_formats import data_frame_library

_JUDGED = ("query_id", "doc_id", "relevance", "iteration")
_RETURNED = ("query_id", "doc_id", "score")


def asked_of_documents(
    measures: tuple[Measure, ...], reader: Reader, run: object
) -> tuple[Measure, ...]:
    """Return measures of which those that are functions of documents know the values of a run."""
    wanted = [each for each in measures_inside(measures) if isinstance(each, DocumentMeasure)]
    if not wanted:
        return measures
    for measure in wanted:
        _refuse_other_columns(measure)
    if reader.is_on_spark([run]):
        raise InputError(
            str(wanted[0]), "documents on this machine, for its data frames", "a Spark data frame"
        )
    policy = reader.decided(run)
    judged, returned = _frames(reader, run, policy, wanted[0])
    found = {each: _asked(each, judged, returned) for each in wanted}

    def knowing(measure: Measure) -> Measure:
        if isinstance(measure, DocumentMeasure):
            return measure.knowing(found[measure], policy.ties)
        return measure

    return tuple(changed_inside(each, knowing) for each in measures)


def _refuse_other_columns(measure: DocumentMeasure) -> None:
    """Refuse a function that wants columns which judgments and runs have not."""
    for wanted, known, what in (
        (getattr(measure.given, "QREL_INPUTS", None), _JUDGED, "judgments"),
        (getattr(measure.given, "RUN_INPUTS", None), _RETURNED, "the run"),
    ):
        others = [each for each in wanted or () if each not in known]
        if others:
            expected = f"a function of the columns {', '.join(known)} of {what}"
            raise InputError(str(measure), expected, ", ".join(map(str, others)))


def _frames(
    reader: Reader, run: object, policy: Policy, measure: DocumentMeasure
) -> tuple[Any, Any]:
    """Return judgments and run as ir_measures has them: by query, then by document or by rank."""
    pandas = data_frame_library("pandas", f"{measure}, a function of data frames")
    graded: list[tuple[str, str, float]] = []
    scored: list[tuple[str, str, float]] = []
    for query, grades, scores in reader.judged_and_returned(run):
        graded += [(query, doc, float(grades[doc])) for doc in sorted(grades)]
        worth = {doc: float(grades.get(doc, 0.0)) for doc in scores}
        placed = rank_documents(scores, policy, worth.__getitem__)
        if any(each.rank_first < each.rank_last for each in placed):
            raise InputError(
                f"{measure} under ties=average",
                "no tied documents: its function is given one order",
                f"tied documents in query {query!r}",
                "Choose ties=doc, order, best or worst.",
            )
        scored += [(query, each.doc, float(scores[each.doc])) for each in placed]
    judged = pandas.DataFrame(graded, columns=list(_JUDGED[:3]))
    if (judged["relevance"] == judged["relevance"].round()).all():
        judged["relevance"] = judged["relevance"].astype("int64")  # as files of judgments have them
    judged["iteration"] = "0"
    return judged, pandas.DataFrame(scored, columns=list(_RETURNED))


def _asked(measure: DocumentMeasure, judged: Any, returned: Any) -> Mapping[str, float]:
    """Return what a function says of each query of a run; ir_measures' default where it says nothing."""
    known = dict.fromkeys(returned["query_id"], float(getattr(measure.given, "DEFAULT", 0.0)))
    said: dict[str, float] = {}
    try:
        # Its own copies, which it may change.
        metrics: Sequence[Any] = list(measure.given.runtime_impl(judged.copy(), returned.copy()))
    except Exception as problem:
        found = f"{type(problem).__name__}: {problem}"
        raise InputError(
            f"{measure}, a function of data frames", "values", shortened(found)
        ) from problem
    for metric in metrics:
        where = f"{measure}, a function of data frames, query {metric.query_id!r}"
        if metric.query_id not in known or metric.query_id in said:
            raise InputError(where, "one value for each query of the run", "another")
        try:
            said[metric.query_id] = float(metric.value)
        except (TypeError, ValueError):
            raise InputError(where, "a number", shortened(shown(metric.value))) from None
        if not np.isfinite(said[metric.query_id]):
            raise InputError(where, "a finite value", str(said[metric.query_id]))
    return {**known, **said}
