"""The rules of a check in one table, which help, documentation and findings use, and the tables that rules examine.

The docstring of a function is the description of its rule. Help lists all rules, so modules needed only to run them are
imported late.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gainful.message_texts import counted
from gainful.rows import mistakes
from gainful.rows.identifiers import examples, in_order, overlap_hint
from gainful.rows.mistakes import SEVERITIES, Rule

if TYPE_CHECKING:
    from gainful.rows.duckdb_engine import Session
    from gainful.rows.files import LocalFile
    from gainful.rows.grades_scores_or_ranks import Kind
    from gainful.rows.text_formats import Layout

_MOST_SHOWN = 12
_A_PAIR = 2
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
GradeRange = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CheckedTable:
    """The readable rows of judgments or of a run.

    Attributes:
        name: "judgments", or the name of the run.
        kind: judgments or run.
        table: the table with the columns query, doc, number, rank and row.
        groups: the table with one row per query: query, n (rows), low and high (numbers),
            first (row), and top (the highest numbers, one more than the cutoff). A query without
            documents has n = 0, and nulls elsewhere.
        size: the number of rows.
        ranked: whether there is a column of ranks.
        stored: the tables to drop afterwards.
        source: the name of the file in messages.
        file: the text file, if there is one.
        layout: the layout of the text file.
        by_line: whether row numbers are line numbers; otherwise rows are counted from 1.
    """

    name: str
    kind: "Kind"
    table: str
    groups: str
    size: int
    ranked: bool
    stored: tuple[str, ...]
    source: str
    file: "LocalFile | None" = None
    layout: "Layout | None" = None
    by_line: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding whose first occurrence is located by row.

    Attributes:
        input: the input with the problem.
        count: the number of occurrences.
        message: a description of the problem.
        example: the details of the first occurrence.
        query: the query of the first occurrence.
        doc: the document of the first occurrence.
        row: the row of the first occurrence; None if it isn't a single row.
        remedy: how to fix it, if more specific than the rule's remedy.
    """

    input: CheckedTable
    count: int
    message: str
    example: str = ""
    query: str | None = None
    doc: str | None = None
    row: int | None = None
    remedy: str = ""


RuledDraft = tuple[str, Draft]
"""The name of a rule, and its finding."""


@dataclass(frozen=True)
class Look:
    """Judgments, or a run with its judgments, as tables on the engine.

    Attributes:
        session: the engine's session.
        judged: the judgments.
        table: the input to check: the judgments or the run.
        lists: the same input; for a run of chunks, its documents.
        cutoff: the rank down to which lists are checked.
        scale: the lowest and the highest grade, or None.
        in_order: whether documents with equal scores are in the order that users saw.
        has_ids: whether documents have ids, unlike labels with qid:, which contain all candidates.
    """

    session: "Session"
    judged: CheckedTable
    table: CheckedTable
    lists: CheckedTable
    cutoff: int
    scale: GradeRange | None = None
    in_order: bool = False
    has_ids: bool = True

    def first_row(
        self, condition: str, parameters: Sequence[object] = ()
    ) -> Iterator[tuple[int, float, tuple[str, str, int]]]:
        """Yield the number of rows that fulfil a condition, and the value and place of the first, if any."""
        rows = self.session.rows(
            f"SELECT count(*) OVER (), number, query, doc, row FROM {self.table.table} "
            f"WHERE {condition} ORDER BY row, query, doc LIMIT 1",
            parameters,
        )
        for count, number, *place in rows:
            query, doc, row = place
            yield count, number, (query, doc, row)

    def first_query(
        self, condition: str, value: str = "high"
    ) -> Iterator[tuple[int, int, Any, tuple[str, None, int]]]:
        """Yield the number of queries that fulfil a condition, and the size, value and place of the first, if any."""
        rows = self.session.rows(
            f"SELECT count(*) OVER (), n, {value}, query, first FROM {self.lists.groups} "
            f"WHERE {condition} ORDER BY first, query LIMIT 1"
        )
        for count, size, found, query, row in rows:
            yield count, size, found, (query, None, row)

    def queries(self, sql: str) -> list[str]:
        """Return the queries of an SQL statement, sorted."""
        return in_order(row[0] for row in self.session.rows(sql))

    @cached_property
    def missing(self) -> list[str]:
        """Judged queries that are not in the run."""
        return self.queries(
            f"SELECT query FROM {self.judged.groups} ANTI JOIN {self.lists.groups} USING (query)"
        )

    @cached_property
    def extra(self) -> list[str]:
        """Queries of the run that are not judged."""
        return self.queries(
            f"SELECT query FROM {self.lists.groups} ANTI JOIN {self.judged.groups} USING (query)"
        )

    @property
    def in_common(self) -> tuple[str, ...]:
        """The kinds of rules that apply to the judgments and this run, depending on what they share."""
        judged, lists = self.judged, self.lists
        shared = f"SELECT 1 FROM {judged.groups} SEMI JOIN {lists.groups} USING (query) LIMIT 1"
        if not self.session.rows(shared):
            return ("no shared queries",)
        documents = self.session.rows(
            f"SELECT 1 FROM {lists.table} r JOIN {judged.table} j "
            "ON r.query = j.query AND r.doc = j.doc LIMIT 1"
        )
        return "shared queries", f"{'' if documents else 'no '}shared documents"


