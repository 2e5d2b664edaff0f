"""The detail of a query as plain values: lists, ideal, and what each document has in a difference."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gainful.explanation.worked_families import WAYS
from gainful.explanation.worked_steps import ABSENT, Entry, has_table, is_worked
from gainful.explanation.worked_tables import Step, conventions_of
from gainful.inputs.cores import cached_property
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.reporting.query_and_document_texts import Caption
from gainful.reporting.worked_query_lists import QueryLists, Ranked

Number = float | int | None

_NOTHING: Ranked | None = None
_POOLS = {"judged": "all judged documents", "retrieved": "the documents of the list"}


@dataclass(frozen=True)
class DetailOptions:
    """What the details of a report are about.

    Attributes:
        measure: the primary one.
        runs: the names of all runs, in order; a saved baseline has no documents.
        baseline: the name of the base; None with one run.
        depth: the last rank that is shown.
    """

    measure: Measure
    runs: Sequence[str]
    baseline: str | None
    depth: int

    @cached_property
    def worked(self) -> bool:
        """Whether the measure has a worked table."""
        return is_worked(self.measure)

    @cached_property
    def columns(self) -> list[str] | None:
        """What a document is worth and what that counts, as headings, and whether the steps add up; None for gain and discount."""
        if not self.worked or has_table(self.measure):
            return None
        way = WAYS[self.measure.name]
        return [way.worth, way.weight, "sum" if way.adds else ""]

    @cached_property
    def conventions(self) -> str:
        """The gain and the discount in words."""
        return conventions_of(self.measure) if self.worked else ""


@dataclass
class _Docs:
    """The documents of a query, each once, in the order in which they come up."""

    policy: Policy
    grades: Mapping[str, float]
    rows: list[list[Any]] = field(default_factory=list)
    _places: dict[tuple[str, bool], int] = field(default_factory=dict)

    def place(self, doc: str | None, grade: float | None = None, *, real: bool = True) -> int:
        """Return the number of a document, or of a line that is none, from 0."""
        key = (doc or "", real)
        if key not in self._places:
            self._places[key] = len(self.rows)
            known = self._grade(key[0]) if real else grade
            self.rows.append([doc, plain(known), None, None])
        return self._places[key]

    def _grade(self, doc: str) -> float | None:
        if doc in self.grades:
            return float(self.grades[doc])
        return self.policy.unjudged if isinstance(self.policy.unjudged, float) else None


def detail_of(
    found: QueryLists, asked: DetailOptions, values: Mapping[str, float | None]
) -> dict[str, Any]:
    """Return all that is shown of a query.

    Args:
        found: the lists of its runs.
        asked: what is shown.
        values: of the measure, by the name of the run, where the lists have none.
    """
    some = next(iter(found.runs.values()))
    docs = _Docs(some.listed.policy, some.listed.judged)
    ranked = [found.runs.get(name, _NOTHING) for name in asked.runs]
    lists = [
        _list(each, docs, asked, values[name])
        for name, each in zip(asked.runs, ranked, strict=True)
    ]
    shown = {row[0]: docs.rows[row[0]][0] for one in lists for row in one["rows"]}
    for one, each in zip(lists, ranked, strict=True):
        one["below"] = _below_shown(one["rows"], each, shown)
    return {
        "docs": docs.rows,
        "lists": lists,
        "ideal": _ideal(found, docs, asked),
        "parts": [_parts(found, docs, asked, name) for name in asked.runs],
        "conventions": asked.conventions,
        **({} if asked.columns is None else {"columns": asked.columns}),
        "conclusions": [
            _conclusion(each, asked, values[name])
            for name, each in zip(asked.runs, ranked, strict=True)
        ],
    }


def plain(number: float | None) -> Number:
    """Return a number of any type as a Python number; whole ones as integers, which take less room.

    >>> plain(2.0), plain(0.5), plain(3)
    (2, 0.5, 3)
    """
    if number is None or number != number:
        return None
    found = float(number)
    return int(found) if found.is_integer() else found


def with_captions(detail: Mapping[str, Any], captions: Mapping[str, Caption]) -> dict[str, Any]:
    """Return a detail with the titles and the texts of its documents."""
    none = Caption(None, None)
    docs = [
        [doc, grade, (found := captions.get(doc, none)).title, found.text]
        for doc, grade, *_ in detail["docs"]
    ]
    return {**detail, "docs": docs}


def docs_in(details: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of all documents that are shown."""
    return {doc[0] for detail in details for doc in detail["docs"]}


