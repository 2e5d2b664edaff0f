"""The notation of measures: one grammar in Python, on the command line and in the output.

    measure   = name [ "(" parameter { "," parameter } ")" ] [ "@" cutoff { "," cutoff } ]
    parameter = key "=" value

`str(measure)` writes it without defaults; `parse` reads it back to the same value.
One text may contain several measures, separated by blanks or commas: `nDCG@10 AP, RR`; `nDCG@5,10` has two cutoffs.
Formulas such as `0.5*nDCG@10 + 0.5*R@100` and baseline measures such as `nDCG@10(baseline)` are measures too.
Measures that need more than grades use the same notation; `IA` has another measure in its brackets.
The spellings of trec_eval, ir_measures, ranx and BEIR, the forms of CatBoost, Spark and NTCIREVAL, and the measure
objects of ir_measures are accepted, but never written. Another tool's text means only what it states; the tool's other
conventions are in its dialect.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from gainful import arguments
from gainful.errors import MeasureError
from gainful.measures.discount import DISCOUNTS, Discount
from gainful.measures.formulas import (
    BRACKETS,
    FUNCTIONS,
    BaselineMeasure,
    read_combination,
)
from gainful.measures.gain import GAINS, Gain
from gainful.measures.measure import (
    Measure,
    catalogue,
    families_like,
    needs_more,
    plain_name,
    read_cutoff,
    refuse_wrong_cutoff,
)
from gainful.measures.measure import family as family_called
from gainful.measures.measure_family import GRADES, MEAN, NEVER, OPTIONAL, Family, Spelling
from gainful.measures.name_suggestions import suggest
from gainful.measures.own_measures import MEASURES, OwnFamily, OwnMeasure
from gainful.measures.parameters import INNER
from gainful.measures.user_given_names import MADE, OwnNames, at_place, forget_entry_points
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shortened, shown


class ForeignMeasure(Protocol):
    """The attributes that identify a measure of ir_measures."""

    NAME: Any
    SUPPORTED_PARAMS: Any
    params: Any


_CALL = re.compile(r"(?P<name>\w+At)\s*\(\s*(?P<cutoff>\d+)\s*\)", re.IGNORECASE)
_SPARK = re.compile(r"ndcgAt(?=@|$)", re.IGNORECASE)
_CATBOOST = re.compile(r"(?P<name>n?dcg)\s*:(?P<settings>.*)", re.IGNORECASE)
_XGBOOST = re.compile(r"(?P<measure>\w+(?:\([^()]*\))?(?:@\d+)?)-")
_RANX = re.compile(r"(?P<name>\w+)(?P<cutoff>@\d+)?-l(?P<level>\d+)")
_RANX_NAME = re.compile(r"(r)-(precision)(?=@|-|$)", re.IGNORECASE)
_NUM_RET = re.compile(r"NumRet\s*\((?P<rel>\s*rel\s*=[^(),]*)\)")
_SET_P = re.compile(r"SetP\s*\((?P<arguments>[^()]*\brelative\s*=[^()]*)\)")
_SET_F = re.compile(r"(?P<before>SetF\s*\(.*\bbeta\s*=)(?P<square>[^,()]*)(?P<after>[,)].*)")
_BPM = re.compile(r"BPM\s*(?:\((?P<arguments>[^()]*)\))?\s*@\s*(?P<cutoff>\d+)")
_NTCIR = re.compile(r"MSnDCG(?:\s*\((?P<arguments>.*)\))?(?P<cutoff>\s*@.*)?", re.IGNORECASE)

_OF_CATBOOST = {
    "type": ("gain", {"Base": "linear", "Exp": "exp2"}),
    "denominator": ("discount", {"LogPosition": "log", "Position": "reciprocal"}),
}
_WHOLE_LIST = "-1"  # of CatBoost's top
_RELATIVE = {"relative=True": "RelP", "relative=False": "P"}  # of ir_measures


def text_of_object(measure: object) -> str | None:
    """Return the text of a measure object of ir_measures; None for anything else.

    Parameters at ir_measures' own defaults are left out, as in ir_measures itself.

    >>> from types import SimpleNamespace
    >>> known = dict.fromkeys(["cutoff", "gains"], SimpleNamespace(default=None))
    >>> chosen = {"cutoff": 10, "gains": {1: 1, 2: 3}}
    >>> text_of_object(SimpleNamespace(NAME="nDCG", SUPPORTED_PARAMS=known, params=chosen))
    'nDCG(gains={1: 1, 2: 3})@10'
    """
    if isinstance(measure, str | Mapping | list | tuple):
        return None
    name = getattr(measure, "NAME", None)
    known, chosen = getattr(measure, "SUPPORTED_PARAMS", None), getattr(measure, "params", None)
    if not (isinstance(name, str) and isinstance(known, Mapping) and isinstance(chosen, Mapping)):
        return None
    mark = getattr(measure, "AT_PARAM", "cutoff")
    written = [
        f"{key}={value}"
        for key, value in chosen.items()
        if key != mark and not (key in known and value == getattr(known[key], "default", None))
    ]
    text = f"{name}({', '.join(written)})" if written else name
    return text if chosen.get(mark) is None else f"{text}@{chosen[mark]}"


def without_call(text: str) -> str:
    """Return a text with the cutoff after an @ instead of in brackets.

    >>> without_call("precisionAt(10)")
    'precisionAt@10'
    """
    call = _CALL.fullmatch(text)
    return text if call is None else f"{call['name']}@{call['cutoff']}"


def written_out(text: str) -> str:
    """Translate another tool's text into the notation; return any other text unchanged.

    Raises an error for a text that is incomplete, or that states something outside the measure.

    >>> written_out("ndcgAt(10)"), written_out("NDCG:top=10;type=Exp")
    ('nDCG(gain=binary)@10', 'NDCG(gain=exp2)@10')
    >>> written_out("MSnDCG(gain=exp2)@5"), written_out("nDCG@5")
    ('nDCG(discount=log, gain=exp2)@5', 'nDCG@5')
    >>> written_out("NumRet(rel=1)"), written_out("SetP(relative=True)"), written_out("BPM(T=2)@5")
    ('NumRelRet(rel=1)', 'RelP', 'BPM(T=2, K=5)')
    >>> written_out("SetF(beta=4, rel=2)")
    'SetF(beta=2, rel=2)'
    >>> written_out("precision@5-l2"), written_out("r-precision-l2")
    ('precision(rel=2)@5', 'r_precision(rel=2)')
    """
    text = _RANX_NAME.sub(r"\1_\2", text)
    if match := _RANX.fullmatch(text):
        return f"{match['name']}(rel={match['level']}){match['cutoff'] or ''}"
    text = _SPARK.sub("nDCG(gain=binary)", without_call(text))
    if match := _CATBOOST.fullmatch(text):
        return _from_catboost(text, match["name"], match["settings"])
    if match := _NTCIR.fullmatch(text):
        return _from_ntcir(text, match["arguments"], match["cutoff"] or "")
    if match := _XGBOOST.fullmatch(text):
        plain = match["measure"]
        raise MeasureError(
            f"measure {text!r}",
            "a measure without a trailing minus",
            "XGBoost's notation for the policy empty=zero",
            f"Write '{plain}' under that policy. To follow XGBoost in all other respects: "
            f"evaluate(..., dialect('xgboost').measure('{plain}'), "
            "policy=dataclasses.replace(dialect('xgboost').policy, empty='zero')).",
        )
    return _parameters_written_out(text)


def _parameters_written_out(text: str) -> str:
    """Translate parameters and cutoffs that ir_measures writes differently."""
    if match := _NUM_RET.fullmatch(text):
        return f"NumRelRet({match['rel']})"
    if match := _SET_P.fullmatch(text):
        items = [item.strip() for item in match["arguments"].split(",")]
        others = [item for item in items if item not in _RELATIVE]
        name = next((_RELATIVE[item] for item in items if item in _RELATIVE), "P")
        return f"{name}({', '.join(others)})" if others else name
    if match := _SET_F.fullmatch(text):  # like trec_eval's, its beta is the square of the usual one
        square = read_number(match["square"], where="beta")
        root = write_number(math.sqrt(square)) if square > 0 else match["square"]
        return f"{match['before']}{root}{match['after']}"
    if match := _BPM.fullmatch(text):
        before = (match["arguments"] or "").strip()
        return f"BPM({before}{', ' * bool(before)}K={match['cutoff']})"
    return text


def _from_catboost(text: str, name: str, settings: str) -> str:
    """Translate `NDCG:top=10;type=Exp;denominator=Position`."""
    parameters, cutoff = [], ""
    for item in settings.split(";"):
        key, _, value = (part.strip() for part in item.partition("="))
        if key == "top":
            cutoff = "" if value == _WHOLE_LIST else f"@{value}"
            continue
        if key not in _OF_CATBOOST:
            raise MeasureError(
                f"measure {text!r}",
                "settings of CatBoost's metric, such as top=10;type=Exp",
                shown(item.strip()),
                did_you_mean(key, ["top", *_OF_CATBOOST]),
            )
        parameter, values = _OF_CATBOOST[key]
        if value not in values:
            raise MeasureError(
                f"measure {text!r}",
                f"{key}={' or '.join(values)}",
                shown(value),
                did_you_mean(value, values),
            )
        parameters.append(f"{parameter}={values[value]}")
    arguments = f"({', '.join(parameters)})" if parameters else ""
    return f"{name}{arguments}{cutoff}"


def _from_ntcir(text: str, arguments: str | None, cutoff: str) -> str:
    """Translate `MSnDCG(gain=exp2)@10`, whose name implies the discount but not the gain."""
    if arguments is None or not re.search(r"\bgains?\s*=", arguments):
        raise MeasureError(
            f"measure {text!r}",
            "a gain, which the name does not define",
            "none",
            f"Write 'nDCG{cutoff}' for grades as gains, 'nDCG(gain=exp2){cutoff}' for 2^g − 1, or "
            f"'nDCG(gain={{1: 1, 2: 3}}){cutoff}' for NTCIREVAL's table of gains, or "
            "use the dialect ntcir.",
        )
    return f"nDCG(discount=log, {arguments}){cutoff}"


_CUTOFF_KEY = "cutoff"


class DocumentMeasure(Measure):
    """A measure made by `ir_measures.define`.

    `foreign` is its object; `by_query` has the value of each query, once it was evaluated, and `ties` the
    tie rule that ordered the documents. Equality ignores both.
    """

    __slots__ = ("by_query", "foreign", "ties")
    foreign: Any
    by_query: Mapping[str, float] | None
    ties: str | None

    def __init__(
        self,
        name: str,
        cutoff: int | None,
        foreign: object = None,
        by_query: Mapping[str, float] | None = None,
        ties: str | None = None,
    ) -> None:
        self._set(name, (), cutoff, foreign=foreign, by_query=by_query, ties=ties)

    @property
    def family(self) -> Family:
        """The entry that describes this measure."""
        definition = (
            getattr(self.foreign, "SHORT_DESC", None)
            or f"the return value of {self.name}'s function"
        )
        return Family(
            name=self.name,
            title="a measure made by ir_measures.define",
            definition=str(definition).removesuffix("."),
            range="any real number",
            citation="",
            example=None,
            parameters=(),
            cutoff=OPTIONAL
            if _CUTOFF_KEY in getattr(self.foreign, "SUPPORTED_PARAMS", ())
            else NEVER,
            aggregate=MEAN,
        )

    def having(self, **parameters: object) -> "DocumentMeasure":
        """Reject parameters, which such a measure does not have."""
        raise MeasureError(f"{self}", "no parameters", ", ".join(parameters))

    def at(self, cutoff: int | None) -> "DocumentMeasure":
        """Return the same measure at another cutoff."""
        refuse_wrong_cutoff(self.family, cutoff)
        chosen = {key: value for key, value in self.foreign.params.items() if key != _CUTOFF_KEY}
        if cutoff is not None:
            chosen[_CUTOFF_KEY] = read_cutoff(cutoff)
        return DocumentMeasure(self.name, cutoff, type(self.foreign)(**chosen))

    def asked(self, by_query: Mapping[str, float], ties: str) -> "DocumentMeasure":
        """Return the same measure with the values of a run's queries."""
        return DocumentMeasure(self.name, self.cutoff, self.foreign, by_query, ties)

    def __eq__(self, other: object) -> bool:
        same = Measure.__eq__(self, other)
        return same is True and type(self.foreign) is type(other.foreign)  # type: ignore[attr-defined]

    __hash__ = Measure.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        # The object's class is local to a function, so other processes cannot import it.
        return DocumentMeasure, (self.name, self.cutoff, None, self.by_query, self.ties)