Find = Callable[[Look], Iterator[Draft]]

RULES: list[Rule] = [
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
        "Find out which program wrote the value; give the document a number, or remove it.",
    ),
    Rule(
        "doubtful-reading",
        "warning",
        "Input that evaluate accepts with a warning: a document repeated in a list "
        "(the first one counts), events without grades (each counts as grade 1), labels of a query "
        "that are not contiguous, or scores that are probably distances.",
        "Follow the advice in the message, or ignore it if the input is intentional; evaluate prints the same warning.",
    ),
]
"""The rules that need all rows; `MISTAKES` in `rows/mistakes.py` has the rules that need only a sample."""


def _rule(severity: str, of: str, remedy: str) -> Callable[[Find], Find]:
    """Add a function to `RULES`: its name is the rule's, and its docstring the description."""

    def add(find: Find) -> Find:
        name, what = find.__name__.replace("_", "-"), " ".join(str(find.__doc__).split())
        RULES.append(Rule(name, severity, what, remedy, find, of))
        return find

    return add


@_rule("error", "input", "Remove one row, or set the policy duplicates=first or duplicates=best.")
def duplicate_document(look: Look) -> Iterator[Draft]:
    """A document that is listed twice for the same query."""
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
                some = f"{differ:,} of them " if count > 1 else ""
                message += f", {some}with different grades"
            remedy = _of_assessors(table)
        before, here = map(table.kind.turned, numbers)
        example = f"listed again, with {table.kind.number} {here:g} after {before:g}"
        yield Draft(table, count, message, example, query, doc, row, remedy)


def _of_assessors(table: CheckedTable) -> str:
    """Return the remedy for judgments by several assessors, or "" for other judgments."""
    from gainful.rows.table_source import SEVERAL_ASSESSORS

    column = None if table.layout is None else table.layout.assessor
    return SEVERAL_ASSESSORS.format(column) if column else ""


@_rule(
    "error",
    "run",
    "Correct the ranks, or name the column that contains the scores: columns score=….",
)
def unusable_rank(look: Look) -> Iterator[Draft]:
    """A rank that two documents of a query share or, if the column was recognised by its name, a rank that isn't a whole number.

    Checked only in runs that are ordered by rank.
    """
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


def _are_not(count: int) -> str:
    return "isn't a whole number" if count == 1 else "aren't whole numbers"


@_rule("error", "judgments", "Correct the grade or the scale.")
def grade_off_scale(look: Look) -> Iterator[Draft]:
    """A grade outside the expected scale. Checked only if a scale is given."""
    if look.scale is None:
        return
    low, high = look.scale
    for count, grade, place in look.first_row("number NOT BETWEEN ? AND ?", [low, high]):
        message = f"{counted(count, 'grade')} outside the scale from {low:g} to {high:g}"
        yield Draft(look.table, count, message, f"{grade:g}", *place)


