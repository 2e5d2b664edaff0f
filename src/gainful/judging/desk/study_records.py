"""The records of a study: grades of its scale, people, tasks, acts, events and progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade of the scale.

    Attributes:
        value: the number.
        word: what it means, in a word or two.
        key: the key that gives it.
    """

    value: float
    word: str
    key: str


@dataclass(frozen=True, slots=True)
class Guideline:
    """How to judge: a version from 1, and the text."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was invited.

    Attributes:
        name: of the person.
        role: assessor or lead; judgments or model for grades that were imported.
        revoked: whether the invitation was taken back.
    """

    name: str
    role: str
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A document to judge, which nobody else is given until the lease ends. It says nothing of runs and ranks, unless the lead wants that.

    Attributes:
        item: the number of the document in the study.
        query: the id of the query.
        query_text: what was searched.
        description: what is meant by it; may be empty.
        doc: the id of the document.
        title: of the document; may be empty.
        text: of the document.
        position: its place in what this assessor is shown, from 1.
        lease_until: in seconds since 1970.
        practice: whether it is of the practice set.
        note: what the assessor has written about it already; may be empty.
        ranks: run → rank, where the study shows them; else None.
        fields: the other columns of the document's table, by name.
    """

    item: int
    query: str
    query_text: str
    description: str
    doc: str
    title: str
    text: str
    position: int
    lease_until: float
    practice: bool = False
    note: str = ""
    ranks: Mapping[str, int] | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a query. The attributes mean the same as in a `Task`."""

    item: int
    query: str
    query_text: str
    description: str
    doc: str
    title: str
    text: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PracticeDocument(Document):
    """A document with a known answer.

    Attributes:
        answer: the right grade.
        feedback: what is said after it; may be empty.
    """

    answer: float
    feedback: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback after a document of the practice set.

    Attributes:
        answer: the grade that the lead gave.
        right: whether the assessor gave the same.
        text: why; may be empty.
    """

    answer: float
    right: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An act that is recorded.

    Attributes:
        event: its number in the record.
        item: the document.
        kind: grade, cannot, later, note, undo, adjudicate or reset.
        grade: that the document has of this person now, or None.
        feedback: on a document of the practice set.
    """

    event: int
    item: int
    kind: str
    grade: float | None
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A person's present state of a document.

    Attributes:
        kind: grade, cannot, later, or note where there is nothing else.
        event: that made it so.
        grade: with the kind grade.
        why: with the kind cannot: query, document or loading.
        tags: reasons.
        note: in own words; may be empty.
    """

    kind: str
    event: int
    grade: float | None = None
    why: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of the record, which is only ever added to.

    Attributes:
        id: its number, from 1.
        time: in seconds since 1970.
        assessor: who did it.
        owner: whose grade it is about; `adjudicated` for the one that settles.
        query: of the document.
        doc: the document.
        item: its number.
        practice: whether it is of the practice set.
        kind: grade, cannot, later, note, undo, reset, adjudicate or import.
        before: what was said of the document before, or None.
        after: what is said of it since, or None.
        undoes: the number of the event that it undoes, or None.
        milliseconds: how long the document was looked at, if known.
        position: its place in what this person was shown, from 1, if known.
        guideline: the version that they saw; 0 for none.
    """

    id: int
    time: float
    assessor: str
    owner: str
    query: str
    doc: str
    item: int
    practice: bool
    kind: str
    before: State | None
    after: State | None
    undoes: int | None
    milliseconds: int | None
    position: int | None
    guideline: int


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """The progress of a query.

    Attributes:
        query: its id.
        items: how many documents it has.
        done: how many have all the grades that they need.
        graded: how many have at least one.
        several: how many have several, from which agreement is computed.
        shared: how many need several.
        cannot: how many somebody could not judge.
    """

    query: str
    items: int
    done: int
    graded: int
    several: int
    shared: int
    cannot: int


@dataclass(frozen=True, slots=True)
class AssessorProgress:
    """The progress of an assessor.

    Attributes:
        name: of the assessor.
        role: assessor, lead, judgments or model.
        done: how many documents they graded.
        left: how many they could still be given.
        cannot: how many they could not judge.
        later: how many they put off.
        practised: how many of the practice set they graded.
        right: how many of these as the lead did.
        pace: documents a minute, of late; None before the second.
        last: when they last did something, in seconds since 1970; None before that.
        revoked: whether the invitation was taken back.
    """

    name: str
    role: str
    done: int
    left: int
    cannot: int
    later: int
    practised: int
    right: int
    pace: float | None
    last: float | None
    revoked: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a study.

    Attributes:
        items: how many documents there are to judge.
        done: how many have all the grades that they need.
        grades: how many grades there are.
        several: how many documents have several grades.
        shared: how many need several.
        queries: each with its counts.
        assessors: each with their counts.
    """

    items: int
    done: int
    grades: int
    several: int
    shared: int
    queries: tuple[QueryProgress, ...]
    assessors: tuple[AssessorProgress, ...]

    @property
    def by_query(self) -> Mapping[str, QueryProgress]:
        """The counts of each query, by its id."""
        return {query.query: query for query in self.queries}

    @property
    def by_assessor(self) -> Mapping[str, AssessorProgress]:
        """The counts of each assessor, by name."""
        return {assessor.name: assessor for assessor in self.assessors}
