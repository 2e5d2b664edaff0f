"""`evaluate`, `evaluate_runs`, `evaluate_subtopics` and `evaluate_arrays`: match, then measure, then apply the policy."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Unpack, cast

from gainful import arguments
from gainful.errors import GainfulError, InputError, taken_warnings, warn
from gainful.evaluation.computing.own_measures import with_values_of_documents
from gainful.evaluation.measuring import batches_for, match_and_measure, measure_batches
from gainful.evaluation.request import (
    Request,
    asked_of,
    counting_every_rating,
    may_be_ratings,
    naming_run,
    policy_for,
    read_request,
    read_tool,
    refuse_grades,
    refuse_option,
    speaking,
    warn_of_ratings,
)
from gainful.evaluation.scores import RunScores, Scores, remeasured, scores_of, warn_of_ties
from gainful.matching.keyword_options import (
    AveragingOptions,
    MeasuringOptions,
    naming_keywords,
    takes,
)
from gainful.matching.matched import Matched, cut, marks_among, tell_marks
from gainful.matching.reader import Reader, open_input, opened_session, reading
from gainful.measures.formulas import knowing_baseline, replaced_inside
from gainful.measures.measure import Measure, measures_inside, refuse_without_baseline
from gainful.measures.measure_family import GRADES, SUBTOPICS
from gainful.measures.measures_by_need import read_measures_of
from gainful.measures.notation import DocumentMeasure, Measures
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import counted
from gainful.rows.duckdb_engine import Progress
from gainful.rows.grades_scores_or_ranks import RUN
from gainful.rows.identifiers import decided_type, examples
from gainful.rows.input_types import SAMPLING, Judgments, Run, TableLike
from gainful.rows.mistakes import warn_of_ranks_in_arrays
from gainful.rows.runs_by_name import Runs, read_runs
from gainful.rows.spark_engine import Spark
from gainful.rows.table_source import can_be_read_twice

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from gainful.array_types import Array

FEWEST_IDEALS = 10
"""Queries with an ideal, below which sizes may differ by chance."""
UNEVEN = 0.5
"""The effective share of the queries, below which ideals are very different."""
_DEEPEST_CUT = 100  # with deeper cutoffs, reading the whole run is just as fast


@takes(AveragingOptions)
def evaluate(
    judgments: Judgments,
    run: Run,
    measures: Measures = "nDCG@10",
    *,
    tie_warning: float | None = None,
    slices: TableLike | None = None,
    by: str | Sequence[str] = (),
    **options: Unpack[AveragingOptions],
) -> Scores:
    """Measure a run against judgments.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object,
            a Spark data frame.
        run: `{query: {doc: score}}`, higher is better, or any of the other forms.
        measures: one measure or several, in the notation or as values.
        tie_warning: warn if the order of tied documents can move the mean of a measure with a
            cutoff by more than this. The lists are then read completely.
        slices: a table with a row for each query: `{query: {column: value}}`, a data frame, a file.
        by: the columns to slice by, as in `compare`; also `judged`, the number of judged documents.
            All columns of `slices` if none is named. `Scores.slices` contains the results.
        **options: policy, dialect, columns, chunks, engine and progress, see `MeasuringOptions`; weights
            and clusters of queries, see `SamplingOptions`; and `TableOptions`.

    >>> judgments = {"q1": {"a": 3, "b": 2, "c": 0}}
    >>> scores = evaluate(judgments, {"q1": {"a": 0.9, "c": 0.8, "b": 0.7}}, ["nDCG@3", "CG"])
    >>> round(scores["nDCG@3"], 4), scores["CG"]
    (0.9386, 5.0)
    """
    asked = read_request(measures, options)
    grouped, others = _grouping(slices, by, options)
    try:
        return grouped(evaluate_request(judgments, {"run": run}, asked, others, tie_warning)["run"])
    except GainfulError:
        if not _is_dict_of_runs(run):
            raise
    named = list(cast("Mapping[object, object]", run))
    raise InputError(
        "run",
        "one run",
        f"a dict of {len(named)} {'run' if len(named) == 1 else 'runs'}: {examples(named)}",
        "evaluate_runs takes such a dict.",
    )


def _is_dict_of_runs(run: Run) -> bool:
    """Return whether something that isn't a run is a dict of runs."""
    # Imported here because only an error needs it.
    from gainful.rows.records_of_lists import is_of_a_query

    if not isinstance(run, Mapping) or is_of_a_query(run):
        return False
    first = next(iter(run.values()), None)
    if isinstance(first, list | tuple):  # of documents, or of rows
        return False
    if isinstance(first, Mapping) and (not first or is_of_a_query(first)):
        return False
    with taken_warnings(), opened_session({}) as (session, columns):
        try:
            rows = open_input(first, RUN, columns, session).first_rows()
        except GainfulError:
            return False
    # Opening doesn't check numbers, and a split holds queries in their place.
    return not any(isinstance(number, Mapping) for _, number in rows)