@_rule(
    "error",
    "no shared queries",
    "Pass files that belong together, and write ids the same way in both, as strings.",
)
def no_shared_queries(look: Look) -> Iterator[Draft]:
    """The judgments and the run have no query in common."""
    message = f"no query in common with the judgments. {overlap_hint(look.missing, look.extra)}"
    example = f"judgments have {examples(look.missing)}; the run has {examples(look.extra)}"
    yield Draft(look.lists, len(look.extra), message, example)


@_rule("warning", "shared queries", "Write ids the same way in both files, as strings.")
def query_spelling(look: Look) -> Iterator[Draft]:
    """A judged query that the run contains only under another spelling: different spaces, capitals or leading zeros, or a trailing .0."""
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


def _folded(column: str) -> str:
    """Return SQL for the normalised form of an id, which all its spellings share."""
    odd, folded = _ODD.format(column), _FOLDED.format(column)
    return f"CASE WHEN {odd} THEN {folded} ELSE {column} END"


def _judged_as(judged: str, other: str) -> str:
    hint = overlap_hint([judged], [other])
    # Two spellings may differ in several ways at once, which no hint covers.
    reading = f": they {hint[5:-1]}" if hint.startswith("They would match") else ""
    return f"judged as {judged!r}{reading}"


@_rule(
    "warning",
    "no shared documents",
    "Pass files that belong together, and write ids the same way in both, as strings.",
)
def no_shared_documents(look: Look) -> Iterator[Draft]:
    """None of the retrieved documents is judged, in any judged query."""
    judged, run, session = look.judged, look.lists, look.session
    count, row, query, doc = session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)), arg_min(doc, (row, query)) "
        f"FROM {run.table} SEMI JOIN {judged.groups} USING (query)"
    )[0]
    if not count:  # the shared queries have empty lists only
        return
    from gainful.rows.disjoint_documents import hint_for_documents, names_on_sides, sides_in_tables

    sides = sides_in_tables(session, judged.groups, judged.table, run.table)
    judged_ids, run_ids = names_on_sides(sides)
    message = f"no retrieved document is judged. {hint_for_documents(sides, _AS_CHUNKS)}"
    example = f"judgments have {examples(judged_ids)}; the run has {examples(run_ids)}"
    yield Draft(run, count, message, example, query, doc, row)


@_rule("warning", "shared documents", "Write ids the same way in both files, as strings.")
def document_spelling(look: Look) -> Iterator[Draft]:
    """A judged document that the run contains only under another spelling for the same query: different spaces, capitals or leading zeros, or a trailing .0."""
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


@_rule(
    "warning",
    "judgments",
    "Judge more documents for the query, or leave it out of the mean with the policy empty=skip.",
)
def no_relevant_document(look: Look) -> Iterator[Draft]:
    """A judged query without a document graded above 0: no run can score on it."""
    for count, size, high, place in look.first_query("high <= 0 OR n = 0"):
        message = f"{counted(count, 'query', 'queries')} without a document graded above 0"
        example = f"{counted(size, 'document')}, none above {high:g}" if size else "no documents"
        yield Draft(look.table, count, message, example, *place)


@_rule(
    "warning",
    "shared queries",
    "Run the query, or leave it out of the mean with the policy missing=skip; by default, it counts as 0.",
)
def missing_query(look: Look) -> Iterator[Draft]:
    """A judged query that is missing from the run."""
    yield from _queries(look, look.missing, _JUDGED, "missing")


def _queries(
    look: Look, queries: Sequence[str], nouns: tuple[str, str], what: str, row: int | None = None
) -> Iterator[Draft]:
    if queries:
        the_other = "the other is" if len(queries) == _A_PAIR else "the others are"
        others = f"{the_other} {examples(queries[1:])}" if len(queries) > 1 else ""
        message = f"{counted(len(queries), *nouns)} {what}"
        yield Draft(look.lists, len(queries), message, others, queries[0], row=row)


@_rule(
    "warning",
    "shared queries",
    "Find out why nothing was retrieved: the query counts as 0, even under the policy missing=skip.",
)
def empty_list(look: Look) -> Iterator[Draft]:
    """A judged query that is in the run, but with an empty list of documents.

    Only dicts and JSON can represent this.
    """
    unanswered = look.queries(
        f"SELECT query FROM (SELECT * FROM {look.lists.groups} WHERE n = 0) "
        f"SEMI JOIN {look.judged.groups} USING (query)"
    )
    yield from _queries(look, unanswered, _JUDGED, "with an empty list")


