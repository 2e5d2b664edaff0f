"""Actions of assessors within a transaction: reserve documents, grade them, undo. All are recorded.

A document is given to no more people than it needs, counting its grades and leases. The table of
states summarises the events; `derive` recomputes it from them.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date

from gainful import arguments
from gainful.errors import InputError, LeaseLostError
from gainful.judging.desk.store import Row, Transaction
from gainful.judging.desk.study_records import Confirmed, Event, Feedback, Person, State, Task
from gainful.message_texts import shown
from gainful.rows.identifiers import examples
from gainful.rows.several_assessors import MODEL, SETTLED

ADJUDICATED = SETTLED
"""The owner of grades that settle a disagreement; no person has this name."""
ROLES = ("assessor", "lead")
"""The roles of people who are invited; both may judge."""
SHOWN = "yes"
"""The value of the setting `show_ranks` in a study whose assessors see runs and ranks."""
UNCOUNTED = (MODEL,)
"""Roles whose grades count neither towards the grades a document needs nor in the merged grades."""
_DONE = ("grade", "cannot")
_UNDONE = ("grade", "cannot", "later", "note", "adjudicate")


@dataclass(frozen=True, slots=True)
class Act:
    """An action of a person.

    Attributes:
        who: their name.
        key: the action's key, unique among the person's actions.
        kind: the kind of event.
        milliseconds: how long it took.
        position: the document's position in the sequence shown.
        time: in seconds since 1970.
        guideline: the version that they saw; the current one if None.
    """

    who: str
    key: str
    kind: str
    time: float
    milliseconds: int | None = None
    position: int | None = None
    guideline: int | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What an action needs to know, read at once: on a server, every further query is another round trip.

    Attributes:
        item: the number of the document.
        practice: whether it belongs to the practice set.
        answer: the right grade of a practice document.
        feedback: the comment shown after it.
        grades: how many of its grades count.
        before: the owner's current state of it.
        position: the position of the person's current or former lease on it.
        until: when that lease ends.
        others: how many others have reserved it.
        wanted: how many grades it needs.
        guideline: the current version.
        number: the number of the next event.
    """

    item: int
    practice: bool
    answer: float | None
    feedback: str
    grades: int
    before: State | None
    position: int | None
    until: float | None
    others: int
    wanted: int
    guideline: int
    number: int


_SCENE = (
    "item.id, item.practice, item.answer, item.feedback, item.grades,"
    " (SELECT data FROM state WHERE state.item = item.id AND state.owner = ?),"
    " (SELECT position FROM lease WHERE lease.item = item.id AND lease.assessor = ?),"
    " (SELECT expires FROM lease WHERE lease.item = item.id AND lease.assessor = ?),"
    " (SELECT COUNT(*) FROM lease WHERE lease.item = item.id AND lease.assessor <> ? AND expires > ?),"
    " item.wanted,"
    " (SELECT COALESCE(MAX(version), 0) FROM guideline), (SELECT COALESCE(MAX(id), 0) + 1 FROM event)"
)


def look(transaction: Transaction, act: Act, item: int, owner: str) -> Scene:
    """Return what an action on a document needs to know."""
    row = transaction.one(
        f"SELECT {_SCENE} FROM item WHERE item.id = ?", *_seen_by(act, owner), item
    )
    return _scene(row, item)


def _seen_by(act: Act, owner: str) -> Row:
    return owner, act.who, act.who, act.who, act.time


def _scene(row: Row | None, item: int) -> Scene:
    if row is None or row[0] is None:
        raise InputError("item", "the number of a document of this study", shown(item))
    state = from_text(row[5])
    return Scene(*[row[0], bool(row[1]), row[2], row[3] or "", row[4], state, *row[6:12]])


def to_text(state: State | None) -> str | None:
    """Write a state for the database."""
    return None if state is None else json.dumps(asdict(state), ensure_ascii=False)


def from_text(text: str | None) -> State | None:
    """Read a state back."""
    if text is None:
        return None
    fields = json.loads(text)
    return State(**{**fields, "tags": tuple(fields["tags"])})