@takes(AveragingOptions)
def evaluate_runs(
    judgments: Judgments,
    runs: Runs,
    measures: Measures = "nDCG@10",
    *,
    baseline: str | None = None,
    tie_warning: float | None = None,
    slices: TableLike | None = None,
    by: str | Sequence[str] = (),
    **options: Unpack[AveragingOptions],
) -> RunScores:
    """Measure several runs against the same judgments, which are read once.

    The result is a dict {name: Scores}, and a table with a row for each run.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame, an Arrow object,
            a Spark data frame.
        runs: name → run, each `{query: {doc: score}}` or any of the other forms; or paths of
            files, a folder or a pattern, as for `gainful.inputs.find_runs`.
        measures: one measure or several, in the notation or as values.
        baseline: the name of the run that baseline measures refer to, as in `nDCG@10 -
            nDCG@10(baseline)`.
        tie_warning: warn of the effect of ties, as in `evaluate`.
        slices: a table with a row for each query, as in `evaluate`.
        by: the columns to slice by.
        **options: see `MeasuringOptions`, `SamplingOptions` and `TableOptions`.

    >>> runs = {"one": {"q": {"a": 2, "b": 1}}, "two": {"q": {"a": 1, "b": 2}}}
    >>> scores = evaluate_runs({"q": {"a": 1}}, runs, "nDCG@1")
    >>> {name: each["nDCG@1"] for name, each in scores.items()}
    {'one': 1.0, 'two': 0.0}
    """
    named = read_runs(runs, judgments, engine=options.get("engine"))
    if baseline is not None:
        arguments.choice(baseline, "baseline", list(named))
    asked = read_request(measures, options, baseline=baseline is not None)
    grouped, others = _grouping(slices, by, options)
    results = evaluate_request(judgments, named, asked, others, tie_warning, baseline=baseline)
    return RunScores({name: grouped(scores) for name, scores in results.items()})


def _grouping(
    slices: TableLike | None, by: str | Sequence[str], options: AveragingOptions
) -> tuple[Callable[[Scores], Scores], MeasuringOptions]:
    """Return a function that weighs and slices scores, and the options that remain after reading the slices."""
    plain = all(options.get(name) is None for name in SAMPLING)
    if slices is None and plain and isinstance(by, str | tuple | list) and not by:
        return lambda scores: scores, options
    # Imported here because most evaluations weigh and slice nothing.
    from gainful.evaluation.means_of_queries import read_slices, slicing_of
    from gainful.evaluation.query_samples import columns_of_sample, read_sample

    table, others = read_slices(slices, options)
    sample = read_sample(options, table)
    slicing = slicing_of(table, by, besides=columns_of_sample(options))

    def grouped(scores: Scores) -> Scores:
        weighed = scores if sample is None else sample.weighed(scores)
        return weighed if slicing is None else slicing.sliced(weighed)

    return grouped, others


