"""The format and the packing of a file, recognised by its name."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from gainful import arguments
from gainful.errors import InputError
from gainful.message_texts import did_you_mean, shown
from gainful.output.writing.atomic_files import name_of
from gainful.output.writing.packing import PACKINGS

DOCUMENTS: Mapping[str, str] = {
    ".run": "trec",
    ".qrels": "trec",
    ".trec": "trec",
    ".txt": "trec",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}
"""The formats of runs and judgments, by the ending of the name."""

TABLES: Mapping[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".txt": "table",
}
"""The formats of tables, by the ending of the name."""

POOLS: Mapping[str, str] = {**TABLES, ".qrels": "trec", ".trec": "trec"}
"""The formats of pools, by the ending of the name: tables, and TREC files to fill in."""

FUSED: Mapping[str, str] = {
    **TABLES,
    **{ending: name for ending, name in DOCUMENTS.items() if ending != ".qrels"},
}
"""The formats of fused runs, by the ending of the name: those of a run, and tables."""

MERGED: Mapping[str, str] = {
    **TABLES,
    **{ending: name for ending, name in DOCUMENTS.items() if ending != ".run"},
}
"""The formats of merged judgments, by the ending of the name: those of judgments, and tables."""

_PICTURE, _OFFICE, _DATA = "a picture", "a file of an office program", "a binary file"
_PROGRAM, _ARCHIVE = "a program", "an archive"
OTHERS: Mapping[str, str] = {
    **dict.fromkeys((".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tiff"), _PICTURE),
    **dict.fromkeys((".pdf", ".ps", ".eps"), "a printed page"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".ods", ".numbers"), "a spreadsheet"),
    **dict.fromkeys((".docx", ".doc", ".odt", ".rtf", ".pptx", ".ppt", ".odp"), _OFFICE),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".bz2", ".xz"), _ARCHIVE),
    **dict.fromkeys((".feather", ".arrow", ".avro", ".orc", ".pkl", ".pickle", ".npy"), _DATA),
    **dict.fromkeys((".npz", ".h5", ".db", ".sqlite", ".duckdb"), _DATA),
    **dict.fromkeys((".py", ".js", ".css", ".ipynb", ".sql"), _PROGRAM),
    **dict.fromkeys((".xml", ".yaml", ".yml", ".toml"), "a settings or markup file"),
}
"""Endings that promise what no result is written as, each with what it promises."""

_ENDINGS = {
    "tables": TABLES,
    "documents": DOCUMENTS,
    "pools": POOLS,
    "fused": FUSED,
    "merged": MERGED,
    "others": OTHERS,
}


@dataclass(frozen=True, slots=True)
class FileFormat:
    """The format of a file, and the ending that says how it is packed, if it is."""

    format: str
    packing: str | None


def endings(*, of: str = "tables") -> dict[str, str]:
    """Return the endings of file names that gainful writes, each with its format.

    Capital and small letters count alike. With .gz or .zst after the ending, a file is packed.

    Args:
        of: tables (scores and all other results), documents (runs and judgments), pools, fused (runs) or merged (judgments).
            Others are those that promise what no result is written as, each with what that is.

    >>> endings()[".htm"], endings(of="documents")[".qrels"]
    ('html', 'trec')
    """
    return dict(_ENDINGS[arguments.choice(of, "of", _ENDINGS, expected="what is written")])


def read_naming(
    path: str | os.PathLike[str],
    format: str | None,  # noqa: A002 - the word of the vocabulary
    endings: Mapping[str, str],
) -> FileFormat:
    """Return the format that the caller names; without one, the format that the file name tells.

    >>> read_naming("bm25.run.gz", None, DOCUMENTS)
    FileFormat(format='trec', packing='.gz')
    """
    name = name_of(path)
    pure = PurePath(name)
    packing = pure.suffix.lower() if pure.suffix.lower() in PACKINGS else None
    ending = (PurePath(pure.stem) if packing else pure).suffix.lower()
    if format is None:
        if ending not in endings:
            raise InputError(
                name or "''",
                "a name that tells the format by its ending",
                shown(ending) if ending else "no ending",
                f"{_hint(ending, endings)} Or say it: format=…, on the command line --format ….",
            )
        chosen = endings[ending]
    else:
        formats = list(dict.fromkeys(endings.values()))
        chosen = arguments.choice(format, "format", formats, expected="one of the formats")
    if packing and chosen == "parquet":
        raise InputError(
            name, f"Parquet without {packing}", shown(pure.name), "Parquet is packed within."
        )
    return FileFormat(chosen, packing)


def _hint(ending: str, endings: Mapping[str, str]) -> str:
    if ending not in DOCUMENTS:
        return did_you_mean(ending, endings)
    return (
        "It is for runs and judgments, which gf.write_run, gf.write_judgments and gainful convert "
        f"write. Choices: {', '.join(endings)}."
    )