def person(transaction: Transaction, name: object) -> Person:
    """Return a participant who was invited and may act."""
    row = None
    if _is_name(name):
        row = transaction.one("SELECT role, revoked FROM assessor WHERE name = ?", name)
    if row is None:
        names = [who for (who,) in transaction.all("SELECT name FROM assessor ORDER BY name")]
        hint = f"Invited are {examples(names)}." if names else "Invite them: study.invite(name)."
        raise InputError("assessor", "somebody who was invited", shown(name), hint)
    if row[0] not in ROLES:
        raise InputError(
            "assessor", "somebody who was invited", f"{name!r}, whose grades were imported"
        )
    if row[1] is not None:
        raise InputError(
            "assessor", "a valid invitation", f"{name!r}, whose invitation was revoked"
        )
    return Person(str(name), row[0])


def _is_name(name: object) -> bool:
    """Return whether a database can search for this name."""
    return isinstance(name, str) and arguments.is_writable(name) and "\0" not in name


def spread_overlap(transaction: Transaction, overlap: int, share: float, seed: int) -> None:
    """Set how many grades each document needs: the overlap for a share of the documents, and one for the others.

    The share is drawn with the seed: it consists of the documents with the lowest hashes, so a
    larger share contains every smaller one.
    """
    transaction.run("UPDATE item SET wanted = ? WHERE practice = 0", overlap if share >= 1 else 1)
    if share >= 1 or overlap == 1:
        return
    rows = transaction.all(
        "SELECT id, query, doc FROM item WHERE practice = 0 AND best_rank IS NOT NULL"
    )

    def lot(row: Row) -> str:
        drawn = f"{seed}\0{row[1]}\0{row[2]}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(drawn).hexdigest()

    count = math.ceil(share * len(rows) - 1e-9)  # 0.07 of 100 are 7
    chosen = sorted(rows, key=lot)[:count]
    transaction.many(
        "UPDATE item SET wanted = ? WHERE id = ?", [(overlap, row[0]) for row in chosen]
    )


def lease(transaction: Transaction, who: str, count: int, now: float, seconds: float) -> list[Task]:
    """Reserve documents for an assessor, up to a count: first the documents they already hold, then new ones.

    The practice set comes first, then the rest of their current query, then the next documents in
    order, and finally the documents they postponed.
    """
    row = None
    if _is_name(who):
        transaction.run("DELETE FROM lease WHERE expires <= ?", now)
        # Never earlier than before: they may also have an offline page.
        renewed = "UPDATE lease SET expires = ? WHERE assessor = ? AND expires < ?"
        transaction.run(renewed, now + seconds, who, now + seconds)
        row = transaction.one(
            "SELECT revoked, role, shown, at_query, (SELECT COUNT(*) FROM lease WHERE lease.assessor = assessor.name),"
            " (SELECT value FROM study WHERE study.name = 'show_ranks'),"
            " EXISTS (SELECT 1 FROM item WHERE practice = 1) FROM assessor WHERE assessor.name = ?",
            who,
        )
    if row is None or row[0] is not None or row[1] not in ROLES:
        person(transaction, who)
        return []
    _, _, shown_before, at_query, held, ranks, practice = row
    if held < count:
        new = _candidates(transaction, who, count - held, at_query, practice=bool(practice))
        for place, (item, _) in enumerate(new, start=1):
            transaction.run(_NEW_LEASE, item, who, now + seconds, shown_before + place)
        if new:
            transaction.run(
                "UPDATE assessor SET shown = ?, at_query = ? WHERE name = ?",
                shown_before + len(new),
                new[-1][1],
                who,
            )
    tasks = _tasks(transaction, who, count)
    return _with_ranks(transaction, tasks) if ranks == SHOWN else tasks


def _with_ranks(transaction: Transaction, tasks: Sequence[Task]) -> list[Task]:
    """Add the ranks of documents in the runs, except for practice documents."""
    runs = [name for (name,) in transaction.all("SELECT name FROM run ORDER BY place")]
    ranks: dict[tuple[str, str], dict[str, int]] = {}
    for query in dict.fromkeys(task.query for task in tasks if not task.practice):
        for run in runs:
            rows = transaction.all(
                "SELECT score, doc FROM ranked WHERE run = ? AND query = ?", run, query
            )
            # As in every run: equal scores are ordered by id, descending.
            ranked = sorted(((score, doc) for score, doc in rows), reverse=True)
            for rank, (_, doc) in enumerate(ranked, start=1):
                ranks.setdefault((query, doc), {})[run] = rank
    return [
        task if task.practice else replace(task, ranks=ranks.get((task.query, task.doc), {}))
        for task in tasks
    ]