def evaluate_request(
    judgments: Judgments,
    runs: Mapping[str, Run],
    request: Request,
    options: MeasuringOptions,
    tie_warning: float | None = None,
    *,
    baseline: str | None = None,
) -> dict[str, Scores]:
    """Measure runs as `evaluate_runs` does, for a parsed request."""
    engine = options.get("engine")
    report = run_progress(runs, options)
    if isinstance(engine, Spark):
        if report is not None:
            report.tell_step(0.0, "starting Spark and Java")
        judgments, runs = engine.read(judgments, runs)
        engine = None
    read_as: MeasuringOptions = {**options, "engine": engine, "progress": report}
    with request.reader_of(judgments, read_as) as reader:
        whole = tie_warning is not None
        results = measure_runs(
            reader, runs, request, progress=report, whole=whole, baseline=baseline
        )
    if tie_warning is not None:
        for name, scores in results.items():
            with naming_run(name, among=runs):
                warn_of_ties(scores, tie_warning)
    return redrawing(results, judgments, runs, request, options, baseline=baseline)


def redrawing(
    results: dict[str, Scores],
    judgments: Judgments,
    runs: Mapping[str, Run],
    request: Request,
    options: MeasuringOptions,
    *,
    baseline: str | None = None,
) -> dict[str, Scores]:
    """Return scores of a request that can be computed again with redrawn grades, for judgments from clicks.

    The runs are read again for each draw, which a stream doesn't allow.
    """
    if not hasattr(judgments, "redrawn") or not all(map(can_be_read_twice, runs.values())):
        return results
    # Imported here because most grades are by people.
    from gainful.evaluation.means_of_queries import GradeDraws

    quiet: MeasuringOptions = {**options, "progress": None}
    again = partial(evaluate_request, runs=runs, request=request, options=quiet, baseline=baseline)
    draws = GradeDraws(judgments, again)
    return {
        name: replace(scores, redrawn=partial(draws.of, name)) for name, scores in results.items()
    }


def run_progress(runs: Iterable[str], options: MeasuringOptions) -> "RunProgress | None":
    """Return the progress report of several runs; None without a callback."""
    progress = options.get("progress")
    if progress is None:
        return None
    arguments.function(progress, "progress")
    return RunProgress(runs, progress)


class RunProgress:
    """Reports the progress over several runs, based on the progress of the current one."""

    def __init__(self, runs: Iterable[str], progress: Progress) -> None:
        self._names, self._progress = [*runs], progress
        self._told = 0.0
        self.done = 0

    def __call__(self, share: float, _step: str) -> None:
        """Report the completed share of the current run, from 0 to 1; nothing after the last run."""
        self.tell_step(share)

    def tell_step(self, share: float, step: str | None = None) -> None:
        """Report the completed share of the current run and the name of the step."""
        if self.done < len(self._names):
            # Each statement of the engine starts at 0, but progress never moves backwards.
            self._told = max(self._told, (self.done + share) / len(self._names))
            name = self._names[self.done]
            alone = name if step is None else step
            several = name if step is None else f"{name}: {step}"
            self._progress(self._told, alone if len(self._names) == 1 else several)

    def finish_run(self) -> None:
        """Report that the current run is done; the next one begins."""
        self(1.0, "measured")
        self.done += 1


