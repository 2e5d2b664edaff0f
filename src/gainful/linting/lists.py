"""Rules for judgments and runs alike: documents twice, and queries that retrieve themselves."""

from collections.abc import Iterator

from gainful.inputs.engine import Session
from gainful.inputs.kinds import JUDGMENTS
from gainful.linting.drafts import Draft, counted
from gainful.linting.listed import Listed


def look_at_list(session: Session, listed: Listed) -> Iterator[Draft]:
    """Look at what judgments and runs have in common."""
    yield from _duplicates(session, listed)
    yield from _self_matches(session, listed)


def _duplicates(session: Session, listed: Listed) -> Iterator[Draft]:
    again = session.name("again")
    session.execute(
        f"CREATE TEMP TABLE {again} AS SELECT query, doc FROM {listed.table} "
        "GROUP BY query, doc HAVING count(*) > 1"
    )
    # Few if any: only these are looked at for where they stand, and what they say.
    found = session.rows(
        "WITH twice AS (SELECT query, doc, list(number ORDER BY row) AS numbers, "
        "list(row ORDER BY row)[2] AS second, min(number) <> max(number) AS differ "
        f"FROM {listed.table} SEMI JOIN {again} USING (query, doc) GROUP BY query, doc) "
        "SELECT count(*) OVER (), count_if(differ) OVER (), second, query, doc, numbers[:2] "
        "FROM twice ORDER BY second, query, doc LIMIT 1"
    )
    session.drop(again)
    number = listed.kind.number
    for count, differ, row, query, doc, (before, here) in found:
        message = f"{counted(count, 'document')} more than once for a query"
        if listed.kind is JUDGMENTS and differ:
            message += f", {differ:,} of them with different grades"
        here, before = listed.kind.turned(here), listed.kind.turned(before)
        example = f"again, with {number} {here:g} after {before:g}"
        yield Draft("duplicate-document", listed, count, message, example, query, doc, row)


def _self_matches(session: Session, listed: Listed) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)) FROM {listed.table} "
        "WHERE query = doc"
    )
    for count, row, query in found:
        if count:
            verb = "judged" if listed.kind is JUDGMENTS else "retrieved"
            message = f"{counted(count, 'query', 'queries')} with itself as {verb} document"
            yield Draft("self-match", listed, count, message, "", query, query, row)
