"""The rows of a study: adding runs, texts, documents and people, and summarising them."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import gainful as gf
from gainful.errors import InputError, StudyError
from gainful.judging.assessors.grade_table import GradeTable
from gainful.judging.assessors.merging import merged_table
from gainful.judging.assessors.sample_design import SampledStratum
from gainful.judging.desk.assessor_acts import ADJUDICATED, ROLES, UNCOUNTED, pace_of
from gainful.judging.desk.store import Transaction
from gainful.judging.desk.study_inputs import Ranked
from gainful.judging.desk.study_records import AssessorProgress, Progress, QueryProgress
from gainful.message_texts import counted
from gainful.rows.identifiers import examples, in_order
from gainful.rows.several_assessors import MODEL, SETTLED, counting, grades_by_item

_PACE_OF = 20  # acts


class NoGradesError(InputError):
    """Nobody has graded anything yet."""


def pairs_in(transaction: Transaction, sql: str) -> dict[str, Any]:
    """Return the rows of two columns as a dict."""
    return {str(row[0]): row[1] for row in transaction.all(sql)}


def pool_of(runs: Mapping[str, Sequence[Ranked]], depth: int) -> dict[tuple[str, str], int | None]:
    """Return the documents down to a depth of any run, with the best rank of each."""
    ranks: dict[tuple[str, str], int | None] = {}
    for rows in runs.values():
        query, rank = None, 0
        for row in rows:
            rank = rank + 1 if row.query == query else 1
            query = row.query
            if rank <= depth:
                best = ranks.get((row.query, row.doc))
                ranks[row.query, row.doc] = rank if best is None else min(rank, best)
    return ranks


def plain_texts(texts: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return texts as rows contain them: two columns, and a third with the fields of a document as JSON."""
    return {one: (text.short, text.long, *fields_text(text.fields)) for one, text in texts.items()}


