"""Spark as the engine that reads files: a session, and the formats that it reads."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gainful.errors import InputError
from gainful.inputs.duckdb_engine import Engine
from gainful.inputs.files import refuse_versioned_tables
from gainful.message_texts import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from gainful.inputs.spark_text import SparkText

_PACKED = (".gz", ".bz2", ".zst")
_TEXTS = (".csv", ".tsv", ".jsonl", ".ndjson")
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Spark:
    """Spark as the engine: files are read by it, and stay where they are.

    Attributes:
        master: where Spark runs, such as "local[2]", "yarn" or "spark://host:7077", or the address
            of a Connect server, "sc://host"; all cores of this machine if None.
        memory: the most memory of the driver, which is all of it where Spark runs on this machine,
            such as "4GB". Spark's own choice if None.
        folder: where what does not fit is written; Spark's own choice if None.

    A session that is there already is used as it is.

    >>> Spark(master="local[2]", memory="4GB")
    Spark(master='local[2]', memory='4GB', folder=None)
    """

    master: str | None = None
    memory: str | None = None
    folder: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        Engine(memory=self.memory, folder=self.folder)  # says what is wrong with them
        if self.master is not None and not (isinstance(self.master, str) and self.master):
            raise InputError("engine, master", "a text such as 'local[2]'", shown(self.master))

    def session(self) -> "SparkSession":
        """Return a session: the one there is, or a new one."""
        # Imported here because every function that reads knows `Spark`, and few calls use it.
        from gainful.inputs.spark_frames import first_line, library, without_pandas

        library()  # says how to get Spark
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession

        # Else the machines would run another Python, without this package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder
        master = self.master or "local[*]"
        if master.startswith("sc://"):
            builder = builder.remote(master)
        else:
            builder = builder.master(master)
            for key, value in self._settings().items():
                builder = builder.config(key, value)
        try:
            with without_pandas():
                return builder.getOrCreate()
        except (PySparkException, RuntimeError, OSError) as problem:
            raise InputError("engine, master", "a Spark that starts", first_line(problem)) from None

    def _settings(self) -> dict[str, str]:
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
        }
        if self.memory is not None:
            settings["spark.driver.memory"] = f"{_mebibytes(self.memory)}m"
        if self.folder is not None:
            settings["spark.local.dir"] = os.fspath(self.folder)
        return settings

    def read(self, judgments: object, runs: Mapping[str, object]) -> tuple[Any, dict[str, Any]]:
        """Return judgments and runs, files as Spark data frames, and what is no file as it is.

        Judgments in a format that Spark does not read come by way of this machine; runs in such a
        format are refused before Spark starts.
        """
        for run in runs.values():
            if isinstance(run, str | os.PathLike) and not _is_read(os.fspath(run)):
                name = os.fspath(run)
                raise InputError(
                    name,
                    "a run that Spark reads: .parquet or a directory of it, .csv, .tsv, .jsonl",
                    f"the ending {_ending(name)!r}" if _ending(name) else "another name",
                    "Convert it: gainful convert.",
                )
        return self._read(judgments), {name: self._read(run) for name, run in runs.items()}

    def _read(self, given: object) -> Any:
        if not isinstance(given, str | os.PathLike) or not _is_read(os.fspath(given)):
            return given
        name = os.fspath(given)
        if "://" not in name:
            refuse_versioned_tables([Path(name)], name)
        return self._opened(name)

    def _opened(self, name: str) -> "DataFrame | SparkText":
        from pyspark.errors import PySparkException

        from gainful.inputs.spark_frames import first_line
        from gainful.inputs.spark_text import text_on_spark

        session = self.session()
        try:
            if _ending(name) in _TEXTS:
                return text_on_spark(name, session)
            return session.read.parquet(name)
        except PySparkException as problem:
            if problem.getCondition() == "PATH_NOT_FOUND":
                raise InputError(name, "a file", "none of that name", "Check the path.") from None
            raise InputError(name, "a file that Spark can read", first_line(problem)) from None


def _is_read(name: str) -> bool:
    ending = _ending(name)
    return ending in (*_TEXTS, ".parquet") or os.path.isdir(name)  # noqa: PTH112 - of any file system


def _ending(name: str) -> str:
    """Return the ending of a name that tells the format.

    >>> _ending("run.csv.gz"), _ending("s3a://lake/run.parquet"), _ending("run")
    ('.csv', '.parquet', '')
    """
    stem = re.split(r"[/\\]", name.lower())[-1]
    for packing in _PACKED:
        stem = stem.removesuffix(packing)
    return f".{stem.rpartition('.')[2]}" if "." in stem else ""


def _mebibytes(size: str) -> int:
    """Return a size as mebibytes.

    >>> _mebibytes("4GB"), _mebibytes("1.5 GiB")
    (3814, 1536)
    """
    number, unit, binary = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)(i?)b\s*", size.lower()).groups()  # type: ignore[union-attr]
    scale = 1024 ** "kmgt".find(unit) * 1024 if binary else _UNITS[unit]
    return max(int(float(number) * scale / _MEBIBYTE), 1)
