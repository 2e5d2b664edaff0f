"""The notation of measures: one grammar in Python, on the command line and in the output.

    measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff { "," cutoff } ]
    parameter = key "=" value

`str(measure)` writes it, defaults left out; `parse` reads it back to the same value.
Several stand in one text with blanks or commas between: `nDCG@10 AP, RR`; `nDCG@5,10` has two cutoffs.
A formula of measures is a measure (`combination`): `0.5*nDCG@10 + 0.5*R@100`; and so is
a measure of the baseline (`baseline_in_formulas`): `nDCG@10 - nDCG@10(baseline)`.
The spellings of trec_eval, ir_measures, ranx and BEIR are read too, never written; so are the forms
of CatBoost, Spark and NTCIREVAL (`foreign_spellings`), and the measure objects of ir_measures,
those that its `define` made among them (`ir_measures_definitions`).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from gainful import arguments
from gainful.errors import MeasureError
from gainful.measures.baseline_in_formulas import BaselineMeasure, measure_inside
from gainful.measures.combination import hint_of_minus, is_formula, read_combination
from gainful.measures.family_catalogue import catalogue
from gainful.measures.foreign_spellings import ForeignMeasure, text_of_object, written_out
from gainful.measures.ir_measures_definitions import document_measure, is_document_measure
from gainful.measures.measure import Measure, read_cutoff
from gainful.measures.measure_family import NEVER, Family, Spelling
from gainful.measures.name_suggestions import hint_of_subtopics, suggest
from gainful.measures.own_measures import MEASURES, OwnFamily, OwnMeasure
from gainful.measures.user_given_names import forget_entry_points
from gainful.message_texts import shortened, shown

AnyMeasure = TypeVar("AnyMeasure", bound=Measure)
_TAKEN_APART = re.compile(
    r"(?P<name>[^\s()@]+?)\s*(?:\((?P<arguments>.*)\))?\s*(?:@\s*(?P<cutoffs>[^@()]*))?", re.DOTALL
)

GivenMeasure = str | Measure | ForeignMeasure
"""What a caller may give as a measure: its text, its value, or that of ir_measures."""

Measures = GivenMeasure | Sequence[GivenMeasure]
"""What a caller may give as measures."""

_NOTATION = re.compile(
    r"(?P<name>\w+?)"
    r"(?:\s*\((?P<arguments>.*)\))?"
    r"(?:\s*(?P<mark>@|_at_(?=\d)|_cut_|\.(?=[\d.])|_(?=\d))\s*(?P<cutoffs>[^@()]*))?",
    re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # all but tabs and line ends
_OPENING, _CLOSING = "({[", ")}]"
_NEXT = re.compile(r"(?<=[\w)}\]])(?:\s+|\s*,\s*)(?=\d*[^\W\d])")
_WORDS = re.compile(r"[\w\s]+")  # one name of several words, where the first is none

# ir_measures names the gain by the formula of the DCG.
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exp2"}
_IR_MEASURES_KEYS = {"gains": "gain", "max_rel": "max"}


def read_text(text: object, expected: str) -> str:
    r"""Return the text of a measure without the white space around it.

    Python takes some control characters for white space, and none of them is meant.

    >>> read_text("P@5,\x1c10", "a text such as 'nDCG@10'")
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: measure: expected a text such as 'nDCG@10', found 'P@5,\x1c10'. It holds a control character.
    """
    if not isinstance(text, str):
        written = text_of_object(text)
        if written is None:
            raise MeasureError("measure", expected, shortened(shown(text)))
        return written
    if _CONTROL.search(text):
        raise MeasureError("measure", expected, shown(text), "It holds a control character.")
    return text.strip()


def parse(text: str | ForeignMeasure) -> Measure:
    """Read one measure, from its text or from an object of ir_measures.

    >>> parse("nDCG(gain=exp2, base=e)@10")
    Measure('nDCG(gain=exp2, base=e)@10')
    >>> parse("ndcg_cut_10"), parse("ndcg_burges@5")
    (Measure('nDCG@10'), Measure('nDCG(gain=exp2)@5'))
    """
    return only_one(parse_all(text), text)


def read_measure(given: GivenMeasure) -> Measure:
    """Return one measure, however a caller gives it."""
    return given if isinstance(given, Measure) else parse(given)


def name_of(given: object) -> str | None:
    """Return what a measure is called, however a caller gives it; None for what is none."""
    if is_document_measure(given):
        return str(document_measure(given))
    return str(given) if isinstance(given, str | Measure) else text_of_object(given)


def taken_apart(text: str, expected: str) -> tuple[str, str | None, list[int | None]]:
    """Return the name, what stands in brackets, and the cutoffs of a measure that another catalogue has.

    >>> taken_apart("ILD(by=genre)@5,10", "a measure")
    ('ILD', 'by=genre', [5, 10])
    """
    found = _TAKEN_APART.fullmatch(text)
    if found is None:
        raise MeasureError("measure", expected, shown(text))
    if found["cutoffs"] is None:
        return found["name"], found["arguments"], [None]
    return found["name"], found["arguments"], [read_cutoff(k) for k in found["cutoffs"].split(",")]


def read_measures_of(
    measures: object,
    kind: type[AnyMeasure],
    parse_all: Callable[[Any], tuple[AnyMeasure, ...]],
    refused: Callable[[Measure], MeasureError],
    example: str,
) -> tuple[AnyMeasure, ...]:
    """Read what a caller gives as measures of another catalogue; one that is named twice is kept once.

    Args:
        measures: one or several, as text or as values.
        kind: the class of such measures.
        parse_all: reads a text.
        refused: the error for a measure of another kind.
        example: such a measure, as it is written.
    """
    read: dict[AnyMeasure, None] = {}
    for item in listed_measures(measures):
        if isinstance(item, Measure) and not isinstance(item, kind):
            raise refused(item)
        for measure in (item,) if isinstance(item, kind) else parse_all(item):
            read[measure] = None
    if not read:
        raise MeasureError("measures", "at least one measure", "none", f"Try '{example}'.")
    return tuple(read)


def only_one(measures: tuple[AnyMeasure, ...], text: object) -> AnyMeasure:
    """Return the one measure that a text stands for; refuse several."""
    if len(measures) != 1:
        several = len({measure.name for measure in measures}) > 1
        hint = "Give one of them." if several else "Give one cutoff."
        raise MeasureError(f"measure {str(text)!r}", "one measure", f"{len(measures)}", hint)
    return measures[0]


def parse_all(text: str | ForeignMeasure) -> tuple[Measure, ...]:
    """Read measures, each with one or several cutoffs.

    >>> parse_all("nDCG@5,10 AP")
    (Measure('nDCG@5'), Measure('nDCG@10'), Measure('AP'))
    """
    if is_document_measure(text):
        return (_of_documents(text),)
    stripped = read_text(text, "a text such as 'nDCG@10'")
    return _all_parsed(text if isinstance(text, str) else stripped, stripped)


@lru_cache(maxsize=1024)
def _all_parsed(text: str, stripped: str) -> tuple[Measure, ...]:
    parts = split_measures(stripped)
    if len(parts) == 1:
        return _parsed(text, stripped)
    read: list[Measure] = []
    try:
        for part in parts:
            read += _parsed(part, part)
    except MeasureError:
        if read or not _WORDS.fullmatch(stripped):
            raise
        hint = suggest("_".join(stripped.split()), catalogue())
        raise MeasureError("measure", "a measure of the catalogue", shown(text), hint) from None
    return tuple(read)


def split_measures(text: str) -> list[str]:
    """Return the texts of measures that stand in one text, with blanks or commas between.

    >>> split_measures("nDCG(gain=exp2, base=e)@5, 10 AP,RR")
    ['nDCG(gain=exp2, base=e)@5, 10', 'AP', 'RR']
    """
    parts, depth, start, seen = [], 0, 0, 0
    for found in _NEXT.finditer(text):
        between = text[seen : found.start()]
        depth += sum(map(between.count, _OPENING)) - sum(map(between.count, _CLOSING))
        seen = found.start()
        if depth == 0:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _parsed(text: str, stripped: str) -> tuple[Measure, ...]:
    if is_formula(stripped):
        return (read_combination(stripped, lambda each: _parsed(each, each)),)
    inside = measure_inside(stripped)
    if inside is not None:
        if measure_inside(inside) is not None:
            raise MeasureError(f"measure {shown(stripped)}", "(baseline) once", "it twice")
        return tuple(BaselineMeasure(each) for each in _parsed(inside, inside))
    found = _NOTATION.fullmatch(written_out(stripped))
    if found is None:
        raise MeasureError(
            "measure",
            "a name such as nDCG, nDCG(gain=exp2) or nDCG@10",
            shown(text),
            hint_of_subtopics(text) or hint_of_minus(text),
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
            _made(family, **{**own, spelling.suffix: spelling.read(number)}) for number in numbers
        )
    return _at(family, parameters, [read_cutoff(number) for number in numbers])


def _at(
    family: Family, parameters: dict[str, Any], cutoffs: Iterable[int | None]
) -> tuple[Measure, ...]:
    return tuple(_made(family, cutoff=cutoff, **parameters) for cutoff in cutoffs)


def _made(family: Family, **given: Any) -> Measure:
    if isinstance(family, OwnFamily):
        return OwnMeasure(family, **given)
    return Measure(family.name, **given)


def forget() -> None:
    """Read texts anew: a name may stand for another measure now."""
    _all_parsed.cache_clear()
    forget_entry_points()


def read_measures(measures: object) -> tuple[Measure, ...]:
    """Read what a caller gives as measures: one, or several, as text or as values.

    A measure that is named twice is kept once, at its first place.

    >>> read_measures(["nDCG@10", "ndcg_cut_10", "CG"])
    (Measure('nDCG@10'), Measure('CG'))
    """
    read: dict[Measure, None] = {}
    for item in listed_measures(measures):
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


def listed_measures(measures: object) -> list[Any]:
    """Return what a caller gives as measures as a list; those of ir_measures are texts or values there."""
    expected = "a measure or a list of measures"
    if isinstance(measures, Mapping):
        hint = "A measure has no other name: give the values of the dict."
        raise MeasureError("measures", expected, shown(measures), hint)
    if isinstance(measures, Measure) or _is_object(measures):
        measures = [measures]
    items = arguments.listed(measures, "measures", expected, error=MeasureError)
    return [_listed(item) for item in items]


def _is_object(given: object) -> bool:
    return is_document_measure(given) or text_of_object(given) is not None


def _listed(item: Any) -> Any:
    if is_document_measure(item):
        return _of_documents(item)
    text = text_of_object(item)
    return item if text is None else text


def _of_documents(given: object) -> Measure:
    """Return the measure of an object that `ir_measures.define` made; its name must be its own."""
    found = document_measure(given)
    taken = place_of_name(found.name)
    if taken is not None:
        raise MeasureError(
            "measure",
            "a name of its own",
            f"'{found.name}', which is {taken}",
            "ir_measures.define(…, name='Name') gives it one.",
        )
    return found


def family(name: str) -> Family:
    """Return the catalogue entry that a name or a spelling stands for.

    >>> family("map").title
    'Average precision'
    """
    found = _NOTATION.fullmatch(written_out(read_text(name, "a name such as 'nDCG'")))
    return _look_up(found["name"] if found else name)[0]


def place_of_name(name: str) -> str | None:
    """Return what a name stands for already: a measure of the catalogue, or the place of another."""
    try:
        family, _ = _look_up(name)
    except MeasureError:
        return None
    if isinstance(family, OwnFamily):
        return family.place
    return f"{family.name} of the catalogue"


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
        own = MEASURES.find(name)
        if own is not None:
            return own.own, Spelling(own.name)
        named = [each.own for each in MEASURES.in_use.values()]
        hint = suggest(name, (*catalogue(), *named))
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
        if key == "judged_only":
            _refuse_judged_only(value, where)
            continue
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
    if key == "gains" and value.startswith("{") and value.endswith("}"):
        # A grade that its table lacks is its own gain; it leaves such grades out when it prints.
        listed = value[1:-1].strip()
        return "gain", f"{{{listed}{', ' * bool(listed)}else: linear}}"
    return _IR_MEASURES_KEYS.get(key, key), value


def _refuse_judged_only(value: str, where: str) -> None:
    """Say which policy ir_measures' parameter stands for; without effect, it may stand."""
    if value == "False":
        return
    name, _, rest = where.partition("(")
    inside, _, cutoff = rest.rpartition(")")
    items = [item.strip() for item in _split_outside_brackets(inside)]
    others = ", ".join(item for item in items if not item.startswith("judged_only"))
    plain = f"{name}({others}){cutoff}" if others else f"{name}{cutoff}"
    raise MeasureError(
        f"measure {where!r}",
        "parameters of the measure",
        f"judged_only={value}, a choice of the policy",
        f"Write '{plain}' with policy={{'unjudged': 'condense'}}, on the command line "
        f"-m '{plain}' --unjudged condense.",
    )
