"""What the lead's page asks of a study: settings, words of grades, a practice set, grades from elsewhere, and taking grades back.

A file comes within the JSON, as base64, and is read by the same readers as a file of the command line. It is kept
under a name of our own while it is read, and messages call it as the lead does.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gainful as gf
from gainful.desk.study_inputs import read_feedback
from gainful.desk.study_settings import ORDERS
from gainful.errors import InputError, without_warnings
from gainful.inputs.temporary_files import temporary_folder
from gainful.message_texts import counted, shown

LARGEST_FILE = 20_000_000
"""Bytes of the files in one request."""
MEASURES = ("nDCG@10", "nDCG@5", "nDCG@20", "DCG@10", "CG@10", "P@5", "P@10", "AP@20", "ERR@10")
"""Those that the page suggests; any that has bounds does."""
_TITLE, _NAME, _WORD, _ID = 200, 100, 100, 10_000  # characters
_ENDING = re.compile(r"(\.[A-Za-z0-9]{1,10}){1,2}$")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
_KEY = 100


def settings(study: Any) -> dict[str, Any]:
    """Return what the lead can set, and how it is now."""
    practice = study.practice_set
    return {
        **study.settings,
        "scale": study.scale,
        "guideline": study.guideline.version,
        "orders": ORDERS,
        "runs": study._run_names(),  # noqa: SLF001 - without all their documents
        "measures": MEASURES,
        "practice": [
            {
                "query": each.query,
                "query_text": each.query_text,
                "doc": each.doc,
                "title": each.title,
                "answer": each.answer,
                "feedback": each.feedback,
                "has_text": bool(each.text),
            }
            for each in practice[:200]
        ],
        "practice_count": len(practice),
        "largest_file": LARGEST_FILE,
    }


def change_settings(study: Any, _: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Set what `settings` returns, but for what a study keeps as it is; what is not given stays."""
    known: dict[str, Any] = {}
    for name, most in (("title", _TITLE), ("order", 20), ("measure", 200)):
        if given.get(name) is not None:
            known[name] = _text(given, name, most, empty=name == "title")
    if given.get("overlap") is not None:
        known["overlap"] = _whole(given, "overlap")
    if given.get("overlap_share") is not None:
        known["overlap_share"] = _share(given, "overlap_share")
    if given.get("show_ranks") is not None:
        if not isinstance(given["show_ranks"], bool):
            raise InputError("show_ranks", "yes or no (show_ranks)", _found(given["show_ranks"]))
        known["show_ranks"] = given["show_ranks"]
    for name in ("compare", "tags"):
        if given.get(name) is not None:
            known[name] = _texts(given, name)
    study.set(**known)
    return settings(study)


