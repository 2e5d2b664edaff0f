"""Write `released_api.json`: the names, parameters, commands and options that the next release promises.

Run by hand when a release is tagged: `PYTHONPATH=tests python tests/record_released_api.py`.
"""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import gainful as gf
from gainful.cli.commands import commands
from public_names import places

FILE = Path(__file__).with_name("released_api.json")


def parameters_of(value: Any) -> list[str] | None:
    """Return the parameters of a function or class, those by position first; None without a signature."""
    try:
        return [*inspect.signature(value).parameters] if callable(value) else None
    except ValueError:
        return None


def members_of(value: Any) -> list[str]:
    """Return the public members of a class."""
    return [name for name in dir(value) if not name.startswith("_")]


def python_api() -> dict[str, dict[str, Any]]:
    """Return the parameters and members of every public name."""
    api: dict[str, dict[str, Any]] = {}
    for place, module in {
        **places(),
        "gainful.losses": gf.losses,
        "gainful.metrics": gf.metrics,
    }.items():
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                api[f"{place}.{name}"] = {"parameters": parameters_of(value)}
                if inspect.isclass(value):
                    api[f"{place}.{name}"]["members"] = members_of(value)
    return api


def command_line() -> dict[str, list[str]]:
    """Return the spellings of the options of every command."""
    spellings = {}
    for name in commands.list_commands(None):
        command = commands.get_command(None, name)
        options = [spelling for option in command.params for spelling in option.opts]
        spellings[name] = sorted(option for option in options if option.startswith("-"))
    return spellings


if __name__ == "__main__":
    api = {"version": gf.__version__, "python": python_api(), "commands": command_line()}
    text = json.dumps(api, indent=1, sort_keys=True)
    FILE.write_text(re.sub(r"\[[^][]*\]", lambda names: " ".join(names[0].split()), text) + "\n")
