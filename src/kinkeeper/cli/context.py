"""`kinkeeper context`: the memories that a session begins with."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory_opener import Memory, memory_opened
from kinkeeper.cli.opener import member_named
from kinkeeper.cli.terminal import answer, answer_json
from kinkeeper.core.errors import InputError
from kinkeeper.core.time import SystemClock
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.context.session_facts import Injected, as_markdown, as_record, injected
from kinkeeper.memory.finding.search import Finder


class Form(StrEnum):
    """How they are written."""

    MARKDOWN = "markdown"
    JSON = "json"


app = typer.Typer()


@app.command()
@located
def context(
    where: Where,
    query: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the session is about.")
    ] = None,
    project: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Include this project; repeatable.")
    ] = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as", metavar="MEMBER", help="Who is asking; includes their private memories."
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.MARKDOWN,
    json_: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Show the memories an assistant starts with."""
    is_json = json_ or form is Form.JSON
    _show_context(where, query=query, projects=project or [], named=as_, as_json=is_json)


def _show_context(
    where: Where, *, query: str | None, projects: Sequence[str], named: str | None, as_json: bool
) -> None:
    """Show what a session begins with.

    Args:
        query: What it is about, if known.
        projects: Whose memories belong to it, too.
        named: Who asks; somebody who only sees what everybody may where None.
        as_json: Answer in JSON instead of Markdown.

    Raises:
        InputError: Nobody is called so.
    """
    with memory_opened(where) as memory:
        viewer = Viewer.of(memory.household, _member(memory, named), projects=projects)
        names = memory.people.names if memory.people else {}
        found = asyncio.run(_injected(memory, viewer, query, now=SystemClock().now()))
    if as_json:
        answer_json(as_record(found, names))
    else:
        answer(as_markdown(found, memory.zone, names).rstrip())


def _member(memory: Memory, named: str | None) -> str | None:
    if named is None:
        return None
    if memory.people is None:
        raise InputError("--as needs a household file; specify it with --household FILE")
    return member_named(memory.people, named).id


async def _injected(
    memory: Memory, viewer: Viewer, query: str | None, *, now: datetime
) -> Injected:
    if not query:
        finder = Finder(memory.store, memory.household, zone=memory.zone, locale=memory.locale)
        return await injected(memory.store, finder, viewer, query=None, now=now)
    async with embedder_opened(memory.settings) as embedder:
        finder = Finder(
            memory.store, memory.household, zone=memory.zone, embedder=embedder,
            locale=memory.locale, called=memory.people.called if memory.people else {},
        )  # fmt: skip
        await finder.prepare()
        return await injected(memory.store, finder, viewer, query=query, now=now)
