"""`Study`: documents judged by several people, in a database, for the desk and for notebooks."""

import hashlib
import json
import os
import secrets
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter, methodcaller
from typing import Any, Self

import numpy as np

import gainful as gf
from gainful import arguments
from gainful.arithmetic.cores import cached_property
from gainful.behaviour.judgments_from_clicks import ClickJudgments
from gainful.errors import GainfulError, InputError, StudyError, warn, without_warnings
from gainful.judging.desk import assessor_acts
from gainful.judging.desk.assessor_acts import ADJUDICATED, ROLES
from gainful.judging.desk.assessor_and_lead import LONGEST_NOTE, Assessor, Lead, read_item
from gainful.judging.desk.export_tables import grade_table, record_table
from gainful.judging.desk.results_so_far import Dispute, Standing, disputes, grade_rows, stand
from gainful.judging.desk.store import CREATION, Store, Transaction, is_empty, open_store
from gainful.judging.desk.study_database_rows import (
    DrawnDocument,
    NoGradesError,
    add_guideline,
    add_items,
    add_person,
    add_runs,
    add_texts,
    design_of,
    grades_in,
    merged_grades,
    models_in,
    pairs_in,
    plain_texts,
    pool_of,
    progress_of,
    settled_in,
)
from gainful.judging.desk.study_inputs import (
    Ranked,
    Scale,
    ScaleLike,
    read_docs,
    read_judgments,
    read_queries,
    read_run,
    read_scale,
)
from gainful.judging.desk.study_records import (
    Document,
    Event,
    Grade,
    Guideline,
    Person,
    PracticeDocument,
    Progress,
)
from gainful.judging.desk.study_settings import (
    DEFAULTS,
    FROM_TEXT,
    LONGEST_NAME,
    MOST_DEPTH,
    click_widths_in,
    keep_click_widths,
    keep_setting,
    of_grades,
    on_scale,
    read_key,
    read_settings,
    read_text,
    refuse_off_scale,
    refuse_other_scale,
    refuse_pair_of,
    refuse_unknown_pair,
    refuse_without_bounds,
    scale_in,
    scale_text,
    settings_in,
)
from gainful.judging.judging_priorities import weighted_by_clicks, widths_of_clicks
from gainful.message_texts import shown
from gainful.output.writing.table_files import write_table
from gainful.rows.identifiers import examples, in_order
from gainful.rows.input_types import Judgments, Run, TableLike
from gainful.rows.runs_by_name import Runs
from gainful.rows.several_assessors import RULES

IMPORTED = ("judgments", "model")
_KEPT_DEPTH = 100  # the minimum number of ranks stored of a run
_LONGEST_GUIDELINE = 1_000_000
_LEASE = 1800.0  # seconds
_PAGE = 1000  # events read at a time
_MOVED = 200  # documents sorted at a time
_EARLIER = "earlier judgments"
LEAD = "lead"
"""The lead of a study that the command opens."""


