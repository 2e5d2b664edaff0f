"""The rules of a check in one table, which help, documentation and findings use.

Rules for a single input come first: repeated documents, the grades of judgments, the scores of a run. Rules for
judgments and a run together follow: which queries and documents they share.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from gainful.analysis.linting.looks import CheckedTable, Draft, Look
from gainful.message_texts import counted
from gainful.rows import mistakes
from gainful.rows.mistakes import SEVERITIES, Rule

_MOST_SHOWN = 12
_MARK = -1.0  # as `matched.MARK`
_MOST_UNJUDGED = 0.5  # the share of unjudged documents above which a score is doubtful
_JUDGED = "judged query", "judged queries"
_AS_CHUNKS = (
    "They match as chunks of documents: measure with chunks='{0}', or evaluate --chunks '{0}'."
)
# Normalises every spelling difference of an id at once, except the text before its digits:
# if some ids match, news-7 and web-7 are two documents.
_FOLDED = "coalesce(nullif(ltrim(regexp_replace(trim(lower({0})), '\\.0$', ''), '0'), ''), '0')"
# Few ids need this; an id that sorts after "0" bytewise has no leading blank or zero.
_ODD = "{0} < '1' OR ends_with({0}, '.0') OR ends_with({0}, ' ') OR {0} <> lower({0})"


def duplicate_documents(look: Look) -> Iterator[Draft]:
    """Look for documents that are listed twice for a query."""
    table = look.table
    # Usually there are none, so rows and numbers are looked up only for duplicates.
    repeated = look.session.rows(
        f"WITH again AS (SELECT query, doc FROM {table.table} GROUP BY query, doc HAVING count(*) > 1), "
        "twice AS (SELECT query, doc, list(number ORDER BY row) AS numbers, "
        "list(row ORDER BY row)[2] AS second, min(number) <> max(number) AS differ "
        f"FROM {table.table} SEMI JOIN again USING (query, doc) GROUP BY query, doc) "
        "SELECT count(*) OVER (), count_if(differ) OVER (), second, query, doc, numbers[:2] "
        "FROM twice ORDER BY second, query, doc LIMIT 1"
    )
    for count, differ, row, query, doc, numbers in repeated:
        message, remedy = f"{counted(count, 'document')} listed more than once for a query", ""
        if table is look.judged:
            if differ:
                message += f", {differ:,} of them with different grades"
            remedy = _of_assessors(table)
        before, here = map(table.kind.turned, numbers)
        example = f"listed again, with {table.kind.number} {here:g} after {before:g}"
        yield Draft(table, count, message, example, query, doc, row, remedy)


def _of_assessors(table: CheckedTable) -> str:
    """Return the remedy for judgments by several assessors, or "" for other judgments."""
    from gainful.rows.table_source import SEVERAL_ASSESSORS

    column = None if table.layout is None else table.layout.assessor
    return SEVERAL_ASSESSORS.format(column) if column else ""


def self_matches(look: Look) -> Iterator[Draft]:
    """Look for documents with the id of their query."""
    ((count, row, query),) = look.session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)) FROM {look.lists.table} "
        "WHERE query = doc"
    )
    if count:
        verb = "judged" if look.table is look.judged else "retrieved"
        message = f"{counted(count, 'query', 'queries')} whose own id is among the {verb} documents"
        yield Draft(look.lists, count, message, "", query, query, row)


def grades(look: Look) -> Iterator[Draft]:
    """List the grades if no scale is given."""
    if look.scale is not None:
        return
    counts = look.session.rows(
        f"SELECT number, count(*) FROM {look.table.table} GROUP BY number ORDER BY number"
    )
    shown = [f"{grade:g} ({count:,})" for grade, count in counts]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[: _MOST_SHOWN // 2], "…", *shown[-_MOST_SHOWN // 2 :]]
    yield Draft(look.table, len(counts), f"{counted(len(counts), 'grade')}: {', '.join(shown)}")


def grades_off_scale(look: Look) -> Iterator[Draft]:
    """Look for grades outside the scale, if there is one."""
    if look.scale is None:
        return
    low, high = look.scale
    for count, grade, place in look.first_row("number NOT BETWEEN ? AND ?", [low, high]):
        message = f"{counted(count, 'grade')} outside the scale from {low:g} to {high:g}"
        yield Draft(look.table, count, message, f"{grade:g}", *place)


def unjudged_marks(look: Look) -> Iterator[Draft]:
    """Look for −1 as the only negative grade if the scale does not include it."""
    if look.scale is not None and look.scale[0] <= _MARK:
        return
    only = f"(SELECT bool_and(number = {_MARK!r}) FROM {look.table.table} WHERE number < 0)"
    for count, _, place in look.first_row(f"number < 0 AND {only}"):
        verb = "has" if count == 1 else "have"
        message = f"{counted(count, 'document')} {verb} the grade −1, the only negative one"
        yield Draft(look.table, count, message, "", *place)


def fractional_grades(look: Look) -> Iterator[Draft]:
    """Look for grades that aren't whole numbers."""
    for count, grade, place in look.first_row("number <> floor(number)"):
        message = f"{counted(count, 'grade')} that {_are_not(count)}"
        yield Draft(look.table, count, message, f"{grade!r}", *place)


