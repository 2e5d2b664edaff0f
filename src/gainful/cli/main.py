"""The process around a command: entry point, signals, failures, exit code, streams and progress.

Data goes to standard output, byte for byte except for terminal control characters. Everything else goes to standard error,
one message per line. Exit codes: 0 done, 1 a gate or check failed, 2 bad input or usage, 130 after Ctrl-C, 143 after
SIGTERM. Slow imports are in functions, because signals must be handled first.
"""

import gc
import io
import os
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import Any, NoReturn

import gainful as gf
from gainful.message_texts import closest, printable, shortened

COMPLETE_VARIABLE = "_GAINFUL_COMPLETE"
"""The environment variable in which a shell asks for completions."""
FAILED = 1  # a gate or a check
_BAD = 2  # input or usage, or a bug
_ENDING = [signal.SIGINT, signal.SIGTERM]
if sys.platform != "win32":
    _ENDING.append(signal.SIGHUP)
_LONGEST_COMMAND = 2000  # characters of the command that a message repeats
_SIGNALLED = 128  # added to the number of a signal, as shells do
_OUTPUT, _ERROR = 1, 2
_SHOWN = 5  # messages; the rest are counted
_PATIENCE = 1.0  # seconds until progress is shown
_NARROWEST = 40  # columns of a terminal, for messages
_RED, _GREEN, _YELLOW = 31, 32, 33
_COLOURS = {
    "better": _GREEN,
    "passed": _GREEN,
    "worse": _RED,
    "failed": _RED,
    "gainful: error:": _RED,
    "gainful: warning:": _YELLOW,
}
# Labels of messages, and verdicts in sentences, in cells of a table, and of a gate.
_COLOURED = re.compile(
    r"^gainful: (?:error|warning):|(?:(?<=  )|(?<=\bis )|(?<=^Gate ))(?:better|worse|passed|failed)(?=  |$|\s+than\b)",
    re.MULTILINE,
)


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
    _open_closed()
    import click

    from gainful.cli.commands import commands

    warnings.showwarning = lambda message, *_, **__: tell(f"{message}", "gainful: warning:")
    warnings.simplefilter("always", gf.errors.GainfulWarning)  # also repeated warnings
    try:
        # Sub-commands return nothing; click's own errors carry their exit code.
        commands.main(standalone_mode=False, complete_var=COMPLETE_VARIABLE)
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
            discard(_OUTPUT)  # the reader of a help page closed the pipe
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
            signal.signal(other, lambda number, _: os._exit(_SIGNALLED + number))
    raise KeyboardInterrupt if number == signal.SIGINT else _Terminated(number)


def _stopped(number: int, word: str) -> int:
    tell(f"gainful: {word}")
    return _SIGNALLED + number


def _leave(code: int) -> NoReturn:
    """End the process, with everything written."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard(_OUTPUT)
    except OSError as problem:
        discard(_OUTPUT)
        code = code or _failed(f"standard output: {problem.strerror}.")
    if code >= _SIGNALLED and threading.active_count() > 1:
        os._exit(code)  # Python would wait for a thread that hasn't stopped
    sys.exit(code)


def _failed(message: str) -> int:
    """Report an error, with the traceback if --traceback is set, and return the exit code."""
    if "--traceback" in takewhile(lambda word: word.startswith("-"), sys.argv[1:]):
        import traceback

        tell_lines(traceback.format_exc().rstrip())
    tell(message, "gainful: error:")
    return _BAD


def _misused(problem: Any) -> int:
    """Report a usage error like any other, with the closest option, and where the options are described."""
    context, message = getattr(problem, "ctx", None), problem.format_message()
    if type(problem).__name__ == "NoArgsIsHelpError":  # its message is the help page
        tell_lines(message)
        return int(problem.exit_code)
    if type(problem).__name__ == "NoSuchOption":  # versions of click word it differently
        close = closest(problem.option_name, problem.possibilities or ())
        message = f"No such option '{problem.option_name}'."
        message += f" Did you mean '{close}'?" if close else ""
    is_described = type(problem).__name__ != "UsageError"  # otherwise the message says what to do
    if context is not None and is_described:
        message = re.sub(r"(\w)$", r"\1.", message) + f" See `{context.command_path} --help`."
    return _failed(message.replace("\n\t", " "))  # click puts each choice on a line


def _refused(problem: OSError) -> str:
    """Return the message about a failed system call, with its file if known."""
    reason = problem.strerror or str(problem) or type(problem).__name__
    if problem.filename is not None:
        return f"{os.fsdecode(problem.filename)}: {reason}."
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
    import shlex
    import traceback

    place = traceback.extract_tb(problem.__traceback__)[-1]
    command = shortened(shlex.join(["gainful", "--traceback", *sys.argv[1:]]), _LONGEST_COMMAND)
    return (
        f"this is a bug in gainful: {type(problem).__name__}: {problem} (line {place.lineno} of {place.filename}). "
        f"Please report it with the output of this command, and the files if possible: {command} "
        f"(gainful {gf.__version__}, Python {platform.python_version()}, {platform.platform()})"
    )


def _open_closed() -> None:
    """Open closed standard streams on the null device, so that no file gets their descriptors."""
    for number in (0, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            # Writing to a read-only descriptor fails, like writing to a closed one.
            os.open(os.devnull, os.O_WRONLY if number == _ERROR else os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(_OUTPUT, "w", closefd=False)  # noqa: SIM115 - for good
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not have all characters


def write(text: str, output: str | None, *, has_verdicts: bool = False) -> None:
    """Write to standard output, where verdicts may be coloured, or replace a file once the new one is complete."""
    if output is None or output == "-":
        print_data(f"{text}\n", has_verdicts=has_verdicts)
    else:
        gf.writing.write_text(f"{text}\n", output)


def print_data(text: str, *, has_verdicts: bool = False) -> None:
    """Write to standard output; on a terminal, escape control characters, and colour verdicts if there are any."""
    with seen_enough():
        if not sys.stdout.isatty():
            gf.writing.write_text(_coloured(text, sys.stdout) if has_verdicts else text, "-")
            return
        shown = "\n".join("\t".join(map(printable, line.split("\t"))) for line in text.split("\n"))
        sys.stdout.write(_coloured(shown, sys.stdout) if has_verdicts else shown)
        sys.stdout.flush()


def _coloured(text: str, stream: Any) -> str:
    """Return a text with colours for verdicts, errors and warnings, if the stream is for people.

    NO_COLOR switches colours off everywhere, and FORCE_COLOR switches them on for what is not a terminal.
    """
    is_terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
    if os.environ.get("NO_COLOR") or not (is_terminal or os.environ.get("FORCE_COLOR")):
        return text
    return _COLOURED.sub(lambda word: f"\x1b[{_COLOURS[word[0]]}m{word[0]}\x1b[0m", text)


@contextmanager
def seen_enough() -> Iterator[None]:
    """Allow the reader of standard output (head, less) to stop early: that isn't an error."""
    try:
        yield
    except BrokenPipeError:
        discard(_OUTPUT)