def measure_runs(
    reader: Reader,
    runs: Mapping[str, Run],
    request: Request,
    *,
    progress: RunProgress | None = None,
    whole: bool = False,
    baseline: str | None = None,
) -> dict[str, Scores]:
    """Measure runs.

    Args:
        reader: the reader of the judgments.
        runs: name → run of any kind.
        request: the measures, the policy and the tool.
        progress: reports each run.
        whole: whether the caller needs the lists down to the last rank, and continues to read the
            runs.
        baseline: the name of the run that baseline measures refer to.
    """
    results = {}
    reader.name_runs(runs)
    reader.open_judgments()  # warnings while reading them don't concern any run
    depth = depth_for(request.measures, reader.policy)
    if baseline is not None and any(measure.of_baseline for measure in request.measures):
        parts = (part for measure in request.measures for part in measure.of_baseline)
        needed = tuple(dict.fromkeys(parts))
        with naming_run(baseline, among=runs):
            needed_of_base = replace(request, measures=needed)
            base = _measure_run(reader, runs[baseline], needed_of_base, depth, whole=False)
        measures = knowing_baseline(request.measures, base.values_by_measure())
        request = replace(request, measures=measures)
    for name, run in runs.items():
        with naming_run(name, among=runs), _telling(reader, run, progress):
            results[name] = _measure_run(reader, run, request, depth, whole=whole)
        if not whole:
            reader.forget(run)
        if progress is not None:
            progress.finish_run()
    request.warn_of_marks(reader)
    if request.tool is None:
        first = next(iter(results.values()))
        _warn_of_ratings(first, request.measures, "judgments")
        _warn_of_uneven_ideals(first, request.measures)
    return results


def _warn_of_ratings(scores: Scores, measures: Sequence[Measure], what: str) -> None:
    """Warn about measures that count the worst ratings as relevant; most scales of grades can't be ratings."""
    doubtful = counting_every_rating(measures_inside(measures))
    if doubtful and may_be_ratings(*scores.evidence.ends_of_grades()):
        warn_of_ratings(scores.evidence.grades(), doubtful, what)


@cache
def unnormalised(name: str, measure: Measure) -> Measure:
    """Return the CG, DCG or IDCG with the gain, discount and cutoff of another measure of cumulated gain.

    >>> unnormalised("DCG", Measure("nDCG", cutoff=10, gain="exp2")), unnormalised("IDCG", Measure("CG"))
    (Measure('DCG(gain=exp2)@10'), Measure('IDCG(discount=none)'))
    """
    taken = {parameter.name for parameter in Measure(name).family.parameters}
    settings = {key: value for key, value in measure.settings if key in taken}
    if measure.name == "CG" and "discount" in taken:
        settings["discount"] = "none"
    return Measure(name, cutoff=measure.cutoff, **settings)


def _warn_of_uneven_ideals(scores: Scores, measures: Sequence[Measure]) -> None:
    """Warn if CG or DCG is averaged over queries with very different ideals.

    The mean of a DCG is the mean of ideal × nDCG. The effective number (Σ I)² / Σ I² of ideals I is the
    number of queries with equal ideals that would determine such a mean as well.
    """
    doubtful = [measure for measure in measures if measure.name in ("CG", "DCG")]
    if not doubtful or len(scores.queries) < FEWEST_IDEALS or not scores.evidence.lists:
        return
    first, others = doubtful[0], len(doubtful) - 1
    ideals = remeasured(scores, (unnormalised("IDCG", first),)).values[:, 0]
    ideals = ideals[ideals > 0]
    if ideals.size < FEWEST_IDEALS:
        return
    effective = (ideals / ideals.max()).sum() ** 2 / ((ideals / ideals.max()) ** 2).sum()
    if effective >= UNEVEN * ideals.size:
        return
    more = f" (and {counted(others, 'other measure')})" if others else ""
    normalised = Measure("nDCG", cutoff=first.cutoff, **dict(first.settings))
    warn(
        f"{first}{more} counts each query by the size of its ideal, from {ideals.min():.4g} to "
        f"{ideals.max():.4g}, so its mean over {ideals.size:,} queries depends on only about "
        f"{effective:.0f} of them. {normalised} gives every query the same weight.",
        "measure.uneven-ideals",
    )


def _telling(
    reader: Reader, run: Run, progress: RunProgress | None
) -> AbstractContextManager[None]:
    """Report Spark's progress with a run, if it does the work; otherwise the engine reports its own."""
    if progress is None or "pyspark" not in sys.modules:  # then nothing is on Spark
        return nullcontext()
    # Imported here because few calls need it.
    from gainful.rows.spark_engine import telling_stages
    from gainful.rows.spark_frames import is_spark

    on_spark = is_spark(run) or is_spark(reader.given)
    return telling_stages(progress.tell_step) if on_spark else nullcontext()


