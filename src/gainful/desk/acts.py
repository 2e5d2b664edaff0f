"""What assessors do, within a transaction: take documents on lease, grade them, undo; each act an event of the record.

A document is given to no more people than it needs: those who graded it, and those who hold a lease on it. The table of
states is what the events come to; `derive` makes it anew from them.
"""

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from gainful.desk.records import Confirmed, Event, Feedback, Person, State, Task
from gainful.desk.store import Row, Transaction
from gainful.errors import InputError, LeaseLostError
from gainful.inputs.identifiers import examples
from gainful.message_texts import shown

ADJUDICATED = "adjudicated"
"""Whose grade it is that settles a disagreement; no person has this name."""
UNCOUNTED = ("model",)
"""Roles whose grades do not count for what a document needs, nor in the merged grades."""
_DONE = ("grade", "cannot")
_UNDONE = ("grade", "cannot", "later", "note", "adjudicate")


@dataclass(frozen=True, slots=True)
class Act:
    """What somebody does.

    Attributes:
        who: their name.
        key: what tells this act from all others of theirs.
        kind: of event.
        milliseconds: how long it took.
        position: of the document among those shown.
        time: in seconds since 1970.
    """

    who: str
    key: str
    kind: str
    time: float
    milliseconds: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True)
class _Item:
    id: int
    query: str
    practice: bool
    answer: float | None
    feedback: str
    grades: int


def to_text(state: State | None) -> str | None:
    """Write a state for the database."""
    return None if state is None else json.dumps(asdict(state), ensure_ascii=False)


def from_text(text: str | None) -> State | None:
    """Read a state back."""
    if text is None:
        return None
    found = json.loads(text)
    return State(**{**found, "tags": tuple(found["tags"])})


def person(transaction: Transaction, name: object) -> Person:
    """Return somebody who was invited and may act."""
    row = None
    if isinstance(name, str):
        row = transaction.one("SELECT role, revoked FROM assessor WHERE name = ?", name)
    if row is None:
        known = [each for (each,) in transaction.all("SELECT name FROM assessor ORDER BY name")]
        hint = f"Invited are {examples(known)}." if known else "Invite them: study.invite(name)."
        raise InputError("assessor", "somebody who was invited", shown(name), hint)
    if row[1] is not None:
        raise InputError("assessor", "an invitation that holds", f"{name!r}, whose was taken back")
    return Person(str(name), row[0])


def _item(transaction: Transaction, number: object) -> _Item:
    row = None
    if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**62:
        row = transaction.one(
            "SELECT id, query, practice, answer, feedback, grades FROM item WHERE id = ?", number
        )
    if row is None:
        raise InputError("item", "the number of a document of this study", shown(number))
    return _Item(row[0], row[1], bool(row[2]), row[3], row[4] or "", row[5])


def state_of(transaction: Transaction, item: int, owner: str) -> State | None:
    """Return what somebody says of a document now."""
    row = transaction.one("SELECT data FROM state WHERE item = ? AND owner = ?", item, owner)
    return from_text(None if row is None else row[0])


def _overlap(transaction: Transaction) -> int:
    row = transaction.one("SELECT value FROM study WHERE name = 'overlap'")
    return 1 if row is None else int(row[0])


def lease(
    transaction: Transaction, who: Person, count: int, now: float, seconds: float
) -> list[Task]:
    """Give somebody documents: those that they hold already, then more, up to a count.

    The practice set comes first, then the documents of the query that they are at, then the next ones in order, and last
    what they put off.
    """
    transaction.run("DELETE FROM lease WHERE expires <= ?", now)
    transaction.run("UPDATE lease SET expires = ? WHERE assessor = ?", now + seconds, who.name)
    held = transaction.all(
        "SELECT item FROM lease WHERE assessor = ? ORDER BY position LIMIT ?", who.name, count
    )
    if len(held) < count:
        row = transaction.one("SELECT shown, at_query FROM assessor WHERE name = ?", who.name)
        shown_before, at_query = (0, None) if row is None else row
        new = _candidates(transaction, who.name, count - len(held), at_query)
        transaction.many(
            "INSERT INTO lease (item, assessor, expires, position) VALUES (?, ?, ?, ?)",
            [
                (item, who.name, now + seconds, shown_before + place)
                for place, (item, _) in enumerate(new, start=1)
            ],
        )
        if new:
            transaction.run(
                "UPDATE assessor SET shown = ?, at_query = ? WHERE name = ?",
                shown_before + len(new),
                new[-1][1],
                who.name,
            )
    return _tasks(transaction, who.name, count)


