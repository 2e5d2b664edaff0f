"""Write the generated parts of the documentation from the package's own tables."""

import re
from collections.abc import Callable
from pathlib import Path

import gainful as gf
from gainful.inputs.columns import ALIASES

DOCS = Path(__file__).parent
STUB = DOCS.parent / "src" / "gainful" / "__init__.pyi"


def families() -> str:
    """Every measure, and a table of all parameters."""
    sections = [gf.render(family, "markdown") for family in gf.catalogue()]
    return "\n\n".join(sections)


def subtopics() -> str:
    """Every measure for queries with subtopics."""
    return "\n\n".join(gf.render(family, "markdown") for family in gf.subtopic_catalogue())


def choices() -> str:
    """Every choice of a policy with its answers, the default first."""
    lines = ["| choice | question | answers, the default first |", "|---|---|---|"]
    for choice in gf.choices():
        answers = [f"`{name}`: {meaning}" for name, meaning in choice.answers.items()]
        if choice.grade:
            answers.append(f"a grade: {choice.grade}")
        lines.append(f"| `{choice.name}` | {choice.question} | {'; '.join(answers)} |")
    return "\n".join(lines)


def rules() -> str:
    """Every rule of a check, the gravest first."""
    lines = ["| rule | severity | what is found | what to do |", "|---|---|---|---|"]
    lines += [
        f"| `{rule.name}` | {rule.severity} | {rule.what} | {rule.remedy} |"
        for rule in gf.Findings.rules
    ]
    return "\n".join(lines)


def columns() -> str:
    """Return the names of columns that are read, by what they hold."""
    return (
        "\n".join(
            f"- the {role}: {', '.join(f'`{name}`' for name in names)};"
            for role, names in ALIASES.items()
        ).removesuffix(";")
        + "."
    )


def dialects() -> str:
    """Every dialect: its tool, its nDCG, its choices, the grades that it takes, and notes."""
    lines = [
        "| dialect | tool | its nDCG | policy, where it is not the default | grades | notes |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{each.name}` | {each.tool} | `{each.measure('nDCG')}` | {each.choices()} "
        f"| {'any' if each.grades is None else each.grades.expected} | {each.notes()} |"
        for each in gf.dialects()
    ]
    return "\n".join(lines)


PARTS: dict[str, Callable[[], str]] = {
    "families": families,
    "subtopics": subtopics,
    "choices": choices,
    "rules": rules,
    "columns": columns,
    "dialects": dialects,
}


def renewed(text: str) -> str:
    """Return a page with its generated parts written anew."""
    return re.sub(
        r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)",
        lambda found: f"{found[1]}{PARTS[found[2]]()}\n{found[3]}",
        text,
        flags=re.DOTALL,
    )


def stub() -> str:
    """Return what type checkers read of the public names: the package's table as imports."""
    places = gf._PLACES.items()  # noqa: SLF001, the table is the package's own
    names = [(module, inside, name) for name, (module, inside) in places]
    lines = [
        f"from {module} import {inside}" + ("" if inside == name else f" as {name}")
        for module, inside, name in sorted(names)
    ]
    public = [f'    "{name}",' for name in gf.__all__]
    head = "# Written by `make docs` from the table in __init__.py."
    return "\n".join([head, "", *lines, "", "__all__ = [", *public, "]", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    for page in sorted(DOCS.glob("*.md")):
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