def _are_not(count: int) -> str:
    return "isn't a whole number" if count == 1 else "aren't whole numbers"


def queries_without_relevant(look: Look) -> Iterator[Draft]:
    """Look for queries without a document graded above 0."""
    for count, size, high, place in look.first_query("high <= 0 OR n = 0"):
        message = f"{counted(count, 'query', 'queries')} without a document graded above 0"
        example = f"{counted(size, 'document')}, none above {high:g}" if size else "no documents"
        yield Draft(look.table, count, message, example, *place)


def unusable_ranks(look: Look) -> Iterator[Draft]:
    """Look for ranks, stored as negatives, that two documents share or that aren't whole numbers."""
    run = look.table
    if run.kind.tied:
        return
    if run.kind.whole:
        for count, number, place in look.first_row("number > 0 OR number <> floor(number)"):
            message = f"{counted(count, 'rank')} that {_are_not(count)}"
            yield Draft(run, count, message, f"rank {-number!r}", *place)
    shared = look.session.rows(
        "WITH shared AS (SELECT query, -number AS rank, list(doc ORDER BY row, doc) AS docs, "
        f"list(row ORDER BY row, doc)[2] AS second FROM {run.table} GROUP BY query, number "
        "HAVING min(doc) < max(doc)) SELECT (SELECT count(*) FROM shared), second, query, docs[2], "
        "rank, docs[1] FROM shared ORDER BY second, query, rank LIMIT 1"
    )
    for count, row, query, doc, rank, other in shared:
        message = f"{counted(count, 'rank')} with more than one document of a query"
        example = f"rank {rank:g}, the same as {other!r}"
        yield Draft(run, count, message, example, query, doc, row)


def ranks_as_scores(look: Look) -> Iterator[Draft]:
    """Look for ranks in place of scores."""
    from gainful.rows.mistakes import first_rank_of_table, head_on_engine, numbers_on_engine

    run = look.table
    if not run.kind.tied or run.kind.ascending:
        return
    head = head_on_engine(look.session, run.table)
    all_numbers = partial(numbers_on_engine, look.session, run.table)
    if first_rank_of_table(head, all_numbers) is not None:
        queries = look.session.rows(f"SELECT count(*) FROM {run.groups} WHERE n > 0")[0][0]
        message = f"the scores look like ranks in {counted(queries, 'query', 'queries')}"
        yield Draft(run, queries, message)


def ranks_against_scores(look: Look) -> Iterator[Draft]:
    """Look for scores that rise when a query is sorted by rank, then score."""
    run = look.table
    if not run.kind.tied or not run.ranked or _is_in_order(look):
        return
    climbing = look.session.rows(
        "WITH climbing AS (SELECT query, doc, number, rank, row, lag(number) OVER w AS before, "
        f"lag(rank) OVER w AS above FROM {run.table} WHERE rank IS NOT NULL "
        "WINDOW w AS (PARTITION BY query ORDER BY rank, number DESC)) "
        "SELECT (SELECT count(DISTINCT query) FROM climbing WHERE number > before), "
        "row, query, doc, number, rank, before, above FROM climbing WHERE number > before "
        "ORDER BY row, query, doc LIMIT 1"
    )
    for count, row, query, doc, number, rank, before, above in climbing:
        message = f"ranks contradict the scores in {counted(count, 'query', 'queries')}"
        example = f"score {number!r} at rank {rank:g}, after {before!r} at rank {above:g}"
        yield Draft(run, count, message, example, query, doc, row)