def is_document_measure(measure: object) -> bool:
    """Return whether an object is a measure made by `ir_measures.define`."""
    return (
        callable(getattr(measure, "runtime_impl", None))
        and isinstance(getattr(measure, "params", None), Mapping)
        and isinstance(getattr(measure, "SUPPORTED_PARAMS", None), Mapping)
    )


def document_measure(measure: Any) -> DocumentMeasure:
    """Return the measure for an object made by `ir_measures.define`."""
    text = text_of_object(measure)
    if text is None:
        hint = "Name it with ir_measures.define(…, name='Name')."
        raise MeasureError("measure", "a measure with a name", shown(measure), hint)
    cutoff = measure.params.get(_CUTOFF_KEY)
    name = text if cutoff is None else text.removesuffix(f"@{cutoff}")
    return DocumentMeasure(name, cutoff, measure)


_TAKEN_APART = re.compile(
    r"(?P<name>[^\s()@]+?)\s*(?:\((?P<arguments>.*)\))?\s*(?:@\s*(?P<cutoffs>[^@()]*))?", re.DOTALL
)

GivenMeasure = str | Measure | ForeignMeasure
"""What callers may pass as a measure: a text, a `Measure`, or a measure of ir_measures."""

Measures = GivenMeasure | Sequence[GivenMeasure]
"""What callers may pass as measures."""