def _measure_run(
    reader: Reader, run: Run, request: Request, depth: int | None, *, whole: bool
) -> Scores:
    """Measure a run down to a depth; lists that are needed `whole`, or can't be read again, are matched completely."""
    measures, tool = with_values_of_run(request.measures, request, reader, run), request.tool
    reader.warn_if_same(run)
    if reader.is_on_spark([run]):
        # Imported here because it measures again for ties, with the functions above.
        from gainful.evaluation.spark.evaluate import measure_on_spark

        pair = reader.on_spark(run, depth)
        return measure_on_spark(pair, measures, tool, reader.query_type(run))
    again = None if whole or depth is None else _matched_again(reader, run)
    lists, decided = reader.match(run, None if again is None else depth)
    matched = cut(lists, depth)
    request.refuse_grades(matched.grade, matched.pool_grades)
    measured = measure_batches([matched], measures, decided, depth)
    return scores_of(
        [matched],
        measured if reader.spans is None else measured.all_judged(),
        measures,
        decided,
        depth,
        dialect=tool,
        query_type=reader.query_type(run),
        # The effect of ties is unknown in lists that were cut.
        rematch=partial(list, [lists]) if again is None and depth is not None else again,
    )


def with_values_of_run(
    measures: tuple[Measure, ...], request: Request, reader: Reader, run: Run
) -> tuple[Measure, ...]:
    """Return the measures, with the values of a run for measures that need more than ranks and grades."""
    inside, valued = measures_inside(measures), dict[Measure, Measure]()
    if DocumentMeasure in {*map(type, inside)}:
        valued |= with_values_of_documents(inside, reader, run)
    if {measure.family.needs for measure in inside} != {GRADES}:
        # Imported here because most measures are made of grades alone.
        from gainful.evaluation.tables_beside_judgments import with_values_of_tables

        valued |= with_values_of_tables(inside, request.tables, reader, run)
    return replaced_inside(measures, valued) if valued else measures


def _matched_again(reader: Reader, run: Run) -> Callable[[], Sequence[Matched]] | None:
    """Return a function that opens a run again, to match it down to the last rank; None if it can't be opened again."""
    judgments, again = reader.judgments.given.again, reader.run(run).again
    if judgments is None or again is None:
        return None
    options = {
        "columns": reader.columns,
        "chunks": reader.chunks,
        "engine": reader.session.engine,
    }
    return partial(_match_whole, judgments, again, reader.decided(run), options)


def _match_whole(
    judgments: Judgments, run: Run, policy: Policy, options: Mapping[str, object]
) -> list[Matched]:
    with reading(judgments, policy, options) as reader:
        return [reader.match(run)[0]]