def _is_in_order(look: Look) -> bool:
    """Return whether the rows of each query are adjacent, with rising ranks and falling scores.

    If so, as in most files, no rank contradicts a score, and nothing has to be sorted.
    """
    return bool(
        look.session.rows(
            "SELECT count_if(query IS DISTINCT FROM above) = "
            f"(SELECT count(*) FROM {look.table.groups} WHERE n > 0) "
            "AND count_if(query = above AND NOT (rank > before AND number <= higher)) = 0 "
            "AND count(rank) = count(*) FROM (SELECT query, number, rank, lag(query) OVER () AS above, "
            "lag(rank) OVER () AS before, lag(number) OVER () AS higher "
            f"FROM {look.table.table})"
        )[0][0]
    )


def constant_scores(look: Look) -> Iterator[Draft]:
    """Look for queries whose documents all have the same score, unless the run is in the order that users saw."""
    run = look.lists
    if not run.kind.tied or look.in_order:
        return
    for count, size, score, place in look.first_query("n > 1 AND low = high"):
        word = _word(run)
        message = f"all {word}s are equal in {counted(count, 'query', 'queries')}"
        example = f"{size:,} documents, all with {word} {run.kind.turned(score)!r}"
        yield Draft(run, count, message, example, *place)


def ties_at_cutoff(look: Look) -> Iterator[Draft]:
    """Look for ties across the cutoff, unless the run is in the order that users saw."""
    run, cutoff = look.lists, look.cutoff
    if not run.kind.tied or look.in_order:
        return
    tied = f"n > {cutoff} AND top[{cutoff}] = top[{cutoff + 1}]"
    for count, _, score, (query, *_) in look.first_query(tied, f"top[{cutoff}]"):
        word = _word(run)
        message = f"{word}s tie across rank {cutoff} in {counted(count, 'query', 'queries')}"
        row, doc = look.session.rows(
            f"SELECT row, doc FROM {run.table} WHERE query = ? AND number = ? "
            "ORDER BY row, doc LIMIT 1",
            [query, score],
        )[0]
        example = f"{word} {run.kind.turned(score)!r} at ranks {cutoff} and {cutoff + 1}"
        yield Draft(run, count, message, example, query, doc, row)


def _word(run: CheckedTable) -> str:
    """Return the noun for the numbers of a run."""
    return "distance" if run.kind.ascending else "score"


def short_lists(look: Look) -> Iterator[Draft]:
    """Look for queries with fewer documents than the cutoff."""
    for count, size, _, place in look.first_query(f"n BETWEEN 1 AND {look.cutoff - 1}"):
        message = f"{counted(count, 'query', 'queries')} with fewer than {look.cutoff} documents"
        remedy = "" if look.has_ids else "Ignore this if these are all the candidates of the query."
        yield Draft(look.lists, count, message, counted(size, "document"), *place, remedy)


def no_shared_queries(look: Look) -> Iterator[Draft]:
    """Report a run without any judged query."""
    from gainful.rows.identifiers import examples, overlap_hint

    message = f"no query in common with the judgments. {overlap_hint(look.missing, look.extra)}"
    example = f"judgments have {examples(look.missing)}; the run has {examples(look.extra)}"
    yield Draft(look.lists, len(look.extra), message, example)


def missing_queries(look: Look) -> Iterator[Draft]:
    """Look for judged queries that the run lacks."""
    yield from _queries(look, look.missing, _JUDGED, "missing")


def empty_lists(look: Look) -> Iterator[Draft]:
    """Look for judged queries for which the run has an empty list."""
    unanswered = look.queries(
        f"SELECT query FROM (SELECT * FROM {look.lists.groups} WHERE n = 0) "
        f"SEMI JOIN {look.judged.groups} USING (query)"
    )
    yield from _queries(look, unanswered, _JUDGED, "with an empty list")


def extra_queries(look: Look) -> Iterator[Draft]:
    """Look for queries of the run that are not judged."""
    if look.extra:
        row = look.session.rows(
            f"SELECT first FROM {look.lists.groups} WHERE query = ?", [look.extra[0]]
        )[0][0]
        yield from _queries(look, look.extra, ("query", "queries"), "without judgments", row)


