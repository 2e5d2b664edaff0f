"""Texts of other tools that the grammar of the notation lacks, written out in it.

A text stands for what it says itself; what the tool does besides is in its dialect.
"""

import re

from gainful.errors import MeasureError
from gainful.message_texts import did_you_mean, shown

_CALL = re.compile(r"(?P<name>\w+At)\s*\(\s*(?P<cutoff>\d+)\s*\)", re.IGNORECASE)
_SPARK = re.compile(r"ndcgAt(?=@|$)", re.IGNORECASE)
_CATBOOST = re.compile(r"(?P<name>n?dcg)\s*:(?P<settings>.*)", re.IGNORECASE)
_XGBOOST = re.compile(r"(?P<measure>\w+(?:\([^()]*\))?(?:@\d+)?)-")
_NTCIR = re.compile(r"MSnDCG(?:\s*\((?P<arguments>.*)\))?(?P<cutoff>\s*@.*)?", re.IGNORECASE)

_OF_CATBOOST = {
    "type": ("gain", {"Base": "linear", "Exp": "exp2"}),
    "denominator": ("discount", {"LogPosition": "log", "Position": "reciprocal"}),
}
_WHOLE_LIST = "-1"  # of CatBoost's top


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
    """
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