@takes(MeasuringOptions)
def evaluate_subtopics(
    judgments: Judgments,
    run: Run,
    measures: Measures = "alpha_nDCG@20",
    *,
    weights: TableLike | None = None,
    **options: Unpack[MeasuringOptions],
) -> Scores:
    """Measure a run against judgments of the subtopics of queries.

    Subtopics without a relevant document are ignored. By default, judged queries that
    the run lacks count as 0, like queries without a relevant document.

    Args:
        judgments: `{query: {subtopic: {doc: grade}}}`, the path of a file, a data frame, an Arrow
            object. A file is TREC with the fields query, subtopic, doc and grade, or CSV, TSV,
            JSON, JSON lines, Parquet.
        run: `{query: {doc: score}}`, higher is better, or any of the other forms.
        measures: one measure or several, of `subtopic_catalogue()`.
        weights: `{query: {subtopic: probability}}`, or a table; the weights of subtopics with a
            relevant document are divided by their sum. All subtopics of a query are equally likely if None.
        **options: see `MeasuringOptions`; subtopic is among the usual columns, and these measures
            have no dialects.

    >>> judgments = {"jaguar": {"cat": {"d1": 1, "d2": 1}, "car": {"d3": 1}}}
    >>> same = evaluate_subtopics(judgments, {"jaguar": {"d1": 2, "d2": 1}}, ["alpha_nDCG@2", "strec@2"])
    >>> both = evaluate_subtopics(judgments, {"jaguar": {"d1": 2, "d3": 1}}, ["alpha_nDCG@2", "strec@2"])
    >>> round(same["alpha_nDCG@2"], 4), same["strec@2"], both["alpha_nDCG@2"], both["strec@2"]
    (0.8066, 0.5, 1.0, 1.0)
    """
    # Imported here because most judgments have no subtopics.
    from gainful.evaluation import subtopics

    refuse_option(options, "dialect", "measures of subtopics are gainful's own")
    asked, policy = read_measures_of(SUBTOPICS, measures), read_policy(options.get("policy"))
    subtopics.refuse_policy(policy, options)
    with opened_session(options) as (session, columns):
        judged, judged_type = subtopics.read_judged(judgments, columns, policy, session)
        request = Request(asked, policy.folding(chunks=False), None, {"subtopics": judged})
        best = subtopics.best_grades(judged)
        reader = Reader(best, request.policy, session, columns, None)
        likely = subtopics.read_weights(weights, judged, session)
        reader.once("subtopics", lambda: (judged, likely))
        scores = _measure_run(reader, run, request, None, whole=True)
        reader.warn_of_marks()
        query_type = decided_type([reader.run(run).query_type, judged_type])
    return replace(scores, query_type=query_type)