def _queries(
    look: Look, queries: Sequence[str], nouns: tuple[str, str], what: str, row: int | None = None
) -> Iterator[Draft]:
    if queries:
        from gainful.rows.identifiers import examples

        others = f"also {examples(queries[1:])}" if len(queries) > 1 else ""
        message = f"{counted(len(queries), *nouns)} {what}"
        yield Draft(look.lists, len(queries), message, others, queries[0], row=row)


def query_spellings(look: Look) -> Iterator[Draft]:
    """Look for judged queries that the run spells differently."""
    if not (look.missing and look.extra):
        return
    judged, run = look.judged.groups, look.lists.groups
    pairs = look.session.rows(
        f"WITH j AS (SELECT query, {_folded('query')} AS folded FROM {judged} "
        f"ANTI JOIN {run} USING (query)), "
        f"r AS (SELECT query, {_folded('query')} AS folded, first FROM {run} "
        f"ANTI JOIN {judged} USING (query)) "
        "SELECT (SELECT count(*) FROM j SEMI JOIN r USING (folded)), j.query, r.query, r.first "
        "FROM j JOIN r USING (folded) ORDER BY r.first, r.query, j.query LIMIT 1"
    )
    for count, judged_as, query, row in pairs:
        message = f"{counted(count, *_JUDGED)} under another spelling"
        yield Draft(look.lists, count, message, _judged_as(judged_as, query), query, None, row)


def no_shared_documents(look: Look) -> Iterator[Draft]:
    """Report a run without any judged document."""
    judged, run, session = look.judged, look.lists, look.session
    count, row, query, doc = session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)), arg_min(doc, (row, query)) "
        f"FROM {run.table} SEMI JOIN {judged.groups} USING (query)"
    )[0]
    if not count:  # the shared queries have empty lists only
        return
    from gainful.rows.disjoint_documents import hint_for_documents, names_on_sides, sides_in_tables
    from gainful.rows.identifiers import examples

    sides = sides_in_tables(session, judged.groups, judged.table, run.table)
    judged_ids, run_ids = names_on_sides(sides)
    message = f"no retrieved document is judged. {hint_for_documents(sides, _AS_CHUNKS)}"
    example = f"judgments have {examples(judged_ids)}; the run has {examples(run_ids)}"
    yield Draft(run, count, message, example, query, doc, row)


def document_spellings(look: Look) -> Iterator[Draft]:
    """Look for documents that judgments and run spell differently, in all queries."""
    judged, run = look.judged, look.lists
    pairs = look.session.rows(
        f"WITH lost AS (SELECT DISTINCT query, doc, {_folded('doc')} AS folded "
        f"FROM {judged.table} SEMI JOIN {run.groups} USING (query) "
        f"WHERE doc NOT IN (SELECT doc FROM {run.table} SEMI JOIN {judged.table} USING (doc))), "
        "spelled AS MATERIALIZED (SELECT r.query, r.doc, r.row, lost.doc AS known FROM "
        f"(SELECT query, doc, row, {_folded('doc')} AS folded FROM {run.table}) r "
        "JOIN lost USING (query, folded) "
        f"WHERE NOT EXISTS (SELECT 1 FROM {judged.table} o WHERE o.doc = r.doc)) "
        "SELECT (SELECT count(*) FROM (SELECT DISTINCT query, known FROM spelled)), "
        "query, doc, row, known FROM spelled ORDER BY row, query, doc LIMIT 1"
    )
    for count, query, doc, row, known in pairs:
        message = f"{counted(count, 'judged document')} under another spelling"
        yield Draft(run, count, message, _judged_as(known, doc), query, doc, row)


