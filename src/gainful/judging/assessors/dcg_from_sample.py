"""DCG and CG from documents sampled for people with known probabilities, and a model's grades.

DCG is a sum over documents, so the model's error is a sum as well, which the drawn documents
sample: Σ d(i)·[g(ŷᵢ) + (1ᵢ/πᵢ)·(g(yᵢ) − g(ŷᵢ))], where 1ᵢ is whether document i was drawn, πᵢ its
probability, ŷᵢ the model's grade and yᵢ people's. On average over the draws it is the DCG by
people's grades, however wrong the model is.

nDCG isn't a sum, so the effect of a drawn grade is the change of nDCG if it replaces the model's: the ideal changes,
too. The effects of several documents of a query overlap, which leaves an error of second order.

D. Horvitz and D. Thompson, A generalization of sampling without replacement from a finite universe, JASA 47, 1952.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gainful.array_types import Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.evaluate import run_progress
from gainful.evaluation.gains_ranks_and_ideals import discounts_of, gains_of
from gainful.evaluation.measures_on_grade_lists import match_grades
from gainful.evaluation.measuring import measure_batches
from gainful.evaluation.request import Request, naming_run
from gainful.judging.assessors.grade_table import grades_of
from gainful.judging.assessors.model_agreement import Grades
from gainful.judging.assessors.sample_design import (
    ALL,
    DOCUMENTS,
    SampleDesign,
    SampledStratum,
    Unit,
)
from gainful.judging.inferred_measures import refuse_other_policies
from gainful.matching.keyword_options import MeasuringOptions
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import counted
from gainful.rows.identifiers import in_order
from gainful.rows.input_types import Judgments, Run

LINEAR = ("DCG", "CG")
"""The measures that are sums over documents."""
_EXAMPLES = 3


@dataclass(frozen=True, slots=True)
class SampledValues:
    """Values of queries, by run.

    Attributes:
        estimates: run → (q, m), the unbiased estimates.
        model: run → (q, m), the values by the model's grades.
        people: query → document → grade of people.
        graded: query → document → grade of the model.
        policy: the policy for the order of the runs.
        remarks: notes on what was left out.
    """

    estimates: Mapping[str, Floats]
    model: Mapping[str, Floats]
    people: Grades
    graded: Grades
    policy: Policy
    remarks: tuple[str, ...]


def sampled_values(
    human: Judgments,
    model: Judgments,
    runs: Mapping[str, Run],
    request: Request,
    plan: SampleDesign,
    options: MeasuringOptions,
) -> SampledValues:
    """Estimate the value of each run for each query.

    Args:
        human: grades of the drawn documents.
        model: grades of all documents.
        runs: name → run of any kind.
        request: the request for DCG or CG.
        plan: the drawn documents, the population and the probabilities.
        options: the caller's options.
    """
    whole = plan.depth is None  # every document that the model judged could be drawn
    for measure in request.measures:
        if measure.name not in LINEAR and not (whole and _is_ndcg(measure)):
            raise MeasureError(
                "measures",
                f"{' or '.join(LINEAR)}, which are sums over documents, with a design of documents",
                f"'{measure}'",
                "With a sample of whole queries (gf.judging.sample_queries), every measure can be "
                "estimated.",
            )
    refuse_other_policies(request.policy, "calibrate")
    with request.reader_of(human, {**options, "progress": None}) as reader:
        people = grades_of(reader)
    _refuse_others(people, plan)
    queries = in_order({unit[0] for unit in plan.population})
    run_report = run_progress(runs, options)
    estimates, predicted = {}, {}
    with request.reader_of(model, {**options, "assessors": None, "progress": run_report}) as reader:
        graded = grades_of(reader)
        grades = np.array(
            [
                grade
                for source in (people, graded)
                for docs in source.values()
                for grade in docs.values()
            ]
        )
        request.refuse_grades(grades, grades)
        gains = [_gains_by_grade(measure, grades) for measure in request.measures]
        depth = _depth(request)
        for name, run in runs.items():
            with naming_run(name, among=runs):
                lists = reader.lists(run, depth)
                _refuse_unknown(lists, queries, graded, plan)
            both = [
                [
                    _values(lists.get(query, []), query, measure, gain, (people, graded), plan)
                    for measure, gain in zip(request.measures, gains, strict=True)
                ]
                for query in queries
            ]
            cube = np.array(both, np.float64).reshape(len(queries), len(request.measures), 2)
            estimates[name], predicted[name] = cube[:, :, 0], cube[:, :, 1]
            if run_report is not None:
                run_report.finish_run()
        policy = shared_policy([reader.decided(run) for run in runs.values()])
    other = len(graded.keys() - {*queries})
    remarks = [
        f"{counted(other, 'query', 'queries')} of the model left out: no documents drawn from them"
    ] * bool(other)
    return SampledValues(estimates, predicted, people, graded, policy, tuple(remarks))


def design_of_documents(
    human: Judgments, model: Judgments, request: Request, options: MeasuringOptions
) -> SampleDesign:
    """Return the design of single documents, drawn at random from all documents that the model judged."""
    graded = []
    for source in (human, model):
        others: MeasuringOptions = {} if source is human else {"assessors": None}
        with request.reader_of(source, {**options, **others, "progress": None}) as reader:
            graded.append(grades_of(reader))
    drawn, every = (
        tuple((query, doc) for query in in_order(source) for doc in sorted(source[query]))
        for source in graded
    )
    known = {*every}
    lacking: set[Unit] = {unit for unit in drawn if unit not in known}
    if lacking:
        raise InputError("human", "documents that the model judged", _some(lacking))
    return SampleDesign(DOCUMENTS, (SampledStratum(ALL, every, drawn),))


def _is_ndcg(measure: Measure) -> bool:
    return measure.name == "nDCG" and not measure.changes("norm", "ideal", "depth")


def _ndcg(
    listed: list[str],
    query: str,
    measure: Measure,
    grades: tuple[Grades, Grades],
    plan: SampleDesign,
) -> tuple[float, float]:
    """Return nDCG corrected by the effects of the drawn grades, and nDCG by the model's grades alone."""
    people, model = (source.get(query, {}) for source in grades)
    predicted = _ndcg_of(listed, model, measure)
    effects = [
        (_ndcg_of(listed, {**model, doc: grade}, measure) - predicted)
        / plan.probability_of[query, doc]
        for doc, grade in people.items()
    ]
    return predicted + sum(effects), predicted


