"""Rules for judgments: their grades."""

from collections.abc import Iterator

from gainful.inputs.engine import Session
from gainful.linting.drafts import Draft, counted
from gainful.linting.listed import Listed
from gainful.matching.negative import MARK

_MOST_SHOWN = 12

Scale = tuple[float, float]


def look_at_grades(session: Session, judged: Listed, scale: Scale | None) -> Iterator[Draft]:
    """Look at the grades of judgments."""
    if scale is None:
        yield _grades(session, judged)
    else:
        yield from _off_scale(session, judged, scale)
    if scale is None or scale[0] > MARK:
        yield from _marks(session, judged)
    yield from _fractional(session, judged)
    yield from _without_relevant(session, judged)


def _grades(session: Session, judged: Listed) -> Draft:
    found = session.rows(
        f"SELECT number, count(*) FROM {judged.table} GROUP BY number ORDER BY number"
    )
    shown = [f"{grade:g} ({count:,})" for grade, count in found]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[: _MOST_SHOWN // 2], "…", *shown[-_MOST_SHOWN // 2 :]]
    message = f"{counted(len(found), 'grade')}: {', '.join(shown)}"
    return Draft("grades", judged, len(found), message)


def _off_scale(session: Session, judged: Listed, scale: Scale) -> Iterator[Draft]:
    low, high = scale
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc, number FROM {judged.table} "
        "WHERE number NOT BETWEEN ? AND ? ORDER BY row, query, doc LIMIT 1",
        [low, high],
    )
    for count, row, query, doc, grade in found:
        message = f"{counted(count, 'grade')} outside the scale from {low:g} to {high:g}"
        yield Draft("grade-off-scale", judged, count, message, f"{grade:g}", query, doc, row)


def _marks(session: Session, judged: Listed) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc FROM {judged.table} WHERE number < 0 "
        f"AND (SELECT bool_and(number = {MARK!r}) FROM {judged.table} WHERE number < 0) "
        "ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc in found:
        verb = "has" if count == 1 else "have"
        message = f"{counted(count, 'document')} {verb} the grade −1, the only negative one"
        yield Draft("unjudged-mark", judged, count, message, "", query, doc, row)


def _fractional(session: Session, judged: Listed) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc, number FROM {judged.table} "
        "WHERE number <> floor(number) ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc, grade in found:
        verb = "is" if count == 1 else "are"
        message = f"{counted(count, 'grade')} that {verb} no whole number"
        yield Draft("fractional-grade", judged, count, message, f"{grade!r}", query, doc, row)


def _without_relevant(session: Session, judged: Listed) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), first, query, n, high FROM {judged.groups} WHERE high <= 0 "
        "ORDER BY first, query LIMIT 1"
    )
    for count, row, query, size, high in found:
        message = f"{counted(count, 'query', 'queries')} without a document of a grade above 0"
        example = f"{counted(size, 'document')}, none above {high:g}"
        yield Draft("no-relevant-document", judged, count, message, example, query, None, row)