def _candidates(
    transaction: Transaction, who: str, count: int, at_query: str | None
) -> list[tuple[int, str]]:
    free = " AND NOT EXISTS (SELECT 1 FROM lease WHERE lease.item = item.id AND lease.assessor = ?)"
    fresh = (
        free + " AND NOT EXISTS (SELECT 1 FROM state WHERE state.item = item.id AND state.owner = ?"
        " AND state.kind <> 'note')"
    )
    needed = " AND item.grades + (SELECT COUNT(*) FROM lease WHERE lease.item = item.id AND lease.assessor <> ?) < ?"
    pick = "SELECT item.id, item.query FROM item"
    found: list[tuple[int, str]] = []

    def take(sql: str, *values: object) -> None:
        if len(found) < count:
            rows = transaction.all(f"{sql} LIMIT ?", *values, count)
            known = {item for item, _ in found}
            found.extend((row[0], row[1]) for row in rows if row[0] not in known)
            del found[count:]

    overlap = _overlap(transaction)
    take(f"{pick} WHERE practice = 1{fresh} ORDER BY place", who, who)
    if at_query is not None:
        take(
            f"{pick} WHERE query = ? AND is_open = 1{fresh}{needed} ORDER BY place",
            at_query, who, who, who, overlap,
        )  # fmt: skip
    take(f"{pick} WHERE is_open = 1{fresh}{needed} ORDER BY place", who, who, who, overlap)
    take(
        f"{pick} JOIN state ON state.item = item.id AND state.owner = ? AND state.kind = 'later'"
        f" WHERE is_open = 1 AND practice = 0{free}{needed} ORDER BY state.event",
        who, who, who, overlap,
    )  # fmt: skip
    take(
        f"{pick} JOIN state ON state.item = item.id AND state.owner = ? AND state.kind = 'later'"
        f" WHERE practice = 1{free} ORDER BY state.event",
        who, who,
    )  # fmt: skip
    return found


def _tasks(transaction: Transaction, who: str, count: int) -> list[Task]:
    rows = transaction.all(
        "SELECT item.id, item.query, query.text, query.description, item.doc, doc.title, doc.text, lease.position,"
        " lease.expires, item.practice, state.data FROM lease JOIN item ON item.id = lease.item"
        " JOIN query ON query.id = item.query JOIN doc ON doc.id = item.doc"
        " LEFT JOIN state ON state.item = item.id AND state.owner = lease.assessor"
        " WHERE lease.assessor = ? ORDER BY lease.position LIMIT ?",
        who,
        count,
    )
    found = []
    for row in rows:
        said = from_text(row[10])
        found.append(Task(*[*row[:9], bool(row[9]), said.note if said else ""]))
    return found


def recorded(
    transaction: Transaction,
    act: Act,
    item: int,
    owner: str,
    after: State | None,
    undoes: int | None = None,
) -> Confirmed:
    """Add an event to the record, and to what it comes to."""
    place = _item(transaction, item)
    before = state_of(transaction, item, owner)
    row = transaction.one("SELECT COALESCE(MAX(id), 0) + 1 FROM event")
    number = 1 if row is None else int(row[0])
    if after is not None and undoes is None:
        after = State(after.kind, number, after.grade, after.why, after.tags, after.note)
    held = transaction.one(
        "SELECT position FROM lease WHERE item = ? AND assessor = ?", item, act.who
    )
    position = act.position if act.position is not None or held is None else held[0]
    row = transaction.one("SELECT COALESCE(MAX(version), 0) FROM guideline")
    transaction.run(
        "INSERT INTO event (id, assessor, client_key, time, item, owner, kind, before, after, undoes, milliseconds,"
        " position, guideline) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        number, act.who, act.key, act.time, item, owner, act.kind, to_text(before), to_text(after), undoes,
        act.milliseconds, position, 0 if row is None else row[0],
    )  # fmt: skip
    _set_state(transaction, item, owner, after)
    _count_grades(transaction, item)
    return confirmed(place, number, act.kind, after)


