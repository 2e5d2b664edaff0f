"""Requests of the lead's page: settings, grade labels, practice, importing and revoking grades.

A file is sent within the JSON, as base64, and read by the same readers as a file on the command
line. While it is read it is stored under a temporary name, but messages use the lead's name for it.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gainful as gf
from gainful.errors import InputError, without_warnings
from gainful.judging.desk.study import Study
from gainful.judging.desk.study_inputs import read_feedback
from gainful.judging.desk.study_settings import ORDERS
from gainful.message_texts import counted, shown
from gainful.rows.temporary_files import temporary_folder

LARGEST_FILE = 20_000_000
"""The maximum size of the files in one request, in bytes."""
MEASURES = ("nDCG@10", "nDCG@5", "nDCG@20", "DCG@10", "CG@10", "P@5", "P@10", "AP@20", "ERR@10")
"""The measures that the page suggests; any measure with bounds works."""
_TITLE, _NAME, _WORD, _ID = 200, 100, 100, 10_000  # characters
_ENDING = re.compile(r"(\.[A-Za-z0-9]{1,10}){1,2}$")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"PK\x03\x04")
_KEY = 100


def settings(study: Study) -> dict[str, Any]:
    """Return what the lead can set, and the current values."""
    practice = study.practice_set
    return {
        **study.settings,
        "scale": study.scale,
        "guideline": study.guideline.version,
        "orders": ORDERS,
        "runs": study._run_names(),  # noqa: SLF001 - without reading all their documents
        "measures": MEASURES,
        "practice": [
            {
                "query": document.query,
                "query_text": document.query_text,
                "doc": document.doc,
                "title": document.title,
                "answer": document.answer,
                "feedback": document.feedback,
                "has_text": bool(document.text),
            }
            for document in practice[:200]
        ],
        "practice_count": len(practice),
        "largest_file": LARGEST_FILE,
    }


def change_settings(study: Study, _: str, request: Mapping[str, object]) -> dict[str, object]:
    """Change the settings of the study that the request contains."""
    changes: dict[str, Any] = {}
    for name, most in (("title", _TITLE), ("order", 20), ("measure", 200), ("doc_format", 20)):
        if request.get(name) is not None:
            changes[name] = _text(request, name, most, empty=name == "title")
    if request.get("overlap") is not None:
        changes["overlap"] = _whole(request, "overlap")
    if request.get("overlap_share") is not None:
        changes["overlap_share"] = _share(request, "overlap_share")
    if request.get("show_ranks") is not None:
        if not isinstance(request["show_ranks"], bool):
            raise InputError("show_ranks", "yes or no (show_ranks)", _brief(request["show_ranks"]))
        changes["show_ranks"] = request["show_ranks"]
    for name in ("compare", "tags", "image_hosts"):
        if request.get(name) is not None:
            changes[name] = _texts(request, name)
    study.set(**changes)
    return settings(study)


def change_grades(study: Study, _: str, request: Mapping[str, object]) -> dict[str, object]:
    """Set the labels and keys of grades."""
    rows = request.get("grades")
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("grades", "a list of grades, each with its label and its key", "another")
    words, keys = {}, {}
    for row in rows:
        value = row.get("value")
        if isinstance(value, bool) or not isinstance(value, int | float) or value in words:
            raise InputError("grades", "each grade of the scale once", shown(value))
        words[value] = _text(row, "word", _WORD, empty=True)
        keys[value] = _text(row, "key", 10)
    study.set(words=words, keys=keys)
    return settings(study)


def practise(study: Study, _: str, request: Mapping[str, object]) -> dict[str, object]:
    """Set up the documents with known answers, from files."""
    with _files(request, ("answers", "queries", "docs")) as files:
        if "answers" not in files:
            raise InputError("answers", "a file of the right grades", "none")
        with without_warnings():  # about missing texts, which the page shows
            count = study.practice(
                files["answers"],
                queries=files.get("queries"),
                docs=files.get("docs"),
                feedback=read_feedback(files["answers"]),
            )
    return {"count": count, **settings(study)}


def bring_in(study: Study, _: str, request: Mapping[str, object]) -> dict[str, object]:
    """Record the grades of a file as one more assessor."""
    name = _text(request, "name", _NAME)
    role = request.get("role")
    if role not in ("judgments", "model"):
        raise InputError("role", "judgments or model", shown(role))
    with _files(request, ("grades",)) as files:
        if "grades" not in files:
            raise InputError("grades", "a file of grades", "none")
        with without_warnings():
            count = study.import_grades(files["grades"], assessor=name, role=role, replace=True)
    return {"name": name, "role": role, "count": count}


def take_back(study: Study, lead: str, request: Mapping[str, object]) -> dict[str, Any]:
    """Revoke stale grades after the lead has confirmed their number; without a number, return it."""
    which: dict[str, Any] = {
        name: _text(request, name, _ID) for name in ("assessor", "query") if request.get(name)
    }
    if request.get("before_guideline") is not None:
        which["before_guideline"] = _whole(request, "before_guideline")
    kinds = study.lead(lead).stale(**which)
    count = sum(kinds.values())
    if request.get("count") is None:
        return {"count": count, "kinds": kinds, "done": False}
    key = _text(request, "key", _KEY)
    if _whole(request, "count") != count:
        raise InputError(
            "count",
            f"{counted(count, 'answer')}, the current number",
            f"{request['count']}, the number that you confirmed",
            "Check the number again.",
        )
    return {"count": study.lead(lead).reset(key=key, **which), "kinds": kinds, "done": True}


@contextmanager
def _files(request: Mapping[str, object], names: tuple[str, ...]) -> Iterator[dict[str, Path]]:
    """Keep the files of a request for as long as they are read."""
    folder = temporary_folder(None)
    called: dict[str, str] = {}
    try:
        paths: dict[str, Path] = {}
        for name in names:
            if request.get(name) is not None:
                title, content = _file(request[name], name)
                ending = _ENDING.search(title)
                paths[name] = folder.path / f"{name}{ending[0] if ending else ''}"
                paths[name].write_bytes(content)
                called[str(paths[name])] = title
        yield paths
    except gf.errors.GainfulError as problem:
        raise _in_words_of_the_lead(problem, called, str(folder.path)) from None
    finally:
        folder.remove()


def _file(upload: object, name: str) -> tuple[str, bytes]:
    title = upload.get("name") if isinstance(upload, Mapping) else None
    content = upload.get("content") if isinstance(upload, Mapping) else None
    if not isinstance(title, str) or not isinstance(content, str) or len(title) > 300:
        raise InputError(name, "a file: its name, and its content as base64", "something else")
    try:
        data = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise InputError(name, "content as base64", "something else") from None
    if len(data) > LARGEST_FILE:
        raise InputError(name, f"at most {LARGEST_FILE:,} bytes", f"{len(data):,}")
    if data.startswith(_PACKED):  # a small compressed file may contain any amount of data
        raise InputError(title, "an uncompressed file", "a compressed one", "Decompress it first.")
    return Path(title.replace("\\", "/")).name or name, data


def _in_words_of_the_lead(
    problem: gf.errors.GainfulError, called: Mapping[str, str], folder: str
) -> gf.errors.GainfulError:
    """Return a problem that uses the lead's name for the file, with the location in it."""

    def plain(text: str) -> str:
        for path, title in called.items():
            text = text.replace(path, title)
        return text.replace(folder, "").strip("/")

    where = plain(problem.where)
    expected = f"{plain(problem.expected)} ({where})" if where else plain(problem.expected)
    return InputError(where, expected, plain(problem.found), plain(problem.remedy))


def _text(request: Mapping[str, object], name: str, most: int, *, empty: bool = False) -> str:
    value = request.get(name)
    if not isinstance(value, str) or len(value) > most or not (value.strip() or empty):
        raise InputError(name, f"a string of at most {most:,} characters ({name})", _brief(value))
    return value.strip()


def _whole(request: Mapping[str, Any], name: str) -> int:
    value = request.get(name)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(name, f"a whole number ({name})", _brief(value))
    return value


def _share(request: Mapping[str, Any], name: str) -> float:
    value = request.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(name, f"a share from 0 to 1 ({name})", _brief(value))
    return value


def _texts(request: Mapping[str, object], name: str) -> list[str]:
    value = request.get(name)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(name, f"a list of texts ({name})", _brief(value))
    return value


def _brief(value: object) -> str:
    if isinstance(value, str) and not value.strip():
        return "an empty one"
    return f"{len(value):,} characters" if isinstance(value, str) else shown(value)
