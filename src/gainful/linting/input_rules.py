"""Rules for one input alone: repeated documents, the grades of judgments, the scores of a run."""

from collections.abc import Iterator

from gainful.inputs.duckdb_engine import Session
from gainful.inputs.grades_scores_or_ranks import JUDGMENTS
from gainful.inputs.mistaken_ranks import ARE_RANKS
from gainful.inputs.table_source import SEVERAL_ASSESSORS
from gainful.linting.draft_findings import Draft
from gainful.linting.readable_rows import CheckedTable
from gainful.matching.minus_one_marks import MARK
from gainful.message_texts import counted


def look_at_documents(
    session: Session, table: CheckedTable, lists: CheckedTable | None = None
) -> Iterator[Draft]:
    """Look at what judgments and runs have in common; `lists` are a run's with chunks folded."""
    yield from _duplicates(session, table)
    yield from _self_matches(session, lists or table)


def _duplicates(session: Session, table: CheckedTable) -> Iterator[Draft]:
    again = session.name("again")
    session.execute(
        f"CREATE TEMP TABLE {again} AS SELECT query, doc FROM {table.table} "
        "GROUP BY query, doc HAVING count(*) > 1"
    )
    # Usually there are none. Only these are looked up, for their rows and numbers.
    found = session.rows(
        "WITH twice AS (SELECT query, doc, list(number ORDER BY row) AS numbers, "
        "list(row ORDER BY row)[2] AS second, min(number) <> max(number) AS differ "
        f"FROM {table.table} SEMI JOIN {again} USING (query, doc) GROUP BY query, doc) "
        "SELECT count(*) OVER (), count_if(differ) OVER (), second, query, doc, numbers[:2] "
        "FROM twice ORDER BY second, query, doc LIMIT 1"
    )
    session.drop(again)
    number = table.kind.number
    for count, differ, row, query, doc, (before, here) in found:
        message = f"{counted(count, 'document')} more than once for a query"
        if table.kind.name == JUDGMENTS.name and differ:
            message += f", {differ:,} of them with different grades"
        here, before = table.kind.turned(here), table.kind.turned(before)
        example = f"again, with {number} {here:g} after {before:g}"
        place = query, doc, row
        yield Draft(
            "duplicate-document", table, count, message, example, *place, _of_assessors(table)
        )


def _of_assessors(table: CheckedTable) -> str:
    """Say what to do about judgments of several assessors; nothing about any other input."""
    column = None if table.layout is None else table.layout.assessor
    return SEVERAL_ASSESSORS.format(column) if column and table.kind.name == JUDGMENTS.name else ""


def _self_matches(session: Session, table: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)) FROM {table.table} "
        "WHERE query = doc"
    )
    for count, row, query in found:
        if count:
            verb = "judged" if table.kind.name == JUDGMENTS.name else "retrieved"
            message = f"{counted(count, 'query', 'queries')} with itself as {verb} document"
            yield Draft("self-match", table, count, message, "", query, query, row)


_MOST_SHOWN = 12

GradeRange = tuple[float, float]


def look_at_grades(
    session: Session, judged: CheckedTable, scale: GradeRange | None
) -> Iterator[Draft]:
    """Look at the grades of judgments."""
    if scale is None:
        yield _grades(session, judged)
    else:
        yield from _off_scale(session, judged, scale)
    if scale is None or scale[0] > MARK:
        yield from _marks(session, judged)
    yield from _fractional(session, judged)
    yield from _without_relevant(session, judged)


def _grades(session: Session, judged: CheckedTable) -> Draft:
    found = session.rows(
        f"SELECT number, count(*) FROM {judged.table} GROUP BY number ORDER BY number"
    )
    shown = [f"{grade:g} ({count:,})" for grade, count in found]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[: _MOST_SHOWN // 2], "…", *shown[-_MOST_SHOWN // 2 :]]
    message = f"{counted(len(found), 'grade')}: {', '.join(shown)}"
    return Draft("grades", judged, len(found), message)


def _off_scale(session: Session, judged: CheckedTable, scale: GradeRange) -> Iterator[Draft]:
    low, high = scale
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc, number FROM {judged.table} "
        "WHERE number NOT BETWEEN ? AND ? ORDER BY row, query, doc LIMIT 1",
        [low, high],
    )
    for count, row, query, doc, grade in found:
        message = f"{counted(count, 'grade')} outside the scale from {low:g} to {high:g}"
        yield Draft("grade-off-scale", judged, count, message, f"{grade:g}", query, doc, row)


