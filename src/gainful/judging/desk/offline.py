"""The desk as a single offline file, and reading its grades back."""

import base64
import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import gainful as gf
from gainful import arguments
from gainful.errors import InputError
from gainful.judging.desk import acts_from_pages
from gainful.judging.desk.study import Study
from gainful.judging.desk.web_app import PAGES, facts_of, plain, tasks_told
from gainful.message_texts import shown

FORMAT = "gainful desk 1"
LEASE = 30 * 24 * 3600.0
"""How long the documents of a page stay reserved, in seconds."""
USUAL = 200
"""The default number of documents of a page: they are reserved, so nobody else is given them."""
MOST = 5000
"""The maximum number of documents of a page: a browser stores about 5 MB for a page, and an action takes some 300 bytes."""
_MODULES = (
    "elements.js",
    "query_words.js",
    "safe_html.js",
    "markdown.js",
    "document_content.js",
    "outbox.js",
    "queue.js",
    "keys.js",
    "offline_transport.js",
    "assessor.js",
)
_IMPORT = re.compile(r"^import .*;\n", re.M)
_EXPORT = re.compile(r"^export ", re.M)
_LINKS = re.compile(r'<link rel="stylesheet".*\n<script type="module".*\n')


@dataclass(frozen=True, slots=True)
class Written:
    """The contents of a page.

    Attributes:
        documents: the number of documents.
        left: how many others its assessor could still judge.
    """

    documents: int
    left: int


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of importing a file.

    Attributes:
        assessor: the person who judged.
        confirmed: how many of the actions are in the study now, including earlier imports.
        refused: why the other actions were rejected, each with its line in the file.
    """

    assessor: str
    confirmed: int
    refused: tuple[str, ...]


def write_offline(study: Study, assessor: str, path: str | Path, budget: int = USUAL) -> Written:
    """Write the assessor's page with the next documents that are theirs to judge, as one file.

    Args:
        study: the study, a `gf.judging.Study`.
        assessor: the name of the person who judges.
        path: the path of the file.
        budget: the maximum number of documents.
    """
    count = arguments.whole(budget, "budget", least=1, most=MOST)
    assessor = arguments.text(assessor, "assessor").strip()  # the names that `invite` uses
    if assessor not in {person.name for person in study.people}:
        study.invite(assessor)
    tasks = study.assessor(assessor).next(
        count, lease=LEASE
    )  # longer than for an online page, which renews its leases
    if not tasks:
        raise InputError(
            f"offline page for {assessor}",
            "documents to judge",
            "none",
            study._why_nothing_to_judge(assessor),  # noqa: SLF001
        )
    facts = {**facts_of(study), "name": assessor, "role": "assessor", "done": 0, "left": len(tasks)}
    proof = study._page_for(assessor)  # noqa: SLF001
    data = {"format": FORMAT, "me": facts, "proof": proof, "tasks": tasks_told(tasks)}
    gf.writing.write_text(_page(plain(data), facts["image_hosts"]), str(path))
    left = study.progress().by_assessor[assessor].left
    return Written(len(tasks), left - sum(not task.practice for task in tasks))


def _page(data: dict[str, object], image_hosts: Sequence[str]) -> str:
    """Return the page, which runs only its own script and loads only images from permitted hosts."""
    parts = [(PAGES / name).read_text(encoding="utf-8") for name in _MODULES]
    script = "\n".join(_EXPORT.sub("", _IMPORT.sub("", part)) for part in parts)
    style = (PAGES / "desk.css").read_text(encoding="utf-8")
    images = " ".join(["data:", *image_hosts])
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        f"img-src {images}; form-action 'none'; base-uri 'none'"
    )
    embedded = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<style>{style}</style>\n'
    )
    tail = f'<script type="application/json" id="data">{embedded}</script>\n<script type="module">{script}</script>\n'
    page = (PAGES / "assessor.html").read_text(encoding="utf-8")
    page = _LINKS.sub(lambda _: head, page, count=1)
    return page.replace("</body>", f"{tail}</body>")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def merge(study: Study, path: str | Path, assessor: str | None = None) -> Merged:
    """Import the actions that an offline page has saved. A file that is read twice counts once.

    The file proves with a secret of its page who judged.

    Args:
        study: the study, a `gf.judging.Study`.
        path: the path of the file.
        assessor: the person who judged, if the lead vouches for a file without proof.

    Raises:
        InputError: for any other file, or one from another study or another person.
    """
    name = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
        saved = acts_from_pages.read_json(text)
    except (OSError, ValueError, RecursionError) as problem:
        raise InputError(name, "a file that an offline desk saved", str(problem)) from None
    if (
        not isinstance(saved, dict)
        or saved.get("format") != FORMAT
        or not isinstance(saved.get("acts"), list)
    ):
        raise InputError(name, "a file that an offline desk saved", "something else")
    if saved.get("study") != study._id():  # noqa: SLF001
        raise InputError(
            name, "grades of this study", "grades of another study", "Name its database: --db."
        )
    who = _assessor_of(study, saved, name, assessor)
    confirmed, refused = 0, []
    for number, (line, act) in enumerate(zip(_lines_of_acts(text), saved["acts"], strict=True), 1):
        # Events have different numbers here, so an undo identifies its action by the key.
        sent = {**act, "event": None} if isinstance(act, dict) else act
        answer = acts_from_pages.take(study, who, [sent])
        confirmed += len(answer["confirmed"])
        refused += [
            f"{name}:{line}: action {number} was not imported: {lost['why']}"
            for lost in answer["refused"]
        ]
    return Merged(who, confirmed, tuple(refused))


def _assessor_of(study: Study, saved: dict[str, object], name: str, assessor: str | None) -> str:
    """Return whose actions a file contains: the person its page was made for, or the one the lead names."""
    who, proof = saved.get("assessor"), saved.get("proof")
    if not isinstance(who, str) or who not in {person.name for person in study.people}:
        raise InputError(name, "an assessor of this study", shown(who))
    if assessor is not None and assessor != who:
        raise InputError(name, f"grades of {assessor}", f"grades of {who}")
    if assessor is None and not (isinstance(proof, str) and study._page_of(proof) == who):  # noqa: SLF001
        raise InputError(
            name,
            f"the proof that it comes from the page of {who}",
            "no proof" if proof is None else "another proof",
            f"Ask {who} for the file that their page saves, or vouch for this one: --as {shlex.quote(who)}.",
        )
    return who


def _lines_of_acts(text: str) -> list[int]:
    """Return the line on which each action of a file begins, which JSON readers don't report."""
    read = json.JSONDecoder(parse_int=float).raw_decode
    numbers: list[int] = []
    at = _between(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = read(text, at)
        at = _between(text, at)
        if key == "acts" and text[at] == "[":
            numbers, line, counted_to = [], 1, 0
            at = _between(text, at + 1)
            while text[at] != "]":
                line, counted_to = line + text.count("\n", counted_to, at), at
                numbers.append(line)
                at = _between(text, read(text, at)[1])
            at += 1
        else:
            at = read(text, at)[1]
        at = _between(text, at)
    return numbers


def _between(text: str, at: int) -> int:
    """Return where the next value begins in valid JSON."""
    while text[at] in " \t\r\n,:":
        at += 1
    return at