@_rule("warning", "run", "Write scores that decrease with rank, such as 1 / rank.")
def rank_against_score(look: Look) -> Iterator[Draft]:
    """A document with a better rank but a lower score than another document of the query.

    Checked only in runs with a column of ranks; measures use the scores.
    """
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


@_rule(
    "warning",
    "run",
    "If they are ranks, name their column: columns rank=…. In a dict, pass their negatives.",
)
def rank_as_score(look: Look) -> Iterator[Draft]:
    """Scores that are 1, 2, 3 … or 0, 1, 2 … in every query, like ranks, whatever the order of the rows.

    If they are ranks, the last document counts as the best. Scores that fall from row to row are
    not reported.
    """
    run = look.table
    if not run.kind.tied or run.kind.ascending:
        return
    if mistakes.first_rank_on_engine(look.session, run.table) is not None:
        queries = look.session.rows(f"SELECT count(*) FROM {run.groups} WHERE n > 0")[0][0]
        message = f"the scores look like ranks in {counted(queries, 'query', 'queries')}"
        yield Draft(run, queries, message)


@_rule(
    "warning",
    "run",
    "Write the system's scores at full precision, or evaluate with the policy ties=average.",
)
def constant_score(look: Look) -> Iterator[Draft]:
    """A query with at least two documents that all have the same score, so that only the tie rule orders them."""
    run = look.lists
    if not run.kind.tied or look.in_order:
        return
    for count, size, score, place in look.first_query("n > 1 AND low = high"):
        word = _word(run)
        message = f"all {word}s are equal in {counted(count, 'query', 'queries')}"
        example = f"{size:,} documents, all with {word} {run.kind.turned(score)!r}"
        yield Draft(run, count, message, example, *place)


def _word(run: CheckedTable) -> str:
    """Return the noun for the numbers of a run."""
    return "distance" if run.kind.ascending else "score"


@_rule(
    "warning",
    "run",
    "Write scores at full precision. The policies ties=best and ties=worst show how much depends on the order of ties.",
)
def tie_at_cutoff(look: Look) -> Iterator[Draft]:
    """The document at the cutoff has the same score as the next one, so the tie rule decides which of them counts."""
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


@_rule("warning", "input", "Set the policy drop_self=yes if they are the same text.")
def self_match(look: Look) -> Iterator[Draft]:
    """A document with the same id as its query: the query is part of the collection and retrieves itself."""
    ((count, row, query),) = look.session.rows(
        f"SELECT count(*), min(row), arg_min(query, (row, query)) FROM {look.lists.table} "
        "WHERE query = doc"
    )
    if count:
        verb = "judged" if look.table is look.judged else "retrieved"
        message = f"{counted(count, 'query', 'queries')} whose own id is among the {verb} documents"
        yield Draft(look.lists, count, message, "", query, query, row)


@_rule(
    "warning",
    "judgments",
    "If it marks unjudged documents, set the policy negative=unjudged; if it is a grade, negative=keep.",
)
def unjudged_mark(look: Look) -> Iterator[Draft]:
    """−1 as the only negative grade.

    It counts as a bad grade, but often marks documents that were not judged. Reported only if the
    scale does not include it.
    """
    if look.scale is not None and look.scale[0] <= _MARK:
        return
    only = f"(SELECT bool_and(number = {_MARK!r}) FROM {look.table.table} WHERE number < 0)"
    for count, _, place in look.first_row(f"number < 0 AND {only}"):
        verb = "has" if count == 1 else "have"
        message = f"{counted(count, 'document')} {verb} the grade −1, the only negative one"
        yield Draft(look.table, count, message, "", *place)


@_rule(
    "warning",
    "shared documents",
    "Judge more documents, compare at a smaller cutoff, or remove unjudged documents with the policy unjudged=condense.",
)
def mostly_unjudged(look: Look) -> Iterator[Draft]:
    """More than 50% of the documents down to the cutoff are unjudged, so the scores may not reflect how good the run is."""
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
        message = f"{unjudged / total:.1%} of {documents} down to rank {cutoff} are unjudged"
        yield Draft(run, unjudged, message, "", query, doc, row)