def fields_text(fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the fields of a document as one text, if it has any."""
    return (json.dumps(fields, ensure_ascii=False),) if fields else ()


def add_runs(transaction: Transaction, runs: Mapping[str, Sequence[Ranked]], name: str) -> None:
    """Add runs, or new rows of existing runs; reject a different run with the same name."""
    places: dict[str, int] = pairs_in(transaction, "SELECT name, place FROM run")
    for run, rows in runs.items():
        if run in places:
            there = {
                (query, doc, score)
                for query, doc, score in transaction.all(
                    "SELECT query, doc, score FROM ranked WHERE run = ?", run
                )
            }
            new = {(row.query, row.doc, row.score) for row in rows}
            if there - new:
                raise StudyError(
                    name,
                    f"the run {run!r} as it was",
                    "a different run of this name",
                    "Rename the new run, so that both are judged.",
                )
            rows = [row for row in rows if (row.query, row.doc, row.score) not in there]
        else:
            places[run] = len(places) + 1
            transaction.run("INSERT INTO run (name, place) VALUES (?, ?)", run, places[run])
        transaction.many(
            "INSERT INTO ranked (run, query, doc, score) VALUES (?, ?, ?, ?)",
            [(run, row.query, row.doc, row.score) for row in rows],
        )


def add_texts(
    transaction: Transaction,
    table: str,
    texts: Mapping[str, tuple[str, ...]],
    *,
    keep: bool = False,
) -> None:
    """Add the texts of queries or documents; a new text replaces an old one."""
    columns = {"query": ("text", "description"), "doc": ("title", "text", "fields")}[table]
    if table == "doc":
        texts = {one: (*both, "{}")[:3] for one, both in texts.items()}
    # An empty text means that none was given, so it replaces nothing.
    ends = "DO NOTHING"
    filled = {one: both for one, both in texts.items() if {*both} - {"", "{}"}}
    places = ", ".join("?" for _ in columns)
    transaction.many(
        f"INSERT INTO {table} (id, {', '.join(columns)}) VALUES (?, {places}) ON CONFLICT (id) {ends}",
        [(one, *both) for one, both in texts.items() if keep or one not in filled],
    )
    changed = ", ".join(f"{column} = excluded.{column}" for column in columns if column != "fields")
    if table == "doc":  # a table without other columns keeps the fields of an earlier table
        kept = "CASE WHEN excluded.fields = '{}' THEN doc.fields ELSE excluded.fields END"
        changed += f", fields = {kept}"
    transaction.many(
        f"INSERT INTO {table} (id, {', '.join(columns)}) VALUES (?, {places}) ON CONFLICT (id) DO UPDATE SET {changed}",
        [(one, *both) for one, both in filled.items()],
    )


def add_items(
    transaction: Transaction,
    pairs: Iterable[tuple[str, str]],
    pooled: Mapping[tuple[str, str], int | None],
    *,
    judged: bool = True,
) -> None:
    """Add new documents to judge, and keep the best rank of existing ones."""
    there = {
        (query, doc): (item, rank)
        for item, query, doc, rank in transaction.all(
            "SELECT id, query, doc, best_rank FROM item WHERE practice = 0"
        )
    }
    row = transaction.one("SELECT COALESCE(MAX(id), 0) FROM item")
    number = 0 if row is None else int(row[0])
    new, better = [], []
    for pair in pairs:
        rank = pooled.get(pair)
        if pair not in there:
            number += 1
            new.append((number, *pair, 0, number, rank, 0, int(judged and rank is not None)))
        elif rank is not None and (there[pair][1] is None or rank < there[pair][1]):
            better.append((rank, there[pair][0]))
    transaction.many(
        "INSERT INTO item (id, query, doc, practice, place, best_rank, grades, is_open) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        new,
    )
    transaction.many("UPDATE item SET best_rank = ? WHERE id = ?", better)


def add_guideline(transaction: Transaction, text: str, now: float) -> None:
    """Add a version of the guideline, unless it equals the latest one."""
    row = transaction.one("SELECT version, text FROM guideline ORDER BY version DESC LIMIT 1")
    if row is None or row[1] != text:
        number = 1 if row is None else row[0] + 1
        transaction.run(
            "INSERT INTO guideline (version, text, time) VALUES (?, ?, ?)", number, text, now
        )


def add_person(transaction: Transaction, name: str, role: str, now: float) -> None:
    """Add a participant, unless the name exists already."""
    transaction.run(
        "INSERT INTO assessor (name, role, created, shown) VALUES (?, ?, ?, 0) ON CONFLICT (name) DO NOTHING",
        name, role, now,
    )  # fmt: skip


def grades_in(transaction: Transaction) -> dict[str, dict[str, dict[str, float]]]:
    """Return everybody's grades by query, without settling grades."""
    grades: dict[str, dict[str, dict[str, float]]] = {}
    for query, doc, owner, grade in transaction.all(
        "SELECT query, doc, owner, grade FROM state JOIN item ON item.id = state.item"
        " WHERE kind = 'grade' AND practice = 0 AND owner <> ? ORDER BY query, doc, owner",
        ADJUDICATED,
    ):
        grades.setdefault(query, {}).setdefault(doc, {})[owner] = grade
    return grades


def models_in(transaction: Transaction) -> set[str]:
    """Return the assessors whose grades don't count."""
    roles = pairs_in(transaction, "SELECT name, role FROM assessor")
    return {name for name, role in roles.items() if role in UNCOUNTED}


def settled_in(transaction: Transaction) -> dict[tuple[str, str], float]:
    """Return the grades that settle documents."""
    return {
        (query, doc): grade
        for query, doc, grade in transaction.all(
            "SELECT query, doc, grade FROM state JOIN item ON item.id = state.item"
            " WHERE kind = 'grade' AND practice = 0 AND owner = ?",
            ADJUDICATED,
        )
    }


def merged_grades(
    grades_by_query: Mapping[str, Mapping[str, Mapping[str, float]]],
    settled: Mapping[tuple[str, str], float],
    models: set[str],
    rule: str,
) -> "gf.results.MergedJudgments":
    """Merge grades as `merge_judgments` merges an export. It doesn't require several assessors or shared documents."""
    rows = [
        (query, doc, name, grade)
        for query, docs in grades_by_query.items()
        for doc, people in docs.items()
        for name, grade in people.items()
    ]
    rows += [(*pair, SETTLED, grade) for pair, grade in settled.items()]
    roles = {**dict.fromkeys(models, MODEL), SETTLED: SETTLED}
    assessors = in_order({name for _, _, name, _ in rows})
    if not counting(assessors, roles, rule):
        raise NoGradesError("study", "at least one grade", "none")
    queries, docs, names, grades = zip(*sorted(rows), strict=True)
    items, values = grades_by_item(queries, docs, names, grades, assessors)
    return merged_table(GradeTable(tuple(assessors), tuple(items), values + 0.0, roles=roles), rule)


class DrawnDocument(NamedTuple):
    """A document of a study in random order, and whether it is judged.

    Attributes:
        doc: its id.
        graded: whether it has a grade.
        passed: whether somebody has skipped it, that is, postponed it or couldn't judge it.
    """

    doc: str
    graded: bool
    passed: bool


def design_of(
    by_query: Mapping[str, Sequence[DrawnDocument]], seed: int, depth: int
) -> tuple["gf.results.SampleDesign", str]:
    """Return the design of documents in random order, and a warning about missing ones, or an empty text."""
    strata = []
    missing: list[str] = []
    for query in in_order(by_query):
        docs = by_query[query]
        graded = [d.doc for d in docs if d.graded]
        reached = max((place for place, d in enumerate(docs, start=1) if d.graded), default=0)
        skipped = [d.doc for d in docs[:reached] if not d.graded and not d.passed]
        if skipped:
            raise InputError(
                f"design, query {query!r}",
                "grades of the first documents in the order drawn",
                f"{counted(len(graded), 'grade')}, but none for {examples(skipped)}",
                "Grade these first. Earlier judgments of some documents also make the sample invalid.",
            )
        missing += [f"{d.doc} of {query}" for d in docs if d.passed and not d.graded]
        if graded:
            population = tuple((query, doc) for doc in sorted(drawn.doc for drawn in docs))
            strata.append(
                SampledStratum(query, population, tuple((query, doc) for doc in sorted(graded)))
            )
    if not strata:
        raise NoGradesError("design", "at least one grade", "none")
    warning = (
        f"{counted(len(missing), 'document')} of the sample without a grade, because somebody skipped them:"
        f" {examples(missing)}. An interval from this design assumes that they are similar to the graded documents of"
        " their query. Have somebody grade them to avoid this assumption."
    )
    design = gf.results.SampleDesign(
        "documents", tuple(strata), "query", "proportional", seed, depth
    )
    return design, warning if missing else ""


def progress_of(transaction: Transaction) -> Progress:
    """Return the progress of a study."""
    queries = transaction.all(
        "SELECT query, COUNT(*), SUM(1 - is_open), SUM(CASE WHEN grades > 0 THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN grades > 1 THEN 1 ELSE 0 END),"
        " SUM(CASE WHEN wanted > 1 AND best_rank IS NOT NULL THEN 1 ELSE 0 END), SUM(CASE WHEN EXISTS (SELECT 1 FROM state"
        " WHERE state.item = item.id AND state.kind = 'cannot') THEN 1 ELSE 0 END)"
        " FROM item WHERE practice = 0 AND (best_rank IS NOT NULL OR grades > 0) GROUP BY query"
    )
    by_query = {row[0]: QueryProgress(row[0], *map(int, row[1:])) for row in queries}
    ordered = tuple(by_query[query] for query in in_order(by_query))
    kinds = {
        (owner, kind, practice): (count, right or 0)
        for owner, kind, practice, count, right in transaction.all(
            "SELECT owner, kind, practice, COUNT(*), SUM(CASE WHEN grade = answer THEN 1 ELSE 0 END) FROM state"
            " JOIN item ON item.id = state.item GROUP BY owner, kind, practice"
        )
    }
    people = []
    for name, role, revoked in transaction.all(
        "SELECT name, role, revoked FROM assessor ORDER BY name"
    ):
        acts = [
            (when, None if took is None else took / 1000)
            for when, took in transaction.all(
                "SELECT time, milliseconds FROM event WHERE owner = ? AND kind IN ('grade', 'cannot') ORDER BY id DESC LIMIT ?",
                name, _PACE_OF,
            )
        ]  # fmt: skip
        times = [when for when, _ in acts]
        left = transaction.one(
            "SELECT COUNT(*) FROM item WHERE is_open = 1 AND NOT EXISTS (SELECT 1 FROM state WHERE state.item = item.id"
            " AND state.owner = ? AND state.kind IN ('grade', 'cannot'))",
            name,
        )
        judges = role in ROLES and revoked is None
        people.append(
            AssessorProgress(
                name,
                role,
                done=kinds.get((name, "grade", 0), (0, 0))[0],
                left=int(left[0]) if judges and left is not None else 0,
                cannot=kinds.get((name, "cannot", 0), (0, 0))[0],
                later=kinds.get((name, "later", 0), (0, 0))[0],
                practised=kinds.get((name, "grade", 1), (0, 0))[0],
                right=int(kinds.get((name, "grade", 1), (0, 0))[1]),
                pace=pace_of(times, [took for _, took in acts]),
                last=times[0] if times else None,
                revoked=revoked is not None,
            )
        )
    return Progress(
        items=sum(counts.items for counts in ordered),
        done=sum(counts.done for counts in ordered),
        grades=sum(person.done for person in people),
        several=sum(counts.several for counts in ordered),
        shared=sum(counts.shared for counts in ordered),
        queries=ordered,
        assessors=tuple(people),
    )