def change_grades(study: Any, _: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Set the words and keys of grades."""
    rows = given.get("grades")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("grades", "a list of grades, each with its word and its key", "another")
    words, keys = {}, {}
    for row in rows:
        value = row.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float) or value in words:
            raise InputError("grades", "each grade of the scale once", shown(value))
        words[value] = _text(row, "word", _WORD, empty=True)
        keys[value] = _text(row, "key", 10)
    study.set_grades(words=words, keys=keys)
    return settings(study)


def practise(study: Any, _: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Set the documents with known answers up, from files."""
    with _files(given, ("answers", "queries", "docs")) as files:
        if "answers" not in files:
            raise InputError("answers", "a file of the right grades", "none")
        with without_warnings():  # of texts that are missing, which the page shows
            count = study.practice(
                files["answers"],
                queries=files.get("queries"),
                docs=files.get("docs"),
                feedback=read_feedback(files["answers"]),
            )
    return {"count": count, **settings(study)}


def bring_in(study: Any, _: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Record the grades of a file as those of one more assessor."""
    name = _text(given, "name", _NAME)
    role = given.get("role")
    if role not in ("judgments", "model"):
        raise InputError("role", "judgments or model", shown(role))
    with _files(given, ("grades",)) as files:
        if "grades" not in files:
            raise InputError("grades", "a file of grades", "none")
        with without_warnings():
            count = study.import_grades(files["grades"], assessor=name, role=role, replace=True)
    return {"name": name, "role": role, "count": count}


def take_back(study: Any, lead: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Take stale grades back, after the lead has confirmed how many; without a number, say how many there are."""
    asked: dict[str, Any] = {
        name: _text(given, name, _ID) for name in ("assessor", "query") if given.get(name)
    }
    if given.get("before_guideline") is not None:
        asked["before_guideline"] = _whole(given, "before_guideline")
    found = study.stale(**asked)
    count = sum(found.values())
    if given.get("count") is None:
        return {"count": count, "kinds": found, "done": False}
    key = _text(given, "key", _KEY)
    if _whole(given, "count") != count:
        raise InputError(
            "count",
            f"{counted(count, 'answer')}, as many as there are now",
            f"{given['count']} that you have confirmed",
            "Look at the number again.",
        )
    return {"count": study.reset(lead, key=key, **asked), "kinds": found, "done": True}


@contextmanager
def _files(given: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[dict[str, Path]]:
    """Keep the files of a request for as long as they are read."""
    folder = temporary_folder(None)
    called: dict[str, str] = {}
    try:
        found: dict[str, Path] = {}
        for name in names:
            if given.get(name) is not None:
                title, content = _file(given[name], name)
                ending = _ENDING.search(title)
                found[name] = folder.path / f"{name}{ending[0] if ending else ''}"
                found[name].write_bytes(content)
                called[str(found[name])] = title
        yield found
    except gf.errors.GainfulError as problem:
        raise _told(problem, called, str(folder.path)) from None
    finally:
        folder.remove()


def _file(given: Any, name: str) -> tuple[str, bytes]:
    title = given.get("name") if isinstance(given, Mapping) else None
    content = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(title, str) or not isinstance(content, str) or len(title) > 300:
        raise InputError(name, "a file: its name, and its content as base64", "something else")
    try:
        found = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(name, "content as base64", "something else") from None
    if len(found) > LARGEST_FILE:
        raise InputError(name, f"at most {LARGEST_FILE:,} bytes", f"{len(found):,}")
    if found.startswith(_PACKED):  # a small one may hold any amount
        raise InputError(title, "a file that is not packed", "a packed one", "Unpack it first.")
    return Path(title.replace("\\", "/")).name or name, found


def _told(
    problem: gf.errors.GainfulError, called: Mapping[str, str], folder: str
) -> gf.errors.GainfulError:
    """Return a problem that calls a file as the lead does, and says where in it something is wrong."""

    def plain(text: str) -> str:
        for path, title in called.items():
            text = text.replace(path, title)
        return text.replace(folder, "").strip("/")

    where = plain(problem.where)
    expected = f"{plain(problem.expected)} ({where})" if where else plain(problem.expected)
    return InputError(where, expected, plain(problem.found), plain(problem.remedy))


def _text(given: Mapping[str, Any], name: str, most: int, *, empty: bool = False) -> str:
    value = given.get(name)
    if not isinstance(value, str) or len(value) > most or not (value.strip() or empty):
        raise InputError(name, f"a text of at most {most:,} characters ({name})", _found(value))
    return value.strip()


def _whole(given: Mapping[str, Any], name: str) -> int:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(name, f"a whole number ({name})", _found(value))
    return value


def _share(given: Mapping[str, Any], name: str) -> float:
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(name, f"a share from 0 to 1 ({name})", _found(value))
    return value


def _texts(given: Mapping[str, Any], name: str) -> list[str]:
    value = given.get(name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(name, f"a list of texts ({name})", _found(value))
    return value


def _found(value: Any) -> str:
    if isinstance(value, str) and not value.strip():
        return "an empty one"
    return f"{len(value):,} characters" if isinstance(value, str) else shown(value)
