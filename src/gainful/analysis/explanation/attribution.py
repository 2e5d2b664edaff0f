"""`attribute`: the contribution of each document to the difference between two runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from gainful.analysis.explanation.worked_lists import (
    ABSENT,
    NO_VALUE,
    JudgedRanking,
    Sums,
    WorkedList,
    has_parts,
    is_discounted,
    look_at_grades,
    read_judged_ranking,
    sums_of,
    why_empty,
    work_out,
)
from gainful.analysis.explanation.worked_tables import (
    Account,
    grade_cell,
    plain_cell,
    rank_cell,
)
from gainful.errors import InputError, MeasureError
from gainful.evaluation.coverage import policy_note
from gainful.evaluation.request import read_one
from gainful.matching.keyword_options import MeasuringOptions, takes
from gainful.matching.ranked_documents import Ranking
from gainful.measures.gain import Gain
from gainful.measures.measure import Measure
from gainful.measures.notation import GivenMeasure
from gainful.measures.policy import Policy, shared_policy
from gainful.message_texts import printable
from gainful.output.rendering.table_formats import Cell, Table
from gainful.rows.identifiers import UNTYPED, IdType, id_text
from gainful.rows.input_types import Judgments, Run

_DIGITS = 4
_MOST_IDLE = 3  # documents without a part to show, as examples

UNDEFINED = (*NO_VALUE, "nan")
"""The values of the policy `empty` that leave the difference undefined."""


@dataclass(frozen=True, slots=True)
class MovedDocument:
    """A document: its ranks in both runs, its terms there, and its part of the difference.

    A rank is None if the run does not return the document, and may be below the cutoff, where the term
    is 0; `base_rank_last` and `run_rank_last` exceed the first rank if the document shares a block of
    ranks (ties averaged). A term is the document's contribution to the sum; for DCG, its gain times the
    discount. `grade` is None for an unjudged document.
    """

    doc: str
    grade: float | None
    gain: float
    base_rank: int | None
    base_rank_last: int | None
    run_rank: int | None
    run_rank_last: int | None
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums: the second term minus the first."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True)
class Other:
    """A part of the difference that no document accounts for.

    `absent`: the documents that the policy `absent` puts at unfilled ranks. `ideal`: the two runs
    have different ideals, as under the policy `unjudged` with a grade. `divisor`: their sums are
    divided by different numbers, such as the lengths of their lists.
    """

    name: str
    base_term: float
    run_term: float
    part: float

    @property
    def change(self) -> float:
        """Its part of the difference of the sums."""
        return self.run_term - self.base_term


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attribution(Account):
    """The difference of two runs in one query, and each document's part in it.

    The parts of `documents` and `others` sum to `difference`. Prints as text and displays as HTML in a
    notebook; `to_markdown()`, `to_html()` and `to_dict()` export it.

    Attributes:
        measure: the measure.
        query: the id of the query.
        base_value: the value of the base.
        run_value: the value of the run.
        documents: the documents, by the size of their part, in either direction; those without a part last.
        others: the parts that no document accounts for; usually none.
        sums: the name of the terms' sum: CG, DCG or another measure, or `sum` if it isn't a measure.
        base_total: the sum for the base.
        run_total: the sum for the run.
        base_ideal: the divisor of the base's sum, an ideal or a count; None if the measure has no divisor.
        run_ideal: the divisor of the run's sum.
        divisor: the name of the divisor.
        policy: the policy, ties decided.
        remarks: remarks on the values.
        doc_type: the type of document ids before they became text.
    """

    measure: Measure
    query: str
    base_value: float
    run_value: float
    documents: tuple[MovedDocument, ...]
    others: tuple[Other, ...]
    sums: str
    base_total: float
    run_total: float
    base_ideal: float | None
    run_ideal: float | None
    policy: Policy
    remarks: tuple[str, ...] = ()
    divisor: str = ""
    doc_type: IdType = field(default=UNTYPED, compare=False)

    @property
    def difference(self) -> float:
        """The value of the run minus the value of the base."""
        return self.run_value - self.base_value

    @property
    def heading(self) -> str:
        """The measure, the query and the direction of the difference."""
        return printable(f"{self.measure} of query {self.query}, run minus base")

    @property
    def conclusion(self) -> str:
        """The last line: the two values and their difference."""
        base, run = f"{self.base_value:.{_DIGITS}f}", f"{self.run_value:.{_DIGITS}f}"
        return f"{self.measure}: base {base}, run {run}, difference {self.difference:+.{_DIGITS}f}"

    def table(self) -> Table:
        """Return a table of all documents and of the parts that no document accounts for."""
        return self._table(self.documents)

    def tables(self) -> list[Table]:
        """Return the tables for people, which count most documents without a part instead of listing them."""
        moved = sum(document.part != 0 or document.change != 0 for document in self.documents)
        shown = self.documents[: moved + _MOST_IDLE]
        left_out = self.documents[moved + _MOST_IDLE :]
        total = self._cells(Other("sum", self.base_total, self.run_total, self.difference))
        table = self._table(shown)
        rows = [*table.rows, ["sum", *[*total.values()][1:]]]
        return [replace(table, rows=rows, notes=self._notes(left_out))]

    def _table(self, documents: Iterable[MovedDocument]) -> Table:
        parts: list[MovedDocument | Other] = [*documents, *self.others]
        rows = [[*self._cells(part).values()] for part in parts]
        return Table([*self._cells(Other("", 0.0, 0.0, 0.0))], rows, digits=_DIGITS)

    def _cells(self, part: "MovedDocument | Other") -> dict[str, Cell]:
        """Return the cells of a row by column; a part without a document has no grade and no ranks."""
        of_document: tuple[Cell, ...]
        if isinstance(part, Other):
            of_document = f"({part.name})", None, None, None, None
        else:
            of_document = (
                part.doc,
                grade_cell(part.grade),
                plain_cell(part.gain),
                rank_cell(part.base_rank, part.base_rank_last),
                rank_cell(part.run_rank, part.run_rank_last),
            )
        cells = dict(
            zip(("doc", "grade", "gain", "base rank", "run rank"), of_document, strict=True)
        )
        if not isinstance(self.measure.parameters.get("gain"), Gain):
            del cells["gain"]
        return {
            **cells,
            "base term": part.base_term,
            "run term": part.run_term,
            f"part of {self.sums}": part.change,
            f"part of {self.measure}": part.part,  # replaces the cell above for a plain sum
        }

    def _notes(self, left_out: Sequence[MovedDocument]) -> list[str]:
        notes = []
        if left_out:
            count = len(left_out)
            more = "1 more document does" if count == 1 else f"{count} more documents do"
            notes.append(f"{more} not affect the difference")
            if any(document.base_term for document in left_out):  # the same in both
                same = math.fsum(document.base_term for document in left_out)
                notes[-1] += f"; {same:.{_DIGITS}f} of either sum"
        if self.base_ideal is not None and self.run_ideal is not None:
            ideal, other = (self._divided(each) for each in (self.base_ideal, self.run_ideal))
            both = (
                "" if self.base_ideal == self.run_ideal else f" for the base, {other} for the run"
            )
            notes.append(f"{self.divisor} = {ideal}{both}")
        return [*notes, *self.remarks, policy_note(self.policy)]

    def _divided(self, by: float) -> str:
        """Write the divisor of a sum; a count has no decimals."""
        is_count = not is_discounted(self.measure) and by.is_integer()
        return str(int(by)) if is_count else f"{by:.{_DIGITS}f}"

    def _id_types(self) -> Mapping[str, IdType]:
        return {"doc": self.doc_type}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain values."""
        plain = Account.to_dict(self)
        for name in ("documents", "others"):
            for entry, moved in zip(plain[name], getattr(self, name), strict=True):
                entry["change"] = moved.change
        return {**plain, "difference": self.difference, "conclusion": self.conclusion}


