"""Measures that need more than grades: their values, from the tables next to judgments and run."""

from collections.abc import Callable, Mapping, Sequence

from gainful.errors import InputError, MeasureError, PolicyError
from gainful.evaluation.recommending.measure_values import values_of_run as values_of_lists
from gainful.evaluation.recommending.sources import Sources, ranked_lists, read_sources
from gainful.evaluation.request import TablesGiven
from gainful.evaluation.subtopics.measure_values import topics_of, values_of_run
from gainful.evaluation.subtopics.subtopic_judgments import (
    Judged,
    Weights,
    read_judged,
    read_weights,
    refuse_policy,
)
from gainful.matching.keyword_options import TableOptions
from gainful.matching.reader import Reader
from gainful.measures.formulas import changed_inside
from gainful.measures.measure import (
    Measure,
    ValuesOfRun,
    catalogue,
    measures_inside,
    with_values_of_run,
)
from gainful.measures.measure_family import GRADES, ITEMS, SUBTOPICS
from gainful.measures.name_suggestions import suggest
from gainful.rows.input_types import Run


def with_values(
    measures: tuple[Measure, ...], tables: TablesGiven, reader: Reader, run: Run
) -> tuple[Measure, ...]:
    """Return measures of which those that need more than grades know the values of a run."""
    _refuse_without_tables(measures, tables.options)
    values: dict[Measure, ValuesOfRun] = {}
    for needs, compute in BY_NEED.items():
        wanted = [one for one in measures_inside(measures) if one.family.needs == needs]
        if wanted:
            if reader.is_on_spark([run]):
                expected = f"a run on this machine, for a measure of {needs}"
                raise InputError(str(wanted[0]), expected, "a Spark data frame")
            values |= compute(wanted, tables, reader, run)

    def knowing(measure: Measure) -> Measure:
        return with_values_of_run(measure, values[measure]) if measure in values else measure

    return tuple(changed_inside(measure, knowing) for measure in measures)


def _of_subtopics(
    measures: Sequence[Measure], tables: TablesGiven, reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    policy, options = reader.decided(run), tables.options
    refuse_policy(policy)
    if reader.chunks is not None:
        raise PolicyError("chunks", "none: subtopics are judged by document", "chunks")

    def read() -> tuple[Judged, Weights | None]:
        judged, _ = read_judged(options["subtopics"], reader.columns, reader.policy, reader.session)
        return judged, read_weights(options.get("weights"), judged)

    judged, weights = tables.read("subtopics", reader, read)
    topics = topics_of(judged, weights, reader.lists(run), policy)
    return values_of_run(measures, topics, policy)


def _of_items(
    measures: Sequence[Measure], tables: TablesGiven, reader: Reader, run: Run
) -> dict[Measure, ValuesOfRun]:
    def read() -> Sources:
        judged = reader.judgments.given
        return read_sources(tables.options, reader.columns, reader.session, judged)

    sources = tables.read("items", reader, read)
    return values_of_lists(measures, ranked_lists(reader.lists(run), sources), sources)


BY_NEED: Mapping[
    str,
    Callable[[Sequence[Measure], TablesGiven, Reader, Run], dict[Measure, ValuesOfRun]],
] = {SUBTOPICS: _of_subtopics, ITEMS: _of_items}
"""What computes the measures that need more than grades."""


def _refuse_without_tables(measures: Sequence[Measure], options: Mapping[str, object]) -> None:
    """Refuse measures whose tables are missing, with what to pass, or which measure may be meant instead."""
    passed = {name for name in TableOptions.__annotations__ if options.get(name) is not None}
    for measure in measures_inside(measures):
        family = measure.family
        if family.needs == SUBTOPICS and "subtopics" not in passed:
            expected = "the judgments of subtopics"
            options_to_give = "subtopics=…, or --subtopic-judgments."
        elif family.needs == ITEMS and family.requires and not passed:
            expected = f"{family.requires}, beside the run"
            options_to_give = "items=…, history=… or vectors=…, or --items, --history or --vectors."
        else:
            continue
        hint = suggest(family.name, catalogue(needs=GRADES))
        meant = f"{hint.partition('?')[0]}? Else give" if hint.startswith("Did") else "Give"
        raise MeasureError(str(measure), expected, "none", f"{meant} {options_to_give}")
