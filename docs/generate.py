"""Write the generated parts of the documentation from the package's own tables."""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import api_pages
import command_pages
import formulas
import policy_pictures

import gainful as gf

DOCS = Path(__file__).parent
PLACES = gf._PLACES  # noqa: SLF001, the table is the package's own


# The pages of measures, by the module of the catalogue that lists them.
MEASURE_PAGES = {
    "cumulated_gain": "Cumulated gain",
    "average_precision_and_kin": "Average precision and reciprocal rank",
    "precision_and_counts": "Precision, recall and counts",
    "user_models": "User models",
    "subtopics": "Several good answers",
    "recommendations": "Beyond relevance",
    "evidence": "Evidence",
    "model_answers": "Retrieval for a model",
    "time_and_sessions": "Time, text and sessions",
}


def families_in(module: str) -> Sequence[gf.measures.Family]:
    """Return the measures that a module of the catalogue lists."""
    return import_module(f"gainful.measures.catalogue.{module}").FAMILIES


def families_of(module: str) -> Callable[[], str]:
    """Return what writes the measures of a module of the catalogue, each with its example worked out."""

    def written() -> str:
        return "\n\n".join(
            part
            for family in families_in(module)
            for part in (described(family), worked(family) if family.needs == "grades" else "")
            if part
        )

    return written


def described(family: gf.measures.Family) -> str:
    """Return a measure as a section of a page, its definition with typeset formulas first."""
    text = gf.writing.render(family, "markdown").replace("### ", "## ", 1)
    return re.sub(
        r"^- \*\*definition\*\*: .*\n",
        lambda _: f"{formulas.typeset(family.definition.removesuffix('.'))}\n\n",
        text,
        count=1,
        flags=re.MULTILINE,
    )


def summary() -> str:
    """Return a table of all measures by page: what each is, and its range."""
    parts = []
    for module, title in MEASURE_PAGES.items():
        page = f"measures/{module}.md"
        rows = [
            f"| [{each.name}]({page}#{each.name.lower()}) | {each.title} | {each.range.partition('. ')[0].removesuffix('.')} |"
            for each in families_in(module)
        ]
        parts += [
            f"### {title}",
            "\n".join(["| measure | what it is | range |", "|---|---|---|", *rows]),
        ]
    return "\n\n".join(parts)


def worked(family: gf.measures.Family) -> str:
    """Return the example of a measure with all of its arithmetic, which a click opens."""
    example = family.example
    run = {"q": [f"d{rank}" for rank, _ in enumerate(example.grades, 1)]}
    judged = dict(zip(run["q"], example.grades, strict=True))
    judged |= {f"other{place}": grade for place, grade in enumerate(example.also, 1)}
    judgments = {"q": {doc: grade for doc, grade in judged.items() if grade is not None}}
    table = gf.writing.render(gf.explain(judgments, run, example.measure, query="q"))
    return "\n".join(
        [
            f'<details markdown="1"><summary>{example.measure}, worked out</summary>',
            "",
            f"```text\n{table}\n```",
            "",
            "</details>",
        ]
    )


def rules() -> str:
    """Every rule of a check, the gravest first."""
    lines = ["| rule | severity | meaning | what to do |", "|---|---|---|---|"]
    lines += [
        f"| `{rule.name}` | {rule.severity} | {rule.what} | {rule.remedy} |"
        for rule in gf.results.Findings.rules
    ]
    return "\n".join(lines)


def fusion_methods() -> str:
    """Every method of fusion, with its formula."""
    lines = ["| method | name | formula | parameters |", "|---|---|---|---|"]
    lines += [
        f"| `{each.name}` | {each.title} | {formulas.FUSION[each.formula]} "
        f"| {', '.join(each.parameters) or '–'} |"
        for each in gf.fusion.methods()
    ]
    return "\n".join(lines)


def fusion_normalisations() -> str:
    """Every normalisation of scores, with its formula."""
    lines = [
        "| normalisation | formula | in a list of equal scores, each becomes |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{each.name}` | {formulas.FUSION[each.formula]} | {each.flat} |"
        for each in gf.fusion.normalisations()
    ]
    return "\n".join(lines)


def error_codes() -> str:
    """Every code of errors and warnings."""
    rows = [f"| `{code}` | {meaning} |" for code, meaning in gf.errors.CODES.items()]
    return "\n".join(["| code | meaning |", "|---|---|", *rows])


def columns() -> str:
    """Return the names of columns that are read, by what they hold."""
    return (
        "\n".join(
            f"- the {role}: {', '.join(f'`{name}`' for name in names)};"
            for role, names in gf.inputs.column_names().items()
        ).removesuffix(";")
        + "."
    )


def dialects() -> str:
    """Every dialect: its tool, its nDCG, its choices, the grades that it takes, and notes."""
    lines = [
        "| dialect | tool | its nDCG | policy, where it differs from the default | grades | notes |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{each.name}` | {each.tool} | `{each.main()}` | {each.choices()} "
        f"| {'any' if each.grades is None else each.grades.expected} | {each.notes()} |"
        for each in gf.measures.dialects()
    ]
    return "\n".join(lines)