def _marks(session: Session, judged: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc FROM {judged.table} WHERE number < 0 "
        f"AND (SELECT bool_and(number = {MARK!r}) FROM {judged.table} WHERE number < 0) "
        "ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc in found:
        verb = "has" if count == 1 else "have"
        message = f"{counted(count, 'document')} {verb} the grade −1, the only negative one"
        yield Draft("unjudged-mark", judged, count, message, "", query, doc, row)


def _fractional(session: Session, judged: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), row, query, doc, number FROM {judged.table} "
        "WHERE number <> floor(number) ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc, grade in found:
        verb = "is" if count == 1 else "are"
        message = f"{counted(count, 'grade')} that {verb} no whole number"
        yield Draft("fractional-grade", judged, count, message, f"{grade!r}", query, doc, row)


def _without_relevant(session: Session, judged: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), first, query, n, high FROM {judged.groups} "
        "WHERE high <= 0 OR n = 0 ORDER BY first, query LIMIT 1"
    )
    for count, row, query, size, high in found:
        message = f"{counted(count, 'query', 'queries')} without a document of a grade above 0"
        example = f"{counted(size, 'document')}, none above {high:g}" if size else "no documents"
        yield Draft("no-relevant-document", judged, count, message, example, query, None, row)


def look_at_scores(session: Session, run: CheckedTable) -> Iterator[Draft]:
    """Look at the scores of a run, or at its ranks where it is ordered by these."""
    if not run.kind.tied:
        yield from _unusable(session, run)
        return
    if not run.kind.ascending:
        yield from _like_ranks(session, run)
    if run.ranked:
        yield from _ranks(session, run)


def look_at_lists(
    session: Session, run: CheckedTable, cutoff: int, *, in_order: bool
) -> Iterator[Draft]:
    """Look at the lists of documents that a run comes to, down to the cutoff.

    Ties are nothing odd where tied documents are in the order that was shown.
    """
    if run.kind.tied and not in_order:
        yield from _constant(session, run)
        yield from _ties(session, run, cutoff)
    yield from _short(session, run, cutoff)