def unjudged_documents(look: Look) -> Iterator[Draft]:
    """Count unjudged documents down to the cutoff, with ties ordered by the default policy."""
    judged, run, cutoff = look.judged, look.lists, look.cutoff
    first = "(row, query, doc)) FILTER (NOT judged)"
    ((total, unjudged, row, query, doc),) = look.session.rows(
        "SELECT count(*), count_if(NOT judged), "
        f"arg_min(row, {first}, arg_min(query, {first}, arg_min(doc, {first} FROM ("
        "SELECT r.query, r.doc, r.row, EXISTS (SELECT 1 FROM "
        f"{judged.table} j WHERE j.query = r.query AND j.doc = r.doc) AS judged, "
        "row_number() OVER (PARTITION BY r.query ORDER BY r.number DESC, r.doc DESC) AS place "
        f"FROM {run.table} r JOIN (SELECT query, list_min(top[:{cutoff}]) AS edge "
        f"FROM {run.groups} SEMI JOIN {judged.groups} USING (query)) e "
        f"ON r.query = e.query AND r.number >= e.edge) WHERE place <= {cutoff}"
    )
    if unjudged > _MOST_UNJUDGED * total:
        documents = counted(total, "document")
        message = f"{unjudged / total:.1%} of {documents} down to rank {cutoff} unjudged"
        yield Draft(run, unjudged, message, "", query, doc, row)


def _folded(column: str) -> str:
    """Return SQL for the normalised form of an id, which all its spellings share."""
    odd, folded = _ODD.format(column), _FOLDED.format(column)
    return f"CASE WHEN {odd} THEN {folded} ELSE {column} END"


def _judged_as(judged: str, other: str) -> str:
    from gainful.rows.identifiers import overlap_hint

    hint = overlap_hint([judged], [other])
    # Two spellings may differ in several ways at once, which no hint covers.
    reading = f": they {hint[5:-1]}" if hint.startswith("They would match") else ""
    return f"judged as {judged!r}{reading}"


