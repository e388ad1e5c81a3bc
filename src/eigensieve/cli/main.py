"""The command line: the list of commands, and the one place that decides the exit code.

Commands are imported when they are called, and import numpy and the rest inside
their functions only: ``eigensieve --help`` answers at once.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click

from .. import __version__
from ..errors import EigensieveError, VerificationError
from ._common import ARGS
from ._interrupt import WholeImports

# name: the line in the help of the group; the module cli/<name>.py has <name>_command
# (with _ for -)
COMMANDS = {
    "demo": "The whole story on an embedded table: select, report, check on held-out samples.",
    "fit": "Select features from a table, estimate the error, write model and report.",
    "compare": "The package's methods and classical ones side by side, under the same nested CV.",
    "predict": "Classify the rows of a table with a model file.",
    "certify": "How far from optimal is a set of features that any tool has chosen?",
    "panels": "All panels (sets of k features) that are nearly as good as the best one.",
    "export": "Write a model file as an ONNX model, for use outside Python.",
    "check-proof": "Verify a proof file of the exact solver, with independent code.",
    "evaluate": "How well a model file does on a table with known labels.",
    "reproduce": "The papers' tables and figures, regenerated and judged cell by cell.",
    "data": "List and describe the tables at hand.",
}
FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130
DISK_TROUBLE = {errno.ENOSPC, errno.EDQUOT, errno.EIO}  # no other input would help


class BadUse(click.ClickException):
    """What click says of a wrong option or value, in one line."""

    exit_code = BAD_INPUT

    @classmethod
    def of(cls, error: click.UsageError) -> BadUse:
        text = " ".join(error.format_message().split()).rstrip(".")
        path = "eigensieve" if error.ctx is None else error.ctx.command_path
        return cls(f"{text} (see {path} --help)")

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"error: {self.format_message()}", file=file, err=True)


@contextmanager
def one_line() -> Iterator[None]:
    """Turn an error of use into one line; a bare ``eigensieve`` shows the help as ever."""
    try:
        yield
    except getattr(click.exceptions, "NoArgsIsHelpError", ()):
        raise
    except click.UsageError as error:
        raise BadUse.of(error) from None


class LazyGroup(click.Group):
    """A group whose commands are modules, imported on call."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        module = importlib.import_module(f"{__package__}.{name}")
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            close = difflib.get_close_matches(name, COMMANDS, n=1)
            ctx.fail(f"No such command {name!r}." + "".join(f" Did you mean {c}?" for c in close))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[ARGS] = list(args)  # a report quotes the command that made it
        with one_line():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with exit_codes(debug=ctx.params.get("debug", False)), one_line(), WholeImports():
            return super().invoke(ctx)


@contextmanager
def exit_codes(debug: bool) -> Iterator[None]:
    """Turn an exception into one line on stderr and an exit code."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
        raise  # click's own affairs
    except (Exception, KeyboardInterrupt) as error:
        if debug and not isinstance(error, KeyboardInterrupt):
            click.echo(traceback.format_exc(), err=True, nl=False)
        code, line = explain(error)
        click.echo(line, err=True)
        raise click.exceptions.Exit(code) from None


def explain(error: BaseException) -> tuple[int, str]:
    """The exit code of an exception, and what to say."""
    text = " ".join(str(error).split())
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED, f"interrupted: {text or 'nothing was written'}"
    if isinstance(error, OSError):
        reason = error.strerror or text
        text = f"{error.filename}: {reason}" if error.filename else reason
    cause = error if isinstance(error, OSError) else error.__cause__
    if isinstance(cause, OSError) and cause.errno in DISK_TROUBLE:
        return FAILED, f"failed: {text}"
    if isinstance(error, OSError | EigensieveError) and not isinstance(error, VerificationError):
        return BAD_INPUT, f"error: {text}"
    if isinstance(error, MemoryError):
        return FAILED, f"failed: not enough memory{f' ({text})' if text else ''}"
    kind = type(error).__name__
    return FAILED, f"failed: {kind}: {text} (eigensieve --debug shows where)"


@click.group("eigensieve", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="eigensieve")
@click.option(
    "--debug", is_flag=True, envvar="EIGENSIEVE_DEBUG", help="Show the traceback of an error."
)
def cli(debug: bool) -> None:
    """Exactly k features out of thousands, and a small model that works on new rows.

    Start with: eigensieve demo
    """


def main() -> None:
    """The entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        # a name the terminal cannot show must not end the run
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="eigensieve")