def discount_by_rank() -> str:
    """Each of the first ranks with its usual discount: the DCG of one document of grade 1 there."""
    lines = ["| rank i | log2(i + 1) | discount |", "|---:|---:|---:|"]
    for rank in range(1, 8):
        discount = gf.dcg([0] * (rank - 1) + [1])
        lines.append(f"| {rank} | {1 / discount:.3f} | {discount:.3f} |")
    return "\n".join(lines)


def discounts_compared() -> str:
    """Four discounts at some ranks."""
    ranks = (2, 5, 10, 20)
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "1 / log2(i + 1)": ("`log`, the default", {}),
        "1, then 1 / log2 i": ("`jarvelin`", {"discount": "jarvelin"}),
        "1, then 1 / log10 i": ("`jarvelin`, `base=10`", {"discount": "jarvelin", "base": 10}),
        "1 / i": ("`reciprocal`", {"discount": "reciprocal"}),
    }
    lines = [
        f"| discount | name | {' | '.join(f'at rank {rank}' for rank in ranks)} |",
        f"|---|---|{'---:|' * len(ranks)}",
    ]
    for formula, (name, chosen) in kinds.items():
        found = (gf.dcg([0] * (rank - 1) + [1], **chosen) for rank in ranks)
        lines.append(f"| {formula} | {name} | {' | '.join(f'{each:.3f}' for each in found)} |")
    return "\n".join(lines)


def queries_needed() -> str:
    """How many queries a paired t test needs, by the spread of differences and their mean."""
    differences = (0.01, 0.02, 0.05, 0.1)
    lines = [
        f"| standard deviation | {' | '.join(f'difference {each:g}' for each in differences)} |",
        f"|---:|{'---:|' * len(differences)}",
    ]
    for sd in (0.1, 0.2, 0.3):
        found = (gf.power(sd=sd, difference=each).queries for each in differences)
        lines.append(f"| {sd:g} | {' | '.join(f'{each:,}' for each in found)} |")
    return "\n".join(lines)


PARTS: dict[str, Callable[[], str]] = {
    "measures": summary,
    **{f"measures_{module}": families_of(module) for module in MEASURE_PAGES},
    "fusion_methods": fusion_methods,
    "fusion_normalisations": fusion_normalisations,
    "rules": rules,
    "error_codes": error_codes,
    "columns": columns,
    "dialects": dialects,
    "names": api_pages.names_by_task,
    **command_pages.PARTS,
    **policy_pictures.PARTS,
    "discount_by_rank": discount_by_rank,
    "discounts_compared": discounts_compared,
    "queries_needed": queries_needed,
}


def renewed_navigation(configuration: str) -> str:
    """Return mkdocs.yml with the pages of the API in its navigation."""
    return re.sub(
        r"(          - reference/api/index.md\n).*?(?=^ {0,6}- )",
        lambda found: f"{found[1]}{api_pages.navigation()}\n",
        configuration,
        flags=re.DOTALL | re.MULTILINE,
    )


def renewed(text: str) -> str:
    """Return a page with its generated parts written anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


def stubs() -> dict[Path, str]:
    """Return what type checkers read of each place that imports its names when they are asked for."""
    found = {}
    for place, public in PLACES.items():
        if any(module != place for module, _ in public.values()):
            found[stub_file(place)] = stub(place)
    return found


def stub_file(place: str) -> Path:
    """Return the stub of a place: beside its module, or where a module of a topic would be."""
    topic = place.removeprefix("gainful.")
    if topic in gf._TOPICS:  # noqa: SLF001
        return Path(gf.__file__).parent / f"{topic}.pyi"  # type: ignore[arg-type]
    return Path(find_spec(place).origin).with_suffix(".pyi")  # type: ignore[union-attr, arg-type]


def stub(place: str) -> str:
    """Return the names of a public place as imports."""
    names = [(module, inside, name) for name, (module, inside) in PLACES[place].items()]
    lines = [
        f"from {module} import {inside}" + ("" if inside == name else f" as {name}")
        for module, inside, name in sorted(names)
    ]
    public = [f'    "{name}",' for name in sorted(PLACES[place])]
    head = "# Written by `make docs` from the table in gainful/__init__.py."
    text = [head, "", *lines, "", "__all__ = [", *public, "]"]
    if place == "gainful":
        text.append("__version__: str")
    return "\n".join([*text, ""])


if __name__ == "__main__":
    for path in api_pages.FOLDER.glob("*.md"):
        if path.name != "index.md":
            path.unlink()
    for path, text in {**stubs(), **policy_pictures.pictures(), **api_pages.pages()}.items():
        path.write_text(text, encoding="utf-8")
    for page in sorted(DOCS.rglob("*.md")):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
    configuration = DOCS.parent / "mkdocs.yml"
    configuration.write_text(
        renewed_navigation(configuration.read_text(encoding="utf-8")), encoding="utf-8"
    )