def _unusable(session: Session, run: CheckedTable) -> Iterator[Draft]:
    """Look for ranks that two documents share, or that are no whole numbers; stored as negatives."""
    odd = "number > 0 OR number <> floor(number)" if run.kind.whole else "false"
    found = session.rows(
        f"WITH odd AS (SELECT row, query, doc, -number AS rank FROM {run.table} WHERE {odd}) "
        "SELECT (SELECT count(*) FROM odd), row, query, doc, rank FROM odd "
        "ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc, rank in found:
        message = f"{counted(count, 'rank')} that {'is' if count == 1 else 'are'} no whole number"
        yield Draft("unusable-rank", run, count, message, f"rank {rank!r}", query, doc, row)
    found = session.rows(
        "WITH shared AS (SELECT query, -number AS rank, list(doc ORDER BY row, doc) AS docs, "
        f"list(row ORDER BY row, doc)[2] AS second FROM {run.table} GROUP BY query, number "
        "HAVING min(doc) < max(doc)) SELECT (SELECT count(*) FROM shared), second, query, docs[2], "
        "rank, docs[1] FROM shared ORDER BY second, query, rank LIMIT 1"
    )
    for count, row, query, doc, rank, other in found:
        message = f"{counted(count, 'rank')} with more than one document of a query"
        example = f"rank {rank:g}, as {other!r} has"
        yield Draft("unusable-rank", run, count, message, example, query, doc, row)


def _like_ranks(session: Session, run: CheckedTable) -> Iterator[Draft]:
    """Look for ranks in place of scores; the lowest and highest scores clear most runs."""
    queries, possible = session.rows(
        "SELECT count(*), min(low) = max(low) AND min(low) IN (0, 1) AND bool_and(high - low = n - 1) "
        f"AND max(n) > 1 FROM {run.groups} WHERE n > 0"
    )[0]
    if possible and session.rows(ARE_RANKS.format(rows=run.table))[0][0]:
        message = f"the scores look like ranks in {counted(queries, 'query', 'queries')}"
        yield Draft("rank-as-score", run, queries, message)


def _ranks(session: Session, run: CheckedTable) -> Iterator[Draft]:
    """Order each query by rank, and among equal ranks by score: then no score may rise."""
    if _is_in_order(session, run):
        return
    found = session.rows(
        "WITH climbing AS (SELECT query, doc, number, rank, row, lag(number) OVER w AS before, "
        f"lag(rank) OVER w AS above FROM {run.table} WHERE rank IS NOT NULL "
        "WINDOW w AS (PARTITION BY query ORDER BY rank, number DESC)) "
        "SELECT (SELECT count(DISTINCT query) FROM climbing WHERE number > before), "
        "row, query, doc, number, rank, before, above FROM climbing WHERE number > before "
        "ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc, number, rank, before, above in found:
        message = f"ranks contradict the scores in {counted(count, 'query', 'queries')}"
        example = f"score {number!r} at rank {rank:g}, after {before!r} at rank {above:g}"
        yield Draft("rank-against-score", run, count, message, example, query, doc, row)


def _is_in_order(session: Session, run: CheckedTable) -> bool:
    """Return whether each query stands together, its ranks rising and its scores falling.

    Then, as in most files, no rank contradicts a score, and nothing has to be sorted.
    """
    return bool(
        session.rows(
            "SELECT count_if(query IS DISTINCT FROM above) = "
            f"(SELECT count(*) FROM {run.groups} WHERE n > 0) "
            "AND count_if(query = above AND NOT (rank > before AND number <= higher)) = 0 "
            "AND count(rank) = count(*) FROM (SELECT query, number, rank, lag(query) OVER () AS above, "
            "lag(rank) OVER () AS before, lag(number) OVER () AS higher "
            f"FROM {run.table})"
        )[0][0]
    )


def _constant(session: Session, run: CheckedTable) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), first, query, n, high FROM {run.groups} "
        "WHERE n > 1 AND low = high ORDER BY first, query LIMIT 1"
    )
    for count, row, query, size, score in found:
        word = _word(run)
        message = f"all {word}s are equal in {counted(count, 'query', 'queries')}"
        example = f"{size:,} documents, all with {word} {run.kind.turned(score)!r}"
        yield Draft("constant-score", run, count, message, example, query, None, row)


def _ties(session: Session, run: CheckedTable, cutoff: int) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), first, query, top[{cutoff}] FROM {run.groups} "
        f"WHERE n > {cutoff} AND top[{cutoff}] = top[{cutoff + 1}] ORDER BY first, query LIMIT 1"
    )
    for count, _, query, score in found:
        word = _word(run)
        message = f"{word}s tie across rank {cutoff} in {counted(count, 'query', 'queries')}"
        row, doc = session.rows(
            f"SELECT row, doc FROM {run.table} WHERE query = ? AND number = ? "
            "ORDER BY row, doc LIMIT 1",
            [query, score],
        )[0]
        example = f"{word} {run.kind.turned(score)!r} at ranks {cutoff} and {cutoff + 1}"
        yield Draft("tie-at-cutoff", run, count, message, example, query, doc, row)


def _word(run: CheckedTable) -> str:
    """Return what the numbers of a run are that may tie."""
    return "distance" if run.kind.ascending else "score"


def _short(session: Session, run: CheckedTable, cutoff: int) -> Iterator[Draft]:
    found = session.rows(
        f"SELECT count(*) OVER (), first, query, n FROM {run.groups} WHERE n BETWEEN 1 AND {cutoff - 1} "
        "ORDER BY first, query LIMIT 1"
    )
    for count, row, query, size in found:
        message = f"{counted(count, 'query', 'queries')} with fewer than {cutoff} documents"
        yield Draft("short-list", run, count, message, counted(size, "document"), query, None, row)