def confirmed(place: _Item, number: int, kind: str, after: State | None) -> Confirmed:
    """Return what is said of an event to who made it."""
    grade = None if after is None else after.grade
    feedback = None
    if place.practice and kind == "grade" and grade is not None and place.answer is not None:
        feedback = Feedback(place.answer, grade == place.answer, place.feedback)
    return Confirmed(number, place.id, kind, grade, feedback)


def _set_state(transaction: Transaction, item: int, owner: str, state: State | None) -> None:
    transaction.run("DELETE FROM state WHERE item = ? AND owner = ?", item, owner)
    if state is not None:
        transaction.run(
            "INSERT INTO state (item, owner, kind, grade, event, data) VALUES (?, ?, ?, ?, ?, ?)",
            item, owner, state.kind, state.grade, state.event, to_text(state),
        )  # fmt: skip


def _count_grades(transaction: Transaction, item: int | None = None) -> None:
    """Bring the counts of a document, or of all, up to what their states say."""
    where, values = ("", ()) if item is None else (" WHERE item.id = ?", (item,))
    uncounted = ", ".join(f"'{role}'" for role in UNCOUNTED)
    transaction.run(
        "UPDATE item SET grades = (SELECT COUNT(*) FROM state JOIN assessor ON assessor.name = state.owner"
        f" WHERE state.item = item.id AND state.kind = 'grade' AND assessor.role NOT IN ({uncounted})){where}",
        *values,
    )
    transaction.run(
        "UPDATE item SET is_open = CASE WHEN best_rank IS NOT NULL AND grades < ? AND NOT EXISTS (SELECT 1 FROM state"
        f" WHERE state.item = item.id AND state.owner = ?) THEN 1 ELSE 0 END{where}",
        _overlap(transaction), ADJUDICATED, *values,
    )  # fmt: skip


def count_grades(transaction: Transaction) -> None:
    """Bring the counts of all documents up to what their states say, such as after the overlap changed."""
    _count_grades(transaction)


def said_before(transaction: Transaction, act: Act, item: int | None) -> Confirmed | None:
    """Return what was confirmed for this key already, so that an act that is sent twice is recorded once."""
    row = transaction.one(
        "SELECT id, item, kind, after FROM event WHERE assessor = ? AND client_key = ?",
        act.who,
        act.key,
    )
    if row is None:
        return None
    number, of, kind, after = row
    if kind != act.kind or (item is not None and of != item):
        raise InputError("key", "one for each act", f"{act.key!r}, which is that of another act")
    return confirmed(_item(transaction, of), number, kind, from_text(after))


def say(transaction: Transaction, act: Act, item: int, after: State) -> Confirmed:
    """Record what an assessor says of a document, if it is theirs to judge."""
    person(transaction, act.who)
    if (known := said_before(transaction, act, item)) is not None:
        return known
    place = _item(transaction, item)
    before = state_of(transaction, item, act.who)
    if before is None or before.kind != "grade":
        _refuse_full(transaction, place, act)
    if act.kind == "note":
        # A note says nothing else than before, and takes nothing away.
        kept = before or after
        after = State(kept.kind, kept.event, kept.grade, kept.why, kept.tags, after.note)
    elif before is not None and not after.note:
        after = State(after.kind, after.event, after.grade, after.why, after.tags, before.note)
    done = recorded(transaction, act, item, act.who, after)
    if act.kind != "note":
        transaction.run("DELETE FROM lease WHERE item = ? AND assessor = ?", item, act.who)
    return done