def _ndcg_of(listed: list[str], graded: Mapping[str, float], measure: Measure) -> float:
    if not listed:
        return 0.0
    matched, _ = match_grades([graded[doc] for doc in listed], [*graded.values()], measure)
    return float(measure_batches([matched], (measure,), Policy(ties="order")).values[0, 0])


def _depth(request: Request) -> int | None:
    cutoffs = [measure.cutoff for measure in request.measures]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)


def _gains_by_grade(measure: Measure, grades: Floats) -> dict[float, float]:
    levels = np.unique(grades)
    return dict(
        zip(
            levels.tolist(),
            gains_of(measure.parameters["gain"], levels, levels).tolist(),
            strict=True,
        )
    )


def _values(
    listed: list[str],
    query: str,
    measure: Measure,
    gains: Mapping[float, float],
    grades: tuple[Grades, Grades],
    plan: SampleDesign,
) -> tuple[float, float]:
    """Return the estimate of a list's value, and its value by the model's grades alone."""
    if _is_ndcg(measure):
        return _ndcg(listed, query, measure, grades, plan)
    docs = listed if measure.cutoff is None else listed[: measure.cutoff]
    if not docs:
        return 0.0, 0.0
    people, model = (source.get(query, {}) for source in grades)
    predicted = np.array([gains[model[doc]] for doc in docs])
    mixed = np.array([gains[people[doc]] if doc in people else gains[model[doc]] for doc in docs])
    probability = np.array([plan.probability_of[query, doc] for doc in docs])
    discount = np.ones(len(docs))
    if measure.name == "DCG":
        discount = discounts_of(
            measure.parameters["discount"], measure.parameters["base"], len(docs)
        )[1:]
    corrected = predicted + (mixed - predicted) / probability
    return float(discount @ corrected), float(discount @ predicted)


def _refuse_others(people: Grades, plan: SampleDesign) -> None:
    """Reject grades of people that don't match the drawn documents."""
    judged: set[Unit] = {(query, doc) for query, docs in people.items() for doc in docs}
    drawn: set[Unit] = {*plan.drawn}
    faults: tuple[tuple[set[Unit], str, str], ...] = (
        (
            drawn - judged,
            "grades of every drawn document",
            "Have people judge them, or draw a new sample.",
        ),
        (
            judged - drawn,
            "grades of only the drawn documents",
            "Leave out the others, since they were chosen in another way.",
        ),
    )
    for lacking, expected, remedy in faults:
        if lacking:
            kind = "none of" if lacking <= drawn else "also"
            if judged >= {*plan.population}:
                remedy = "These are grades of all documents. If they are the model's, pass people's first."
            raise InputError("human", expected, f"{kind} {_some(lacking)}", remedy)


def _refuse_unknown(
    lists: Mapping[str, list[str]], queries: list[str], graded: Grades, plan: SampleDesign
) -> None:
    """Reject documents that could not be drawn, or that the model did not grade."""
    shown = [(query, doc) for query in queries for doc in lists.get(query, [])]
    outside: set[Unit] = {unit for unit in shown if unit not in plan.probability_of}
    if outside:
        raise InputError(
            "run",
            "documents down to the cutoff that could be drawn",
            f"{_some(outside)} outside the design",
            "Use sample_documents to draw from the pool of all runs, down to the cutoff.",
        )
    lacking: set[Unit] = {(query, doc) for query, doc in shown if doc not in graded.get(query, {})}
    if lacking:
        raise InputError(
            "model", "a grade of every document down to the cutoff", f"none of {_some(lacking)}"
        )


def _some(units: set[Unit]) -> str:
    first = ", ".join(" ".join(unit) for unit in sorted(units)[:_EXAMPLES])
    more = ", …" if len(units) > _EXAMPLES else ""
    return f"{counted(len(units), 'document')} (query and document {first}{more})"