class Side:
    """One of the two runs: the ranks of its documents, their terms, and the value.

    Attributes:
        listed: the judged documents of the run.
        sums: the sums that include its query.
        ranking: the ranking of its documents.
        worked: its list, worked out.
        terms: the terms of its documents down to the cutoff.
        absent: the sum of the terms that the policy `absent` puts at unfilled ranks.
        value: the value of the measure.
        empty: whether the policy sets the value instead of a sum.
        weight: the weight of a term in the value.
    """

    def __init__(
        self,
        listed: JudgedRanking,
        sums: Sums,
        place: int,
        ranking: Ranking | None = None,
        worked: WorkedList | None = None,
    ) -> None:
        """Build from the sums at a place; `ranking` and `worked` are reused if given."""
        self.listed, self.sums = listed, sums
        self.ranking = ranking or listed.ranking(sums.worth)
        self.value, self.empty = sums.value(place), sums.is_empty(place)
        if worked is None:
            worked = work_out(sums, place, listed.entries(self.ranking, sums.measure.cutoff))
        self.worked = worked
        self.terms: dict[str, float] = {}
        self.absent = 0.0
        for step in worked.steps:
            if step.doc is ABSENT:
                self.absent += step.contribution
            elif step.doc is not None:
                self.terms[step.doc] = step.contribution
        divisor = 1.0 if worked.divisor is None else worked.divisor
        self.weight = 1.0 / divisor if divisor and not self.empty else 0.0

    def ranks(self, doc: str) -> tuple[int, int] | tuple[None, None]:
        """Return the first and the last possible rank of a document, or None for both."""
        return self.ranking.ranks(doc) or (None, None)


