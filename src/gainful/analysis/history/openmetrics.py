"""Gauges as text, in a form that is both OpenMetrics and the older text format of Prometheus."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Gauge(NamedTuple):
    """Numbers with the same name.

    Attributes:
        name: the name.
        meaning: a sentence.
        samples: the labels and the number of each sample.
    """

    name: str
    meaning: str
    samples: Sequence[tuple[Mapping[str, str], float]]


def as_openmetrics(gauges: Iterable[Gauge]) -> str:
    r"""Return gauges as text, without times, which the node exporter's textfile collector rejects.

    >>> print(as_openmetrics([Gauge("mean", "The mean.", [({"run": 'a"b'}, 0.5)])]))
    # HELP mean The mean.
    # TYPE mean gauge
    mean{run="a\"b"} 0.5
    # EOF
    <BLANKLINE>
    """
    lines = []
    for name, meaning, samples in gauges:
        lines += [f"# HELP {name} {meaning.translate(_ESCAPES)}", f"# TYPE {name} gauge"]
        for labels, number in samples:
            pairs = [f'{key}="{text.translate(_ESCAPES)}"' for key, text in labels.items()]
            braces = f"{{{','.join(pairs)}}}" if pairs else ""
            lines.append(f"{name}{braces} {_written(number)}")
    return "\n".join([*lines, "# EOF", ""])


def _written(number: float) -> str:
    special = {float("inf"): "+Inf", float("-inf"): "-Inf"}
    return "NaN" if number != number else special.get(number, repr(number))
