"""`kinkeeper metrics`, `jobs`, `learned` and `why`: figures, background work, what was learned, and the trace of one decision."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinkeeper.actions.bars import Bar, versions
from kinkeeper.background.regulator import reset
from kinkeeper.cli.located import JsonOption, Where, located
from kinkeeper.cli.opener import opened
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.conversation.review.repository import ReviewFigures, review_figures
from kinkeeper.conversation.turn_records import ConversationFigures, figures, figures_record
from kinkeeper.core.time import SystemClock, midnight
from kinkeeper.memory.memory_metrics import MemoryFigures, load_figures
from kinkeeper.memory.memory_metrics import figures_record as memory_record
from kinkeeper.memory.model import FactStatus
from kinkeeper.observer.accounts.metrics import Metrics, load_metrics
from kinkeeper.observer.accounts.public_json import metrics_record, trace_record
from kinkeeper.observer.accounts.traces import Mark, load_trace
from kinkeeper.web.workload import workload_record

# `kinkeeper metrics`: how silent the assistant was, and what its gates did.

app = typer.Typer()


@app.command()
@located
def metrics(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days up to today.")] = 7,
    json_: JsonOption = False,
) -> None:
    """Show how often it spoke and what people confirmed."""
    with opened(where) as system:
        household, now = system.household, SystemClock().now()
        last = now.astimezone(household.zone).date()
        first = last - timedelta(days=days - 1)
        found = system.store.read_now(
            lambda conn: load_metrics(
                conn, household.id, household.zone, first=first, last=last, now=now
            )
        )
        since = midnight(first, household.zone)
        talk = system.store.read_now(lambda conn: figures(conn, household.id, since=since))
        memory = system.store.read_now(lambda conn: load_figures(conn, household.id, now=now))
    if json_:
        span = {"from": first.isoformat(), "to": last.isoformat()}
        answer_json(
            {
                **span,
                **metrics_record(found),
                "memory": memory_record(memory),
                "conversation": figures_record(talk),
            }
        )
    else:
        _show(console(), found)
        _show_memory(console(), memory)
        _show_talk(console(), talk)


def _show(screen: Console, found: Metrics) -> None:
    screen.print(Text("Messages by day", "bold"))
    for day in found.days:
        misses = ", ".join(f"{miss.message_id} {miss.score:.2f}" for miss in day.near_misses)
        nearest = f"  (nearest misses: {misses})" if misses else ""
        screen.print(f"  {day.day:%a %Y-%m-%d}  {day.sentence}{nearest}")
    if not found.days:
        screen.print("  no messages")
    table = Table(title="Gates", title_justify="left")
    for heading in ("gate", "passed", "stopped", "without score"):
        table.add_column(heading, justify="left" if heading == "gate" else "right")
    for gate in found.gates:
        table.add_row(gate.stage, str(gate.passed), str(gate.failed), str(gate.without_score))
    screen.print(table)
    screen.print(
        f"Unprompted messages per day: {found.spoken_per_day:.1f} {_counts(found.spoken_by_rule)}"
    )
    actions = {status.value: count for status, count in found.actions.items()}
    screen.print(f"Actions: {_counts(actions) or 'none'}")
    share = "nobody has decided yet"
    if found.confirmed_share is not None:
        share = f"{found.confirmed_share:.0%}"
    screen.print(f"Approved, of all that were decided: {share}")
    refusals = {reason.value: count for reason, count in found.refusals.items()}
    screen.print(f"Button presses that changed nothing: {_counts(refusals) or 'none'}")
    presses = {reason.value: count for reason, count in found.refused_presses.items()}
    screen.print(f"Button presses that were refused: {_counts(presses) or 'none'}")
    said = found.feedback
    screen.print(f"Cards reported as wrong: {_counts(_by_name(said.not_right)) or 'none'}")
    screen.print(f"Feedback on decisions: {_counts(_by_name(said.verdicts)) or 'none'}")
    screen.print(f"Asked why it spoke: {said.confusion}")
    if found.consulted:
        screen.print(f"Questions to a language model: {_counts(found.consulted)}")
    if found.talk:
        screen.print(f"Conversations read by a language model: {_counts(found.talk)}")
    if found.failed:
        screen.print(f"Could not be read: {found.failed} messages; see kinkeeper pending")


def _show_talk(screen: Console, talk: ConversationFigures) -> None:
    screen.print(Text("Conversations", "bold"))
    screen.print(f"  {talk.turns} messages to the assistant {_counts(talk.outcomes)}")
    if talk.modes:
        screen.print(f"  answered as: {_counts(talk.modes)}")
    if talk.acted:
        screen.print(f"  carried out: {_counts(talk.acted)}")
    if talk.memory_searches is not None:
        screen.print(f"  memory searches per 100 messages: {talk.memory_searches:.1f}")
    screen.print(f"  failed stages: {_counts(talk.failures) or 'none'}")
    if talk.encoded:
        screen.print(f"  conversations saved to memory: {_counts(talk.encoded)}")


def _by_name(counts: Mapping[Any, int]) -> dict[str, int]:
    return {each.value.replace("_", " "): count for each, count in counts.items()}


def _counts(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    return "(" + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) + ")"


def _show_memory(screen: Console, found: MemoryFigures) -> None:
    """Show the figures of memory; of an empty memory, that it is empty."""
    if not found.episodes and not found.facts:
        screen.print("Memory: empty")
        return
    screen.print(Text("Memory", "bold"))
    kept = sum(count for status, count in found.facts.items() if status.is_active)
    rest = ", ".join(
        f"{status.value.replace('_', ' ')} {count}"
        for status, count in sorted(found.facts.items())
        if not status.is_active
    )
    screen.print(f"  {found.episodes} episodes, {kept} facts in use{f' ({rest})' if rest else ''}")
    screen.print(f"  sentences that repeat a known fact: {_share(found.repeated_share)}")
    faded = found.facts.get(FactStatus.DEPRECATED, 0)
    screen.print(f"  supported by more than one episode: {found.supported}; faded: {faded}")
    screen.print(
        f"  contradictions: {_share(found.settled_without_model)} settled without a model, "
        f"{found.undecided} undecided, {found.contradicted} facts flagged"
    )
    screen.print(
        f"  models this week: {found.model_calls} calls, estimated cost {found.model_cost:.4f}"
    )


def _share(share: float | None) -> str:
    return "none" if share is None else f"{share:.0%}"


# `kinkeeper jobs`: how much work waits, is under way, is done or has failed.

_KINDS = {
    "reading": "messages to read",
    "sending": "messages to send",
    "answering": "messages to the assistant",
    "outside": "emails and calls to external tools",
    "goals": "work on goals",
    "thoughts": "idle thoughts",
    "remarks": "remarks made unasked",
    "questions": "questions kept for later",
    "reviews": "reviews of past answers",
}


@app.command()
@located
def jobs(
    where: Where,
    days: Annotated[int, typer.Option(min=1, max=366, help="Number of days to include.")] = 7,
    json_: JsonOption = False,
) -> None:
    """Show queued, running, finished and failed background work."""
    with opened(where) as system:
        now = SystemClock().now()
        work = system.store.read_now(
            lambda conn: workload_record(conn, system.household, days, now=now)
        )
    if json_:
        span = {name: work[name].isoformat() for name in ("first", "last")}
        answer_json(work | span)
    else:
        screen = console()
        screen.print(f"Work from {work['first']} to {work['last']}")
        table = Table("kind", "status")
        for name, kind in _KINDS.items():
            table.add_row(kind, _counted(work[name]))
        table.add_row("learned thresholds", moved(work["bars"]))
        table.add_row("failed answer stages", _counted(work["stage_failures"]))
        table.add_row("incoming updates that could not be processed", str(work["failed_updates"]))
        table.add_row("latest nightly backup", _tried(work["backup"]))
        screen.print(table)
        for each in work["manual_review"]:
            screen.print(f"needs attention: message {each['message_id']}: {each['error']}")


def _tried(backup: Mapping[str, Any] | None) -> str:
    if backup is None:
        return "none tried"
    if not backup["is_good"]:
        return f"{backup['file']}: {backup['problem']}"
    return f"{backup['file']}: restored and compared, {backup['row_count']} rows in {backup['tables']} tables"


def _counted(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in sorted(numbers.items())) or "nothing"


def moved(offsets: Mapping[Bar, float]) -> str:
    """Return how far bars were moved, in a line."""
    told = (f"{offset:+.2f} for {bar.label}" for bar, offset in sorted(offsets.items()) if offset)
    return ", ".join(told) or "nothing"


# `kinkeeper learned`: what people's decisions changed, and how to take that back.


@app.command()
@located
def learned(
    where: Where,
    reset_: Annotated[
        Bar | None, typer.Option("--reset", help="Return this threshold to its default.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Show what confirmations and corrections have changed, or reset it."""
    with opened(where) as system:
        household, now = system.household.id, SystemClock().now()
        if reset_ is not None:
            is_moved = system.store.write_now(lambda conn: reset(conn, household, reset_, now=now))
            notice("Reset." if is_moved else "That is at its default already.")
        known = system.store.read_now(lambda conn: versions(conn, household, limit=_MOST_VERSIONS))
        reviews = system.store.read_now(
            lambda conn: review_figures(conn, household, since=now - _REVIEWED_LATELY)
        )
    if json_:
        answer_json(
            [
                asdict(each)
                | {"at": each.at.isoformat()}
                | {"judged_at": each.judged_at and each.judged_at.isoformat()}
                for each in known
            ]
        )
        return
    table = Table("date", "threshold", "change", "based on", "result")
    for each in known:
        table.add_row(
            f"{each.at.astimezone(system.household.zone):%Y-%m-%d %H:%M}",
            each.bar.label,
            f"{each.cause} to {each.offset:+.2f}",
            f"{each.why.decisions} decisions, {each.why.pressure:.0%} wrong"
            + (f" by {each.why.by}" if each.why.by else ""),
            "on trial" if each.is_on_trial else each.outcome or "",
        )
    console().print(table if known else "Nothing has been changed.")
    _show_reviews(console(), reviews)


