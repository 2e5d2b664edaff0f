"""Rules for judgments and a run together: the queries and documents that they share, or do not."""

from collections.abc import Iterator, Sequence

from gainful.inputs.disjoint_documents import (
    hint_for_documents,
    names_on_sides,
    sides_in_tables,
)
from gainful.inputs.duckdb_engine import Session
from gainful.inputs.identifiers import examples, in_order, overlap_hint
from gainful.linting.draft_findings import Draft
from gainful.linting.readable_rows import CheckedTable
from gainful.linting.rules import MOST_UNJUDGED
from gainful.message_texts import counted

_AS_CHUNKS = (
    "They meet as chunks of documents: measure with chunks='{0}', or evaluate --chunks '{0}'."
)

# The ways in which the spelling of an id differs, all at once. What stands before the digits
# is not among them: where some ids meet, news-7 and web-7 are two documents.
_FOLDED = "coalesce(nullif(ltrim(regexp_replace(trim(lower({0})), '\\.0$', ''), '0'), ''), '0')"
# Few ids need it; what begins after 0 in the order of bytes has no blank or zero in front.
_ODD = "{0} < '1' OR ends_with({0}, '.0') OR ends_with({0}, ' ') OR {0} <> lower({0})"


def look_at_pair(
    session: Session, judged: CheckedTable, run: CheckedTable, cutoff: int
) -> Iterator[Draft]:
    """Look at what judgments and a run share."""
    missing = _ids(session, f"SELECT query FROM {judged.groups} ANTI JOIN {run.groups}")
    extra = _ids(session, f"SELECT query FROM {run.groups} ANTI JOIN {judged.groups}")
    shared = session.rows(
        f"SELECT count(*) FROM {judged.groups} SEMI JOIN {run.groups} USING (query)"
    )[0][0]
    if not shared:
        message = f"no query in common with the judgments. {overlap_hint(missing, extra)}"
        example = f"judgments have {examples(missing)}; the run has {examples(extra)}"
        yield Draft("no-shared-queries", run, len(extra), message, example)
        return
    if missing:
        message = f"{counted(len(missing), 'judged query', 'judged queries')} missing"
        yield Draft("missing-query", run, len(missing), message, _others(missing), missing[0])
    unanswered = _ids(
        session,
        f"SELECT query FROM (SELECT * FROM {run.groups} WHERE n = 0) SEMI JOIN {judged.groups}",
    )
    if unanswered:
        message = f"{counted(len(unanswered), 'judged query', 'judged queries')} with an empty list"
        example = _others(unanswered)
        yield Draft("empty-list", run, len(unanswered), message, example, unanswered[0])
    if extra:
        message = f"{counted(len(extra), 'query', 'queries')} without judgments"
        row = session.rows(f"SELECT first FROM {run.groups} WHERE query = ?", [extra[0]])[0][0]
        example = _others(extra)
        yield Draft("extra-query", run, len(extra), message, example, extra[0], row=row)
    if missing and extra:
        yield from _query_spelling(session, judged, run)
    if _shares_documents(session, judged, run):
        yield from _document_spelling(session, judged, run)
        yield from _unjudged(session, judged, run, cutoff)
    else:
        yield from _disjoint_documents(session, judged, run)


def _others(queries: Sequence[str]) -> str:
    return f"and {examples(queries[1:])}" if len(queries) > 1 else ""


def _ids(session: Session, sql: str) -> list[str]:
    return in_order(row[0] for row in session.rows(f"{sql} USING (query)"))


def _query_spelling(session: Session, judged: CheckedTable, run: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"WITH j AS (SELECT query, {_folded('query')} AS folded FROM {judged.groups} "
        f"ANTI JOIN {run.groups} USING (query)), "
        f"r AS (SELECT query, {_folded('query')} AS folded, first FROM {run.groups} "
        f"ANTI JOIN {judged.groups} USING (query)) "
        "SELECT (SELECT count(*) FROM j SEMI JOIN r USING (folded)), j.query, r.query, r.first "
        "FROM j JOIN r USING (folded) ORDER BY r.first, r.query, j.query LIMIT 1"
    )
    for count, known, query, row in found:
        message = f"{counted(count, 'judged query', 'judged queries')} under another spelling"
        example = f"judged as {known!r}{_reading(known, query)}"
        yield Draft("query-spelling", run, count, message, example, query, None, row)


def _shares_documents(session: Session, judged: CheckedTable, run: CheckedTable) -> bool:
    return bool(
        session.rows(
            f"SELECT 1 FROM {run.table} r JOIN {judged.table} j "
            "ON r.query = j.query AND r.doc = j.doc LIMIT 1"
        )
    )


