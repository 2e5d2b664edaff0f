"""Texts of other tools that the grammar of the notation lacks, written out in it.

A text stands for what it says itself; what the tool does besides is in its dialect.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

from gainful.errors import MeasureError
from gainful.measures.written_numbers import read_number, write_number
from gainful.message_texts import did_you_mean, shown


class ForeignMeasure(Protocol):
    """What a measure of ir_measures has, by which it is known."""

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


def text_of_object(given: object) -> str | None:
    """Return a measure of ir_measures as the text of one; None for anything else.

    Parameters that have ir_measures' own default are left out, as it leaves them out itself.

    >>> from types import SimpleNamespace
    >>> known = dict.fromkeys(["cutoff", "gains"], SimpleNamespace(default=None))
    >>> chosen = {"cutoff": 10, "gains": {1: 1, 2: 3}}
    >>> text_of_object(SimpleNamespace(NAME="nDCG", SUPPORTED_PARAMS=known, params=chosen))
    'nDCG(gains={1: 1, 2: 3})@10'
    """
    if isinstance(given, str | Mapping | list | tuple):
        return None
    name = getattr(given, "NAME", None)
    known, chosen = getattr(given, "SUPPORTED_PARAMS", None), getattr(given, "params", None)
    if not (isinstance(name, str) and isinstance(known, Mapping) and isinstance(chosen, Mapping)):
        return None
    mark = getattr(given, "AT_PARAM", "cutoff")
    written = [
        f"{key}={value}"
        for key, value in chosen.items()
        if key != mark and not (key in known and value == getattr(known[key], "default", None))
    ]
    text = f"{name}({', '.join(written)})" if written else name
    return text if chosen.get(mark) is None else f"{text}@{chosen[mark]}"


def without_call(text: str) -> str:
    """Return a text in which the cutoff stands behind a mark and not in brackets.

    >>> without_call("precisionAt(10)")
    'precisionAt@10'
    """
    found = _CALL.fullmatch(text)
    return text if found is None else f"{found['name']}@{found['cutoff']}"


def written_out(text: str) -> str:
    """Return a text of another tool in the notation, and any other text as it is.

    Refused are those that say something that is no part of a measure, or not enough for one.

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
    if found := _RANX.fullmatch(text):
        return f"{found['name']}(rel={found['level']}){found['cutoff'] or ''}"
    text = _SPARK.sub("nDCG(gain=binary)", without_call(text))
    if found := _CATBOOST.fullmatch(text):
        return _from_catboost(text, found["name"], found["settings"])
    if found := _NTCIR.fullmatch(text):
        return _from_ntcir(text, found["arguments"], found["cutoff"] or "")
    if found := _XGBOOST.fullmatch(text):
        plain = found["measure"]
        raise MeasureError(
            f"measure {text!r}",
            "a measure without a minus at its end",
            "XGBoost's word for the policy empty=zero",
            f"Write '{plain}' under that policy. As XGBoost does else: "
            f"evaluate(..., dialect('xgboost').measure('{plain}'), "
            "policy=dataclasses.replace(dialect('xgboost').policy, empty='zero')).",
        )
    return _from_ir_measures(text)


def _from_ir_measures(text: str) -> str:
    """Write out what ir_measures has in a parameter or a cutoff, and this notation elsewhere."""
    if found := _NUM_RET.fullmatch(text):
        return f"NumRelRet({found['rel']})"
    if found := _SET_P.fullmatch(text):
        items = [item.strip() for item in found["arguments"].split(",")]
        others = [item for item in items if item not in _RELATIVE]
        name = next((_RELATIVE[item] for item in items if item in _RELATIVE), "P")
        return f"{name}({', '.join(others)})" if others else name
    if found := _SET_F.fullmatch(text):  # its beta is that of trec_eval, the square of the usual
        square = read_number(found["square"], where="beta")
        root = write_number(math.sqrt(square)) if square > 0 else found["square"]
        return f"{found['before']}{root}{found['after']}"
    if found := _BPM.fullmatch(text):
        before = (found["arguments"] or "").strip()
        return f"BPM({before}{', ' * bool(before)}K={found['cutoff']})"
    return text


def _from_catboost(text: str, name: str, settings: str) -> str:
    """Write out `NDCG:top=10;type=Exp;denominator=Position`."""
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
    """Write out `MSnDCG(gain=exp2)@10`, whose name says the discount and leaves the gain open."""
    if arguments is None or not re.search(r"\bgains?\s*=", arguments):
        raise MeasureError(
            f"measure {text!r}",
            "a gain, which the name leaves open",
            "none",
            f"Write 'nDCG{cutoff}' for grades as gains, 'nDCG(gain=exp2){cutoff}' for 2^g − 1, or "
            f"'nDCG(gain={{1: 1, 2: 3}}){cutoff}' for the table that was given to NTCIREVAL; or "
            "use the dialect ntcir.",
        )
    return f"nDCG(discount=log, {arguments}){cutoff}"
