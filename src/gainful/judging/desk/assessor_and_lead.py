"""The actions of one person in a study: an assessor's grades, and a lead's settlements and revocations."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gainful import arguments
from gainful.errors import InputError
from gainful.judging.desk import assessor_acts
from gainful.judging.desk.assessor_acts import ADJUDICATED, Act
from gainful.judging.desk.store import Store, Transaction
from gainful.judging.desk.study_inputs import Scale
from gainful.judging.desk.study_records import Confirmed, Person, State, Task
from gainful.judging.desk.study_settings import (
    on_scale,
    read_tags,
    read_text,
    scale_in,
    settings_in,
)
from gainful.message_texts import shown

WHY = ("query", "document", "loading")
"""Reasons why a document can't be judged: its query or the document is unclear, or it doesn't load."""
LONGEST_NOTE = 10_000
_LONGEST_KEY = 200
_MOST_TASKS = 10_000
_MOST_MILLISECONDS = 10**10


@dataclass(frozen=True, slots=True)
class _Person:
    """A person who acts in a study. Every action has a `key` that is unique for the person.

    Attributes:
        name: the name in the invitation.
    """

    name: str
    _store: Store
    _now: Callable[[], float]
    _lease: float
    _scale: Callable[[], Scale]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _act(
        self,
        key: str,
        kind: str,
        milliseconds: int | None = None,
        position: int | None = None,
        guideline: int | None = None,
    ) -> Act:
        if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or not key.isprintable():
            expected = f"a string of 1 to {_LONGEST_KEY} characters that distinguishes this action from others"
            raise InputError("key", expected, shown(key))
        arguments.text(key, "key")
        took = None
        if milliseconds is not None:
            took = arguments.whole(milliseconds, "milliseconds", least=0, most=_MOST_MILLISECONDS)
        if position is not None:
            position = arguments.whole(position, "position", least=0, most=10**9)
        if guideline is not None:
            guideline = arguments.whole(guideline, "guideline", least=0, most=10**9)
        return Act(self.name, key, kind, self._now(), took, position, guideline)


class Assessor(_Person):
    """An assessor of a study: `study.assessor(name)`."""

    __slots__ = ()

    def next(self, count: int = 1, *, lease: float | None = None) -> list[Task]:
        """Reserve and return the next documents: first the documents that they already hold, then new ones.

        Until the reservation ends, nobody else is given them, unless the study requires several grades for each.

        Args:
            count: the number of documents.
            lease: the duration in seconds; the study's default if None.
        """
        many = arguments.whole(count, "count", least=1, most=_MOST_TASKS)
        seconds = self._lease
        if lease is not None:
            seconds = arguments.number(lease, "lease", "seconds above 0", lambda s: s > 0)
        with self._store.writing() as transaction:
            return assessor_acts.lease(transaction, self.name, many, self._now(), seconds)

    def grade(
        self,
        item: int,
        grade: float,
        *,
        key: str,
        milliseconds: int | None = None,
        position: int | None = None,
        tags: Sequence[str] = (),
        note: str | None = None,
        guideline: int | None = None,
    ) -> Confirmed:
        """Record a grade. A second grade for the same document replaces the first; the record keeps both.

        Args:
            item: the number of the document.
            grade: one of the scale.
            key: a string that is unique among their actions.
            milliseconds: how long the document was displayed.
            position: its position in the sequence shown to them, from 1; the position of the task if None.
            tags: reasons for the grade.
            note: a free text.
            guideline: the version that they saw, possibly an earlier one, or 0 if there was no guideline; the current version if None.
        """
        state = State("grade", 0, 0.0, None, read_tags(tags), read_note(note))
        act = self._act(key, "grade", milliseconds, position, guideline)
        return self._say(act, item, state, grade=grade)

    def cannot(
        self,
        item: int,
        why: str,
        *,
        key: str,
        milliseconds: int | None = None,
        position: int | None = None,
        tags: Sequence[str] = (),
        note: str | None = None,
        guideline: int | None = None,
    ) -> Confirmed:
        """Record that they can't judge a document: its `query` or the `document` is unclear, or `loading` it fails.

        Others are given the document instead.
        """
        arguments.choice(why, "why", WHY)
        state = State("cannot", 0, None, why, read_tags(tags), read_note(note))
        act = self._act(key, "cannot", milliseconds, position, guideline)
        return self._say(act, item, state)

    def later(
        self,
        item: int,
        *,
        key: str,
        milliseconds: int | None = None,
        position: int | None = None,
        note: str | None = None,
        guideline: int | None = None,
    ) -> Confirmed:
        """Postpone a document: it returns after all others, unless somebody else has graded it."""
        state = State("later", 0, note=read_note(note))
        act = self._act(key, "later", milliseconds, position, guideline)
        return self._say(act, item, state)

    def note(self, item: int, note: str, *, key: str, guideline: int | None = None) -> Confirmed:
        """Attach a note to a document, replacing an earlier one. Nothing else changes."""
        state = State("note", 0, note=read_note(note))
        return self._say(self._act(key, "note", guideline=guideline), item, state)

    def undo(
        self,
        *,
        key: str,
        event: int | None = None,
        of: str | None = None,
        item: int | None = None,
        guideline: int | None = None,
    ) -> Confirmed:
        """Undo one of their own actions, which stays in the record.

        Args:
            key: a string that is unique among their actions.
            event: the number of the event to undo.
            of: the key of the action to undo, instead of the number. Without either, the last action is undone.
            item: the document that the action must concern, or nothing is undone; any document if None.
            guideline: as for `grade`.
        """
        act = self._act(key, "undo", guideline=guideline)
        if of is not None:
            if event is not None:
                raise InputError("of", "an event or the key of an action", "both")
            arguments.text(of, "of", "the key of an action")
        about = None if item is None else read_item(item)
        with self._store.writing() as transaction:
            return assessor_acts.undo(transaction, act, event, self._lease, of=of, about=about)

    def _say(self, act: Act, item: int, state: State, *, grade: object = None) -> Confirmed:
        item = read_item(item)
        if state.kind == "grade":
            state = replace(state, grade=on_scale(grade, self._scale()))
        with self._store.writing() as transaction:
            return assessor_acts.say(transaction, act, item, state)


class Lead(_Person):
    """A lead of a study: `study.lead(name)`. Anybody else causes an error."""

    __slots__ = ()

    def adjudicate(
        self,
        item: int,
        grade: float,
        *,
        key: str,
        note: str | None = None,
        guideline: int | None = None,
    ) -> Confirmed:
        """Settle a document: this grade counts in place of all others, which stay in the record."""
        act = self._act(key, "adjudicate", guideline=guideline)
        number = read_item(item)
        comment = read_note(note)
        with self._store.writing() as transaction:
            _refuse_no_lead(assessor_acts.person(transaction, self.name))
            if (earlier := assessor_acts.said_before(transaction, act, number)) is not None:
                return earlier
            value = on_scale(grade, scale_in(settings_in(transaction)))
            state = State("grade", 0, value, note=comment)
            scene = assessor_acts.look(transaction, act, number, ADJUDICATED)
            return assessor_acts.recorded(transaction, act, scene, ADJUDICATED, state)

    def unsettle(self, item: int, *, key: str, guideline: int | None = None) -> Confirmed:
        """Undo the settlement of a document: the earlier state applies again. The settlement stays in the record."""
        act = self._act(key, "undo", guideline=guideline)
        number = read_item(item)
        with self._store.writing() as transaction:
            _refuse_no_lead(assessor_acts.person(transaction, self.name))
            return assessor_acts.unsettle(transaction, act, number)

    def reset(
        self,
        *,
        key: str,
        assessor: str | None = None,
        query: str | None = None,
        before_guideline: int | None = None,
    ) -> int:
        """Revoke stale grades, so that their documents are judged again; return how many were revoked.

        Settlements of these documents are revoked as well, unless they were made under that version of the
        guideline or a later one. Imported grades are revoked only if their assessor is named.

        Args:
            key: a string that is unique among their actions.
            assessor: only this assessor's grades.
            query: only grades for this query.
            before_guideline: only grades given under an earlier version of the guideline than this.
        """
        self._act(key, "reset")
        with self._store.writing() as transaction:
            _refuse_no_lead(assessor_acts.person(transaction, self.name))
            sql, values = _stale_rows(transaction, assessor, query, before_guideline)
            rows = transaction.all(
                f"SELECT state.item, state.owner{sql} ORDER BY state.event", *values
            )
            if assessor_acts.said_before(transaction, self._act(f"{key} 1", "reset"), None):
                return 0  # sent twice
            for place, (item, owner) in enumerate(rows, start=1):
                act = self._act(f"{key} {place}", "reset")
                assessor_acts.recorded(
                    transaction, act, assessor_acts.look(transaction, act, item, owner), owner, None
                )
        return len(rows)

    def stale(
        self,
        *,
        assessor: str | None = None,
        query: str | None = None,
        before_guideline: int | None = None,
    ) -> dict[str, int]:
        """Return how many answers `reset` would revoke, by kind: cannot, grade, later, note, settled. Nothing changes."""
        with self._store.reading() as transaction:
            sql, values = _stale_rows(transaction, assessor, query, before_guideline)
            rows = transaction.all(f"SELECT state.kind, state.owner{sql}", *values)
        kinds = Counter("settled" if owner == ADJUDICATED else str(kind) for kind, owner in rows)
        return dict(sorted(kinds.items()))


# ── checks of input ─────────────────────────────────────────────────


def read_item(value: object) -> int:
    """Read the number of a document."""
    expected = "the number of a document of this study"
    return arguments.whole(value, "item", least=1, most=2**62, expected=expected)


def read_note(value: object) -> str:
    """Read a note; None becomes an empty text."""
    return "" if value is None else read_text(value, "note", LONGEST_NOTE)


def _refuse_no_lead(person: Person) -> None:
    if person.role != "lead":
        raise InputError("lead", "a lead of the study", f"{person.name!r}, an assessor")


def _stale_rows(
    transaction: Transaction,
    assessor: str | None,
    query: str | None,
    before_guideline: int | None,
) -> tuple[str, list[object]]:
    """Return the condition on what `reset` revokes, as the end of a query and its values."""
    if before_guideline is not None:
        arguments.whole(before_guideline, "before_guideline", least=1, most=10**9)
    if assessor is None and query is None and before_guideline is None:
        raise InputError("reset", "an assessor, a query or a version of the guideline", "none")
    for name, chosen, expected, sql_of_known in (
        ("assessor", assessor, "somebody of this study", "SELECT name FROM assessor"),
        ("query", query, "a query of this study", "SELECT DISTINCT query FROM item"),
    ):
        if chosen is not None:
            arguments.text(chosen, name)
            there = [own for (own,) in transaction.all(sql_of_known)]
            arguments.choice(chosen, name, there, expected=expected)
    # Imported grades are revoked only if they are named, because nobody is asked to judge them
    # again.
    whose = "assessor.role IN ('assessor', 'lead')" if assessor is None else "state.owner = ?"
    settled = (
        "state.owner = ?"
        if assessor is None
        else "state.owner = ? AND EXISTS (SELECT 1 FROM state AS theirs"
        " WHERE theirs.item = state.item AND theirs.owner = ?)"
    )
    sql = (
        " FROM state JOIN item ON item.id = state.item JOIN event ON event.id = state.event"
        " LEFT JOIN assessor ON assessor.name = state.owner"
        f" WHERE item.practice = 0 AND (({whose}) OR ({settled}))"
    )
    values: list[object] = [ADJUDICATED] if assessor is None else [assessor, ADJUDICATED, assessor]
    for condition, value in (
        (" AND item.query = ?", query),
        (" AND event.guideline < ?", before_guideline),
    ):
        if value is not None:
            sql += condition
            values.append(value)
    return sql, values
