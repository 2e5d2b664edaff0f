"""Measures that need more than grades: the tables that they require, and their values for `evaluate`."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gainful.errors import InputError, MeasureError
from gainful.evaluation import evidence, model_answers, recommending, subtopics, time_and_sessions
from gainful.matching.keyword_options import TableOptions
from gainful.matching.reader import Reader
from gainful.measures.measure import Measure, ValuesOfRun, catalogue, with_values_of_run
from gainful.measures.measure_family import (
    ABSTENTIONS,
    CONFIDENCE,
    EVIDENCE,
    GRADES,
    ITEMS,
    LENGTHS,
    NUGGETS,
    SESSIONS,
    SUBTOPICS,
)
from gainful.measures.name_suggestions import suggest
from gainful.rows.grades_scores_or_ranks import JUDGMENTS
from gainful.rows.input_types import Run


def with_values_of_tables(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, Measure]:
    """Return the measures that need more than grades among some, each with its values for a run."""
    _refuse_without_tables(measures, options)
    values: dict[Measure, ValuesOfRun] = {}
    for needs, compute in BY_NEED.items():
        wanted = [one for one in measures if one.family.needs == needs]
        if wanted:
            if reader.is_on_spark([run]):
                expected = f"a run on this machine, for a measure of {needs}"
                raise InputError(str(wanted[0]), expected, "a Spark data frame")
            values |= compute(wanted, options, reader, run)
    return {measure: with_values_of_run(measure, known) for measure, known in values.items()}


def _of_items(
    measures: Sequence[Measure], options: Mapping[str, Any], reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    read = partial(recommending.read_sources, options, reader.columns, reader.session)
    sources = reader.once("items", lambda: read(reader.judgments.given))
    depth = recommending.deepest_of(measures)
    lists = recommending.lists_of_run(reader, run, sources, depth)
    return recommending.values_of_run(measures, lists, sources)


BY_NEED: Mapping[
    str,
    Callable[[Sequence[Measure], Mapping[str, Any], Reader, Run], dict[Measure, ValuesOfRun]],
] = {
    SUBTOPICS: subtopics.values_of_run,
    ITEMS: _of_items,
    NUGGETS: model_answers.values_of_nuggets,
    ABSTENTIONS: model_answers.values_of_distraction,
    CONFIDENCE: model_answers.values_of_abstention,
    EVIDENCE: evidence.values_of_run,
    LENGTHS: time_and_sessions.values_of_walks,
    SESSIONS: time_and_sessions.values_of_sessions,
}
"""The functions that compute measures that need more than grades."""


_REQUIRED_TABLES: Mapping[str, str] = {
    SUBTOPICS: "the judgments of subtopics",
    NUGGETS: "the nuggets of each query, and the documents that support them",
    ABSTENTIONS: "the probability that the reading model abstains, for each passage",
    CONFIDENCE: "the confidence in each query",
    SESSIONS: "the session of each query",
}
"""The contents of the table that measures of a need require; its keyword is the name of the need."""
_WAYS_TO_PASS = {
    SUBTOPICS: "subtopics=…, or --subtopic-judgments.",
    CONFIDENCE: "confidence=… (a table, or max, std or diff1 of the scores), or --confidence.",
}


def _refuse_without_tables(measures: Sequence[Measure], options: Mapping[str, object]) -> None:
    """Reject measures whose tables are missing, and suggest tables, or another measure."""
    passed = {name for name in TableOptions.__annotations__ if options.get(name) is not None}
    for measure in measures:
        family = measure.family
        needs = family.needs
        if needs in _REQUIRED_TABLES and needs not in passed:
            expected = _REQUIRED_TABLES[needs]
            options_to_give = _WAYS_TO_PASS.get(needs, f"{needs}=…, or --{needs}.")
        elif needs == ITEMS and family.requires not in ("", JUDGMENTS.name) and not passed:
            expected = f"{family.requires}, in addition to the run"
            options_to_give = "items=…, history=… or vectors=…, or --items, --history or --vectors."
        else:
            continue
        hint = suggest(family.name, catalogue(needs=GRADES))
        meant = f"{hint.partition('?')[0]}? Otherwise pass" if hint.startswith("Did") else "Pass"
        raise MeasureError(str(measure), expected, "none", f"{meant} {options_to_give}")
