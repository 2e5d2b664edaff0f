"""The settings of a study and its scale: read from the caller's input, checked, and stored as texts."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import gainful as gf
from gainful import arguments
from gainful.errors import InputError, StudyError, without_warnings
from gainful.judging.desk.assessor_acts import SHOWN
from gainful.judging.desk.store import Transaction
from gainful.judging.desk.study_database_rows import pairs_in
from gainful.judging.desk.study_inputs import Scale
from gainful.judging.desk.study_records import Grade
from gainful.message_texts import shown

ORDERS = ("effect", "verdict", "random", "rank")
"""The orders of documents: by how far a grade could move the measure, or the difference between two runs; random; by best rank."""
TAGS = ("off topic", "too general", "too short", "outdated", "duplicate", "other language")
"""The reasons that assessors may give with a grade, unless the lead sets others."""
LONGEST_NAME = 200
"""The maximum length of a name or a title, in characters."""
DOC_FORMATS = ("auto", "text", "markdown", "html")
"""How pages show the texts of documents; auto detects the format of each text."""
_HOST = re.compile(r"https?://(?:[a-z0-9-]+\.)*[a-z0-9-]+(?::[0-9]{1,5})?")
_MOST_HOSTS = 20
_DEPTH = 20  # ranks of each run to judge
MOST_DEPTH = 1000
"""The maximum number of ranks of each run that can be judged."""
_MOST_OVERLAP = 100
_LONGEST_TAG, _MOST_TAGS = 100, 20
DEFAULTS = {
    "title": "", "depth": str(_DEPTH), "order": "effect", "measure": "nDCG@10", "seed": "0", "overlap": "1",
    "overlap_share": "1.0", "compare": "[]", "show_ranks": "no",
    "doc_format": "auto", "image_hosts": "[]", "tags": json.dumps(TAGS),
}  # fmt: skip
_CLICK_WIDTHS = "click_widths"  # large, so only read for the order
FROM_TEXT: dict[str, Callable[[str], object]] = {
    "title": str,
    "depth": int,
    "order": str,
    "measure": str,
    "seed": int,
    "overlap": int,
    "overlap_share": float,
    "compare": lambda text: tuple(json.loads(text)),
    "show_ranks": lambda text: text == SHOWN,
    "doc_format": str,
    "image_hosts": lambda text: tuple(json.loads(text)),
    "tags": lambda text: tuple(json.loads(text)),
}


def read_settings(**settings: object) -> dict[str, str]:
    """Check settings from a caller, and return all that aren't None as text."""
    return {name: _TO_TEXT[name](value) for name, value in settings.items() if value is not None}


def refuse_without_bounds(
    measure: str, scale: Sequence[Grade], run: Mapping[str, Mapping[str, float]]
) -> None:
    """Reject a measure without bounds, which the order and the standing need while grades are missing."""
    low, high = scale[0].value, scale[-1].value
    query, docs = next(iter(run.items()))
    with without_warnings():
        gf.bounds({query: {next(iter(docs)): high}}, {query: docs}, measure, grades=(low, high))


def _read_title(value: object) -> str:
    title = read_text(value, "title", LONGEST_NAME)
    if not title.isprintable():
        raise InputError("title", "one line of text", shown(value))
    return title


def _read_pair(value: object) -> list[str]:
    expected = "the names of two runs"
    names = arguments.listed(value, "compare", expected)
    if names and (len({*map(str, names)}) != 2 or len(names) != 2):
        raise InputError("compare", expected, shown(value))
    return [arguments.text(name, "compare", expected) for name in names]


def refuse_unknown_pair(transaction: Transaction, settings: Mapping[str, str]) -> None:
    """Reject runs that the study doesn't contain, and the order by verdict if there is only one run."""
    refuse_pair_of(
        [name for (name,) in transaction.all("SELECT name FROM run ORDER BY place")], settings
    )


def refuse_pair_of(runs: Sequence[str], settings: Mapping[str, str]) -> None:
    """Reject names that aren't among the runs, and the order by verdict if there is only one run."""
    for name in json.loads(settings["compare"]):
        arguments.choice(name, "compare", runs, expected="the names of two runs of the study")
    if settings["order"] == "verdict" and len(runs) < 2:
        raise InputError("order", "two runs, for the order by their verdict", "one")


def _read_hosts(value: object) -> list[str]:
    """Read the servers of images. They become part of a header, so only plain addresses are accepted."""
    expected = "the addresses of servers, such as https://images.example.com"
    hosts = arguments.listed(value, "image_hosts", expected)
    if len(hosts) > _MOST_HOSTS:
        raise InputError("image_hosts", f"at most {_MOST_HOSTS} servers", str(len(hosts)))
    plain = [
        arguments.text(host, "image_hosts", expected).strip().rstrip("/").lower() for host in hosts
    ]
    for host in plain:
        if not _HOST.fullmatch(host):
            remedy = "Omit the path and any wildcard."
            raise InputError("image_hosts", expected, shown(host), remedy)
    return [*dict.fromkeys(plain)]


def _read_reasons(value: object) -> list[str]:
    """Read the reasons that the page offers, each once."""
    words = [tag.strip() for tag in read_tags(value)]
    if not all(words):
        raise InputError("tags", "words", "an empty one")
    return [*dict.fromkeys(words)]


def settings_in(transaction: Transaction) -> dict[str, str]:
    """Return all settings of a study as texts, including defaults, but not the widths from clicks."""
    # A study of an older version has fewer.
    sql = f"SELECT name, value FROM study WHERE name <> '{_CLICK_WIDTHS}'"
    return {**DEFAULTS, **pairs_in(transaction, sql)}


