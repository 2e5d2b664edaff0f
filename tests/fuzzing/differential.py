"""Every reader of the package beside the slow reference: the same content, or both refuse.

An input is made from a number alone, so that a difference can be looked at again.
"""

import random
import tempfile
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

import gainful as gf
from fuzzing import numbers, reference
from fuzzing.mutations import mutated
from fuzzing.seeds import ROWS, SEEDS
from gainful.matching.array_matching import LabelInput, PredictionInput
from gainful.matching.engine_rows import columns_of, documents_in
from gainful.matching.input import DictInput, TableInput
from gainful.matching.reader import Reader, open_input
from gainful.measures.policy import Policy
from gainful.rows.clean_text_files import read_clean_rows
from gainful.rows.duckdb_engine import Engine, EngineError, Session
from gainful.rows.grades_scores_or_ranks import JUDGMENTS, RUN
from gainful.rows.run_and_judgment_columns import read_columns
from gainful.rows.spark_frames import Parsing
from gainful.rows.text_formats import Fault, rows
from input_forms import as_dicts, trec
from same_matched import assert_same

KINDS = {"judgments": JUDGMENTS, "run": RUN}
OTHER = {"judgments": "run", "run": "judgments"}
POLICY = Policy()
MATCHINGS = (("file", None), ("dict", None), ("file", 2), ("dict", 2))
BATCH = 100  # inputs that a process tries at a time
A_SESSION = 400  # inputs before the engine is opened anew: its tables take room
LINES = (
    "plain.txt",
    "tabs.tsv",
    "clean.jsonl",
    "clean.csv",
    "clean.tsv",
)  # which matching reads by itself
MATCHED_EVERY = 48  # matching takes the engine several statements, so few inputs are matched
LINES_MATCHED_EVERY = 16
PUBLIC_EVERY = 97  # the public functions open an engine for each call, which takes long
NUMBERS_EVERY = 50
OPTIMISED_EVERY = 4  # batches; the engine's plans for a few rows take longer than the rows
PACKED = (b"\x1f\x8b", b"\x28\xb5")
REFUSED = "refused"


class Difference(NamedTuple):
    """An input on which a reader and the reference disagree."""

    number: int
    seed: object
    reader: str
    found: str

    def __str__(self):
        return f"{self.number}: {self.reader} on {self.seed.kind} {self.seed.name}: {self.found}"


def input_of(number, start):
    """Return the input of a number: a seed after some accidents."""
    rng = random.Random(f"{start}/{number}")  # noqa: S311
    return mutated(rng.choice(SEEDS), rng)


def expected_of(seed):
    """Return what the reference reads; REFUSED, or None where both are right."""
    try:
        return reference.read(seed.content, seed.name, seed.kind, seed.columns)
    except reference.RefusedError:
        return REFUSED
    except reference.UnsettledError:
        return None


def given(seed):
    """Return the columns of a seed as a caller names them, for its kind alone."""
    return {f"{seed.kind}.{role}": name for role, name in seed.columns}


def is_repeated(seed):
    """Return whether nothing is wrong but that documents stand twice.

    Matching does not look for those that cannot change a value: below a depth, or in queries
    without judgments.
    """
    try:
        reference.read(seed.content, seed.name, seed.kind, seed.columns)
    except reference.RepeatedError:
        return True
    except (reference.RefusedError, reference.UnsettledError):
        return False
    return False


