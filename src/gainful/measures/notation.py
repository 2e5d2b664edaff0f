"""The notation of measures: one grammar in Python, on the command line and in the output.

    measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff { "," cutoff } ]
    parameter = key "=" value

`str(measure)` writes it, defaults left out; `parse` reads it back to the same value.
The spellings of trec_eval, ir_measures, ranx and BEIR are read too, never written; so are the forms
of CatBoost, Spark and NTCIREVAL (`foreign_spellings`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from gainful import arguments
from gainful.errors import MeasureError
from gainful.measures.family import NEVER, Family, Spelling
from gainful.measures.family_catalogue import catalogue
from gainful.measures.foreign_spellings import written_out
from gainful.measures.measure import Measure, read_cutoff
from gainful.measures.name_suggestions import hint_of_subtopics, suggest
from gainful.message_texts import shown

AnyMeasure = TypeVar("AnyMeasure", bound=Measure)

_NOTATION = re.compile(
    r"(?P<name>\w+?)"
    r"(?:\s*\((?P<arguments>.*)\))?"
    r"(?:\s*(?P<mark>@|_at_(?=\d)|_cut_|\.(?=[\d.])|_(?=\d))\s*(?P<cutoffs>[^@()]*))?",
    re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # all but tabs and line ends
_OPENING, _CLOSING = "({", ")}"

# ir_measures names the gain by the formula of the DCG.
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exp2"}


def read_text(text: object, expected: str) -> str:
    r"""Return the text of a measure without the white space around it.

    Python takes some control characters for white space, and none of them is meant.

    >>> read_text("P@5,\x1c10", "a text such as 'nDCG@10'")
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: measure: expected a text such as 'nDCG@10', found 'P@5,\x1c10'. It holds a control character.
    """
    if not isinstance(text, str):
        raise MeasureError("measure", expected, shown(text))
    if _CONTROL.search(text):
        raise MeasureError("measure", expected, shown(text), "It holds a control character.")
    return text.strip()


def parse(text: str) -> Measure:
    """Read one measure.

    >>> parse("nDCG(gain=exp2, base=e)@10")
    Measure('nDCG(gain=exp2, base=e)@10')
    >>> parse("ndcg_cut_10"), parse("ndcg_burges@5")
    (Measure('nDCG@10'), Measure('nDCG(gain=exp2)@5'))
    """
    return only_one(parse_all(text), text)


def only_one(measures: tuple[AnyMeasure, ...], text: str) -> AnyMeasure:
    """Return the one measure that a text stands for; refuse several."""
    if len(measures) != 1:
        raise MeasureError(
            f"measure {text!r}", "one measure", f"{len(measures)}", "Give one cutoff."
        )
    return measures[0]


def parse_all(text: str) -> tuple[Measure, ...]:
    """Read a measure with one or several cutoffs.

    >>> parse_all("nDCG@5,10")
    (Measure('nDCG@5'), Measure('nDCG@10'))
    """
    return _parsed(text, read_text(text, "a text such as 'nDCG@10'"))


@lru_cache(maxsize=1024)
def _parsed(text: str, stripped: str) -> tuple[Measure, ...]:
    found = _NOTATION.fullmatch(written_out(stripped))
    if found is None:
        raise MeasureError(
            "measure",
            "a name such as nDCG, nDCG(gain=exp2) or nDCG@10",
            shown(text),
            hint_of_subtopics(text),
        )
    family, spelling = _look_up(found["name"])
    given = read_arguments(found["arguments"], where=text)
    parameters = read_parameters(
        (_from_ir_measures(key, value) for key, value in given), spelling.settings, where=text
    )
    if found["cutoffs"] is None:
        return _at(family, parameters, spelling.cutoffs or [None])
    numbers = found["cutoffs"].split(",")
    if spelling.suffix and (found["mark"] != "@" or family.cutoff == NEVER):
        # What is written takes the place of what the tool means without.
        own = {key: value for key, value in parameters.items() if key not in spelling.settings}
        return tuple(
            Measure(family.name, **{**own, spelling.suffix: spelling.read(number)})
            for number in numbers
        )
    return _at(family, parameters, [read_cutoff(number) for number in numbers])


def _at(
    family: Family, parameters: dict[str, Any], cutoffs: Iterable[int | None]
) -> tuple[Measure, ...]:
    return tuple(Measure(family.name, cutoff=cutoff, **parameters) for cutoff in cutoffs)


Measures = (
    str | Measure | list[str] | list[Measure] | list[str | Measure] | tuple[str | Measure, ...]
)
"""What a caller may give as measures."""


def read_measures(measures: object) -> tuple[Measure, ...]:
    """Read what a caller gives as measures: one, or several, as text or as values.

    A measure that is named twice is kept once, at its first place.

    >>> read_measures(["nDCG@10", "ndcg_cut_10", "CG"])
    (Measure('nDCG@10'), Measure('CG'))
    """
    expected = "a measure or a list of measures"
    some = [measures] if isinstance(measures, Measure) else measures
    read: dict[Measure, None] = {}
    for item in arguments.listed(some, "measures", expected, error=MeasureError):
        for measure in (item,) if isinstance(item, Measure) else parse_all(item):
            read[measure] = None
    if not read:
        raise MeasureError("measures", "at least one measure", "none", "Try 'nDCG@10'.")
    for name, times in Counter(map(str, read)).items():
        if times > 1:  # two functions of one name
            raise MeasureError(
                "measures", "different names", f"'{name}' twice", "Rename one of the functions."
            )
    return tuple(read)


def family(name: str) -> Family:
    """Return the catalogue entry that a name or a spelling stands for.

    >>> family("map").title
    'Average precision'
    """
    found = _NOTATION.fullmatch(written_out(read_text(name, "a name such as 'nDCG'")))
    return _look_up(found["name"] if found else name)[0]


def _look_up(name: str) -> tuple[Family, Spelling]:
    spelled: dict[str, tuple[Family, Spelling]] = {}
    for family in catalogue():
        if family.name == name:  # what is printed reads back as the same, whoever else writes it
            suffix = next((s.suffix for s in family.spellings if _same(s.name, name)), None)
            return family, Spelling(name, suffix=suffix)
        for spelling in (Spelling(family.name), *family.spellings):
            spelled[spelling.name.casefold()] = family, spelling
    found = spelled.get(name.casefold())
    if found is None:
        hint = suggest(name, catalogue())
        raise MeasureError("measure", "a measure of the catalogue", shown(name), hint)
    return found


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def read_arguments(arguments: str | None, *, where: str) -> list[tuple[str, str]]:
    """Split `a=1, b={1: 2, 3: 4}` at its outer commas into keys and values."""
    if arguments is None or not arguments.strip():
        return []
    pairs = []
    for item in _split_outside_brackets(arguments):
        key, equals, value = item.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise MeasureError(
                f"measure {where!r}", "parameters written key=value", shown(item.strip())
            )
        pairs.append((key.strip(), value.strip()))
    return pairs


def read_parameters(
    pairs: Iterable[tuple[str, str]], settings: Mapping[str, Any], *, where: str
) -> dict[str, Any]:
    """Return parameters beside the settings of a spelling; refuse cutoffs and repeated keys."""
    parameters: dict[str, Any] = {**settings}
    for key, value in pairs:
        if key in ("cutoff", "k"):
            raise MeasureError(f"measure {where!r}", "a cutoff written @10", f"{key}={value}")
        if key in parameters:
            raise MeasureError(f"measure {where!r}", "each parameter once", f"{key} twice")
        parameters[key] = value
    return parameters


def _split_outside_brackets(text: str) -> list[str]:
    items, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "," and depth == 0:
            items.append(text[start:at])
            start = at + 1
    return [*items, text[start:]]


def _from_ir_measures(key: str, quoted: str) -> tuple[str, str]:
    value = quoted.strip("'\"")
    if key == "dcg":
        return "gain", _IR_MEASURES_DCG.get(value, value)
    return ("gain", value) if key == "gains" else (key, value)