def attribution_of(
    base: Side, run: Side, remarks: tuple[str, ...] = (), *, idle: bool = True
) -> Attribution:
    """Return each document's part in the difference; without `idle`, only of documents that have one."""
    measure, discounted = base.sums.measure, is_discounted(base.sums.measure)
    policy = shared_policy([base.listed.policy, run.listed.policy])
    # An ideal or a count may depend on what the run returns; each sum then has its own divisor.
    own_divisor = measure.changes("ideal", "depth") or not discounted
    first, second = base, run  # whose divisors divide the two sums
    if own_divisor and base.listed.missing:
        first = run  # a run that lacks the query is 0 with any divisor
    elif (
        (own_divisor and run.listed.missing)
        or base.worked.divisor is None
        # Sums of equal gains may be rounded differently for lists of different lengths.
        or math.isclose(base.worked.divisor, run.worked.divisor or 0.0, rel_tol=1e-12)
    ):
        second = base
    weight = (first.weight + second.weight) / 2
    mean_total = (base.worked.total + run.worked.total) / 2
    by_divisor = mean_total * (second.weight - first.weight)
    if base.empty or run.empty:
        by_divisor += run.value * run.empty - base.value * base.empty
        whose = "" if base.empty == run.empty else f" for the {'base' if base.empty else 'run'}"
        remarks += (why_empty(policy, measure, whose),)
    others = [
        Other("absent", base.absent, run.absent, (run.absent - base.absent) * weight + 0.0),
        Other("ideal" if discounted else "divisor", 0.0, 0.0, by_divisor),
    ]
    return Attribution(
        measure=measure,
        query=base.listed.query,
        base_value=base.value,
        run_value=run.value,
        documents=_documents(base, run, weight, idle=idle),
        others=tuple(other for other in others if other.base_term or other.run_term or other.part),
        sums=str(measure) if base.worked.divisor is None else base.worked.name,
        base_total=base.worked.total,
        run_total=run.worked.total,
        base_ideal=first.worked.divisor,
        run_ideal=second.worked.divisor,
        policy=policy,
        remarks=remarks,
        divisor=first.worked.over,
    )


def _documents(base: Side, run: Side, weight: float, *, idle: bool) -> tuple[MovedDocument, ...]:
    """Return every document that a run returns down to the cutoff, or that is judged and returned.

    Without `idle`, only documents with a part are returned.
    """
    grades = {**base.listed.grades, **run.listed.grades}
    moved = []
    listed = [*base.terms, *run.terms]
    if idle:
        returned = (doc for side in (base, run) for doc in side.ranking.scores)
        listed += [doc for doc in returned if doc in grades]
    for doc in dict.fromkeys(listed):
        before, after = base.terms.get(doc, 0.0), run.terms.get(doc, 0.0)
        part = (after - before) * weight + 0.0  # + 0 turns −0 into 0
        if not part and not idle:
            continue
        grade = grades.get(doc)
        gain = 0.0 if grade is None else base.sums.worth(grade)
        base_first, base_last = base.ranks(doc)
        run_first, run_last = run.ranks(doc)
        ranks = base_first, base_last, run_first, run_last
        moved.append(MovedDocument(doc, grade, gain, *ranks, before, after, part))
    return tuple(sorted(moved, key=_order))


