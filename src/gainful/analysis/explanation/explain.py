"""`explain`: the arithmetic of a measure for a query of a run, or for a list of grades."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from gainful.analysis.explanation.what_if import (
    Change,
    GivenChanges,
    after_changes,
    changed_grades,
    changed_ranking,
    read_changes,
)
from gainful.analysis.explanation.worked_lists import (
    IDEAL,
    IDEAL_SUM,
    NO_VALUE,
    SUM,
    Entry,
    JudgedDocs,
    JudgedRanking,
    Sums,
    down_to_cutoff,
    in_rank_order,
    look_at_grades,
    read_judged_ranking,
    steps_with,
    sums_of,
    why_empty,
    work_out,
    work_out_ideal,
    worst_steps,
)
from gainful.analysis.explanation.worked_tables import Explanation, Part, Step, written_working
from gainful.array_types import Floats
from gainful.errors import InputError, MeasureError
from gainful.evaluation.computing.own_measures import steps_of_own
from gainful.evaluation.evaluate import unnormalised, with_values_of_run
from gainful.evaluation.gains_ranks_and_ideals import Terms, Working, discounts_of, said
from gainful.evaluation.measures_on_grade_lists import Grades, match_grades
from gainful.evaluation.measuring import COMPUTE
from gainful.evaluation.request import read_one
from gainful.matching.keyword_options import EvaluatingOptions, takes
from gainful.matching.matched import Matched
from gainful.matching.reader import Reader
from gainful.measures.formulas import Combination
from gainful.measures.measure import Measure, measures_inside
from gainful.measures.measure_family import (
    ABSTENTIONS,
    EVIDENCE,
    GRADES,
    LENGTHS,
    NUGGETS,
    SESSIONS,
)
from gainful.measures.notation import DocumentMeasure, GivenMeasure, read_measure
from gainful.measures.own_measures import OwnMeasure
from gainful.measures.policy import GivenPolicy, Policy, read_policy
from gainful.measures.tool_dialect import Dialect
from gainful.message_texts import counted
from gainful.rows.identifiers import id_text
from gainful.rows.input_types import Judgments, Run

if TYPE_CHECKING:
    from gainful.evaluation.evidence import CoveredPassage
    from gainful.evaluation.time_and_sessions import Walk

_TITLES = {
    "judged": "the ideal: all judged documents, best first",
    "retrieved": "the ideal: the documents of the list, best first",
    "list": "the ideal of the list itself, best first",
}
_SUMS = ("evidence_recall", "evidence_precision", "evidence_IoU", "evidence_nDCG")
_MOST_PASSAGES = 8  # in a remark
_MOST_RANKS = 8  # in a remark
_HEADINGS = {"TBG": ("exp(−t·ln 2/h)", "seconds"), "U": ("1 − x/L", "characters")}


class _OfQuery(NamedTuple):
    """A query of a run, and the options of the call, with the tables besides judgments and run."""

    reader: Reader
    run: Run
    query: str
    tables: Mapping[str, object]


_Shown = tuple[Part, Working, str]
"""The steps of a measure of other tables, the formula of its value, and a remark."""


@takes(EvaluatingOptions)
def explain(
    judgments: Judgments,
    run: Run,
    measure: GivenMeasure = "nDCG@10",
    *,
    query: str | int,
    what_if: GivenChanges | None = None,
    **options: Unpack[EvaluatingOptions],
) -> Explanation:
    """Show how the value for one query of a run is computed.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        run: `{query: {doc: score}}` or one of the other types.
        measure: the measure, in notation or as a value.
        query: the id of the query.
        what_if: changes of the ranked list, in order: "swap 3,4" (two ranks), "move 5,2" (from one rank to
            another), "remove 4", "regrade 3=2" (rank = grade), or a list of such strings. The explanation is then for the
            changed list, and its `effect` describes what the changes do.
        **options: see `MeasuringOptions` and `TableOptions`.

    >>> print(explain({"q": {"a": 2, "b": 1}}, {"q": {"b": 9, "a": 8}}, "nDCG", query="q").conclusion)
    nDCG = DCG / IDCG = 2.262 / 2.631 = 0.860
    """
    request = read_one(measure, options)
    name = id_text(query, where="query")
    if not request.measure.has_users:
        raise MeasureError(
            "explain",
            "a measure with a value per query",
            f"'{request.measure}', which has one value for the whole run",
            "Use `evaluate` for its value.",
        )
    with request.reader_of(judgments, options) as reader:
        asked = request.measure
        if any(each.family.needs != GRADES for each in measures_inside([asked])):
            (asked,) = with_values_of_run((asked,), request, reader, run)
        changes = None if what_if is None else read_changes(what_if)
        if changes is not None and asked.family.needs != GRADES:
            raise MeasureError(
                "what_if",
                "a measure of ranks and grades",
                f"'{asked}', which needs {asked.family.needs}",
            )
        of = _OfQuery(reader, run, name, request.tables)
        if asked.family.needs == SESSIONS:
            return _query_by_query(asked, of)
        worked = explain_with(reader, run, asked, name, request.policy, request.tool, changes)
        work_out_again = _WORKED.get(asked.family.needs)
        if work_out_again is not None and (shown := work_out_again(worked, of)) is not None:
            part, working, remark = shown
            numbers = written_working(working, worked.value)
            worked = dataclasses.replace(worked, parts=(part,), remark=remark, working=numbers)
        return dataclasses.replace(worked, doc_type=reader.doc_type(run))


def explain_with(
    reader: Reader,
    run: Run,
    measure: Measure,
    query: str,
    policy: Policy,
    tool: Dialect | None = None,
    changes: Sequence[Change] | None = None,
) -> Explanation:
    """Work out the value of one query of an already opened run, under another policy."""
    listed = read_judged_ranking(reader.under(policy), run, query)
    look_at_grades(listed, measure, policy, tool)
    if listed.missing:
        missing = listed.policy.missing
        counts = "It scores 0" if missing == "zero" else "It has no value"
        raise InputError(
            "query",
            "a query of the run",
            f"{query!r} missing from it",
            f"{counts} because the run returned nothing for it (policy missing={missing}).",
        )

    explanation = _of_ranking(listed, measure)
    if changes is None:
        return explanation
    worth = sums_of([listed], measure, listed.policy).worth
    after = _of_ranking(changed_ranking(listed, changes, worth), measure)
    return after_changes(explanation, after, changes)


def _of_ranking(listed: JudgedRanking, measure: Measure) -> Explanation:
    """Work out the value of a query of a run."""
    whole = sums_of([listed], measure, listed.policy)

    def work(part: Measure) -> Explanation:
        sums = whole if part is measure else sums_of([listed], part, listed.policy)
        entries = listed.entries(listed.ranking(sums.worth))
        return _worked(sums, listed.query, entries, listed.pool(part))

    return _explained(measure, work, whole)


def explain_grades(
    grades: "Grades",
    measure: GivenMeasure = "nDCG",
    *,
    judged: "Grades | None" = None,
    policy: GivenPolicy | None = None,
    what_if: GivenChanges | None = None,
) -> Explanation:
    """Show how the value of one list of grades, in rank order, is computed.

    Args:
        grades: the grades in rank order.
        measure: the measure, in notation or as a value.
        judged: all known grades, including the grades of the list. None if the list contains them all; the ideal
            then consists of the list itself.
        policy: the policy, a `Policy` or a dict of choices; the defaults if None.
        what_if: changes of the list, as in `explain`. A removed document stays judged, so it remains in the ideal.

    >>> print(explain_grades([1, 0, 1, 1, 0], "DCG@3", what_if="swap 2,3").effect)
    Swapping ranks 2 and 3 raises DCG@3 from 1.500 to 1.631 (+0.131): the terms change by +0.631 at rank 2 and −0.500 at rank 3.
    >>> print(explain_grades([3, 2, 3, 0, 1, 2], judged=[3, 2, 3, 0, 1, 2, 3, 2]).conclusion)
    nDCG = DCG / IDCG = 6.861 / 9.074 = 0.756
    """
    if what_if is not None:
        changes = read_changes(what_if)
        before = explain_grades(grades, measure, judged=judged, policy=policy)
        known = None if judged is None else _one_list(judged, None, before.measure).grade.tolist()
        listed = _one_list(grades, judged, before.measure).grade.tolist()
        after = changed_grades(listed, known, changes)
        worked = explain_grades(after[0], measure, judged=after[1], policy=policy)
        return after_changes(before, worked, changes)
    asked = read_measure(measure)
    chosen = dataclasses.replace(read_policy(policy), ties="order")  # the list is in rank order

    def work(part: Measure) -> Explanation:
        matched = _one_list(grades, judged, part)
        listed = matched.grade.tolist()
        entries = in_rank_order([(None, grade) for grade in listed])
        of_list = part.parameters.get("ideal") == "retrieved"
        pool = [(None, grade) for grade in (listed if of_list else matched.pool_grades.tolist())]
        return _worked(Sums(matched, part, chosen), None, entries, pool, alone=judged is None)

    return _explained(asked, work, Sums(_one_list(grades, judged, asked), asked, chosen))


def _one_list(grades: Grades, judged: Grades | None, measure: Measure) -> Matched:
    matched, single = match_grades(grades, judged, measure)
    if not single:
        raise InputError("grades", "one list of grades", "several", "Explain them one by one.")
    return matched


def _explained(measure: Measure, work: Callable[[Measure], Explanation], sums: Sums) -> Explanation:
    """Work out a measure; for a formula, its measures and then the formula."""
    for inner in measures_inside([measure]):
        if isinstance(inner, DocumentMeasure):
            raise MeasureError(
                "explain",
                "a measure of ranks and grades",
                f"'{inner}', a function of ir_measures that returns only a value",
                "Use `evaluate` for its value.",
            )
    if not isinstance(measure, Combination):
        return work(measure)
    value = sums.value(0)  # raises an error if the formula can't be computed
    worked = {inner: work(inner) for inner in measure.formula.measures()}
    often = Counter(part.name for explanation in worked.values() for part in explanation.parts)
    parts = []
    for inner, explanation in worked.items():
        for part in explanation.parts:
            unique = often[part.name] == 1 and part.name not in (SUM, IDEAL_SUM)
            name = part.name if unique else f"{part.name} of {inner}"
            parts.append(dataclasses.replace(part, title=f"{inner}: {part.title}", name=name))
    values: list[float] = []

    def field(inner: Measure) -> str:
        values.append(worked[inner].value)
        return "{:()}"

    numbers = measure.formula.written(field)
    working = written_working(Working("", numbers, tuple(values)), value)
    first = next(iter(worked.values()))
    remark = "; ".join(explanation.conclusion for explanation in worked.values())
    return Explanation(measure, first.query, value, tuple(parts), first.policy, remark, working)


def _worked(
    sums: Sums,
    query: str | None,
    entries: Sequence[Entry],
    pool: JudgedDocs,
    *,
    alone: bool = False,
) -> Explanation:
    """Work out a measure; if the list is `alone`, its documents are the only known ones, and form the ideal."""
    measure, policy = sums.measure, sums.sheet.policy
    sums.refuse_undefined(0, NO_VALUE, query)
    value = sums.value(0)  # first, because it raises an error for input that can't be measured
    if isinstance(measure, OwnMeasure):
        part, remark = _own_part(measure, sums, entries, value)
        parts, working = [part], ""
    elif measure.name in COMPUTE:
        parts, how = _parts(sums, entries, pool, alone=alone)
        working, remark = written_working(how, value), how.remark
    else:
        inside = down_to_cutoff(entries, measure)
        worth = [0.0 if entry.grade is None else sums.worth(entry.grade) for entry in inside]
        parts = [_listed_part(inside, np.array(worth), "" if sums.gain is None else "gain")]
        working, remark = "", "computed by the definition above, without steps"
    if sums.is_empty(0):
        working, remark = "", why_empty(policy, measure)
    return Explanation(measure, query, value, tuple(parts), policy, remark, working)


def _parts(
    sums: Sums, entries: Sequence[Entry], pool: JudgedDocs, *, alone: bool
) -> tuple[list[Part], Working]:
    """Return the sums of the list and its ideal, and the formula that divides them."""
    measure, arithmetic = sums.measure, COMPUTE[sums.measure.name]
    worked, ideal = work_out(sums, 0, entries), work_out_ideal(sums, 0, entries, pool)
    weight = arithmetic.weight
    if not weight and any(step.discount != 1 for step in worked.steps):
        weight = "chance"  # the probability of a rank above the cutoff, with ties averaged
    shown: dict[str, Any] = {"worth": arithmetic.worth, "weight": weight, "measure": measure}
    parts, working = [], worked.working
    if measure.name != IDEAL:
        # Without an ideal, the divisor, such as R, is counted in the list.
        whole = alone and ideal is None and measure.family.normalised
        title = "the list, which has all known relevant documents" if whole else "the list"
        total = worked.total if arithmetic.adds else None
        parts.append(_part(title, worked.name, worked.steps, total, adds=arithmetic.adds, **shown))
    if ideal is not None:
        title = _TITLES["list" if alone else measure.parameters.get("ideal", "judged")]
        parts.append(_part(title, ideal.name, ideal.steps, ideal.total, **shown))
    if measure.changes("norm"):
        steps = worst_steps(sums, 0, unnormalised("DCG", measure), pool)
        worst = steps[-1].sum if steps else 0.0
        title = "the worst: documents of negative gain, worst first"
        parts.append(_part(title, "worst", steps, worst))
        symbols = f"({worked.name} − worst) / ({worked.over} − worst)"
        values = (worked.total, worst, worked.divisor or 0.0, worst)
        working = Working(symbols, "({} − {:()}) / ({} − {:()})", values, working.remark)
    return parts, working


def _listed_part(entries: Sequence[Entry], worth: Floats, heading: str) -> Part:
    """Show a list by rank and grade, with the documents' worth if it has a heading, and no sums."""
    steps = steps_with(entries, Terms(worth, np.ones(len(entries))))
    return _part("the list", SUM, steps, None, worth=heading, weight="", adds=False)