def keep_setting(transaction: Transaction, name: str, value: str) -> None:
    """Write a setting, replacing its former value."""
    transaction.run(
        "INSERT INTO study (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        name, value,
    )  # fmt: skip


def keep_click_widths(transaction: Transaction, widths: Mapping[tuple[str, str], float]) -> None:
    """Write the widths of the intervals of grades from clicks, for the documents of the study."""
    by_query: dict[str, dict[str, float]] = {}
    for query, doc in transaction.all("SELECT query, doc FROM item WHERE practice = 0"):
        if (query, doc) in widths:
            by_query.setdefault(query, {})[doc] = widths[query, doc]
    keep_setting(transaction, _CLICK_WIDTHS, json.dumps(by_query))


def click_widths_in(transaction: Transaction) -> dict[tuple[str, str], float]:
    """Return the widths that were written; empty without clicks."""
    row = transaction.one(f"SELECT value FROM study WHERE name = '{_CLICK_WIDTHS}'")
    by_query = {} if row is None else json.loads(row[0])
    return {(query, doc): width for query, docs in by_query.items() for doc, width in docs.items()}


def scale_text(scale: Iterable[Grade]) -> str:
    """Return a scale as it is stored."""
    return json.dumps([asdict(grade) for grade in scale], ensure_ascii=False)


def scale_in(settings: Mapping[str, str]) -> Scale:
    """Return the scale among settings."""
    return tuple(Grade(**grade) for grade in json.loads(settings["scale"]))


def on_scale(value: object, scale: Sequence[Grade]) -> float:
    """Return a grade as a number; reject one that isn't on the scale."""
    grades = [own.value for own in scale]
    grade = arguments.as_float(value)
    if grade not in grades:
        listed = ", ".join(f"{own:g}" for own in grades)
        raise InputError("grade", f"one of {listed}", shown(value))
    return grade


def of_grades(
    by_grade: object, scale: Sequence[Grade], name: str, read: Callable[[object], str]
) -> dict[float, str]:
    """Read labels or keys of the grades of the scale."""
    texts = {} if by_grade is None else arguments.one_of_type(by_grade, name, dict, "{grade: text}")
    return {on_scale(value, scale): read(text) for value, text in texts.items()}


def read_key(value: object) -> str:
    """Read a keyboard shortcut: one visible character."""
    if not isinstance(value, str) or len(value) != 1 or not value.isprintable() or value.isspace():
        raise InputError("key", "one character", shown(value))
    return value


def refuse_off_scale(
    grades: Mapping[tuple[str, str], float], scale: Sequence[Grade], name: str
) -> None:
    """Reject grades outside a scale, with the location of the first."""
    values = {each.value for each in scale}
    low, high = min(values), max(values)
    for (query, doc), grade in grades.items():
        if not low <= grade <= high:
            raise InputError(
                f"{name}, query {query!r}, document {doc!r}",
                f"a grade from {low:g} to {high:g}, the ends of the scale",
                f"{grade:g}",
                f"The grades range from {min(grades.values()):g} to {max(grades.values()):g}: set the scale.",
            )


def refuse_other_scale(other: Scale, there: Scale, name: str) -> None:
    """Reject a scale that differs from the study's."""
    if [grade.value for grade in other] != [grade.value for grade in there]:
        scales = [", ".join(f"{grade.value:g}" for grade in scale) for scale in (there, other)]
        raise StudyError(
            name,
            f"the scale of this study, {scales[0]}",
            scales[1],
            "Use another database for another scale.",
        )


def read_text(value: object, name: str, longest: int) -> str:
    """Read a text that isn't too long and that a database can store."""
    text = arguments.text(value, name)
    if len(text) > longest:
        raise InputError(name, f"at most {longest:,} characters", f"{len(text):,}")
    if "\0" in text:
        raise InputError(name, "text without the character NUL", shown(text))
    return text


def read_tags(value: object) -> tuple[str, ...]:
    """Read reasons, each of a few words."""
    tags = arguments.listed(value, "tags", "a list of words")
    if len(tags) > _MOST_TAGS:
        raise InputError("tags", f"at most {_MOST_TAGS}", str(len(tags)))
    return tuple(read_text(tag, "tags", _LONGEST_TAG) for tag in tags)


def _whole(name: str, least: int, most: int) -> Callable[[object], str]:
    return lambda value: str(arguments.whole(value, name, least=least, most=most))


def _read_share(value: object) -> str:
    expected = "a share from 0 to 1"
    share = arguments.number(value, "overlap_share", expected, lambda number: 0 <= number <= 1)
    return repr(share)


_TO_TEXT: dict[str, Callable[[Any], str]] = {
    "title": _read_title,
    "depth": _whole("depth", 1, MOST_DEPTH),
    "order": lambda value: arguments.choice(value, "order", ORDERS),
    "measure": lambda value: str(gf.measure(value)),
    "seed": _whole("seed", 0, arguments.LARGEST_SEED),
    "overlap": _whole("overlap", 1, _MOST_OVERLAP),
    "overlap_share": _read_share,
    "compare": lambda value: json.dumps(_read_pair(value), ensure_ascii=False),
    "show_ranks": lambda value: SHOWN if arguments.truth(value, "show_ranks") else "no",
    "doc_format": lambda value: arguments.choice(value, "doc_format", DOC_FORMATS),
    "image_hosts": lambda value: json.dumps(_read_hosts(value)),
    "tags": lambda value: json.dumps(_read_reasons(value), ensure_ascii=False),
}