def _refuse_full(transaction: Transaction, place: _Item, act: Act) -> None:
    """Refuse a document that has, or is being given, all the grades that it needs."""
    held = transaction.one(
        "SELECT 1 FROM lease WHERE item = ? AND assessor = ? AND expires > ?",
        place.id, act.who, act.time,
    )  # fmt: skip
    if held is not None or place.practice:
        return
    row = transaction.one(
        "SELECT COUNT(*) FROM lease WHERE item = ? AND assessor <> ? AND expires > ?",
        place.id, act.who, act.time,
    )  # fmt: skip
    others = 0 if row is None else int(row[0])
    if place.grades + others >= _overlap(transaction):
        raise LeaseLostError(
            "item",
            "a document that still needs a grade",
            f"{place.id}, which others have taken over since its lease ended",
            "Go on with the next one.",
        )


def undo(transaction: Transaction, act: Act, event: int | None, seconds: float) -> Confirmed:
    """Record that an act of the same person is undone: the last one that is not, or the one that is named."""
    who = person(transaction, act.who)
    if (known := said_before(transaction, act, None)) is not None:
        return known
    number, item, owner, before = _undone(transaction, act.who, event)
    now = state_of(transaction, item, owner)
    if now is None or now.event != number:
        raise InputError(
            "event",
            "the last act about its document",
            f"{number}, which a later one changed",
            "Undo that first.",
        )
    done = recorded(transaction, act, item, owner, from_text(before), number)
    restored = from_text(before)
    if owner == who.name and (restored is None or restored.kind not in _DONE):
        _give_back(transaction, _item(transaction, item), act, seconds)
    return done


def _undone(transaction: Transaction, who: str, event: int | None) -> Row:
    kinds = ", ".join(f"'{kind}'" for kind in _UNDONE)
    sql = (
        "SELECT id, item, owner, before FROM event AS act WHERE assessor = ?"
        f" AND kind IN ({kinds}) AND NOT EXISTS (SELECT 1 FROM event WHERE event.undoes = act.id)"
    )
    if event is None:
        row = transaction.one(f"{sql} ORDER BY id DESC LIMIT 1", who)
        if row is None:
            raise InputError("undo", "an act to undo", "none")
        return row
    is_number = isinstance(event, int) and not isinstance(event, bool) and 0 < event < 2**62
    row = transaction.one(f"{sql} AND id = ?", who, event) if is_number else None
    if row is None:
        raise InputError("event", "the number of an act of one's own that stands", shown(event))
    return row


def _give_back(transaction: Transaction, place: _Item, act: Act, seconds: float) -> None:
    """Lease a document to who has undone its grade, unless others have taken it over."""
    try:
        _refuse_full(transaction, place, act)
    except LeaseLostError:
        return
    row = transaction.one(
        "SELECT position FROM event WHERE item = ? AND assessor = ? AND position IS NOT NULL ORDER BY id LIMIT 1",
        place.id, act.who,
    )  # fmt: skip
    transaction.run("DELETE FROM lease WHERE item = ? AND assessor = ?", place.id, act.who)
    transaction.run(
        "INSERT INTO lease (item, assessor, expires, position) VALUES (?, ?, ?, ?)",
        place.id, act.who, act.time + seconds, 0 if row is None else row[0],
    )  # fmt: skip


def events(transaction: Transaction, after: int, count: int) -> list[Event]:
    """Return events of the record, in order, from the one after a number."""
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
    """Return what events come to: the state of each document for each person, from the record alone."""
    found: dict[tuple[int, str], State] = {}
    for event in happened:
        if event.after is None:
            found.pop((event.item, event.owner), None)
        else:
            found[event.item, event.owner] = event.after
    return found


def pace_of(times: Sequence[float], longest_pause: float = 300.0) -> float | None:
    """Return acts a minute, of their times, descending; long pauses do not count.

    >>> pace_of([120.0, 90.0, 60.0])
    2.0
    """
    gaps = [late - early for late, early in itertools.pairwise(times)]
    gaps = [gap for gap in gaps if 0 <= gap <= longest_pause]
    total = math.fsum(gaps)
    return 60.0 * len(gaps) / total if total > 0 else None
