"""Altair's charts, with a `save` that needs no network and reports the endings it supports.

This module alone imports altair; it is imported when the first chart is drawn.
"""

import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from gainful.errors import InputError
from gainful.message_texts import did_you_mean
from gainful.output.plotting.renderer import refuse_without_renderer
from gainful.output.writing.output_files import replacing

ENDINGS = ("png", "svg", "pdf", "html", "json")
_BINARY = ("png", "pdf")
_UNCHECKED = threading.Lock()


class _Escaped(json.JSONEncoder):
    """JSON for a script element: no text in it can close the element."""

    def encode(self, o: object) -> str:
        """Write a value; what HTML reads as a tag is written as an escape, which is the same JSON."""
        return _escaped(super().encode(o))


def _escaped(text: str) -> str:
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


class _Saved(alt.TopLevelMixin):
    """The differences from altair's charts: these save offline, and accept thousands of rows."""

    data: Any

    def to_dict(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Return the specification; altair checks all but the rows, which would take minutes."""
        data = self.data
        if not isinstance(data, dict) or "values" not in data:
            return super().to_dict(*arguments, **options)
        bare: Any = self.copy(deep=False)  # type: ignore[attr-defined]
        bare.data = {**data, "values": []}
        # The result belongs only to this call, and receives the rows that altair did not check.
        spec: dict[str, Any] = super(_Saved, bare).to_dict(*arguments, **options)
        if "data" in spec:
            spec["data"] = {**data, "values": list(data["values"])}
        return spec

    def save(  # type: ignore[override]
        self,
        fp: Any,
        format: Any = None,  # noqa: A002 - altair's name
        **options: Any,
    ) -> None:
        """Write the chart to a file: PNG, SVG, PDF, self-contained HTML, or JSON.

        An old file is replaced when the new one is complete.

        Args:
            fp: the path, or a file that is open for writing; then with a `format`.
            format: inferred from the ending of the path if None.
            options: altair's options, such as `scale_factor`, which defaults to 2 for PNG.
        """
        path = Path(fp) if isinstance(fp, str | os.PathLike) else None
        if path is not None:
            format = format or path.suffix.lstrip(".").lower()  # noqa: A001
        if format not in ENDINGS:
            endings = [f".{ending}" for ending in ENDINGS]
            raise InputError(
                f"save {str(fp)!r}",
                "a name that ends in one of the formats",
                f"'.{format}'" if format else "no ending",
                did_you_mean(f".{format}", endings),
            )
        if format == "html":
            options = {"inline": True, "json_kwds": {"cls": _Escaped}, **options}
        if format == "png":
            options.setdefault("scale_factor", 2)
        if format != "json":
            refuse_without_renderer(f"save {str(fp)!r}")
        if path is None:
            super().save(fp, format=format, **options)
            return
        # Drawn completely before the file is touched, so that an old one survives if the chart
        # cannot be drawn.
        drawn = io.BytesIO() if format in _BINARY else io.StringIO()
        super().save(drawn, format=format, **options)
        content = drawn.getvalue()
        with replacing(path) as file:
            file.write_bytes(content.encode() if isinstance(content, str) else content)

    def to_html(self, *arguments: Any, **options: Any) -> str:
        """Return a page as altair does, except that no text in the rows can be read as markup."""
        options = {"json_kwds": {"cls": _Escaped}, **options}
        return str(super().to_html(*arguments, **options))

    def _repr_mimebundle_(self, *arguments: object, **options: object) -> Any:
        bundle = super()._repr_mimebundle_(*arguments, **options)
        if isinstance(bundle, dict) and "text/html" in bundle:
            spec = json.dumps(self.to_dict(context={"pre_transform": False}))
            bundle["text/html"] = bundle["text/html"].replace(spec, _escaped(spec))
        return bundle


class LayerChart(_Saved, alt.LayerChart):
    """An altair chart of several layers."""


class FacetChart(_Saved, alt.FacetChart):
    """An altair chart of several parts, one below the other."""


def chart_of(spec: dict[str, Any]) -> LayerChart | FacetChart:
    """Return the chart of a specification."""
    data: dict[str, list[Any]] = {"values": []}
    # The whole chart is checked against the schema when it is drawn; checking each part here would
    # take longer than drawing it. All threads share this switch, so it must be restored afterwards.
    with _UNCHECKED, debug_mode(arg=False):
        rest = _without(_with_objects(spec), "layer", "spec", "facet", "data")
        chart: LayerChart | FacetChart
        if "facet" in spec:
            part = _part(spec["spec"])
            chart = FacetChart(data=data, spec=part, facet=spec["facet"], **rest)
        else:
            chart = LayerChart(data=data, layer=[_part(layer) for layer in spec["layer"]], **rest)
    chart.data = spec["data"]
    return chart


def _part(spec: dict[str, Any]) -> alt.Chart | alt.LayerChart:
    """Return a chart within another."""
    options = _with_objects(spec)
    if "layer" not in options:
        return alt.Chart(**options)
    return alt.LayerChart(layer=[_part(layer) for layer in options.pop("layer")], **options)


def _with_objects(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a specification with altair's objects where its charts require them, and dicts elsewhere.

    Altair would try every class that fits for each part, which takes sixty times as long.
    """
    converted = dict(spec)
    if "encoding" in converted:
        converted["encoding"] = alt.FacetedEncoding(**converted["encoding"])
    if "params" in converted:
        converted["params"] = [
            (alt.TopLevelSelectionParameter if "select" in p else alt.VariableParameter)(**p)
            for p in converted["params"]
        ]
    if "data" in converted:
        data: Any = alt.Data  # which altair leaves in place
        converted["data"] = data(**converted["data"])
    return converted


def _without(spec: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name not in names}