@_rule("note", "judgments", "Pass a scale, such as 0..3, to report grades outside it.")
def grades(look: Look) -> Iterator[Draft]:
    """The grades that occur. Listed only if no scale is given."""
    if look.scale is not None:
        return
    counts = look.session.rows(
        f"SELECT number, count(*) FROM {look.table.table} GROUP BY number ORDER BY number"
    )
    shown = [f"{grade:g} ({count:,})" for grade, count in counts]
    if len(shown) > _MOST_SHOWN:
        shown = [*shown[: _MOST_SHOWN // 2], "…", *shown[-_MOST_SHOWN // 2 :]]
    yield Draft(look.table, len(counts), f"{counted(len(counts), 'grade')}: {', '.join(shown)}")


@_rule("note", "judgments", "Ignore this if it is intentional.")
def fractional_grade(look: Look) -> Iterator[Draft]:
    """A grade that isn't a whole number.

    gainful uses it as it is; tools that read integers truncate it.
    """
    for count, grade, place in look.first_row("number <> floor(number)"):
        message = f"{counted(count, 'grade')} that {_are_not(count)}"
        yield Draft(look.table, count, message, f"{grade!r}", *place)


@_rule(
    "note",
    "judgments",
    "Average nDCG, which gives every query the same weight, instead of CG or DCG.",
)
def uneven_ideals(look: Look) -> Iterator[Draft]:
    """Ideal lists whose DCGs differ widely, so that a mean of CG or DCG would depend on only a few queries.

    The ideals are cut at the cutoff. Only reported for 10 or more queries with positive grades, if the effective
    number of ideals, (Σ I)² / Σ I², is below half their number.
    """
    # Imported here because the help of a check lists the rules, and imports little.
    from gainful.evaluation.evaluate import FEWEST_IDEALS, UNEVEN

    ((count, low, high, effective, query),) = look.session.rows(
        "WITH placed AS (SELECT query, number, row_number() OVER (PARTITION BY query ORDER BY number DESC) AS place "
        f"FROM {look.table.table} WHERE number > 0), ideals AS (SELECT query, sum(number / log2(place + 1)) AS ideal "
        f"FROM placed WHERE place <= {look.cutoff} GROUP BY query) SELECT count(*), min(ideal), max(ideal), "
        "sum(ideal / highest) ** 2 / sum((ideal / highest) ** 2), arg_max(query, (ideal, query)) "
        "FROM ideals, (SELECT max(ideal) AS highest FROM ideals)"
    )
    if count >= FEWEST_IDEALS and effective < UNEVEN * count:
        dcg = f"DCG@{look.cutoff}"
        message = (
            f"{counted(count, 'query', 'queries')} whose ideal {dcg} ranges from {low:.4g} to {high:.4g}: a mean of "
            f"{dcg} would depend on about {effective:.0f} of them"
        )
        yield Draft(look.table, count, message, f"{high:.4g}", query)


@_rule("note", "shared queries", "Ignore this if it is intentional; the query is not scored.")
def extra_query(look: Look) -> Iterator[Draft]:
    """A query in the run that has no judgments."""
    if look.extra:
        row = look.session.rows(
            f"SELECT first FROM {look.lists.groups} WHERE query = ?", [look.extra[0]]
        )[0][0]
        yield from _queries(look, look.extra, ("query", "queries"), "without judgments", row)


@_rule(
    "note",
    "run",
    "Retrieve more documents. If the system could have returned more, the policy absent=lowest fills the remaining ranks with the lowest grade.",
)
def short_list(look: Look) -> Iterator[Draft]:
    """A query with fewer documents than the cutoff."""
    for count, size, _, place in look.first_query(f"n BETWEEN 1 AND {look.cutoff - 1}"):
        message = f"{counted(count, 'query', 'queries')} with fewer than {look.cutoff} documents"
        remedy = "" if look.has_ids else "Ignore this if these are all the candidates of the query."
        yield Draft(look.lists, count, message, counted(size, "document"), *place, remedy)


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