class Readers:
    """The readers of the package, with one engine for many inputs, in a folder of its own."""

    def __init__(self, *, optimised=True):
        self._optimised = optimised
        self._folder = tempfile.TemporaryDirectory(prefix="fuzzing-")
        self.folder = Path(self._folder.name)
        self._session, self._uses = None, 0
        self._others = {}
        for kind, some in ROWS.items():
            path = self.folder / f"other-{kind}"
            clean = [row for row in some if " " not in row[1]]
            path.write_bytes(trec(clean, kind))
            self._others[kind] = {"dict": as_dicts(clean), "file": path}

    def close(self):
        self._close_session()
        self._folder.cleanup()

    def _close_session(self):
        if self._session is not None:
            with suppress(EngineError):  # after an error that ends a database
                self._session.execute("PRAGMA enable_optimizer")  # it may be used again
            self._session.__exit__(None, None, None)

    @property
    def session(self):
        if self._session is None or self._uses >= A_SESSION:
            self._close_session()
            self._session, self._uses = Session(Engine(threads=1)), 0
            if not self._optimised:
                self._session.execute("PRAGMA disable_optimizer")
        self._uses += 1
        return self._session

    def _leave_what_is_over(self):
        """Close a session whose database an input has ended, as a damaged Parquet file can."""
        try:
            self.session.rows("SELECT 1")
        except EngineError:
            self._close_session()
            self._session = None

    def differences(self, number, start):
        """Yield what the readers and the reference disagree on in one input."""
        seed = input_of(number, start)
        checks = [self.by_all_readers, self.by_rows_and_lines]
        if number % (LINES_MATCHED_EVERY if seed.name in LINES else MATCHED_EVERY) == 0:
            checks.append(self.by_matching)
        if number % PUBLIC_EVERY == 0:
            checks += [self.by_check, self.by_writing]
        yield from self._differences(number, seed, expected_of(seed), checks)
        if number % NUMBERS_EVERY == 0:
            for column, expected in numbers.seeds(number, start):
                checks = [self.by_all_readers, self.by_rows_and_lines, self.by_matching]
                yield from self._differences(number, column, expected, checks)

    def _differences(self, number, seed, expected, checks):
        path = self.folder / f"{number}-{seed.name}"
        path.write_bytes(seed.content)
        try:
            for check in checks:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", gf.errors.GainfulWarning)
                    said = _said(check, path, seed, expected)
                if said:
                    yield Difference(number, seed, check.__name__, said)
        finally:
            path.unlink()
            if seed.name.endswith(".parquet"):
                self._leave_what_is_over()

    def by_all_readers(self, path, seed, expected):
        """Read a file whole by whatever reader it gets, and then by each reader that it may get.

        A small clean text is read in Python, a larger one as arrays of bytes, all others by the engine;
        so each of the three reads what it takes, whatever the size.
        """
        session, kind = self.session, KINDS[seed.kind]
        try:
            opened = open_input(path, kind, read_columns(given(seed)), session)
            found = _content(opened)
        except gf.errors.GainfulError:
            return _unlike(REFUSED, expected)
        said = _unlike(found, expected)
        if said or not isinstance(opened, TableInput):
            return said
        for name, read in (
            ("engine", _by_engine),
            ("clean rows", _by_clean_rows),
            ("clean ids", _by_clean_ids),
        ):
            try:
                found = read(opened)
            except gf.errors.GainfulError:
                found = REFUSED
            if found is not None and (said := _unlike(_unsigned(found), _unsigned(expected))):
                return f"by {name}, {said}"
        return None

    def by_rows_and_lines(self, path, seed, expected):
        """Read row by row, as messages and the lint do, then a few lines at a time, as Spark does."""
        try:
            opened = open_input(path, KINDS[seed.kind], read_columns(given(seed)), self.session)
        except gf.errors.GainfulError:
            return _unlike(REFUSED, expected)
        source = _text_of(opened)
        if source is None:
            return None
        if opened.kind.ascending and expected == REFUSED:
            return None  # whether ranks repeat is not asked of single rows
        said = _unlike(_rows_content(source), expected)
        if said or seed.content[:2] in PACKED:
            return said
        found = _lines_content(seed, source)
        said = None if found is None else _unlike(_unsigned(found), _unsigned(expected))
        return f"by the lines of Spark, {said}" if said else None

    def by_matching(self, path, seed, expected):
        """Match with a file or a dict, whole or at a depth; a dict of the same content is the oracle."""
        if expected is None or isinstance(expected, list):
            return None
        form, depth = MATCHINGS[len(seed.content) % len(MATCHINGS)]
        other = self._others[OTHER[seed.kind]][form]
        found = self._matched(path, other, seed, depth)
        if expected == REFUSED:
            if found == REFUSED or (seed.kind == "run" and is_repeated(seed)):
                return None
            return f"matched with a {form} down to {depth}, although it is refused"
        right = self._matched(expected, other, seed, depth)
        if REFUSED not in (found, right):
            assert_same(found, right)
        elif found is not right:
            return f"{found!r} with a {form} down to {depth}, expected {right!r}"
        return None

    def _matched(self, one, other, seed, depth):
        judgments, run = (one, other) if seed.kind == "judgments" else (other, one)
        columns = read_columns(None if isinstance(one, dict) else given(seed))
        try:
            return Reader(judgments, POLICY, self.session, columns, None).match(run, depth)[0]
        except gf.errors.GainfulError:
            return REFUSED

    def by_check(self, path, seed, expected):
        """Lint a file: what cannot be read is never clean."""
        other = self._others[OTHER[seed.kind]]["file"]
        judgments, run = (path, other) if seed.kind == "judgments" else (other, path)
        try:
            clean = not gf.check(judgments, {"run": run}, columns=given(seed)).counts["error"]
        except gf.errors.GainfulError:
            clean = False
        return "clean, although it is refused" if clean and expected == REFUSED else None

    def by_writing(self, path, seed, expected):
        """Write a file anew as JSON lines, which the reference reads back."""
        if isinstance(expected, list) or expected is None:
            return None
        target = self.folder / "written.jsonl"
        write = gf.write_judgments if seed.kind == "judgments" else gf.write_run
        try:
            write(path, target, columns=given(seed))
        except gf.errors.GainfulError:
            return None if expected == REFUSED or "" in _ids(expected) else "refused to write it"
        found = reference.read(target.read_bytes(), target.name, seed.kind)
        return _unlike(found, expected if expected == REFUSED else _without_empty(expected))


