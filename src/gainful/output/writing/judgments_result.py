"""`JudgmentsResult`: a result that is itself judgments, and can also be written as TREC."""

import os
from collections.abc import Mapping
from typing import ClassVar

from gainful.output.writing.output_files import MERGED, read_naming, write_parts
from gainful.output.writing.run_like_result import DocumentsByQuery
from gainful.output.writing.runs_and_judgments import write_judgments


class JudgmentsResult(DocumentsByQuery):
    """A read-only dict {query: {doc: grade}} whose table has more columns than the grade."""

    _endings: ClassVar[Mapping[str, str]] = MERGED

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word of the vocabulary
    ) -> None:
        """Write the judgments to a file, which is replaced only when the new one is complete.

        Args:
            path: the path of the file; `-` for standard output.
            format: trec, with the grades only; csv, tsv, jsonl or parquet, with all columns of the table,
                which can still be read as judgments; json, with everything; markdown, latex, html or
                table. If None, the extension of the path decides. All formats except Parquet are
                compressed if the name ends in .gz or .zst.
        """
        naming = read_naming(path, format, self._endings)
        if naming.format != "trec":
            super().write(path, format=naming.format)
        elif self:
            write_judgments(self, path, format=naming.format)
        else:
            write_parts([b""], path, naming.packing)