def _own_part(
    measure: OwnMeasure, sums: Sums, entries: Sequence[Entry], value: float
) -> tuple[Part, str]:
    """Show the list for a user-defined measure, with the steps of its `steps` function if it has one."""
    own_steps = steps_of_own(measure.own, sums.sheet, measure, 0)
    inside = down_to_cutoff(entries, measure)
    terms = np.zeros(len(inside))
    if own_steps is None:
        remark = "the measure was defined without a steps function"
        return _listed_part(inside, terms, ""), remark
    terms[[place for place, entry in enumerate(inside) if entry.grade is not None]] = own_steps
    steps = steps_with(inside, Terms(terms, np.ones(len(inside))))
    total = float(terms.sum())
    adds_up = math.isclose(total, value, rel_tol=1e-9, abs_tol=1e-12)
    remark = "" if adds_up else f"its steps add up to {said(total)}"
    return _part("the list", SUM, steps, total, worth="part", weight=""), remark


def _part(
    title: str,
    name: str,
    steps: Sequence[Step],
    total: float | None,
    measure: Measure | None = None,
    **shown: Any,
) -> Part:
    """Return a part with the steps down to the last document that is judged or contributes."""
    matters = [
        place for place, step in enumerate(steps, 1) if step.grade is not None or step.contribution
    ]
    count = max(matters, default=min(len(steps), 1))
    beyond = len(steps) - count
    labels = {} if measure is None else _positions(measure, steps[:count])
    return Part(title, name, tuple(steps[:count]), total, beyond, **shown, labels=labels)


