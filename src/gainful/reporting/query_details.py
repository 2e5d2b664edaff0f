"""The detail of a query as plain values: lists, ideal, and each document's share of a difference."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gainful.analysis.explanation.worked_lists import ABSENT, Entry, is_discounted, is_worked
from gainful.analysis.explanation.worked_tables import Step, conventions_of
from gainful.arithmetic.cores import cached_property
from gainful.evaluation.measuring import COMPUTE
from gainful.measures.measure import Measure
from gainful.measures.policy import Policy
from gainful.reporting.query_and_document_texts import Caption
from gainful.reporting.worked_query_lists import QueryLists, Ranked

Number = float | int | None

_NOTHING: Ranked | None = None
_POOLS = {"judged": "all judged documents", "retrieved": "the documents of the list"}


@dataclass(frozen=True)
class DetailOptions:
    """The subject of a report's details.

    Attributes:
        measure: the primary measure.
        runs: the names of all runs, in order; a saved baseline has no documents.
        baseline: the name of the baseline; None with one run.
        depth: the last rank to show.
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
        """The headings of a document's worth and its weight, and whether the steps add up; None for gain and discount."""
        if not self.worked or is_discounted(self.measure):
            return None
        shown = COMPUTE[self.measure.name]
        return [shown.worth, shown.weight, "sum" if shown.adds else ""]

    @cached_property
    def conventions(self) -> str:
        """The gain and the discount in words."""
        return conventions_of(self.measure) if self.worked else ""


@dataclass
class _Docs:
    """The documents of a query, each once, in the order in which they first appear."""

    policy: Policy
    grades: Mapping[str, float]
    rows: list[list[Any]] = field(default_factory=list)
    _places: dict[tuple[str, bool], int] = field(default_factory=dict)

    def place(self, doc: str | None, grade: float | None = None, *, real: bool = True) -> int:
        """Return the index of a document, or of a line without a document."""
        key = (doc or "", real)
        if key not in self._places:
            self._places[key] = len(self.rows)
            own_grade = self._grade(key[0]) if real else grade
            self.rows.append([doc, plain(own_grade), None, None])
        return self._places[key]

    def _grade(self, doc: str) -> float | None:
        if doc in self.grades:
            return float(self.grades[doc])
        return self.policy.unjudged if isinstance(self.policy.unjudged, float) else None


def detail_of(
    query: QueryLists, asked: DetailOptions, values: Mapping[str, float | None]
) -> dict[str, Any]:
    """Return everything the page shows about a query.

    Args:
        query: the lists of its runs.
        asked: the runs, the measure and the depth to show.
        values: the values of the measure by the name of the run, for lists without one.
    """
    some = next(iter(query.runs.values()))
    docs = _Docs(some.listed.policy, some.listed.judged)
    ranked = [query.runs.get(name, _NOTHING) for name in asked.runs]
    lists = [
        _list(ranking, docs, asked, values[name])
        for name, ranking in zip(asked.runs, ranked, strict=True)
    ]
    shown = {row[0]: docs.rows[row[0]][0] for shown_list in lists for row in shown_list["rows"]}
    for shown_list, ranking in zip(lists, ranked, strict=True):
        shown_list["below"] = _below_shown(shown_list["rows"], ranking, shown)
    return {
        "docs": docs.rows,
        "lists": lists,
        "ideal": _ideal(query, docs, asked),
        "parts": [_parts(query, docs, asked, name) for name in asked.runs],
        "conventions": asked.conventions,
        **({} if asked.columns is None else {"columns": asked.columns}),
        "conclusions": [
            _conclusion(ranking, asked, values[name])
            for name, ranking in zip(asked.runs, ranked, strict=True)
        ],
    }


def plain(number: float | None) -> Number:
    """Return a number of any type as a Python number; whole numbers become integers, which take less space.

    >>> plain(2.0), plain(0.5), plain(3)
    (2, 0.5, 3)
    """
    if number is None or number != number:
        return None
    value = float(number)
    return int(value) if value.is_integer() else value


def with_captions(detail: Mapping[str, Any], captions: Mapping[str, Caption]) -> dict[str, Any]:
    """Return a detail together with the titles and the texts of its documents."""
    none = Caption(None, None)
    docs = [
        [doc, grade, (caption := captions.get(doc, none)).title, caption.text]
        for doc, grade, *_ in detail["docs"]
    ]
    return {**detail, "docs": docs}


