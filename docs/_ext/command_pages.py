"""One page for each command, written from click's own objects when the site is built."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click
from sphinx.application import Sphinx

from eigensieve.cli.main import COMMANDS, cli


def write_pages(app: Sphinx) -> None:
    """Write ``api/generated/commands/*.rst``; a page that says the same is left alone."""
    folder = Path(app.srcdir) / "api" / "generated" / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    root = click.Context(cli, info_name="eigensieve")
    for name in COMMANDS:
        command = cli.get_command(root, name)
        assert command is not None
        text = "\n".join(page_of(command, click.Context(command, info_name=name, parent=root)))
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page_of(command: click.Command, ctx: click.Context, underline: str = "=") -> Iterator[str]:
    """The lines of a page: usage, help, options, then the commands of a group."""
    title = ctx.command_path
    yield from (title, underline * len(title), "")
    usage = " ".join(command.collect_usage_pieces(ctx))
    yield from (".. code-block:: none", "", f"   {title} {usage}", "")
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(command.help or "")):
        yield from (escape(paragraph), "")
    yield from (f".. program:: {title}", "")
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield from lines_of_option(option, ctx)
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from page_of(inner, click.Context(inner, info_name=name, parent=ctx), "-")


def lines_of_option(option: click.Option, ctx: click.Context) -> Iterator[str]:
    """An option in click's own words."""
    record = option.get_help_record(ctx)
    assert record is not None
    names, text = record
    yield from (f".. option:: {names}", "", f"   {escape(text)}", "")


def escape(text: str) -> str:
    """Plain text for a page in reStructuredText, on one line."""
    return re.sub(r"([\\*`|_])", r"\\\1", " ".join(text.split()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    # before autosummary and the toctrees look for files
    app.connect("builder-inited", write_pages, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