@naming_keywords
def evaluate_arrays(
    *,
    labels: "ArrayLike | None" = None,
    scores: "Array | None" = None,
    measures: Measures = "nDCG@10",
    group: "ArrayLike | None" = None,
    query: "ArrayLike | None" = None,
    mask: "ArrayLike | None" = None,
    relevant: "Array | None" = None,
    items: "ArrayLike | None" = None,
    seen: "Array | None" = None,
    weights: "ArrayLike | TableLike | None" = None,
    clusters: "ArrayLike | TableLike | Callable[[str], object] | None" = None,
    policy: GivenPolicy | None = None,
    dialect: str | Dialect | None = None,
) -> Scores:
    """Measure scores against labels in arrays; the documents you pass count as all judged documents.

    Recommenders pass `relevant` instead of `labels`, a matrix of users × items in which most items have
    no grade. Matrices may be sparse, as SciPy's are.

    Args:
        labels: [batch, list] or flat (n,), the grade of each document.
        scores: an array of the same shape; higher is better. A document with the score −∞, the
            usual mask, is judged but not returned, whereas in `gf.metrics` it is the last of its
            list; NaN and +∞ are errors.
        measures: one measure or several, in the notation or as values.
        group: for flat arrays, the size of each list, in order.
        query: for flat arrays, the query id of each document, in any order; for
            [batch, list], the query id of each list. Without it, queries are numbered from 0.
        mask: an array of the shape of labels, True where there is a document.
        relevant: [user, item], instead of labels: True or a grade for relevant items; items with 0, or
            without an entry in a sparse matrix, are not judged.
        items: [user, rank], with relevant: the columns of the items that were shown, best first;
            −1 is padding. Their scores, if any, have the same shape, and then decide the order.
        seen: [user, item], with relevant: True for items that the user already knew. They count
            neither as returned nor as relevant.
        weights: the weight of each list, in the order of the lists; for flat arrays, also of each
            document, whose query then counts with their mean; or by query id, as in `evaluate`.
        clusters: the cluster of each list, or of each document, in the same ways.
        policy: the policy, as in `evaluate`; ties are averaged by default.
        dialect: the name of a tool whose numbers to reproduce, as in `evaluate`; for a tool that
            orders ties by id, ties are averaged here.

    >>> scores = evaluate_arrays(labels=[[1, 0, 0]], scores=[[0.5, 0.5, 0.5]], measures="nDCG")
    >>> round(scores["nDCG"], 4)
    0.7103
    >>> scores = evaluate_arrays(
    ...     relevant=[[True, False, False]], scores=[[0.2, 0.9, 0.1]], seen=[[False, True, False]], measures="RR"
    ... )
    >>> scores["RR"]
    1.0
    """
    # Imported here because evaluations of files don't need it.
    from gainful.arithmetic.kernels.swapped_arguments import swapped_arguments
    from gainful.matching import array_matching
    from gainful.rows.arrays import read_lists

    tool = read_tool(dialect, policy)
    asked = asked_of(measures, tool)
    refuse_without_baseline(asked)
    chosen = policy_for(read_policy(policy) if tool is None else tool.for_arrays(), asked)
    resolved = chosen.resolved(ids=False)
    depth = None
    if relevant is None:
        _refuse_passed("relevant=…, whose items it is about", "none", items=items, seen=seen)
        if labels is None or scores is None:
            expected = "labels and scores, or relevant, and scores or items"
            raise InputError("evaluate_arrays", expected, "neither" if labels is None else "labels")
        lists = read_lists(labels, scores, group=group, query=query, mask=mask)
    else:
        # Imported here because few arrays are users × items.
        from gainful.rows.arrays import read_lists_of_items

        _refuse_beside_relevant(resolved, labels=labels, group=group, mask=mask)
        if resolved.precision == "double":  # otherwise, rounding may make deeper items ties
            depth = depth_for(asked, resolved)
        lists = read_lists_of_items(
            relevant, scores=scores, items=items, seen=seen, query=query, depth=depth
        )
        labels = [[0]] * len(lists.queries)  # the shape that weights and clusters belong to
    oddity = swapped_arguments(lists.labels, lists.scores)
    if oddity is not None:
        warn(arguments.SWAPPED.format(oddity=oddity), "input.swapped")
    if scores is not None:
        warn_of_ranks_in_arrays(lists)
    refuse_grades(tool, lists.labels, lists.labels, asked)
    with speaking(tool):
        batches, measured = match_and_measure(
            lists.split(batches_for(lists.labels.size)),
            lambda part: cut(array_matching.match(part, resolved), depth),
            asked,
            resolved,
            depth,
        )
        result = scores_of(
            batches, measured, asked, resolved, depth, dialect=tool, query_type=lists.query_type
        )
    if weights is not None or clusters is not None:
        # Imported here because most lists count the same.
        from gainful.evaluation.query_samples import read_array_sample

        sample = read_array_sample(weights, clusters, labels, group=group, query=query)
        result = result if sample is None else sample.weighed(result)
    if chosen.negative == "auto" and tool is None:
        tell_marks(marks_among(batches), arrays=True)
    if tool is None:
        _warn_of_ratings(result, asked, "labels")
    return result


def _refuse_passed(expected: str, found: str, **options: object) -> None:
    for name, value in options.items():
        if value is not None:
            raise InputError(name, expected, found.format(name))


def _refuse_beside_relevant(policy: Policy, **options: object) -> None:
    _refuse_passed("labels, or relevant", "relevant and {}", **options)
    if policy.unjudged != "zero":
        expected = "the policy unjudged=zero with relevant"
        remedy = "Pass labels=… with a grade for every item."
        raise InputError("relevant", expected, f"unjudged={policy.unjudged}", remedy)


def depth_for(measures: tuple[Measure, ...], policy: Policy) -> int | None:
    """Return the deepest rank that matters for any of the measures; None if all do.

    If unjudged documents change the lists, the whole run matters.
    """
    reaches = [measure.reach for measure in measures if measure.reach is not None]
    if len(reaches) < len(measures) or policy.unjudged != "zero" or max(reaches) > _DEEPEST_CUT:
        return None
    return max(reaches)