RULES: tuple[Rule, ...] = (
    Rule(
        "unreadable-row",
        "error",
        "A row that can't be read: too few or too many fields, an invalid number, "
        "a missing id, or text that isn't UTF-8.",
        "Correct the row, or remove it.",
    ),
    Rule(
        "not-finite",
        "error",
        "A grade or a score that is missing, NaN or infinite.",
        "Find out which program wrote it; give the document a number, or remove it.",
    ),
    Rule(
        "duplicate-document",
        "error",
        "A document that is listed twice for the same query.",
        "Remove one row, or set the policy duplicates to first or best.",
        duplicate_documents,
        "input",
    ),
    Rule(
        "unusable-rank",
        "error",
        "A rank that two documents of a query share or, if the column was recognised "
        "by its name, a rank that isn't a whole number. Only for runs that are ordered "
        "by rank.",
        "Correct the ranks, or name the column with the scores: columns score=….",
        unusable_ranks,
        "run",
    ),
    Rule(
        "grade-off-scale",
        "error",
        "A grade outside the expected scale. Only if a scale is given.",
        "Correct the grade or the scale.",
        grades_off_scale,
        "judgments",
    ),
    Rule(
        "no-shared-queries",
        "error",
        "The judgments and the run have no query in common.",
        "Pass files that belong together, and write ids the same way in both, as strings.",
        no_shared_queries,
        "no shared queries",
    ),
    Rule(
        "doubtful-reading",
        "warning",
        "Input that evaluate accepts with a warning: a document repeated in a list "
        "(the first one counts), events without grades (each counts as grade 1), labels of a query "
        "that are not contiguous, or scores that are probably distances.",
        "Follow the advice in the message, or ignore it if the input is intentional; evaluate prints the same warning.",
    ),
    Rule(
        "query-spelling",
        "warning",
        "A judged query that the run contains only under another spelling: different spaces, "
        "capitals or leading zeros, or a trailing .0.",
        "Write ids the same way in both files, as strings.",
        query_spellings,
        "shared queries",
    ),
    Rule(
        "no-shared-documents",
        "warning",
        "None of the retrieved documents is judged, in any judged query.",
        "Pass files that belong together, and write ids the same way in both, as strings.",
        no_shared_documents,
        "no shared documents",
    ),
    Rule(
        "document-spelling",
        "warning",
        "A judged document that the run contains only under another spelling for the same "
        "query: different spaces, capitals or leading zeros, or a trailing .0.",
        "Write ids the same way in both files, as strings.",
        document_spellings,
        "shared documents",
    ),
    Rule(
        "no-relevant-document",
        "warning",
        "A judged query without a document graded above 0: no run can score on it.",
        "Judge more documents for the query, or set the policy empty.",
        queries_without_relevant,
        "judgments",
    ),
    Rule(
        "missing-query",
        "warning",
        "A judged query that is missing from the run.",
        "Run the query, or set the policy missing; by default the query counts as 0.",
        missing_queries,
        "shared queries",
    ),
    Rule(
        "empty-list",
        "warning",
        "A judged query that is in the run, but with an empty list of documents. Only dicts and "
        "JSON can represent this.",
        "Find out why nothing was retrieved: the query counts as 0 under any value of the policy missing.",
        empty_lists,
        "shared queries",
    ),
    Rule(
        "rank-against-score",
        "warning",
        "A document with a better rank but a lower score than another document of the query. "
        "Only for runs with a column of ranks; measures use the scores.",
        "Write scores that decrease with rank, such as 1 / rank.",
        ranks_against_scores,
        "run",
    ),
    Rule(
        "rank-as-score",
        "warning",
        "Scores that are 1, 2, 3 … or 0, 1, 2 … in every query, in any order of rows, like ranks. If they "
        "are ranks, the last document counts as the best. Scores that fall from row to row are not reported.",
        "If they are ranks, name their column: columns rank=…. In a dict, pass their negatives.",
        ranks_as_scores,
        "run",
    ),
    Rule(
        "constant-score",
        "warning",
        "A query with at least two documents that all have the same score, so that only "
        "the tie rule orders them.",
        "Write the system's scores with all their digits, or evaluate with the policy "
        "ties=average.",
        constant_scores,
        "run",
    ),
    Rule(
        "tie-at-cutoff",
        "warning",
        "The document at the cutoff has the same score as the next one, so the tie rule decides "
        "which of them counts.",
        "Write scores with all their digits. The policies ties=best and ties=worst show how "
        "much depends on it.",
        ties_at_cutoff,
        "run",
    ),
    Rule(
        "self-match",
        "warning",
        "A document with the same id as its query: the query is part of the collection and "
        "retrieves itself.",
        "Set the policy drop_self=yes if they are the same text.",
        self_matches,
        "input",
    ),
    Rule(
        "unjudged-mark",
        "warning",
        "−1 as the only negative grade. It counts as a bad grade, but often marks documents that "
        "were not judged. Only if the scale does not include it.",
        "If it marks unjudged documents, set the policy negative=unjudged; if it is a grade, negative=keep.",
        unjudged_marks,
        "judgments",
    ),
    Rule(
        "mostly-unjudged",
        "warning",
        f"More than {_MOST_UNJUDGED:.0%} of the documents down to the cutoff are unjudged, so the "
        "scores may not reflect how good the run is.",
        "Judge more documents, compare at a smaller cutoff, or set the policy unjudged.",
        unjudged_documents,
        "shared documents",
    ),
    Rule(
        "grades",
        "note",
        "The grades that occur. Only if no scale is given.",
        "Pass a scale, such as 0..3, to report grades outside it.",
        grades,
        "judgments",
    ),
    Rule(
        "fractional-grade",
        "note",
        "A grade that isn't a whole number. gainful uses it as it is; tools that read integers truncate it.",
        "Ignore this if it is intentional.",
        fractional_grades,
        "judgments",
    ),
    Rule(
        "extra-query",
        "note",
        "A query of the run that has no judgments.",
        "Ignore this if it is intentional; the query is not scored.",
        extra_queries,
        "shared queries",
    ),
    Rule(
        "short-list",
        "note",
        "A query with fewer documents than the cutoff.",
        "Retrieve more documents, or set the policy absent if the system could have.",
        short_lists,
        "run",
    ),
)
"""The rules that need all rows; `MISTAKES` in `rows/mistakes.py` has the rules that need only a sample."""


def all_rules() -> dict[str, Rule]:
    """Return the rules by name, the most severe first."""
    order = [*SEVERITIES]
    rules = sorted((*mistakes.MISTAKES, *RULES), key=lambda rule: order.index(rule.severity))
    return {rule.name: rule for rule in rules}


def drafts_of(look: Look, *kinds: str) -> Iterator[tuple[str, Draft]]:
    """Yield the findings of all rules of the given kinds, with the rule's name."""
    for rule in RULES:
        if rule.find is not None and rule.of in kinds:
            yield from ((rule.name, draft) for draft in rule.find(look))