class Study:
    """A study: documents judged by people, in a database; nothing recorded is ever overwritten.

    Several threads may use it, and several programs may open it at once. `assessor` and `lead` return the actions of an
    invited person. Every action has a `key`, unique for the person: an action sent twice is recorded once.

    >>> runs = {"mine": {"q1": {"a": 2, "b": 1}}}
    >>> texts = {"a": "flour and yeast", "b": "tyres"}
    >>> study = Study.create(":memory:", runs, queries={"q1": "bread"}, docs=texts, order="rank")
    >>> token = study.invite("ann")
    >>> ann = study.assessor("ann")
    >>> task = ann.next()[0]
    >>> task.query_text, task.text
    ('bread', 'flour and yeast')
    >>> ann.grade(task.item, 3, key="1").grade
    3.0
    >>> study.grades()
    {'q1': {'a': {'ann': 3.0}}}
    """

    def __init__(self, address: str | os.PathLike[str], *, lease: float = _LEASE) -> None:
        """Open an existing study.

        Args:
            address: the path of its file, or postgresql://….
            lease: how long a document stays reserved for an assessor, in seconds.
        """
        self._begin(address, lease, new=False)
        if "scale" not in self._settings():
            self.close()
            raise StudyError(
                self.address,
                "a study",
                "one that was only partly created",
                f"Create it again: {CREATION}.",
                code="study.missing",
            )

    def _begin(self, address: object, lease: float, *, new: bool) -> None:
        self._lease = arguments.number(lease, "lease", "seconds above 0", lambda s: s > 0)
        self._now: Callable[[], float] = time.time
        if not isinstance(address, str | os.PathLike):
            raise InputError("address", "the path of a file, or postgresql://…", shown(address))
        self._store: Store = open_store(address, new=new)

    @classmethod
    def create(
        cls,
        address: str | os.PathLike[str],
        runs: Runs,
        *,
        queries: TableLike,
        docs: TableLike,
        judgments: Judgments | None = None,
        scale: ScaleLike | None = None,
        depth: int | None = None,
        order: str | None = None,
        measure: str | None = None,
        seed: int | None = None,
        overlap: int | None = None,
        overlap_share: float | None = None,
        compare: Sequence[str] | None = None,
        show_ranks: bool | None = None,
        doc_format: str | None = None,
        image_hosts: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        title: str | None = None,
        guideline: str | None = None,
        clicks: ClickJudgments | None = None,
        lease: float = _LEASE,
    ) -> Self:
        """Create a study, or continue an existing one: new documents are added, and settings that are None stay.

        Args:
            address: the path of a file, or postgresql://….
            runs: name → run, or as for `evaluate_runs`; their documents down to the depth are judged.
            queries: their texts: `{query: text}`, a data frame, or the path of a file; with a `description` column,
                the intent behind each.
            docs: the title and text of each document; other columns are shown as fields.
            judgments: existing judgments, which count towards the required grades of their documents. Their grades may be
                words of the scale.
            scale: `"0..3"`, `(0, 3)`, all grades, `{grade: word}`, `esci` or `excellent-fair-bad`; 0 to 3 if None. The grades can't be changed later.
            depth: the rank down to which documents of each run are judged; 20 if None.
            order: `effect`, by how far a grade could move the measure, as in `next_to_judge`; `verdict`, by its effect on the
                difference between two runs; `random`; or `rank`, by the best rank. Effect if None. The documents of a
                query stay together.
            measure: for the orders by effect and verdict, and for `standing`; nDCG@10 if None.
            seed: the seed of the random order, and of the documents that several people grade; 0 if None.
            overlap: how many people grade a document; 1 if None.
            overlap_share: the share of documents, from 0 to 1, that several people grade; one person grades the others. 1 if None.
            compare: the two runs of the order by verdict; the first is the baseline of `standing`. The first two if
                None.
            show_ranks: whether assessors see the ranks of a document in the runs; hidden if None.
            doc_format: how pages show the text of documents: `auto` (by what each looks like), `text`, `markdown` or
                `html`; auto if None.
            image_hosts: the servers that may supply images of documents, such as
                `https://images.example.com`; none if None, so that only images inside a text are shown.
            tags: the reasons that the page offers with a grade; `()` for no reasons, common ones if None.
            title: the title of the study.
            guideline: the instructions for assessors; changed instructions become a new version.
            clicks: the result of `click_judgments`. In the orders by effect and verdict, documents that the clicks say
                little about come first, as in `next_to_judge`. The study keeps how much the clicks say about its documents.
            lease: as for `Study`.
        """
        settings = read_settings(
            depth=depth, order=order, measure=measure, seed=seed, overlap=overlap, overlap_share=overlap_share,
            compare=compare, show_ranks=show_ranks, doc_format=doc_format, image_hosts=image_hosts, tags=tags, title=title,
        )  # fmt: skip
        new_scale = None if scale is None else read_scale(scale)
        if guideline is not None:
            read_text(guideline, "guideline", _LONGEST_GUIDELINE)
        widths = None if clicks is None else widths_of_clicks(clicks)
        named = gf.inputs.find_runs(runs, judgments=judgments)

        def gather(
            earlier: Mapping[str, str], there: set[tuple[str, str]], name: str
        ) -> "_Brought":
            return _gather(
                named,
                queries,
                docs,
                judgments,
                new_scale,
                settings,
                kept_settings=earlier,
                there=there,
                name=name,
            )

        # Invalid input leaves no empty database behind.
        brought = gather({}, set(), "") if is_empty(address) else None
        made = cls.__new__(cls)
        made._begin(address, lease, new=True)  # noqa: SLF001 - of this class
        try:
            made._fill(brought or gather(*made._present()), settings, guideline, widths)  # noqa: SLF001
        except BaseException:
            made.close()
            raise
        return made

    def _present(self) -> tuple[dict[str, str], set[tuple[str, str]], str]:
        """Return the settings of an existing study, its documents and its address."""
        with self._store.reading() as transaction:
            rows = transaction.all("SELECT query, doc FROM item WHERE practice = 0")
            return settings_in(transaction), {(query, doc) for query, doc in rows}, self._store.name

    def _fill(
        self,
        brought: "_Brought",
        changes: Mapping[str, str],
        guideline: str | None,
        widths: Mapping[tuple[str, str], float] | None,
    ) -> None:
        settings, pairs = brought.settings, brought.pairs
        with self._store.writing() as transaction:
            made = settings_in(transaction)
            if "scale" not in made:
                settings["scale"] = scale_text(brought.scale)
                settings["id"] = uuid.uuid4().hex
            elif "scale" not in settings:  # another program has created it in the meantime
                refuse_other_scale(brought.scale, scale_in(made), self._store.name)
                settings = {**settings, **made, **changes}
            for name, value in settings.items():
                keep_setting(transaction, name, value)
            if brought.cut_at is not None:
                keep_setting(transaction, "cut_at", str(brought.cut_at))
            add_runs(transaction, brought.ranked, self._store.name)
            refuse_unknown_pair(transaction, settings)
            add_texts(transaction, "query", {**{q: ("", "") for q, _ in pairs}, **brought.queries})
            add_texts(transaction, "doc", {**{d: ("", "") for _, d in pairs}, **brought.docs})
            add_items(transaction, pairs, brought.pooled)
            if widths is not None:
                keep_click_widths(transaction, widths)
            if guideline is not None:
                add_guideline(transaction, guideline, self._now())
            _spread_overlap(transaction, settings)
            assessor_acts.count_grades(transaction)
        if brought.earlier:
            self._import(brought.earlier, _EARLIER, "judgments")
        self._reorder(least=0)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute with a former name, which works until the next release, with a warning."""
        if name in _FORMER:
            now, instead = _FORMER[name]
            warn(f"Study.{name} is now {now}. The old name works until the next release.")
            return instead(self)
        raise AttributeError(f"'Study' object has no attribute {name!r}", name=name, obj=self)

    # ── the study itself ────────────────────────────────────────────────────────────────

    @property
    def address(self) -> str:
        """The address of the study, without a password."""
        return self._store.name

    def _id(self) -> str:
        """Return the unique id of this study."""
        return self._settings()["id"]

    def _events(self) -> int:
        """Return the number of events in the record."""
        with self._store.reading() as transaction:
            row = transaction.one("SELECT COALESCE(MAX(id), 0) FROM event")
        return 0 if row is None else int(row[0])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name, as `create` accepts them."""
        settings = self._settings()
        return {name: read(settings[name]) for name, read in FROM_TEXT.items()}

    @property
    def scale(self) -> list[Grade]:
        """The grades, from the lowest, with their labels and keys."""
        return [*scale_in(self._settings())]

    @property
    def guideline(self) -> Guideline:
        """The latest version of the guideline; version 0 with an empty text if nobody has written one."""
        with self._store.reading() as transaction:
            row = transaction.one(
                "SELECT version, text FROM guideline ORDER BY version DESC LIMIT 1"
            )
        return Guideline(0, "") if row is None else Guideline(row[0], row[1])

    @property
    def runs(self) -> dict[str, dict[str, dict[str, float]]]:
        """The runs, down to the stored rank: the depth or 100, whichever is larger."""
        with self._store.reading() as transaction:
            names = transaction.all("SELECT name FROM run ORDER BY place")
            runs: dict[str, dict[str, dict[str, float]]] = {name: {} for (name,) in names}
            for run, query, doc, score in transaction.all(
                "SELECT run, query, doc, score FROM ranked"
            ):
                runs[run].setdefault(query, {})[doc] = score
        return runs

    def _queries(self) -> dict[str, str]:
        """Return the texts of the queries by id."""
        with self._store.reading() as transaction:
            return pairs_in(transaction, "SELECT id, text FROM query ORDER BY id")

    def _run_names(self) -> list[str]:
        with self._store.reading() as transaction:
            return [name for (name,) in transaction.all("SELECT name FROM run ORDER BY place")]

    def _brought(self) -> tuple[int, int]:
        """Return the numbers of runs and documents, which only grow."""
        with self._store.reading() as transaction:
            row = transaction.one(
                "SELECT (SELECT COUNT(*) FROM run), (SELECT COALESCE(MAX(id), 0) FROM item)"
            )
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def _settings(self) -> dict[str, str]:
        with self._store.reading() as transaction:
            return settings_in(transaction)

    def set(
        self,
        *,
        title: str | None = None,
        order: str | None = None,
        measure: str | None = None,
        overlap: int | None = None,
        overlap_share: float | None = None,
        compare: Sequence[str] | None = None,
        show_ranks: bool | None = None,
        doc_format: str | None = None,
        image_hosts: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        guideline: str | None = None,
        words: Mapping[float, str] | None = None,
        keys: Mapping[float, str] | None = None,
    ) -> None:
        """Change settings, as explained in `create`; settings that are None stay. `compare=()` restores the first two runs.

        Args:
            title: as for `create`, like all up to `guideline`.
            order: in which documents are judged.
            measure: the measure of the order and of `standing`.
            overlap: how many people grade a document.
            overlap_share: the share of documents that several people grade.
            compare: two runs.
            show_ranks: whether assessors see ranks.
            doc_format: how the text of documents is shown.
            image_hosts: the servers that may supply images.
            tags: the reasons that the page offers.
            guideline: the instructions for assessors; changed instructions become a new version.
            words: grade → its label.
            keys: grade → its keyboard shortcut, one character; grades may swap theirs.
        """
        if guideline is not None:
            read_text(guideline, "guideline", _LONGEST_GUIDELINE)
        changes = read_settings(
            order=order, measure=measure, overlap=overlap, overlap_share=overlap_share, compare=compare,
            show_ranks=show_ranks, doc_format=doc_format, image_hosts=image_hosts, tags=tags, title=title,
        )  # fmt: skip
        if "measure" in changes:
            runs = self.runs
            name, run = next(iter(runs.items()))
            refuse_without_bounds(changes["measure"], self._grades, run)
            self.standing(changes["measure"], baseline=name)
        if words is not None or keys is not None:
            self._set_grades(words, keys)
        if guideline is not None:
            with self._store.writing() as transaction:
                add_guideline(transaction, guideline, self._now())
        if not changes:
            return
        before = self._change(changes)
        if not changes.keys().isdisjoint(("order", "measure", "compare")):
            try:
                self._reorder(least=0)
            except GainfulError:
                self._change(before)
                raise

    def _set_grades(
        self, words: Mapping[float, str] | None, keys: Mapping[float, str] | None
    ) -> None:
        with self._store.writing() as transaction:
            scale = scale_in(settings_in(transaction))
            meanings = of_grades(
                words, scale, "words", lambda word: read_text(word, "word", LONGEST_NAME)
            )
            pressed = of_grades(keys, scale, "keys", read_key)
            changed = [
                Grade(old.value, meanings.get(old.value, old.word), pressed.get(old.value, old.key))
                for old in scale
            ]
            by_key: dict[str, float] = {}
            for grade in changed:
                other = by_key.setdefault(grade.key, grade.value)
                if other != grade.value:
                    raise InputError("key", "a key that no other grade has", shown(grade.key))
            keep_setting(transaction, "scale", scale_text(changed))

    def _change(self, changes: Mapping[str, str]) -> dict[str, str]:
        """Change settings, and return their former values."""
        with self._store.writing() as transaction:
            before = settings_in(transaction)
            settings = {**before, **changes}
            refuse_unknown_pair(transaction, settings)
            for name, value in changes.items():
                keep_setting(transaction, name, value)
            _spread_overlap(transaction, settings)
            assessor_acts.count_grades(transaction)
        return {name: before[name] for name in changes}

    def _together(self, functions: Sequence[Callable[[], object]]) -> list[object]:
        """Call functions that act, and record everything with one wait for the disk; return what each returned or raised."""
        return self._store.together(functions)

    def close(self) -> None:
        """Close the database. Every confirmed action is saved."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── people ───────────────────────────────────────────────────────────────────────────

    def invite(self, name: str, role: str = "assessor") -> str:
        """Invite a person, and return the secret of their link. The study stores only its hash. A new link replaces the old.

        Args:
            name: the name of the person, which is stored with their grades.
            role: assessor or lead.
        """
        called = _read_name(name)
        arguments.choice(role, "role", ROLES)
        if called == _EARLIER:
            raise InputError(
                "name", "another name: this one is reserved for existing judgments", shown(name)
            )
        token = secrets.token_urlsafe(32)
        with self._store.writing() as transaction:
            row = transaction.one("SELECT role FROM assessor WHERE name = ?", called)
            if row is not None and row[0] in IMPORTED:
                raise InputError("name", "a name without imported grades", shown(called))
            add_person(transaction, called, role, self._now())
            transaction.run(
                "UPDATE assessor SET role = ?, token_hash = ?, revoked = NULL WHERE name = ?",
                role, _hash(token), called,
            )  # fmt: skip
        return token

    def _who(self, token: str) -> Person | None:
        """Return whose secret this is, or None if it is unknown or was revoked."""
        if not isinstance(token, str) or not 20 <= len(token) <= 200:
            return None
        row = self._store.one(
            "SELECT name, role FROM assessor WHERE token_hash = ? AND revoked IS NULL", _hash(token)
        )
        return None if row is None else Person(row[0], row[1])

    def _page_for(self, name: str) -> str:
        """Return the secret of a new offline page for an assessor, and store its hash."""
        proof = secrets.token_urlsafe(32)
        with self._store.writing() as transaction:
            keep_setting(transaction, f"page {_hash(proof)}", name)
        return proof

    def _page_of(self, proof: str) -> str | None:
        """Return the assessor whose offline page has this secret, or None."""
        return self._settings().get(f"page {_hash(proof)}")

    def revoke(self, name: str) -> None:
        """Revoke a person's link. Their grades stay, and their reserved documents become available."""
        with self._store.writing() as transaction:
            person = assessor_acts.person(transaction, name)
            transaction.run(
                "UPDATE assessor SET revoked = ?, token_hash = NULL WHERE name = ?",
                self._now(), person.name,
            )  # fmt: skip
            transaction.run("DELETE FROM lease WHERE assessor = ?", person.name)

    @property
    def people(self) -> list[Person]:
        """Everybody who was invited, and the owners of imported grades."""
        with self._store.reading() as transaction:
            rows = transaction.all("SELECT name, role, revoked FROM assessor ORDER BY name")
        return [Person(name, role, revoked is not None) for name, role, revoked in rows]

    # ── judging ──────────────────────────────────────────────────────────────────────────

    def assessor(self, name: str) -> Assessor:
        """Return the actions of an assessor: next, grade, cannot, later, note, undo.

        Args:
            name: the name in the invitation.
        """
        return Assessor(
            arguments.text(name, "name"),
            self._store,
            lambda: self._now(),
            self._lease,
            lambda: self._grades,
        )

    def _counts_by_query(self, name: str, queries: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the progress of an assessor in some queries, for their page."""
        with self._store.reading() as transaction:
            return assessor_acts.counts_by_query(transaction, name, queries)

    def _why_nothing_to_judge(self, name: str) -> str:
        """Return the reason why an assessor is given no document."""
        with self._store.reading() as transaction:
            return assessor_acts.why_nothing_to_judge(transaction, name)

    def lead(self, name: str) -> Lead:
        """Return the actions of a lead: adjudicate, unsettle, stale, reset.

        Args:
            name: the name in the invitation as a lead.
        """
        return Lead(
            arguments.text(name, "name"),
            self._store,
            lambda: self._now(),
            self._lease,
            lambda: self._grades,
        )

    @cached_property
    def _grades(self) -> Scale:
        """The grades, whose numbers never change; their labels and keys may."""
        return scale_in(self._settings())

    # ── results ──────────────────────────────────────────────────────────────────

    def grades(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return the grades as they are now, `{query: {doc: {assessor: grade}}}`; without the practice set."""
        with self._store.reading() as transaction:
            return grades_in(transaction)

    def judgments(self, rule: str = "mean") -> "gf.results.MergedJudgments":
        """Return one grade for each document, merged as `merge_judgments` does.

        The rules are mean, median, majority, max, min, dawid-skene, or the name of an assessor. A settled grade
        replaces all others. A model's grades don't count, unless the rule is its name.
        """
        arguments.text(rule, "rule", "the name of a rule, or of an assessor")
        with self._store.reading() as transaction:
            grades, settled = grades_in(transaction), settled_in(transaction)
            models = models_in(transaction)
        return merged_grades(grades, settled, models, rule)

    def standing(
        self,
        measures: "gf.Measure | str | Sequence[gf.Measure | str] | None" = None,
        *,
        baseline: str | None = None,
        rule: str = "mean",
    ) -> Standing:
        """Return the results so far: each run's score with its bounds, and the verdicts.

        The values equal the results of `bounds` and `compare` for the file that `export` writes. Queries without a
        grade do not count yet.

        Args:
            measures: one or several measures that have bounds; the measure of the study if None.
            baseline: the run that the others are compared with; the first of the two compared runs if None.
            rule: the rule for merging grades.
        """
        settings = self._settings()
        if baseline is None:
            baseline = next(iter(json.loads(settings["compare"])), None)
        names = self._measures(measures, settings)
        scale = scale_in(settings)
        with without_warnings():  # of judgments that are not complete yet
            return stand(
                self._judged(rule),
                self.runs,
                names,
                (scale[0].value, scale[-1].value),
                len(self.progress().queries),
                baseline=baseline,
                depth=int(settings["depth"]),
            )

    def _measures(self, measures: object, settings: Mapping[str, str]) -> list[str]:
        """Read measures, and reject any that need deeper ranks than the study stores."""
        asked_for = settings["measure"] if measures is None else measures
        if isinstance(asked_for, gf.Measure):
            asked_for = [asked_for]
        listed = [
            gf.measure(str(item) if isinstance(item, gf.Measure) else item)
            for item in arguments.listed(asked_for, "measures", "one measure or several")
        ]
        cut = settings.get("cut_at")
        for measure in listed:
            if cut is not None and (measure.cutoff is None or measure.cutoff > int(cut)):
                raise InputError(
                    "measures",
                    f"a cutoff of at most {cut}, the depth to which the study stores runs",
                    f"'{measure}'",
                    "Export the grades, and evaluate the runs themselves.",
                )
        if not listed:
            raise InputError("measures", "one measure or several", shown(measures))
        return [*dict.fromkeys(map(str, listed))]

    def agreement(self, *, rule: str = "mean", resamples: int = 2000) -> "gf.results.Agreement":
        """Return how far the assessors agree, and how disagreement affects conclusions about runs, as in `agreement`.

        This requires documents with several grades: `overlap=2` or more, or imported grades.
        """
        settings = self._settings()
        runs = self.runs
        rows = grade_rows(self.grades())
        if len(runs) < 2:
            return gf.judging.agreement(rows, resamples=resamples)
        return gf.judging.agreement(
            rows,
            resamples=resamples,
            runs=runs,
            measures=self._measures(None, settings),
            rule=rule,
        )

    def disputed(self, *, rule: str = "mean", names: str = "shown") -> list[Dispute]:
        """Return the documents that people disagree about and nobody has settled, starting with those that affect verdicts.

        Args:
            rule: the rule for merging grades, for the verdicts.
            names: `shown`, or `hidden`: grades are then numbered from the lowest.
        """
        arguments.choice(names, "names", ("shown", "hidden"))
        with self._store.reading() as transaction:
            settings = settings_in(transaction)
            models = models_in(transaction)
            settled = settled_in(transaction)
            grades = {
                query: {
                    doc: {name: grade for name, grade in people.items() if name not in models}
                    for doc, people in docs.items()
                    if not models.issuperset(people)
                }
                for query, docs in grades_in(transaction).items()
            }
            items = {
                (query, doc): item
                for item, query, doc in transaction.all(
                    "SELECT id, query, doc FROM item WHERE practice = 0"
                )
                if (query, doc) not in settled
            }
        grades = {query: docs for query, docs in grades.items() if docs}
        [measure] = self._measures(None, settings)
        with without_warnings():
            return disputes(grades, items, self.runs, measure, rule, hide=names == "hidden")

    def _settled(self) -> list[dict[str, object]]:
        """Return the documents that are settled, the last one first, for the lead's page."""
        names = ("item", "query", "query_text", "doc", "title", "grade")
        with self._store.reading() as transaction:
            rows = transaction.all(
                "SELECT item.id, item.query, query.text, item.doc, doc.title, state.grade FROM state JOIN item ON item.id = state.item"
                " JOIN query ON query.id = item.query JOIN doc ON doc.id = item.doc"
                " WHERE state.kind = 'grade' AND practice = 0 AND owner = ? ORDER BY state.event DESC",
                ADJUDICATED,
            )
        return [dict(zip(names, row, strict=True)) for row in rows]

    @property
    def practice_set(self) -> list[PracticeDocument]:
        """The documents with known answers, in the order in which everybody is given them."""
        with self._store.reading() as transaction:
            rows = transaction.all(
                "SELECT item.id, item.query, query.text, query.description, item.doc, doc.title, doc.text, doc.fields, item.answer,"
                " COALESCE(item.feedback, '') FROM item JOIN query ON query.id = item.query JOIN doc ON doc.id = item.doc"
                " WHERE item.practice = 1 ORDER BY item.place"
            )
        return [PracticeDocument(*[*row[:7], json.loads(row[7]), *row[8:]]) for row in rows]

    def practice(
        self,
        answers: Judgments,
        *,
        queries: TableLike | None = None,
        docs: TableLike | None = None,
        feedback: Mapping[str, Mapping[str, str]] | None = None,
    ) -> int:
        """Give everybody documents with known answers first, with feedback; return the size of the practice set.

        Practice grades count nowhere else.

        Args:
            answers: the right grades, as judgments of any kind.
            queries: the text of queries that aren't in the study.
            docs: the text of documents that aren't in the study.
            feedback: the comment shown after each, `{query: {doc: text}}`.
        """
        right = read_judgments(answers, scale_in(self._settings()), "answers")
        comments = _read_feedback(feedback, right)
        with self._store.reading() as transaction:
            named = pairs_in(transaction, "SELECT id, 1 FROM query WHERE text <> ''")
            read = pairs_in(
                transaction,
                "SELECT id, 1 FROM doc WHERE title <> '' OR text <> '' OR fields <> '{}'",
            )
        texts = _more_texts(read_queries, queries, {q for q, _ in right} - named.keys(), "queries")
        contents = _more_texts(read_docs, docs, {d for _, d in right} - read.keys(), "docs")
        with self._store.writing() as transaction:
            scale = scale_in(settings_in(transaction))
            for grade in right.values():
                on_scale(grade, scale)
            add_texts(transaction, "query", plain_texts(texts))
            add_texts(transaction, "doc", plain_texts(contents))
            row = transaction.one("SELECT COALESCE(MAX(id), 0) FROM item")
            number = 0 if row is None else int(row[0])
            transaction.many(
                "INSERT INTO item (id, query, doc, practice, answer, feedback, place, grades, is_open)"
                " VALUES (?, ?, ?, 1, ?, ?, ?, 0, 0) ON CONFLICT (query, doc, practice)"
                " DO UPDATE SET answer = excluded.answer, feedback = excluded.feedback",
                [
                    (number + place, *pair, grade, comments.get(pair, ""), number + place)
                    for place, (pair, grade) in enumerate(right.items(), start=1)
                ],
            )
            row = transaction.one("SELECT COUNT(*) FROM item WHERE practice = 1")
        return 0 if row is None else int(row[0])

    def design(self) -> "gf.results.SampleDesign":
        """Return the sampling design of a study in random order: the documents that could be drawn, and the graded ones.

        The documents of a query are judged in random order, so the graded ones are a random sample as long as they are the
        first ones. In any other order, they aren't a sample, and intervals based on one are invalid.

        A document that somebody postponed or couldn't judge, and that nobody has graded since, was drawn but is missing. The
        graded documents of its query then represent it, which is valid only if they are similar. The grades can't show
        whether they are, so there is a warning. An untouched document before a graded one raises an error: either somebody
        is still judging it, or somebody chose which documents to judge.
        """
        design, missing = self._design()
        if missing:
            warn(missing)
        return design

    def _design(self) -> tuple["gf.results.SampleDesign", str]:
        """Return the design, and a warning about documents missing from it, or an empty text."""
        with self._store.reading() as transaction:
            settings = settings_in(transaction)
            rows = transaction.all(
                "SELECT query, doc, CASE WHEN grades > 0 OR EXISTS (SELECT 1 FROM state WHERE state.item = item.id"
                " AND state.owner = ?) THEN 1 ELSE 0 END, CASE WHEN EXISTS (SELECT 1 FROM state WHERE state.item = item.id"
                " AND state.kind IN ('later', 'cannot')) THEN 1 ELSE 0 END FROM item"
                " WHERE best_rank IS NOT NULL AND practice = 0 ORDER BY query, place",
                ADJUDICATED,
            )
        if settings["order"] != "random":
            raise InputError(
                "design",
                "a study in random order",
                f"order {settings['order']!r}, which isn't random",
                "Create it with order='random'.",
            )
        by_query: dict[str, list[DrawnDocument]] = {}
        for query, doc, graded, passed in rows:
            by_query.setdefault(query, []).append(DrawnDocument(doc, bool(graded), bool(passed)))
        return design_of(by_query, int(settings["seed"]), int(settings["depth"]))

    def _document(self, item: int) -> Document:
        """Return the text of a document, and of the query that it is judged for."""
        with self._store.reading() as transaction:
            row = transaction.one(
                "SELECT item.id, item.query, query.text, query.description, item.doc, doc.title, doc.text, doc.fields FROM item"
                " JOIN query ON query.id = item.query JOIN doc ON doc.id = item.doc WHERE item.id = ?",
                read_item(item),
            )
        if row is None:
            raise InputError("item", "the number of a document of this study", shown(item))
        return Document(*[*row[:7], json.loads(row[7])])

    def record(self) -> Iterator[Event]:
        """Yield all events in order: who, when, before, after, duration, position, and version of the guideline."""
        last = 0
        while True:
            with self._store.reading() as transaction:
                page = assessor_acts.events(transaction, last, _PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            last = page[-1].id

    def progress(self) -> Progress:
        """Return the progress of the study, by query and by assessor."""
        with self._store.reading() as transaction:
            return progress_of(transaction)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the usual name of this argument
        by: str = "merged",
        rule: str = "mean",
    ) -> None:
        """Write the grades or the record to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` is standard output.
            format: as for `write_judgments`; if None, it follows from the name.
            by: `merged`, one grade for each document, with its assessors if the format has room for them.
                `assessor`, a table of all grades with query, doc, assessor, grade and more. Or `record`, a table of
                all events.
            rule: the rule for merging grades.
        """
        arguments.choice(by, "by", ("merged", "assessor", "record"))
        if by == "merged":
            self.judgments(rule).write(path, format=format)
            return
        if by == "record":
            write_table(record_table(self.record()), path, format=format)
            return
        with self._store.reading() as transaction:
            table = grade_table(transaction)
        write_table(table, path, format=format)

    def import_grades(
        self,
        judgments: Judgments,
        *,
        assessor: str,
        role: str = "judgments",
        replace: bool = False,
    ) -> int:
        """Record imported grades as one more assessor, and return how many are new or changed.

        `reset(assessor=…)` revokes them.

        Args:
            judgments: judgments of any kind that `evaluate` accepts. Documents missing from the study are added.
            assessor: the name under which they are imported.
            role: `judgments` by people, which count as grades; or `model`, whose grades don't count.
            replace: whether to revoke earlier grades under this name that are not among these; otherwise they stay.
        """
        anew = arguments.truth(replace, "replace")
        name = _read_name(assessor)
        arguments.choice(role, "role", IMPORTED)
        if name == LEAD or (name == _EARLIER and role == "model"):
            use = "the lead" if name == LEAD else "existing judgments"
            raise InputError(
                "assessor", f"another name: this one is reserved for {use}", shown(assessor)
            )
        grades = read_judgments(judgments, scale_in(self._settings()))
        return self._import(grades, name, role, replace=anew)

    def _import(
        self,
        grades: Mapping[tuple[str, str], float],
        name: str,
        role: str,
        *,
        replace: bool = False,
    ) -> int:
        with self._store.writing() as transaction:
            scale = scale_in(settings_in(transaction))
            refuse_off_scale(grades, scale, "judgments")
            row = transaction.one("SELECT role FROM assessor WHERE name = ?", name)
            if row is not None and row[0] != role:
                actual = f"{name!r}, which has the role {row[0]}"
                raise InputError("assessor", f"a name for {role}", actual)
            add_person(transaction, name, role, self._now())
            for table, place in (("query", 0), ("doc", 1)):
                add_texts(transaction, table, {pair[place]: ("", "") for pair in grades}, keep=True)
            add_items(transaction, dict.fromkeys(grades), {}, judged=False)
            numbers = {
                (query, doc): item
                for item, query, doc in transaction.all(
                    "SELECT id, query, doc FROM item WHERE practice = 0"
                )
            }
            by_item: dict[int, float | None] = {}
            if replace:
                by_item |= dict.fromkeys(assessor_acts.graded_by(transaction, name))
            by_item |= {numbers[pair]: grade for pair, grade in grades.items()}
            return assessor_acts.imported(transaction, name, by_item, self._now(), uuid.uuid4().hex)

    def _reorder(self, *, least: int = 20) -> bool:
        """Sort the documents again, and return whether that was done.

        The orders by effect and by verdict change with every grade. By effect, documents are
        sorted by how far their grade could move the measure, as computed by `next_to_judge`. By
        verdict, they are sorted by how far it could move the difference between two runs, and
        documents whose grade alone could reverse its sign come first. Queries without grades are
        ordered by the best ranks. The desk calls this in the background, so nobody waits.

        Args:
            least: do nothing unless there are at least this many new events since the last time.
        """
        fewest = arguments.whole(least, "least", least=0)
        with self._store.reading() as transaction:
            settings = settings_in(transaction)
            row = transaction.one("SELECT COALESCE(MAX(id), 0) FROM event")
            last = 0 if row is None else int(row[0])
            if last - int(settings.get("ordered_at", "0")) < fewest:
                return False
            rows = transaction.all(
                "SELECT id, query, doc, best_rank, place FROM item WHERE practice = 0"
            )
        places = {row[0]: row[4] for row in rows}
        items = [
            (item, query, doc, rank if rank is not None else MOST_DEPTH + 1)
            for item, query, doc, rank, _ in rows
        ]
        moved = [
            (place, item)
            for place, item in enumerate(self._order(items, settings), start=1)
            if place != places[item]
        ]
        # A sample depends on the random order, so all of it changes at once; by effect, it can
        # change in parts.
        several = _MOVED if settings["order"] in _BY_GRADES else max(len(moved), 1)
        for start in range(0, max(len(moved), 1), several):
            with self._store.writing() as transaction:
                transaction.many(
                    "UPDATE item SET place = ? WHERE id = ?", moved[start : start + several]
                )
                if start + several >= len(moved):
                    keep_setting(transaction, "ordered_at", str(last))
        return True

    def _order(
        self, items: Sequence[tuple[int, str, str, int]], settings: Mapping[str, str]
    ) -> list[int]:
        queries = in_order({query for _, query, _, _ in items})
        if settings["order"] == "random":
            rng = np.random.default_rng(int(settings["seed"]))
            # By id first, so that the same seed gives the same order.
            ordered = sorted(items, key=lambda item: (item[1], item[2]))
            drawn = rng.permutation(len(ordered)).tolist()
            places = dict(zip([item[0] for item in ordered], drawn, strict=True))
            shuffled = [queries[place] for place in rng.permutation(len(queries)).tolist()]
            of_query = {query: place for place, query in enumerate(shuffled)}
            return [
                item[0]
                for item in sorted(items, key=lambda item: (of_query[item[1]], places[item[0]]))
            ]
        effect = self._effects(settings) if settings["order"] in _BY_GRADES else {}
        most: dict[str, tuple[int, float]] = {}
        for (query, _), much in effect.items():
            most[query] = min(much, most.get(query, _NO_EFFECT))
        place_of = {query: place for place, query in enumerate(queries)}
        return [
            item[0]
            for item in sorted(
                items,
                key=lambda item: (
                    most.get(item[1], _NO_EFFECT),
                    place_of[item[1]],
                    effect.get((item[1], item[2]), _NO_EFFECT),
                    item[3],
                    item[2],
                ),
            )
        ]

    def _effects(self, settings: Mapping[str, str]) -> dict[tuple[str, str], tuple[int, float]]:
        """Return the sort key of a document, the lowest first: −1 if it alone can reverse a difference, then minus its width."""
        judged = self._judged("mean")
        if not judged:
            return {}
        grades = [grade.value for grade in scale_in(settings)]
        runs = self.runs
        compare = None
        if settings["order"] == "verdict":
            first, second = json.loads(settings["compare"]) or [*runs][:2]
            compare = (first, second)
        with without_warnings():  # of judgments that are not complete yet
            pool = gf.judging.next_to_judge(
                judged,
                runs,
                settings["measure"],
                budget=None,
                grades=grades,
                compare=compare,
                depth=int(settings["depth"]),
            )
        with self._store.reading() as transaction:
            widths = click_widths_in(transaction)
        priorities = {(row.query, row.doc): row.priority or 0.0 for row in pool}
        priorities = weighted_by_clicks(priorities, widths)
        flips = {(row.query, row.doc): bool(row.flips) for row in pool}
        return {pair: (-flips[pair], -priority) for pair, priority in priorities.items()}

    def _judged(self, rule: str) -> dict[str, dict[str, float]]:
        """Return the merged grades as a dict; empty without grades."""
        try:
            return {query: dict(docs) for query, docs in self.judgments(rule).items()}
        except NoGradesError:
            return {}


# ── input of a study ───────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Brought:
    """The inputs of `create`, read and checked before anything is written."""

    settings: dict[str, str]
    scale: Scale
    ranked: Mapping[str, Sequence[Ranked]]
    cut_at: int | None
    earlier: Mapping[tuple[str, str], float]
    pooled: Mapping[tuple[str, str], int | None]
    pairs: Mapping[tuple[str, str], int | None]
    queries: Mapping[str, tuple[str, ...]]
    docs: Mapping[str, tuple[str, ...]]


def _gather(
    runs: Mapping[str, Run],
    queries: object,
    docs: object,
    judgments: Judgments | None,
    scale: Scale | None,
    changes: Mapping[str, str],
    *,
    kept_settings: Mapping[str, str],
    there: set[tuple[str, str]],
    name: str,
) -> _Brought:
    settings = {**DEFAULTS, **kept_settings, **changes}
    if "scale" in kept_settings and scale is not None:
        refuse_other_scale(scale, scale_in(kept_settings), name)
    chosen = scale or (scale_in(kept_settings) if "scale" in kept_settings else read_scale("0..3"))
    kept = max(int(settings["depth"]), _KEPT_DEPTH)
    read = {run: read_run(rows, run, kept) for run, rows in runs.items()}
    ranked = {run: rows for run, (rows, _) in read.items()}
    earlier = {} if judgments is None else read_judgments(judgments, chosen)
    refuse_off_scale(earlier, chosen, "judgments")
    if "measure" in changes:
        rows = next(iter(ranked.values()))
        first = {row.doc: row.score for row in rows if row.query == rows[0].query}
        refuse_without_bounds(changes["measure"], chosen, {rows[0].query: first})
    if not kept_settings:
        refuse_pair_of([*ranked], settings)
    pooled = pool_of(ranked, int(settings["depth"]))
    # Documents with earlier judgments also belong to the study: they are merged and exported.
    pairs = {**pooled, **{pair: None for pair in earlier if pair not in pooled}}
    shown_pairs = [pair for pair in pairs if pair in pooled or pair in there]
    texts = read_queries(queries, {query for query, _ in shown_pairs})
    contents = read_docs(docs, {doc for _, doc in shown_pairs})
    longer = any(count > kept for _, count in read.values())
    return _Brought(
        settings, chosen, ranked, kept if longer else None, earlier, pooled, pairs,
        plain_texts(texts), plain_texts(contents),
    )  # fmt: skip


# ── settings ─────────────────────────────────────────────────────────────────────────────

_BY_GRADES = ("effect", "verdict")
"""The orders that change with every grade."""
_NO_EFFECT = (0, 0.0)


def _spread_overlap(transaction: Transaction, settings: Mapping[str, str]) -> None:
    overlap, seed = int(settings["overlap"]), int(settings["seed"])
    assessor_acts.spread_overlap(transaction, overlap, float(settings["overlap_share"]), seed)


# ── checks of input ─────────────────────────────────────────────────


def _read_name(value: object) -> str:
    name = read_text(value, "name", LONGEST_NAME).strip()
    if not name or not name.isprintable() or name.lower() == ADJUDICATED:
        raise InputError("name", "the name of an assessor", shown(value))
    if name.lower() in RULES:  # the name of an assessor is a rule, too
        expected = f"a name that isn't a rule for merging, such as {name + ' 2'!r}"
        raise InputError("name", expected, shown(value))
    return name


def _read_feedback(
    feedback: object, answers: Mapping[tuple[str, str], float]
) -> dict[tuple[str, str], str]:
    expected = "{query: {doc: text}}"
    if feedback is None:
        return {}
    texts = {}
    for query, docs in arguments.one_of_type(feedback, "feedback", dict, expected).items():
        for doc, text in arguments.one_of_type(docs, "feedback", dict, expected).items():
            if (query, doc) not in answers:
                raise InputError("feedback", "documents that have an answer", f"{query!r}, {doc!r}")
            texts[query, doc] = read_text(text, "feedback", LONGEST_NOTE)
    return texts


def _more_texts(
    read: Callable[[object, Iterable[str]], Mapping[str, object]],
    source: object,
    wanted: set[str],
    name: str,
) -> Mapping[str, object]:
    """Read the texts of new queries or documents."""
    if wanted and source is None:
        missing = examples(sorted(wanted))
        raise InputError(name, "texts of everything that isn't in the study", f"none for {missing}")
    return read(source, wanted) if wanted else {}


def _hash(token: str) -> str:
    # The secret has 256 random bits, so a single fast hash is enough.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


# ── former names ─────────────────────────────────────────────────────────────────────────


def _acting(role: str, act: str) -> Callable[[Study], Callable[..., object]]:
    """Return a former method that expected the name of an assessor or a lead as its first argument."""
    return lambda study: (
        lambda name, *values, **named: getattr(getattr(study, role)(name), act)(*values, **named)
    )


_INTERNAL = "internal to the desk"
_FORMER: dict[str, tuple[str, Callable[[Study], object]]] = {
    **{
        act: (f"Study.assessor(name).{act}", _acting("assessor", act))
        for act in ("next", "grade", "cannot", "later", "note", "undo")
    },
    **{
        act: (f"Study.lead(name).{act}", _acting("lead", act))
        for act in ("adjudicate", "unsettle", "reset")
    },
    "stale": ("Study.lead(name).stale", lambda study: study.lead(LEAD).stale),
    "set_guideline": (
        "Study.set(guideline=…)",
        lambda study: lambda text: study.set(guideline=text),
    ),
    "set_grades": ("Study.set(words=…, keys=…)", lambda study: study.set),
    "set_grade": (
        "Study.set(words=…, keys=…)",
        lambda study: (
            lambda value, *, word=None, key=None: study.set(
                words={} if word is None else {value: word},
                keys={} if key is None else {value: key},
            )
        ),
    ),
    "title": ("Study.settings['title']", lambda study: study.settings["title"]),
    "tags": ("Study.settings['tags']", lambda study: study.settings["tags"]),
    **{name: (_INTERNAL, methodcaller(f"_{name}")) for name in ("id", "events", "queries")},
    **{name: (_INTERNAL, attrgetter(f"_{name}")) for name in ("who", "document", "reorder")},
}
"""Former names: the current name of each, and the attribute."""