def _candidates(
    transaction: Transaction,
    who: str,
    count: int,
    at_query: str | None,
    *,
    practice: bool,
) -> list[tuple[int, str]]:
    free = " AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.item = item.id AND lease.assessor = ?)"
    fresh = (
        free + " AND NOT EXISTS (SELECT 1 FROM state WHERE state.item = item.id AND state.owner = ?"
        " AND state.kind <> 'note')"
    )
    needed = " AND item.grades + (SELECT COUNT(*) FROM lease WHERE lease.item = item.id AND lease.assessor <> ?) < item.wanted"
    pick = "SELECT item.id, item.query FROM item"
    candidates: list[tuple[int, str]] = []

    def take(sql: str, *values: object) -> None:
        if len(candidates) < count:
            rows = transaction.all(f"{sql} LIMIT ?", *values, count)
            taken = {item for item, _ in candidates}
            candidates.extend((row[0], row[1]) for row in rows if row[0] not in taken)
            del candidates[count:]

    if practice:
        take(f"{pick} WHERE practice = 1{fresh} ORDER BY place", who, who)
    if at_query is not None:
        take(
            f"{pick} WHERE query = ? AND is_open = 1{fresh}{needed} ORDER BY place",
            at_query, who, who, who,
        )  # fmt: skip
    take(f"{pick} WHERE is_open = 1{fresh}{needed} ORDER BY place", who, who, who)
    take(
        f"{pick} JOIN state ON state.item = item.id AND state.owner = ? AND state.kind = 'later'"
        f" WHERE is_open = 1 AND practice = 0{free}{needed} ORDER BY state.event",
        who, who, who,
    )  # fmt: skip
    if practice:
        take(
            f"{pick} JOIN state ON state.item = item.id AND state.owner = ? AND state.kind = 'later'"
            f" WHERE practice = 1{free} ORDER BY state.event",
            who, who,
        )  # fmt: skip
    return candidates


def _tasks(transaction: Transaction, who: str, count: int) -> list[Task]:
    rows = transaction.all(
        "SELECT item.id, item.query, query.text, query.description, item.doc, doc.title, doc.text, lease.position,"
        " lease.expires, item.practice, state.data, doc.fields FROM lease JOIN item ON item.id = lease.item"
        " JOIN query ON query.id = item.query JOIN doc ON doc.id = item.doc"
        " LEFT JOIN state ON state.item = item.id AND state.owner = lease.assessor"
        " WHERE lease.assessor = ? ORDER BY lease.position LIMIT ?",
        who,
        count,
    )
    tasks = []
    for row in rows:
        state = from_text(row[10])
        note = state.note if state else ""
        tasks.append(Task(*[*row[:9], bool(row[9]), note, None, json.loads(row[11])]))
    return tasks


def why_nothing_to_judge(transaction: Transaction, who: str) -> str:
    """Return why no document is available for an assessor."""
    row = transaction.one(
        "SELECT COUNT(*), COALESCE(SUM(is_open), 0) FROM item WHERE practice = 0 AND best_rank IS NOT NULL"
    )
    items, still_open = (0, 0) if row is None else (int(row[0]), int(row[1]))
    if not still_open:
        return (
            f"All documents of the study ({items:,}) already have the grades that they need. "
            "Add a run, or raise the number of assessors per document."
        )
    reserved = transaction.all(
        "SELECT lease.assessor, COUNT(*), MAX(lease.expires) FROM lease JOIN item ON item.id = lease.item"
        " WHERE is_open = 1 AND lease.assessor <> ? AND NOT EXISTS (SELECT 1 FROM state WHERE state.item = item.id"
        " AND state.owner = ? AND state.kind IN ('grade', 'cannot')) GROUP BY lease.assessor ORDER BY lease.assessor",
        who,
        who,
    )
    if not reserved:
        return f"{who} has already judged every document that still needs a grade ({still_open:,})."
    by_person = ", ".join(
        f"{count:,} for {name} until {date.fromtimestamp(expires).isoformat()}"
        for name, count, expires in reserved
    )
    return f"The documents that still need a grade are reserved: {by_person}. Import those grades, or wait."