_NOTATION = re.compile(
    r"(?P<name>\w+?)"
    r"(?:\s*\((?P<arguments>.*)\))?"
    r"(?:\s*(?P<mark>@|_at_(?=\d)|_cut_|\.(?=[\d.])|_(?=\d))\s*(?P<cutoffs>[^@()]*))?",
    re.DOTALL,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")  # all but tabs and line ends
_OPENING, _CLOSING = "({[", ")}]"
_NEXT = re.compile(r"(?<=[\w)}\]])(?:\s+|\s*,\s*)(?=\d*[^\W\d])")
_WORDS = re.compile(r"[\w\s]+")  # a name of several words, if the first isn't a measure

_OF_BASELINE = re.compile(r"(?P<measure>.*\S)\s*\(\s*baseline\s*\)", re.DOTALL)

# ir_measures names the gain after the DCG formula.
_IR_MEASURES_DCG = {"log2": "linear", "exp-log2": "exp2"}
_IR_MEASURES_KEYS = {"gains": "gain", "max_rel": "max"}


def read_text(text: object, expected: str) -> str:
    r"""Return the text of a measure, stripped of white space.

    Python strips some control characters as white space, so these are rejected first.

    >>> read_text("P@5,\x1c10", "a string such as 'nDCG@10'")
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: measure: expected a string such as 'nDCG@10', found 'P@5,\x1c10'. It contains a control character.
    """
    if not isinstance(text, str):
        written = text_of_object(text)
        if written is None:
            raise MeasureError("measure", expected, shortened(shown(text)))
        return written
    if _CONTROL.search(text):
        raise MeasureError("measure", expected, shown(text), "It contains a control character.")
    return text.strip()


def parse(text: str | ForeignMeasure) -> Measure:
    """Read one measure, from its text or from an object of ir_measures.

    >>> parse("nDCG(gain=exp2, base=e)@10")
    Measure('nDCG(gain=exp2, base=e)@10')
    >>> parse("ndcg_cut_10"), parse("ndcg_burges@5")
    (Measure('nDCG@10'), Measure('nDCG(gain=exp2)@5'))
    """
    return only_one(parse_all(text), text)


def read_measure(measure: GivenMeasure) -> Measure:
    """Return one measure from its text, its value or an object of ir_measures."""
    return measure if isinstance(measure, Measure) else parse(measure)


def name_of(measure: object) -> str | None:
    """Return the name of a measure in any accepted form; None for anything else."""
    if is_document_measure(measure):
        return str(document_measure(measure))
    return str(measure) if isinstance(measure, str | Measure) else text_of_object(measure)


def only_one(measures: tuple[Measure, ...], text: object) -> Measure:
    """Return the only measure of a text; reject several."""
    if len(measures) != 1:
        several = len({measure.name for measure in measures}) > 1
        hint = "Pass one of them." if several else "Pass one cutoff."
        raise MeasureError(f"measure {str(text)!r}", "one measure", f"{len(measures)}", hint)
    return measures[0]


def parse_all(text: str | ForeignMeasure) -> tuple[Measure, ...]:
    """Read measures, each with one or several cutoffs.

    >>> parse_all("nDCG@5,10 AP")
    (Measure('nDCG@5'), Measure('nDCG@10'), Measure('AP'))
    >>> parse_all("α-nDCG@20 IA(nDCG(gain=exp2)@5,10)")
    (Measure('alpha_nDCG@20'), Measure('IA(nDCG(gain=exp2)@5)'), Measure('IA(nDCG(gain=exp2)@10)'))
    """
    if is_document_measure(text):
        return (_of_documents(text),)
    stripped = read_text(text, "a string such as 'nDCG@10'")
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
        hint = suggest("_".join(stripped.split()), catalogue(needs=GRADES))
        raise MeasureError("measure", "a measure from the catalogue", shown(text), hint) from None
    return tuple(read)


def split_measures(text: str) -> list[str]:
    """Split a text at the blanks or commas between measures.

    >>> split_measures("nDCG(gain=exp2, base=e)@5, 10 AP,RR")
    ['nDCG(gain=exp2, base=e)@5, 10', 'AP', 'RR']
    """
    parts, depth, start, seen = [], 0, 0, 0
    for gap in _NEXT.finditer(text):
        between = text[seen : gap.start()]
        depth += sum(map(between.count, _OPENING)) - sum(map(between.count, _CLOSING))
        seen = gap.start()
        if depth == 0:
            parts.append(text[start : gap.start()])
            start = gap.end()
    return [*parts, text[start:]]


def _parsed(text: str, stripped: str) -> tuple[Measure, ...]:
    if is_formula(stripped):
        return (read_combination(stripped, lambda part: _parsed(part, part)),)
    inside = measure_inside(stripped)
    if inside is not None:
        if measure_inside(inside) is not None:
            raise MeasureError(f"measure {shown(stripped)}", "(baseline) once", "it twice")
        return tuple(BaselineMeasure(measure) for measure in _parsed(inside, inside))
    notation = _NOTATION.fullmatch(written_out(stripped))
    if notation is None or needs_more(notation["name"]):
        name = _TAKEN_APART.fullmatch(stripped)
        if name is not None and needs_more(name["name"]):
            return parse_needing(None, stripped)
    if notation is None:
        raise MeasureError(
            "measure",
            "a name such as nDCG, nDCG(gain=exp2) or nDCG@10",
            shown(text),
            hint_of_minus(text),
        )
    family, spelling = _look_up(notation["name"])
    written = read_arguments(notation["arguments"], where=text)
    parameters = read_parameters(
        (_from_ir_measures(key, value) for key, value in written), spelling.settings, where=text
    )
    if notation["cutoffs"] is None:
        return _at(family, parameters, spelling.cutoffs or [None])
    numbers = notation["cutoffs"].split(",")
    if spelling.suffix and (notation["mark"] != "@" or family.cutoff == NEVER):
        # The written value overrides the tool's default.
        own = {key: value for key, value in parameters.items() if key not in spelling.settings}
        return tuple(
            _made(family, **{**own, spelling.suffix: spelling.read(number)}) for number in numbers
        )
    return _at(family, parameters, [read_cutoff(number) for number in numbers])


def is_formula(text: str) -> bool:
    """Return whether a text is a formula of measures rather than a single measure.

    >>> [is_formula(text) for text in ("2*AP", "nDCG@10 - AP", "min(AP, RR)", "D#-nDCG@10", "nDCG@10")]
    [True, True, True, False, False]
    """
    if text.startswith(tuple(f"{name}(" for name in FUNCTIONS)) or text[:1] in ("-", "("):
        return True
    depth = 0
    for at, character in enumerate(text):
        depth += BRACKETS.get(character, 0)
        if depth == 0 and (character in "+*/" or text[at : at + 3] == " - "):
            return True
    return False


def hint_of_minus(text: str) -> str:
    """Return a hint on writing a minus, if an unreadable text contains one.

    >>> hint_of_minus("AP-RR")
    'A minus between measures needs blanks around it: AP - RR.'
    """
    left, minus, right = text.strip().partition("-")
    if not (minus and left.strip() and right.strip()):
        return ""
    return f"A minus between measures needs blanks around it: {left.strip()} - {right.strip()}."


def measure_inside(text: str) -> str | None:
    """Return the measure inside `MEASURE(baseline)`; None for any other text.

    >>> measure_inside("nDCG@10(baseline)"), measure_inside("nDCG@10")
    ('nDCG@10', None)
    """
    match = _OF_BASELINE.fullmatch(text)
    return None if match is None else match["measure"]


def parse_needing(needs: str | None, text: str) -> tuple[Measure, ...]:
    """Read a measure that needs more than grades, with one or several cutoffs.

    Args:
        needs: "subtopics" or "items"; other measures are rejected. None accepts both.
        text: the text of one measure.

    >>> parse_needing("items", "novelty(count=all)@5,20")
    (Measure('Novelty(count=all)@5'), Measure('Novelty(count=all)@20'))
    """
    notation = _TAKEN_APART.fullmatch(text)
    if notation is None:
        raise MeasureError("measure", "a name such as alpha_nDCG@20 or ILD(by=genre)", shown(text))
    entry = family_called(notation["name"], needs)
    listed = notation["cutoffs"]
    cutoffs = [None] if listed is None else [read_cutoff(number) for number in listed.split(",")]
    if any(parameter.name == INNER for parameter in entry.parameters):
        return _of_another(entry, notation["arguments"], cutoffs, where=text)
    written, called = (
        read_arguments(notation["arguments"], where=text),
        plain_name(notation["name"]),
    )
    settings = (each.settings for each in entry.spellings if plain_name(each.name) == called)
    return _at(entry, read_parameters(written, next(settings, {}), where=text), cutoffs)


def _of_another(
    family: Family, arguments: str | None, cutoffs: Sequence[int | None], *, where: str
) -> tuple[Measure, ...]:
    """Return measures that are computed from those in the brackets."""
    if arguments is None or not arguments.strip():
        raise MeasureError(
            f"measure {where!r}", "a measure in the brackets", "none", f"{family.name}(nDCG@10)."
        )
    inner = parse_all(arguments.strip().removeprefix("measure=").strip())
    if cutoffs != [None] and any(measure.cutoff is not None for measure in inner):
        raise MeasureError(f"measure {where!r}", "one cutoff", "one inside and one outside")
    return tuple(
        Measure(family.name, measure=measure, cutoff=cutoff)
        for measure in inner
        for cutoff in cutoffs
    )


def _at(
    family: Family, parameters: dict[str, Any], cutoffs: Iterable[int | None]
) -> tuple[Measure, ...]:
    return tuple(_made(family, cutoff=cutoff, **parameters) for cutoff in cutoffs)


def _made(family: Family, **settings: Any) -> Measure:
    if isinstance(family, OwnFamily):
        return OwnMeasure(family, **settings)
    return Measure(family.name, **settings)


def forget() -> None:
    """Clear the caches of parsed texts, because a name may now mean another measure."""
    _all_parsed.cache_clear()
    forget_entry_points()


def read_measures(measures: object) -> tuple[Measure, ...]:
    """Read a caller's measures: one or several, as text or values.

    A repeated measure is kept once, at its first position.

    >>> read_measures(["nDCG@10", "ndcg_cut_10", "CG"])
    (Measure('nDCG@10'), Measure('CG'))
    """
    read: dict[Measure, None] = {}
    for item in listed_measures(measures):
        for measure in (item,) if isinstance(item, Measure) else parse_all(item):
            read[measure] = None
    if not read:
        raise MeasureError("measures", "at least one measure", "none", "Try 'nDCG@10'.")
    if len(read) == 1:
        return tuple(read)
    for name, times in Counter(map(str, read)).items():
        if times > 1:  # two functions of one name
            raise MeasureError(
                "measures", "different names", f"'{name}' twice", "Rename one of the functions."
            )
    return tuple(read)


def listed_measures(measures: object) -> list[Any]:
    """Return a caller's measures as a list of texts and values; objects of ir_measures are converted."""
    expected = "a measure or a list of measures"
    if isinstance(measures, Mapping):
        hint = "Measures can't be renamed: pass the values of the dict."
        raise MeasureError("measures", expected, shown(measures), hint)
    if isinstance(measures, Measure) or _is_object(measures):
        measures = [measures]
    if not isinstance(measures, list | tuple):
        measures = arguments.listed(measures, "measures", expected, error=MeasureError)
    return [item if isinstance(item, str | Measure) else _listed(item) for item in measures]


def _is_object(measure: object) -> bool:
    plain = isinstance(measure, str | list | tuple)
    return not plain and (is_document_measure(measure) or text_of_object(measure) is not None)


def _listed(item: object) -> Any:
    if is_document_measure(item):
        return _of_documents(item)
    text = text_of_object(item)
    return item if text is None else text


def _of_documents(foreign: object) -> Measure:
    """Return the measure for an object made by `ir_measures.define`, which must have a unique name."""
    measure = document_measure(foreign)
    taken = place_of_name(measure.name)
    if taken is not None:
        raise MeasureError(
            "measure",
            "a unique name",
            f"'{measure.name}', which is {taken}",
            "Rename it with ir_measures.define(…, name='Name').",
        )
    return measure


def family(name: str) -> Family:
    """Return the catalogue entry for a name or another tool's spelling.

    >>> family("map").title
    'Average precision'
    """
    text = read_text(name, "a name such as 'nDCG'")
    if needs_more(text):
        return family_called(text)
    notation = _NOTATION.fullmatch(written_out(text))
    return _look_up(notation["name"] if notation else name)[0]


def place_of_name(name: str) -> str | None:
    """Return the current owner of a name: a measure from the catalogue, or the place of a definition."""
    try:
        family, _ = _look_up(name)
    except MeasureError:
        return None
    if isinstance(family, OwnFamily):
        return family.place
    return f"{family.name} of the catalogue"


def _look_up(name: str) -> tuple[Family, Spelling]:
    if needs_more(name):
        return family_called(name), Spelling(name)
    by_name: dict[str, tuple[Family, Spelling]] = {}
    for family in catalogue(needs=GRADES):
        if (
            family.name == name
        ):  # printed names read back unchanged, even if other tools use them too
            suffix = next((s.suffix for s in family.spellings if _same(s.name, name)), None)
            return family, Spelling(name, suffix=suffix)
        for spelling in (Spelling(family.name), *family.spellings):
            by_name[spelling.name.casefold()] = family, spelling
    entry = by_name.get(name.casefold())
    if entry is None:
        own = MEASURES.find(name)
        if own is not None:
            return own.own, Spelling(own.name)
        named = [measure.own for measure in MEASURES.in_use.values()]
        hint = suggest(name, (*families_like(name), *named))
        raise MeasureError("measure", "a measure from the catalogue", shown(name), hint)
    return entry


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
    """Return parameters merged with the settings of a spelling; reject cutoffs and repeated keys."""
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
        # In ir_measures, a grade missing from the table is its own gain, and isn't printed.
        listed = value[1:-1].strip()
        return "gain", f"{{{listed}{', ' * bool(listed)}else: linear}}"
    return _IR_MEASURES_KEYS.get(key, key), value


def _refuse_judged_only(value: str, where: str) -> None:
    """Reject judged_only=True with the corresponding policy; judged_only=False has no effect."""
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


KINDS: tuple[OwnNames[Any], ...] = (MEASURES, DISCOUNTS, GAINS)


def use(*definitions: OwnMeasure | Discount | Gain | str) -> None:
    """Register user-defined measures, discounts and gains under their names, in this process.

    Each is an object from `define`, or its location as text, `package.module:name`. A name that the library
    or another registered definition already has raises an error.

    >>> use("statistics:fmean")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gainful.errors.MeasureError: use 'statistics:fmean': expected a measure, a discount or a gain made by gainful.measures.define, found <function fmean ...>.
    """
    for item in definitions:
        where = f"use {shown(item)}"
        made = isinstance(item, OwnMeasure | Discount | Gain)
        definition: Any = item if made else at_place(item, where)
        names = next((kind for kind in KINDS if isinstance(definition, kind.made)), None)
        if names is None or definition.own_name is None:
            raise MeasureError(where, MADE, shown(definition))
        called = definition.own_name
        # All names and spellings of the catalogue are taken, too.
        taken = place_of_name(called.name) if names is MEASURES else names.taken(called.name)
        if taken is not None and taken != called.place:
            raise MeasureError(
                f"use {shown(called.place)}",
                "a unique name",
                f"'{called.name}', which is {taken}",
                "Rename one of them.",
            )
        names.in_use[called.name] = definition
        forget()  # cached texts may now mean something else