def _said(check, path, seed, expected):
    try:
        return check(path, seed, expected)
    except Exception:  # noqa: BLE001 - whatever it is, it should not have come out
        return traceback.format_exc(limit=-4)


def _content(opened):
    """Return what was opened as the reference returns it."""
    if isinstance(opened, LabelInput):
        return list(zip(opened.labels.queries, opened.labels.labels.tolist(), strict=True))
    if isinstance(opened, PredictionInput):
        return opened.predictions.scores.tolist()
    documents = opened.documents(POLICY)
    if not isinstance(opened, DictInput):
        return documents
    queries, docs, numbers = columns_of(documents, opened.kind, POLICY)
    found = {query: {} for query in documents}
    for query, doc, number in zip(queries, docs, numbers.tolist(), strict=True):
        found[query][doc] = number
    return found


def _by_engine(opened):
    """Return what the engine reads, of a table that is small and clean, too."""
    if opened.small_documents is None:
        return None  # it has been read by the engine already
    with opened.session.scratch():
        return documents_in(opened.session, opened._ready, POLICY)


def _by_clean_rows(opened):
    """Return what the reader of clean texts reads as rows; None where it takes none."""
    source = opened.table_to_check()
    rows = read_clean_rows(source.file.path, source.layout) if opened._clean_file else None
    if rows is None:
        return None
    text, ends = rows.text.tobytes(), rows.docs + rows.lengths
    docs = [text[at:end] for at, end in zip(rows.docs.tolist(), ends.tolist(), strict=True)]
    return _by_queries(rows.queries, rows.starts, docs, rows.numbers)