def _disjoint_documents(
    session: Session, judged: CheckedTable, run: CheckedTable
) -> Iterator[Draft]:
    count, row, query, doc = session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)), arg_min(doc, (row, query)) "
        f"FROM {run.table} SEMI JOIN {judged.groups} USING (query)"
    )[0]
    if not count:  # all that is shared are empty lists
        return
    sides = sides_in_tables(session, judged.groups, judged.table, run.table)
    known, found = names_on_sides(sides)
    hint = hint_for_documents(sides, _AS_CHUNKS)
    message = f"no retrieved document is judged. {hint}"
    example = f"judgments have {examples(known)}; the run has {examples(found)}"
    yield Draft("no-shared-documents", run, count, message, example, query, doc, row)


def _document_spelling(
    session: Session, judged: CheckedTable, run: CheckedTable
) -> Iterator[Draft]:
    """Look for documents that judgments and run spell differently, in all queries."""
    lost, found = session.name("lost"), session.name("spelled")
    session.execute(
        f"CREATE TEMP TABLE {lost} AS SELECT DISTINCT query, doc, {_folded('doc')} AS folded "
        f"FROM {judged.table} SEMI JOIN {run.groups} USING (query) "
        f"WHERE doc NOT IN (SELECT doc FROM {run.table} SEMI JOIN {judged.table} USING (doc))"
    )
    if session.rows(f"SELECT count(*) FROM {lost}")[0][0]:
        session.execute(
            f"CREATE TEMP TABLE {found} AS SELECT r.query, r.doc, r.row, j.doc AS known FROM "
            f"(SELECT query, doc, row, {_folded('doc')} AS folded FROM {run.table}) r "
            f"JOIN {lost} j ON r.query = j.query AND r.folded = j.folded "
            f"WHERE NOT EXISTS (SELECT 1 FROM {judged.table} o WHERE o.doc = r.doc)"
        )
        pairs = session.rows(
            f"SELECT (SELECT count(*) FROM (SELECT DISTINCT query, known FROM {found})), "
            f"query, doc, row, known FROM {found} ORDER BY row, query, doc LIMIT 1"
        )
        for count, query, doc, row, known in pairs:
            message = f"{counted(count, 'judged document')} under another spelling"
            example = f"judged as {known!r}{_reading(known, doc)}"
            yield Draft("document-spelling", run, count, message, example, query, doc, row)
        session.drop(found)
    session.drop(lost)


def _unjudged(
    session: Session, judged: CheckedTable, run: CheckedTable, cutoff: int
) -> Iterator[Draft]:
    """Count what is unjudged down to the cutoff, equal scores in the order of the policy."""
    top = session.name("top")
    session.execute(
        f"CREATE TEMP TABLE {top} AS SELECT query, doc, row, judged FROM ("
        "SELECT r.query, r.doc, r.row, EXISTS (SELECT 1 FROM "
        f"{judged.table} j WHERE j.query = r.query AND j.doc = r.doc) AS judged, "
        "row_number() OVER (PARTITION BY r.query ORDER BY r.number DESC, r.doc DESC) AS place "
        f"FROM {run.table} r JOIN (SELECT query, list_min(top[:{cutoff}]) AS edge "
        f"FROM {run.groups} SEMI JOIN {judged.groups} USING (query)) e "
        f"ON r.query = e.query AND r.number >= e.edge) WHERE place <= {cutoff}"
    )
    total, unjudged = session.rows(f"SELECT count(*), count_if(NOT judged) FROM {top}")[0]
    if unjudged > MOST_UNJUDGED * total:
        row, query, doc = session.rows(
            f"SELECT row, query, doc FROM {top} WHERE NOT judged ORDER BY row, query, doc LIMIT 1"
        )[0]
        documents = counted(total, "document")
        message = f"{unjudged / total:.1%} of {documents} down to rank {cutoff} unjudged"
        yield Draft("mostly-unjudged", run, unjudged, message, "", query, doc, row)
    session.drop(top)


def _folded(column: str) -> str:
    """Return SQL for an id in the form that all its spellings share."""
    odd, folded = _ODD.format(column), _FOLDED.format(column)
    return f"CASE WHEN {odd} THEN {folded} ELSE {column} END"


def _reading(one: str, other: str) -> str:
    hint = overlap_hint([one], [other])
    # Two spellings may differ in several ways at once; no hint says that.
    return f": they {hint[5:-1]}" if hint.startswith("They meet") else ""