def _list(
    each: Ranked | None, docs: _Docs, asked: DetailOptions, value: float | None
) -> dict[str, Any]:
    if each is None:
        return _shown([], value, None, retrieved=0, more=0, missing=False)
    rows = [_row(step, docs) for step in each.steps if step.rank <= asked.depth]
    shown = [entry for entry in each.entries if entry.placed.rank_first <= asked.depth]
    cutoff = asked.measure.cutoff if asked.worked and each.steps else 0
    rest = [] if cutoff is None else [e for e in shown if e.placed.rank_first > cutoff]
    rows += [_below(entry, docs, each) for entry in rest]
    return _shown(
        rows,
        each.value if asked.worked else value,
        each,
        retrieved=len(each.ranking),
        more=len(each.ranking) - len(shown),
        missing=each.listed.missing,
    )


def _shown(
    rows: list[list[Any]],
    value: float | None,
    each: Ranked | None,
    *,
    retrieved: int,
    more: int,
    missing: bool,
) -> dict[str, Any]:
    return {
        "rows": rows,
        "value": plain(value),
        "total": None if each is None else plain(each.total),
        "ideal": None if each is None else plain(each.ideal),
        "retrieved": retrieved,
        "more": more,
        "missing": missing,
    }


def _below_shown(
    rows: Sequence[Sequence[Any]], each: Ranked | None, shown: Mapping[int, str]
) -> list[int] | None:
    """Return the documents of other lists that stand below the end of this one, and their ranks.

    Documents in neither were not retrieved. None for saved scores, where that is not known.

    Args:
        rows: what is shown of the list.
        each: the list; None of saved scores.
        shown: number → id of the documents that any list shows.

    Returns:
        The number of a document, its first rank, the number of the next, and so on.
    """
    if each is None:
        return None
    here = {row[0] for row in rows}
    others = sorted(place for place in shown if place not in here)
    ranks = ((place, each.ranking.ranks(shown[place])) for place in others)
    return [number for place, found in ranks if found is not None for number in (place, found[0])]


def _row(step: Step, docs: _Docs) -> list[Any]:
    place = docs.place(step.doc, step.grade, real=step.doc != ABSENT or ABSENT in docs.grades)
    return [place, step.rank, step.rank_last, *_numbers(step)]


def _below(entry: Entry, docs: _Docs, each: Ranked) -> list[Any]:
    """Return a document that has no line in a sum: below the cutoff its discount is 0."""
    head = [docs.place(entry.doc), entry.placed.rank_first, entry.placed.rank_last]
    if not each.steps or each.side is None or not has_table(each.side.sums.measure):
        return [*head, None, None, None, None]
    gain = 0.0 if entry.grade is None else each.side.sums.worth(entry.grade)
    return [*head, plain(gain), 0, 0, plain(each.steps[-1].sum)]


def _numbers(step: Step) -> list[Number]:
    return [plain(step.gain), plain(step.discount), plain(step.contribution), plain(step.sum)]


def _ideal(found: QueryLists, docs: _Docs, asked: DetailOptions) -> dict[str, Any] | None:
    if found.ideal is None:
        return None
    rows = [
        [
            docs.place(step.doc, step.grade, real=step.doc != ABSENT or ABSENT in docs.grades),
            step.rank,
            *_numbers(step),
        ]
        for step in found.ideal
    ]
    whose = None if found.ideal_of is None else asked.runs.index(found.ideal_of)
    pool = _POOLS[asked.measure.parameters.get("ideal", "judged")]
    return {"rows": rows, "total": plain(found.ideal_total), "run": whose, "pool": pool}


def _parts(
    found: QueryLists, docs: _Docs, asked: DetailOptions, name: str
) -> list[list[Any]] | None:
    base = asked.baseline
    if base is None or name == base or not {base, name} <= found.runs.keys():
        return None
    attribution = found.attribution(base, name)
    if attribution is None:
        return None
    rows: list[list[Any]] = [
        [docs.place(each.doc), each.base_rank, each.run_rank, plain(each.part)]
        for each in attribution.documents
    ]
    rows += [
        [docs.place(f"({other.name})", real=False), None, None, plain(other.part)]
        for other in attribution.others
        if other.part
    ]
    return sorted(rows, key=lambda row: -abs(row[3]))


def _conclusion(each: Ranked | None, asked: DetailOptions, value: float | None) -> str:
    if each is None:
        return f"{asked.measure}{_said(value)}  (saved scores, without documents)"
    if asked.worked:
        return each.conclusion
    lacking = f"  (the run lacks the query: policy missing={each.listed.policy.missing})"
    return f"{asked.measure}{_said(value)}{lacking if each.listed.missing else ''}"


def _said(value: float | None) -> str:
    return " has no value" if value is None or value != value else f" = {value:.3f}"