def docs_in(details: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the ids of all documents that are shown."""
    return {doc[0] for detail in details for doc in detail["docs"]}


def _list(
    ranked: Ranked | None, docs: _Docs, asked: DetailOptions, value: float | None
) -> dict[str, Any]:
    if ranked is None:
        return _list_data([], value, None, retrieved=0, more=0, missing=False)
    rows = [_row(step, docs) for step in ranked.steps if step.rank <= asked.depth]
    shown = [entry for entry in ranked.entries if entry.rank <= asked.depth]
    cutoff = asked.measure.cutoff if asked.worked and ranked.steps else 0
    rest = [] if cutoff is None else [e for e in shown if e.rank > cutoff]
    rows += [_below(entry, docs, ranked) for entry in rest]
    return _list_data(
        rows,
        ranked.value if asked.worked else value,
        ranked,
        retrieved=len(ranked.ranking),
        more=len(ranked.ranking) - len(shown),
        missing=ranked.listed.missing,
    )


def _list_data(
    rows: list[list[Any]],
    value: float | None,
    ranked: Ranked | None,
    *,
    retrieved: int,
    more: int,
    missing: bool,
) -> dict[str, Any]:
    return {
        "rows": rows,
        "value": plain(value),
        "total": None if ranked is None else plain(ranked.total),
        "ideal": None if ranked is None else plain(ranked.ideal),
        "next": None if ranked is None else plain(ranked.next_gain),
        "retrieved": retrieved,
        "more": more,
        "missing": missing,
    }


def _below_shown(
    rows: Sequence[Sequence[Any]], ranked: Ranked | None, shown: Mapping[int, str]
) -> list[int] | None:
    """Return the documents of other lists that are in this list below its last shown rank, with their ranks.

    All other documents were not retrieved. None for saved scores, which have no documents.

    Args:
        rows: the shown rows of the list.
        ranked: the list; None for saved scores.
        shown: number → id of the documents that any list shows.

    Returns:
        The number of a document, its first rank, the number of the next document, and so on.
    """
    if ranked is None:
        return None
    here = {row[0] for row in rows}
    others = sorted(place for place in shown if place not in here)
    ranks = ((place, ranked.ranking.ranks(shown[place])) for place in others)
    return [number for place, block in ranks if block is not None for number in (place, block[0])]


def _row(step: Step, docs: _Docs) -> list[Any]:
    place = docs.place(step.doc, step.grade, real=step.doc != ABSENT or ABSENT in docs.grades)
    return [place, step.rank, step.rank_last, *_numbers(step)]


def _below(entry: Entry, docs: _Docs, ranked: Ranked) -> list[Any]:
    """Return a document without a line in a sum, because its discount below the cutoff is 0."""
    head = [docs.place(entry.doc), entry.rank, entry.rank_last]
    if not ranked.steps or ranked.side is None or not is_discounted(ranked.side.sums.measure):
        return [*head, None, None, None, None]
    gain = 0.0 if entry.grade is None else ranked.side.sums.worth(entry.grade)
    return [*head, plain(gain), 0, 0, plain(ranked.steps[-1].sum)]


def _numbers(step: Step) -> list[Number]:
    return [plain(step.gain), plain(step.discount), plain(step.contribution), plain(step.sum)]


def _ideal(query: QueryLists, docs: _Docs, asked: DetailOptions) -> dict[str, Any] | None:
    if query.ideal is None:
        return None
    rows = [
        [
            docs.place(step.doc, step.grade, real=step.doc != ABSENT or ABSENT in docs.grades),
            step.rank,
            *_numbers(step),
        ]
        for step in query.ideal
    ]
    whose = None if query.ideal_of is None else asked.runs.index(query.ideal_of)
    pool = _POOLS[asked.measure.parameters.get("ideal", "judged")]
    rest = [[plain(gain), count] for gain, count in query.ideal_rest.items()]
    total = plain(query.ideal_total)
    return {"rows": rows, "total": total, "rest": rest, "run": whose, "pool": pool}


def _parts(
    query: QueryLists, docs: _Docs, asked: DetailOptions, name: str
) -> list[list[Any]] | None:
    base = asked.baseline
    if base is None or name == base or not {base, name} <= query.runs.keys():
        return None
    attribution = query.attribution(base, name)
    if attribution is None:
        return None
    rows: list[list[Any]] = [
        [docs.place(document.doc), document.base_rank, document.run_rank, plain(document.part)]
        for document in attribution.documents
    ]
    rows += [
        [docs.place(f"({other.name})", real=False), None, None, plain(other.part)]
        for other in attribution.others
        if other.part
    ]
    return sorted(rows, key=lambda row: -abs(row[3]))


def _conclusion(ranked: Ranked | None, asked: DetailOptions, value: float | None) -> str:
    if ranked is None:
        return f"{asked.measure}{_value_text(value)}  (saved scores, without documents)"
    if asked.worked:
        return ranked.conclusion
    lacking = f"  (the run lacks the query: policy missing={ranked.listed.policy.missing})"
    return f"{asked.measure}{_value_text(value)}{lacking if ranked.listed.missing else ''}"


def _value_text(value: float | None) -> str:
    return " has no value" if value is None or value != value else f" = {value:.3f}"
