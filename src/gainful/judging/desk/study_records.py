"""The records of a study: grades of its scale, people, tasks, actions, events and progress."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grade:
    """A grade of the scale.

    Attributes:
        value: the number.
        word: its label.
        key: its keyboard shortcut.
    """

    value: float
    word: str
    key: str


@dataclass(frozen=True, slots=True)
class Guideline:
    """A version of the guideline, numbered from 1, and its text."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class Person:
    """A participant of a study.

    Attributes:
        name: the name of the person.
        role: assessor or lead; judgments or model for grades that were imported.
        revoked: whether the link was revoked.
    """

    name: str
    role: str
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A document to judge, reserved until the lease ends. It contains no runs or ranks unless the study shows them.

    Attributes:
        item: the number of the document in the study.
        query: the id of the query.
        query_text: the text of the query.
        description: the intent behind the query; may be empty.
        doc: the id of the document.
        title: the title of the document; may be empty.
        text: the text of the document; may be empty.
        position: its position in the sequence shown to this assessor, from 1.
        lease_until: the end of the reservation, in seconds since 1970.
        practice: whether it belongs to the practice set.
        note: the assessor's note about it; may be empty.
        ranks: run → rank; None if the study hides ranks.
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
        feedback: the comment shown after it; may be empty.
    """

    answer: float
    feedback: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback after a document of the practice set.

    Attributes:
        answer: the grade that the lead gave.
        right: whether the assessor gave the same grade.
        text: the reason; may be empty.
    """

    answer: float
    right: bool
    text: str = ""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A recorded action.

    Attributes:
        event: its number in the record.
        item: the number of the document.
        kind: grade, cannot, later, note, undo, adjudicate or reset.
        grade: this person's current grade of the document, or None.
        feedback: the feedback on a document of the practice set, or None.
    """

    event: int
    item: int
    kind: str
    grade: float | None
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The current answer of a person about a document.

    Attributes:
        kind: grade, cannot, later, or note if there is only a note.
        event: the number of the event that set it.
        grade: with the kind grade.
        why: with the kind cannot: query, document or loading.
        tags: reasons.
        note: a free text; may be empty.
    """

    kind: str
    event: int
    grade: float | None = None
    why: str | None = None
    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An entry of the record. Entries are only added, never changed.

    Attributes:
        id: its number, from 1.
        time: in seconds since 1970.
        assessor: the person who acted.
        owner: the person whose grade it concerns; `adjudicated` for a settling grade.
        query: the query of the document.
        doc: the document.
        item: its number.
        practice: whether the document belongs to the practice set.
        kind: grade, cannot, later, note, undo, reset, adjudicate or import.
        before: the answer before the event, or None.
        after: the answer after the event, or None.
        undoes: the number of the event that it undoes, or None.
        milliseconds: how long the document was displayed, if known.
        position: its position in the sequence shown to this person, from 1, if known.
        guideline: the version that the person saw; 0 without a guideline.
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
        items: the number of its documents.
        done: the number with all required grades.
        graded: the number with at least one grade.
        several: the number with several grades; agreement is computed from them.
        shared: the number that require several grades.
        cannot: the number that somebody couldn't judge.
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
        name: the name of the assessor.
        role: assessor, lead, judgments or model.
        done: the number of documents they graded.
        left: the number they could still be given.
        cannot: the number they couldn't judge.
        later: the number they postponed.
        practised: the number of practice documents they graded.
        right: the number of these with the lead's grade.
        pace: recent documents per minute; None before the second one.
        last: the time of their last action, in seconds since 1970; None before the first.
        revoked: whether the link was revoked.
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
        items: the number of documents to judge.
        done: the number with all required grades.
        grades: the number of grades.
        several: the number of documents with several grades.
        shared: the number that require several grades.
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