def tell(text: str, label: str = "") -> None:
    """Write a message to standard error, on one line; a terminal shows it on several, broken between words."""
    line = printable(f"{label} {text}" if label else text)
    if sys.stderr.isatty():
        from gainful.output.rendering.table_formats import folded  # most calls have no message

        columns = os.get_terminal_size(sys.stderr.fileno()).columns  # 0 if it is unknown
        line = folded(line, max(_NARROWEST, columns) if columns else None)
    tell_lines(line)


def tell_former(former: str, name: str) -> None:
    """Warn that something is now written differently."""
    tell(f"{former} is now {name}; the old form works until the next release.", "gainful: warning:")


def tell_lines(text: str) -> None:
    """Write gainful's own lines to standard error; if it is closed, they are lost."""
    try:
        shown = "\n".join(map(printable, text.split("\n")))
        sys.stderr.write(f"{_coloured(shown, sys.stderr)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        discard(_ERROR)


def tell_some(texts: Sequence[str]) -> None:
    """Write the first few messages, and the number of the others."""
    for text in texts[:_SHOWN]:
        tell(text)
    if len(texts) > _SHOWN:
        tell(f"… and {len(texts) - _SHOWN:,} more; --format json lists all")


def print_error(text: str) -> None:
    """Write another tool's messages to standard error, byte for byte except on a terminal."""
    if sys.stderr.isatty() or not hasattr(sys.stderr, "buffer"):
        if text:
            tell_lines(text.removesuffix("\n"))
        return
    try:
        sys.stderr.buffer.write(text.encode(errors="surrogateescape"))
        sys.stderr.buffer.flush()
    except OSError:
        discard(_ERROR)


def discard(number: int) -> None:
    """Discard further output to a stream, so that the process ends quietly."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


@contextmanager
def progress_bar() -> Iterator[Callable[[float, str], None] | None]:
    """Yield a function to call with the completed share and a name; None without a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()


class _Bar:
    """A progress bar that appears only after a delay, so that quick work shows none.

    It may be called from any thread. After the delay, it shows the latest share and name even without
    a further call, as when the command waits for another program.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._share, self._name = 0.0, ""
        self._shown: Any = None
        self._timer: threading.Timer | None = None
        self._closed = False
        self._begin = time.monotonic()

    def __call__(self, share: float, name: str) -> None:
        with self._lock:
            # Every step of the work starts again at 0; the bar never moves backwards.
            self._share, self._name = max(self._share, min(share, 1.0)), name
            left = _PATIENCE - (time.monotonic() - self._begin)
            if left <= 0:
                self._show()
            elif self._timer is None:
                self._timer = threading.Timer(left, self._when_due)
                self._timer.daemon = True
                self._timer.start()

    def _when_due(self) -> None:
        with self._lock:
            self._show()

    def _show(self) -> None:
        if self._closed:
            return
        # Imported here because most commands end before the bar appears.
        from rich.markup import escape

        shown = escape(printable(self._name))  # file names may contain anything
        if self._shown is None:
            from rich.console import Console
            from rich.progress import Progress

            self._shown = Progress(console=Console(stderr=True), transient=True)
            self._shown.start()
            self._shown.add_task(shown, total=1.0)
        self._shown.update(self._shown.task_ids[0], completed=self._share, description=shown)

    def close(self) -> None:
        """Remove the bar."""
        with self._lock:
            self._closed = True
            if self._timer is not None:
                self._timer.cancel()
            if self._shown is not None:
                self._shown.stop()


def keep_imports() -> None:
    """Turn garbage collection on again after `import_quickly`, only for objects created from now on.

    Modules are then not scanned, nor freed one by one at exit, which would take longer than a small
    evaluation. Objects of the work itself, such as files, are closed as usual.
    """
    gc.freeze()
    gc.enable()