def counts_by_query(
    transaction: Transaction, who: str, queries: Iterable[str]
) -> dict[str, dict[str, int]]:
    """Return how many documents of each query an assessor has judged, and how many they could still be given."""
    counts = {}
    for query in {*queries}:
        row = transaction.one(
            "SELECT COALESCE(SUM(CASE WHEN state.item IS NULL THEN 0 ELSE 1 END), 0),"
            " COALESCE(SUM(CASE WHEN state.item IS NULL AND is_open = 1 THEN 1 ELSE 0 END), 0) FROM item"
            " LEFT JOIN state ON state.item = item.id AND state.owner = ? AND state.kind IN ('grade', 'cannot')"
            " WHERE item.practice = 0 AND item.query = ?",
            who,
            query,
        )
        done, left = (0, 0) if row is None else (int(row[0]), int(row[1]))
        counts[query] = {"done": done, "left": left}
    return counts


def recorded(
    transaction: Transaction,
    act: Act,
    scene: Scene,
    owner: str,
    after: State | None,
    undoes: int | None = None,
) -> Confirmed:
    """Add an event to the record and to the current states. Unless the event is a note, the lease on the document ends."""
    if after is not None and undoes is None:
        after = replace(after, event=scene.number)
    position = scene.position if act.position is None else act.position
    guideline = scene.guideline if act.guideline is None else act.guideline
    if guideline > scene.guideline:
        expected = (
            f"version {scene.guideline} or an earlier one"
            if scene.guideline
            else "0: the study has no guideline"
        )
        raise InputError("guideline", expected, f"version {guideline}")
    transaction.run(
        _NEW_EVENT,
        scene.number, act.who, act.key, act.time, scene.item, owner, act.kind, to_text(scene.before),
        to_text(after), undoes, act.milliseconds, position, guideline,
    )  # fmt: skip
    sql, row = _state_written(scene.item, owner, after)
    transaction.run(sql, *row)
    transaction.run(f"{_COUNTED} WHERE item.id = ?", ADJUDICATED, scene.item)
    if act.kind != "note":
        transaction.run(_NO_LEASE, scene.item, act.who)
    return confirmed(scene, scene.number, act.kind, after)