def _positions(measure: Measure, steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    """Return the row and the column of each step, if the measure is of a page."""
    positions = COMPUTE[measure.name].positions
    if positions is None or not steps:
        return {}
    rows, columns, _ = positions(measure.parameters, max(step.rank_last for step in steps))
    written = tuple(
        f"{rows[step.rank]}, {columns[step.rank]}"
        if step.rank == step.rank_last
        else f"{rows[step.rank]}, {columns[step.rank]} – {rows[step.rank_last]}, {columns[step.rank_last]}"
        for step in steps
    )
    return {"row, column": written}


def _chunk_by_chunk(worked: Explanation, of: _OfQuery) -> _Shown | None:
    """Work out a measure of evidence with the chunks instead of their documents."""
    # Imported here because most measures need no other tables.
    from gainful.evaluation.evidence import (
        covered_passages,
        evidence_of_run,
        listed_chunks,
        ratio_of,
    )

    found, measure = evidence_of_run(of.reader, of.run), worked.measure
    chunks = listed_chunks(found, of.query, measure.cutoff)
    ratio, place = ratio_of(found, measure), found.queries.index(of.query)
    if ratio.empty[place]:
        return None
    adds = bool(chunks) and measure.name in _SUMS
    discount, depth = measure.parameters.get("discount"), len(chunks)
    of_query, rank, gains = found.covered(measure).added()
    own = of_query == place
    added = np.bincount(rank[own], gains[own], depth + 1).astype(np.float64)
    discounts = np.ones(depth + 1)
    if discount is not None:
        discounts = discounts_of(discount, measure.parameters["base"], depth)
    ranks = np.array([chunk.rank for chunk in chunks], np.int64)
    entries = [Entry(chunk.rank, chunk.rank, chunk.place, chunk.grade) for chunk in chunks]
    steps = steps_with(entries, Terms(added[ranks], discounts[ranks]))
    last = max((step.rank for step in steps if step.gain or step.grade), default=1)
    total, beyond = (steps[-1].sum if adds else None), max(depth - last, 0)
    name, weight = ("found", "") if discount is None else ("DCG", "discount")
    listed = tuple(steps[:last])
    part = Part("the chunks", name, listed, total, beyond, "new evidence", weight, adds)
    quotient = (float(ratio.part[place]), float(ratio.whole[place]))
    is_worked = ratio.symbols and (measure.name in _SUMS or quotient[0])
    working = Working(ratio.symbols, "{} / {}", quotient) if is_worked else Working()
    return part, working, _remark(covered_passages(found, chunks, of.query), found.evidence.unit)


def _remark(passages: Sequence["CoveredPassage"], unit: str) -> str:
    """Describe where each passage was found."""
    several = len({passage.group for passage in passages}) < len(passages)
    said = [_said(passage, several=several) for passage in passages[:_MOST_PASSAGES]]
    if len(passages) > _MOST_PASSAGES:
        said.append(f"and {counted(len(passages) - _MOST_PASSAGES, 'more passage')}")
    return f"{unit}; {'; '.join(said)}"


def _said(passage: "CoveredPassage", *, several: bool) -> str:
    ranks = dict.fromkeys(part.chunk.rank for part in passage.parts if part.chunk is not None)
    where = f"{passage.doc} {passage.start}–{passage.end}"
    if several:
        where += f" of group {passage.group}"
    if not ranks:
        return f"{where}: not retrieved"
    size = passage.end - passage.start
    share = "all" if passage.found == size else f"{passage.found} of {size}"
    at = "ranks" if len(ranks) > 1 else "rank"
    return f"{where}: {share} at {at} {', '.join(map(str, ranks))}"


def _document_by_document(worked: Explanation, of: _OfQuery) -> _Shown:
    """Work out a measure of time and text with what each document adds when the user reaches it."""
    from gainful.evaluation.time_and_sessions import walk_of_query

    weight, unit = _HEADINGS[worked.measure.name]
    walked = walk_of_query(worked.measure, *of)
    steps = steps_with(_graded(walked.docs, walked.grades), Terms(walked.gains, walked.weights))
    part = _part("the list", SUM, steps, steps[-1].sum if steps else 0.0, weight=weight)
    return part, Working(), _remark_on_time(walked, len(part.steps), unit)


def _graded(docs: Sequence[str], grades: Floats) -> list[Entry]:
    """Return documents in rank order with their grades; NaN without a judgment."""
    known = [None if math.isnan(grade) else float(grade) for grade in grades]
    return in_rank_order([*zip(docs, known, strict=True)])


def _passage_by_passage(worked: Explanation, of: _OfQuery) -> _Shown:
    """Work out UDCG with what each passage contributes."""
    from gainful.evaluation.model_answers import passages_of_query

    read = passages_of_query(worked.measure, *of)
    steps = steps_with(_graded(read.docs, read.grades), Terms(read.worth, read.answering))
    total, count = steps[-1].sum if steps else 0.0, len(steps)
    part = Part("the passages", SUM, tuple(steps), total, worth="w", weight="1 − p")
    if not steps:
        return part, Working(), "nothing was retrieved"
    working = Working("1 / (1 + exp(−sum / n))", "1 / (1 + exp(−{:()} / {}))", (total, count))
    relevant = int((read.worth > 0).sum())
    remark = f"{counted(relevant, 'relevant passage')}, {count - relevant} that may distract"
    return part, working, remark


def _nugget_by_nugget(worked: Explanation, of: _OfQuery) -> _Shown | None:
    """Work out nugget recall with the best support of each nugget."""
    from gainful.evaluation.model_answers import nuggets_of_query

    docs, nuggets = nuggets_of_query(worked.measure, *of)
    total = sum(one.weight for one in nuggets)
    if not total:
        return None
    by = [None if one.rank is None else docs[one.rank - 1] for one in nuggets]
    entries = in_rank_order([(doc, None) for doc in by])
    terms = Terms(
        np.array([one.counted for one in nuggets]), np.array([one.weight for one in nuggets])
    )
    steps = tuple(steps_with(entries, terms))
    importance, support = zip(*(one.words for one in nuggets), strict=True)
    labels = {
        "nugget": tuple(one.nugget for one in nuggets),
        "importance": importance,
        "support": support,
        "rank": tuple(one.rank for one in nuggets),
    }
    found = steps[-1].sum
    part = Part("the nuggets", SUM, steps, found, 0, "s", "w", labels=labels, instead=True)
    return part, Working("sum / Σ w", "{} / {}", (found, total)), ""


_WORKED: Mapping[str, Callable[[Explanation, _OfQuery], _Shown | None]] = {
    EVIDENCE: _chunk_by_chunk,
    LENGTHS: _document_by_document,
    ABSTENTIONS: _passage_by_passage,
    NUGGETS: _nugget_by_nugget,
}
"""How a measure of other tables is worked out, by its needs; the result is None if there is nothing to show."""


def _query_by_query(measure: Measure, of: _OfQuery) -> Explanation:
    """Work out the value of the session of a query, with a table for each of its judged queries."""
    from gainful.evaluation.time_and_sessions import work_out_session

    session, worked = work_out_session(measure, *of)
    if worked.value is None:
        raise InputError(f"{measure} of session {session!r}", "a value", "no relevant documents")
    parts, worth = [], "gain" if "gain" in measure.parameters else "worth"
    for asked, terms, total in zip(worked.asked, worked.terms, worked.sums, strict=True):
        entries = in_rank_order([(doc, asked.grades.get(doc)) for doc in asked.docs])
        name = f"query {asked.query}"
        title = f"{name}, at place {asked.place} of session {session}"
        steps = steps_with(entries, terms)
        parts.append(_part(title, name, steps, total, worth=worth, weight="weight"))
    numbers, symbols, values = " + ".join(["{}"] * len(parts)), SUM, tuple(worked.sums)
    if worked.ideal is not None:
        symbols, numbers = f"{SUM} / {IDEAL_SUM}", f"({numbers}) / {{}}"
        values = (*values, worked.ideal)
    working = written_working(Working(symbols, numbers, values), worked.value)
    return Explanation(
        measure,
        worked.asked[-1].query,
        worked.value,
        tuple(parts),
        of.reader.decided(of.run),
        f"session {session}",
        working,
        of.reader.doc_type(of.run),
    )


def _remark_on_time(walked: "Walk", last: int, unit: str) -> str:
    """Describe when each document counts, and which documents are skipped."""
    shown = min(last, _MOST_RANKS)
    at = ", ".join(said(float(when)) for when in walked.at[:shown])
    more = ", …" if shown < last else ""
    repeated = [
        doc for doc, again in zip(walked.docs[:last], walked.repeats, strict=False) if again
    ]
    passed = f"; skipped as repeated: {', '.join(repeated[:_MOST_RANKS])}" if repeated else ""
    return f"{unit} at each rank: {at}{more}{passed}" if shown else ""