def _by_clean_ids(opened):
    """Return what the reader of clean texts reads with whole ids; None where it takes none."""
    ids = opened.clean_ids()
    if ids is None:
        return None
    docs = [word.tobytes().rstrip(b"\0") for word in ids.docs.byteswap().T.copy()]
    return _by_queries(ids.queries, ids.starts, docs, ids.numbers)


def _by_queries(queries, starts, docs, numbers):
    found = {}
    for place, query in enumerate(queries):
        rows = range(int(starts[place]), int(starts[place + 1]))
        found[query.decode()] = {docs[row].decode(): float(numbers[row]) for row in rows}
        if len(found[query.decode()]) < len(rows):
            return REFUSED
    return found


def _text_of(opened):
    """Return the text of rows that was opened; None where it is something else."""
    if not isinstance(opened, TableInput):
        return None
    source = opened.table_to_check()
    return None if source.file is None else source


def _rows_content(source):
    found = {}
    for row in rows(source.file, source.layout, source.kind):
        if isinstance(row, Fault) or row.doc in found.setdefault(row.query, {}):
            return REFUSED
        found[row.query][row.doc] = row.number
    return found or REFUSED


def _lines_content(seed, source):
    """Return what lines hold; None where fields in quotes go over several, which Spark refuses."""
    lines = seed.content.split(b"\n")
    lines = lines[:-1] if not lines[-1] else lines
    few, pieces = 1 + len(seed.content) % 5, 1 + len(seed.content) % 3
    size = max(few, -(-len(lines) // pieces))  # each batch takes long, however little is in it
    batches = (
        pa.record_batch(
            {
                "line": pa.array(lines[place : place + size], pa.binary()),
                "start": pa.array([0] * len(lines[place : place + size]), pa.int64()),
            }
        )
        for place in range(0, len(lines), size)
    )
    found = {}
    for batch in Parsing(seed.name, source.layout, source.kind)(batches):
        for row in batch.to_pylist():
            if row["fault"] is not None:
                _file, _start, _line, expected, *_ = row["fault"].split("\0")
                joined = expected.startswith("a field in quotes that ends on")
                return None if joined else REFUSED
            if row["doc"] in found.setdefault(row["query"], {}):
                return REFUSED
            found[row["query"]][row["doc"]] = row["number"]
    return found or REFUSED


def _unsigned(found):
    """Return content with 0.0 for −0.0, which Spark does not keep; every matcher takes them for one."""
    if not isinstance(found, dict):
        return found
    return {
        query: {doc: number + 0.0 for doc, number in documents.items()}
        for query, documents in found.items()
    }


def _ids(found):
    return {text for query, documents in found.items() for text in (query, *documents)}


def _without_empty(found):
    return {query: documents for query, documents in found.items() if documents}


def _unlike(found, expected):
    """Say how what was read differs from what was expected."""
    if expected is None:
        return None
    if REFUSED in (found, expected) and isinstance(found, str) != isinstance(expected, str):
        return f"{_shown(found)}, expected {_shown(expected)}"
    if found == expected and repr(found) == repr(_in_order(expected, found)):
        return None
    return f"{_shown(found)}, expected {_shown(expected)}"


def _in_order(expected, found):
    """Return dicts in the order of others, so that their text can be compared: −0.0 is not 0.0."""
    if not isinstance(expected, dict):
        return expected
    return {query: {doc: expected[query][doc] for doc in found[query]} for query in found}


def _shown(found):
    text = repr(found)
    return text if len(text) <= 600 else text[:600] + "…"


def look(places, start, *, optimised=True):
    """Return the differences among the inputs of some numbers."""
    readers = Readers(optimised=optimised)
    try:
        return [found for number in places for found in readers.differences(number, start)]
    finally:
        readers.close()


def look_at_batch(start, first):
    """Return the differences in a batch of inputs."""
    optimised = first // BATCH % OPTIMISED_EVERY == 0
    return look(range(first, first + BATCH), start, optimised=optimised)