_NEW_EVENT = (
    "INSERT INTO event (id, assessor, client_key, time, item, owner, kind, before, after, undoes, milliseconds,"
    " position, guideline) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_NEW_LEASE = "INSERT INTO lease (item, assessor, expires, position) VALUES (?, ?, ?, ?)"
_NO_LEASE = "DELETE FROM lease WHERE item = ? AND assessor = ?"
_NEW_STATE = (
    "INSERT INTO state (item, owner, kind, grade, event, data) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (item, owner)"
    " DO UPDATE SET kind = excluded.kind, grade = excluded.grade, event = excluded.event, data = excluded.data"
)
_NO_STATE = "DELETE FROM state WHERE item = ? AND owner = ?"
_GIVEN = (
    "(SELECT COUNT(*) FROM state JOIN assessor ON assessor.name = state.owner WHERE state.item = item.id"
    f" AND state.kind = 'grade' AND assessor.role NOT IN ({', '.join(map(repr, UNCOUNTED))}))"
)
# Update the counts of documents from their states.
_COUNTED = (
    f"UPDATE item SET grades = {_GIVEN}, is_open = CASE WHEN best_rank IS NOT NULL AND {_GIVEN} < wanted AND NOT EXISTS"
    " (SELECT 1 FROM state WHERE state.item = item.id AND state.owner = ?) THEN 1 ELSE 0 END"
)


def _state_written(item: int, owner: str, state: State | None) -> tuple[str, Row]:
    if state is None:
        return _NO_STATE, (item, owner)
    row = (item, owner, state.kind, state.grade, state.event, to_text(state))
    return _NEW_STATE, row


def count_grades(transaction: Transaction) -> None:
    """Recompute the counts of all documents from their states, for example after the overlap has changed."""
    transaction.run(_COUNTED, ADJUDICATED)


def confirmed(scene: Scene, number: int, kind: str, after: State | None) -> Confirmed:
    """Return the confirmation of an event."""
    grade = None if after is None else after.grade
    feedback = None
    if scene.practice and kind == "grade" and grade is not None and scene.answer is not None:
        feedback = Feedback(scene.answer, grade == scene.answer, scene.feedback)
    return Confirmed(number, scene.item, kind, grade, feedback)


def graded_by(transaction: Transaction, name: str) -> list[int]:
    """Return the documents that have a current answer from this person."""
    return [
        int(item) for (item,) in transaction.all("SELECT item FROM state WHERE owner = ?", name)
    ]


def imported(
    transaction: Transaction, name: str, grades: Mapping[int, float | None], now: float, key: str
) -> int:
    """Record imported grades by document, and return how many are new or changed; None revokes a grade."""
    rows = transaction.all("SELECT item, data FROM state WHERE owner = ?", name)
    before = {int(row[0]): row[1] for row in rows}
    row = transaction.one(
        "SELECT (SELECT COALESCE(MAX(id), 0) FROM event), (SELECT COALESCE(MAX(version), 0) FROM guideline)"
    )
    last, guideline = (0, 0) if row is None else row
    events: list[Row] = []
    states: list[Row] = []
    gone: list[Row] = []
    for item, grade in grades.items():
        state = from_text(before.get(item))
        if state is not None and state.grade == grade:
            continue
        last += 1
        after = None if grade is None else State("grade", last, grade)
        events.append(
            (last, name, f"{key} {last}", now, item, name, "import", to_text(state), to_text(after), None, None, None, guideline)
        )  # fmt: skip
        (gone if after is None else states).append(_state_written(item, name, after)[1])
    transaction.many(_NEW_EVENT, events)
    transaction.many(_NEW_STATE, states)
    transaction.many(_NO_STATE, gone)
    count_grades(transaction)
    return len(events)


def said_before(transaction: Transaction, act: Act, item: int | None) -> Confirmed | None:
    """Return the earlier confirmation for this key, so that an action sent twice is recorded once."""
    row = transaction.one(
        "SELECT id, item, kind, after, owner FROM event WHERE assessor = ? AND client_key = ?",
        act.who,
        act.key,
    )
    if row is None:
        return None
    number, of, kind, after, owner = row
    if kind != act.kind or (item is not None and of != item):
        raise InputError(
            "key", "a unique key for each action", f"{act.key!r}, the key of another action"
        )
    return confirmed(look(transaction, act, of, owner), number, kind, from_text(after))


def say(transaction: Transaction, act: Act, item: int, after: State) -> Confirmed:
    """Record an assessor's answer about a document, if it is theirs to judge."""
    if not _is_name(act.who):
        person(transaction, act.who)
    row = transaction.one(
        f"SELECT {_SCENE}, assessor.revoked, (SELECT id FROM event WHERE event.assessor = assessor.name AND client_key = ?),"
        " assessor.role"
        " FROM assessor LEFT JOIN item ON item.id = ? WHERE assessor.name = ?",
        *_seen_by(act, act.who), act.key, item, act.who,
    )  # fmt: skip
    if row is None or row[12] is not None or row[14] not in ROLES:
        person(transaction, act.who)
    if row is None or row[13] is not None:
        earlier = said_before(transaction, act, item)
        if earlier is not None:
            return earlier
    scene = _scene(row, item)
    before = scene.before
    if (before is None or before.kind != "grade") and _is_taken(scene, act.time):
        raise LeaseLostError(
            "item",
            "a document that still needs a grade",
            f"{item}, which was given to others after its reservation expired",
            "Continue with the next document.",
        )
    if act.kind == "note":
        # A note neither changes nor removes an earlier answer.
        after = replace(before or after, note=after.note)
    elif before is not None and not after.note:
        after = replace(after, note=before.note)
    return recorded(transaction, act, scene, act.who, after)


def _is_taken(scene: Scene, now: float) -> bool:
    """Return whether others have given, or are about to give, all the grades that a document needs."""
    holds = scene.until is not None and scene.until > now
    return not holds and not scene.practice and scene.grades + scene.others >= scene.wanted


def undo(
    transaction: Transaction,
    act: Act,
    event: int | None,
    seconds: float,
    *,
    of: str | None = None,
    about: int | None = None,
) -> Confirmed:
    """Record that an action of the same person is undone: the last one that isn't undone yet, or the one that is named.

    It is named by its event or its key; if `about` is a document, the action must concern that
    document.
    """
    who = person(transaction, act.who)
    if (earlier := said_before(transaction, act, about)) is not None:
        return earlier
    if of is not None:
        event = _event_of(transaction, act.who, of)
    number, item, owner, before = _undone(transaction, act.who, event)
    if about is not None and item != about:
        raise InputError("item", f"the document of the act to undo, {item}", str(about))
    scene = look(transaction, act, item, owner)
    if scene.before is None or scene.before.event != number:
        raise InputError(
            "event",
            "the last action on its document",
            f"{number}, which a later action replaced",
            "Undo that first.",
        )
    restored = from_text(before)
    done = recorded(transaction, act, scene, owner, restored, number)
    if owner == who.name and (restored is None or restored.kind not in _DONE):
        _give_back(transaction, act, item, seconds)
    return done


def unsettle(transaction: Transaction, act: Act, item: int) -> Confirmed:
    """Record that the settlement of a document is undone, whoever settled it."""
    if (earlier := said_before(transaction, act, item)) is not None:
        return earlier
    scene = look(transaction, act, item, ADJUDICATED)
    row = None
    if scene.before is not None:
        row = transaction.one("SELECT id, before FROM event WHERE id = ?", scene.before.event)
    if row is None:
        raise InputError("item", "a settled document", f"{item}, which isn't settled")
    return recorded(transaction, act, scene, ADJUDICATED, from_text(row[1]), int(row[0]))


def _event_of(transaction: Transaction, who: str, key: str) -> int:
    row = None
    if "\0" not in key:
        row = transaction.one(
            "SELECT id FROM event WHERE assessor = ? AND client_key = ?", who, key
        )
    if row is None:  # never fall back to the last action, which is a different one
        raise InputError("of", "a recorded action", "an action that was not recorded")
    return int(row[0])


def _undone(transaction: Transaction, who: str, event: int | None) -> Row:
    kinds = ", ".join(f"'{kind}'" for kind in _UNDONE)
    sql = (
        "SELECT id, item, owner, before FROM event AS act WHERE assessor = ?"
        f" AND kind IN ({kinds}) AND NOT EXISTS (SELECT 1 FROM event WHERE event.undoes = act.id)"
    )
    if event is None:
        row = transaction.one(f"{sql} ORDER BY id DESC LIMIT 1", who)
        if row is None:
            raise InputError("undo", "an action to undo", "none")
        return row
    is_number = isinstance(event, int) and not isinstance(event, bool) and 0 < event < 2**62
    row = transaction.one(f"{sql} AND id = ?", who, event) if is_number else None
    if row is None:
        raise InputError(
            "event", "the number of one of their own actions that isn't undone yet", shown(event)
        )
    return row


def _give_back(transaction: Transaction, act: Act, item: int, seconds: float) -> None:
    """Lease a document to the person who has undone its grade, unless others have taken it over."""
    if _is_taken(look(transaction, act, item, act.who), act.time):
        return
    row = transaction.one(
        "SELECT position FROM event WHERE item = ? AND assessor = ? AND position IS NOT NULL ORDER BY id LIMIT 1",
        item, act.who,
    )  # fmt: skip
    position = 0 if row is None else row[0]
    transaction.run(_NEW_LEASE, item, act.who, act.time + seconds, position)


def events(transaction: Transaction, after: int, count: int) -> list[Event]:
    """Return the events after a number, in order."""
    rows = transaction.all(
        "SELECT event.id, time, assessor, owner, query, doc, item, practice, kind, before, after, undoes,"
        " milliseconds, position, guideline FROM event JOIN item ON item.id = event.item"
        " WHERE event.id > ? ORDER BY event.id LIMIT ?",
        after,
        count,
    )
    return [
        Event(*[*row[:7], bool(row[7]), row[8], from_text(row[9]), from_text(row[10]), *row[11:]])
        for row in rows
    ]


def derive(happened: Iterable[Event]) -> dict[tuple[int, str], State]:
    """Return the state of each document for each person, computed from the record alone."""
    states: dict[tuple[int, str], State] = {}
    for event in happened:
        if event.after is None:
            states.pop((event.item, event.owner), None)
        else:
            states[event.item, event.owner] = event.after
    return states


def pace_of(
    times: Sequence[float], taken: Sequence[float | None] = (), longest_pause: float = 300.0
) -> float | None:
    """Return the actions per minute from their times, in descending order; long pauses do not count.

    Args:
        times: in seconds. Actions read from a file all have the same time.
        taken: the seconds for which each document was displayed, if known: an action takes at least as long.
        longest_pause: in seconds.

    >>> pace_of([120.0, 90.0, 60.0])
    2.0
    >>> pace_of([60.0, 60.0, 60.0], [20.0, 40.0, 9.0])
    2.0
    """
    gaps = [late - early for late, early in itertools.pairwise(times)]
    for place, took in enumerate(taken[: len(gaps)]):
        gaps[place] = gaps[place] if took is None else max(gaps[place], took)
    gaps = [gap for gap in gaps if 0 <= gap <= longest_pause]
    total = math.fsum(gaps)
    return 60.0 * len(gaps) / total if total > 0 else None