def _show_reviews(screen: Console, found: ReviewFigures) -> None:
    """Show what a strong model said of past answers, if it said anything."""
    if not found.reviewed:
        return
    screen.print(
        f"A model reviewed {found.reviewed} answers of the last 30 days and disagreed with {found.disagreed}"
        f" ({_counts(found.models).strip('()')})."
    )
    for way, number in found.by_way.items():
        screen.print(f"  {way}: {number}")


_MOST_VERSIONS = 50
_REVIEWED_LATELY = timedelta(days=30)


# `kinkeeper why`: the trace of one decision.

_SIGNS = {Mark.PASSED: ("✓", "green"), Mark.STOPPED: ("✗", "yellow"), Mark.NOTED: ("·", "dim")}


@app.command()
@located
def why(
    where: Where,
    message_id: Annotated[
        str, typer.Argument(metavar="MESSAGE_ID", help="Message id, or its first characters.")
    ],
    chat: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Chat id, if several chats have that message id."),
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Explain why a message was answered, saved or ignored."""
    with opened(where) as system:
        trace = system.store.read_now(
            lambda conn: load_trace(conn, system.household, message_id, chat_id=chat)
        )
    if json_:
        answer_json(trace_record(trace))
        return
    screen = console()
    screen.print(f"Message {trace.message_id} of chat {trace.chat_id}")
    for step in trace.steps:
        sign, style = _SIGNS[step.mark]
        screen.print(Text.assemble((f"  {sign} ", style), step.text), soft_wrap=True)