def _order(each: MovedDocument) -> tuple[float, float, float, int, str]:
    """Order documents by their part, then by their gain, then by the better of their ranks."""
    ranks = [rank for rank in (each.base_rank, each.run_rank) if rank is not None]
    return -abs(each.part), -abs(each.change), -abs(each.base_term), min(ranks), each.doc


@takes(MeasuringOptions)
def attribute(
    judgments: Judgments,
    base: Run,
    run: Run,
    measure: GivenMeasure = "nDCG@10",
    *,
    query: str | int,
    **options: Unpack[MeasuringOptions],
) -> Attribution:
    """Attribute the difference between two runs in a query to the documents that moved.

    A document at rank i of the base and rank j of the run changes DCG by g·(d_j − d_i). The discount
    is 0 below the cutoff, and for a run that does not return the document. The document's part of nDCG is
    this change divided by the ideal, which depends only on the judgments and is the same for both runs.
    The parts sum to the difference. Every measure that is a sum over documents works in the same way; in
    AP, a document contributes the precision at its rank, divided by the number of relevant documents.

    If the `unjudged` policy is a grade, the ideal also contains the unjudged documents that a run
    returns, so the two ideals may differ. A change is then weighted by the mean of the two values of
    1/IDCG, and the remainder is the part of the ideal: (DCG_base + DCG_run)/2 · (1/IDCG_run − 1/IDCG_base).
    The same applies to ideal=retrieved and depth=retrieved, where each run has its own ideal. Exchanging
    base and run only changes the sign of every part.

    Args:
        judgments: `{query: {doc: grade}}`, the path of a file, a data frame or an Arrow object.
        base: the run to start from, `{query: {doc: score}}` or one of the other types.
        run: the run to compare with it. One of the two may lack the query (policy `missing`).
        measure: a measure that is a sum over documents, in notation or as a value.
        query: the id of the query.
        **options: see `MeasuringOptions`.

    >>> judgments = {"q": {"a": 2, "b": 1}}
    >>> found = attribute(judgments, {"q": {"b": 9, "a": 8}}, {"q": {"a": 9, "b": 8}}, "DCG", query="q")
    >>> [(each.doc, each.base_rank, each.run_rank, round(each.part, 3)) for each in found.documents]
    [('a', 2, 1, 0.738), ('b', 1, 2, -0.369)]
    >>> round(found.difference, 3)
    0.369
    """
    request = read_one(measure, options)
    asked = request.measure
    _refuse_without_parts(asked)
    name = id_text(query, where="query")
    with request.reader_of(judgments, options) as reader:
        first, second = (read_judged_ranking(reader, each, name) for each in (base, run))
        doc_type = reader.doc_type(run, base)
    look_at_grades(first, asked, request.policy, request.tool)
    remarks = _missing(asked, name, first, second)
    sides = []
    for listed in (first, second):
        sums = sums_of([listed], asked, listed.policy)
        sums.refuse_undefined(0, UNDEFINED, name)
        sides.append(Side(listed, sums, 0))
    base_side, run_side = sides
    return replace(attribution_of(base_side, run_side, remarks), doc_type=doc_type)


def _refuse_without_parts(measure: Measure) -> None:
    """Reject a measure that isn't a sum over the documents of a list, divided by one number."""
    if not has_parts(measure):
        raise MeasureError(
            "attribute",
            "a measure that is a sum over the documents of a list, such as nDCG, AP, RBP or ERR",
            f"'{measure}', which isn't",
            "Use `explain` to see how its value is computed.",
        )


def _missing(
    measure: Measure, query: str, base: JudgedRanking, run: JudgedRanking
) -> tuple[str, ...]:
    """Return a remark if one run lacks the query; raise an error if the query then has no value."""
    lacking = [name for name, each in (("base", base), ("run", run)) if each.missing]
    if not lacking:
        return ()
    if len(lacking) == len(("base", "run")):
        raise InputError("query", "a query of the base or of the run", f"{query!r} in neither")
    answer = base.policy.missing
    if answer != "zero":
        raise InputError(
            f"{measure} of query {query!r}",
            "a query of both the base and the run",
            f"it missing from the {lacking[0]}",
            f"It has no value there under the policy missing={answer}.",
        )
    return (f"the {lacking[0]} lacks the query: policy missing={answer}",)
