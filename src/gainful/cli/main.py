"""The entry point: the process around a command, with its signals, failures and exit code.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 a gate or check
failed, 2 bad input or usage, 130 after Ctrl-C, 143 after SIGTERM. Slow imports are in `_run`, because
signals are already handled there.
"""

import os
import shlex
import signal
import sys
import threading
import warnings
from contextlib import suppress
from itertools import takewhile
from typing import Any, NoReturn

_BAD = 2  # input or usage, or a bug
_ENDING = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":
    _ENDING.append(signal.SIGHUP)
_LONGEST_COMMAND = 2000  # characters of the command that a message repeats
_SIGNALLED = 128  # added to the number of a signal, as shells do


class _Terminated(BaseException):
    """Raised when a signal ends the work, so that temporary files are removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main() -> NoReturn:
    """Run the command line, and report every failure in one paragraph."""
    try:
        _hear_signals()
        code = _run()
    except KeyboardInterrupt:
        code = _stopped(signal.SIGINT, "interrupted")
    except _Terminated as terminated:
        code = _stopped(terminated.number, "terminated")
    except Exception as problem:  # noqa: BLE001 - tracebacks are only shown with --traceback
        code = _failed(_bug(problem))
    _leave(code)


def _run() -> int:
    """Run a command and return its exit code."""
    from gainful.cli.process import discard, open_closed

    open_closed()
    import click

    import gainful as gf
    from gainful.cli.commands import commands

    warnings.showwarning = _show_warning
    warnings.simplefilter("always", gf.errors.GainfulWarning)  # also repeated warnings
    try:
        # Sub-commands return nothing; click's own errors carry their exit code.
        commands.main(standalone_mode=False)
    except gf.errors.GainfulError as problem:
        return _failed(str(problem))
    except click.ClickException as problem:
        return _misused(problem)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort as problem:
        if isinstance(problem.__cause__, EOFError):  # click treats it as Ctrl-D by the user
            raise problem.__cause__ from None
        return _stopped(signal.SIGINT, "interrupted")
    except SystemExit as done:
        if type(sys.stdout).__name__.endswith("PacifyFlushWrapper"):
            discard(1)  # the reader of a help page closed the pipe
            return 0
        return done.code if isinstance(done.code, int) else 0
    except MemoryError:
        return _failed(
            "memory: expected room for the work, found none left. Measure fewer runs or queries "
            "at a time, or use a larger machine."
        )
    except OSError as problem:
        return _failed(_refused(problem))
    return 0


def _hear_signals() -> None:
    """Make terminating signals end the work cleanly; a second signal ends the process immediately.

    Ignored signals, such as by nohup, stay ignored.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    with suppress(ValueError):  # only the main thread can set handlers
        for number in _ENDING:
            if signal.getsignal(number) in usual:
                signal.signal(number, _end_the_work)


def _end_the_work(number: int, _: object) -> NoReturn:
    for other in _ENDING:
        if signal.getsignal(other) is _end_the_work:
            signal.signal(other, _end_at_once)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise _Terminated(number)


def _end_at_once(number: int, _: object) -> NoReturn:
    os._exit(_SIGNALLED + number)


def _stopped(number: int, word: str) -> int:
    with suppress(ImportError):  # if the module was just being imported
        from gainful.cli.process import tell

        tell(f"gainful: {word}")
    return _SIGNALLED + number


def _leave(code: int) -> NoReturn:
    """End the process, with everything written."""
    from gainful.cli.process import discard

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(1)
    except OSError as problem:
        discard(1)
        code = code or _failed(f"standard output: {problem.strerror}.")
    if code >= _SIGNALLED and threading.active_count() > 1:
        os._exit(code)  # Python would wait for a thread that hasn't stopped
    sys.exit(code)


def _failed(message: str) -> int:
    """Report an error, with the traceback if --traceback is set, and return the exit code."""
    from gainful.cli.process import tell, tell_lines

    if "--traceback" in takewhile(lambda word: word.startswith("-"), sys.argv[1:]):
        import traceback

        tell_lines(traceback.format_exc().rstrip())
    tell(f"gainful: error: {message}")
    return _BAD


def _misused(problem: Any) -> int:
    """Report a usage error like click, but with the message on one line."""
    from gainful.cli.process import tell, tell_lines

    context, message = getattr(problem, "ctx", None), problem.format_message()
    if type(problem).__name__ == "NoArgsIsHelpError":  # its message is the help page
        tell_lines(message)
        return int(problem.exit_code)
    if context is not None:
        tell_lines(context.get_usage())
        if context.command.get_help_option(context) is not None:
            tell(f"Try '{context.command_path} --help' for help.")
        tell("")
    listed = message if "\n\t" not in message else " ".join(message.split())  # one choice per line
    tell(f"Error: {listed}")
    return int(problem.exit_code)


def _refused(problem: OSError) -> str:
    """Return the message about a failed system call, with its file if known."""
    reason = problem.strerror or str(problem) or type(problem).__name__
    if problem.filename is not None:
        return f"{os.fsdecode(problem.filename)}: {reason}."
    import gainful as gf

    try:
        gf.writing.write_text("", "-", dry=True)
    except gf.errors.InputError as closed:  # click could not print its help
        return str(closed)
    return f"the operating system: {reason}."


def _bug(problem: Exception) -> str:
    own = [note for note in getattr(problem, "__notes__", ()) if note.startswith("raised by ")]
    if own:  # the error is from a user-defined gain or discount
        return f"{own[0].removeprefix('raised by ')}: {type(problem).__name__}: {problem}."
    import platform

    import gainful as gf
    from gainful.message_texts import shortened

    place = problem.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = (
        "" if place is None else f" (line {place.tb_lineno} of {place.tb_frame.f_code.co_filename})"
    )
    command = shortened(shlex.join(["gainful", "--traceback", *sys.argv[1:]]), _LONGEST_COMMAND)
    return (
        f"this is a bug in gainful: {type(problem).__name__}: {problem}{where}. Please report it with "
        f"the output of this command, and the files if possible: {command} (gainful {gf.__version__}, Python "
        f"{platform.python_version()}, {platform.platform()})"
    )


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    from gainful.cli.process import tell

    tell(f"gainful: warning: {message}")
