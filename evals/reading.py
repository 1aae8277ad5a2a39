"""What today's readers of English make of text by independent writers: right against its labels, and where they disagree.

Three readers stand side by side until one replaces them: the observer's for the group, the planner's rules for what is
said to the assistant, and memory's for what is told. Every labelled message goes through all three. No rule was written
with these texts in view, so the figures are first looks; they show which reader to keep for which kind of sentence.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from evals.planner_gold import labelled_requests
from evals.replayed import Heard, Stage, play
from evals.report import Floor, Report, Table, share
from evals.talk_households import household_in
from kinkeeper.conversation.model import PlanningContext
from kinkeeper.conversation.planning.rule_planner import plan_of
from kinkeeper.core.messages import InboundMessage
from kinkeeper.household.model import Household
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.observer.speaker import REPLAY
from training.corpus import Clause, Message, Talk, read_corpus

FOLDER: Final = Path("training/data")
READERS: Final = ("group", "assistant", "memory")
OWN_SURFACE: Final[Mapping[str, str]] = {
    "group": "group",
    "assistant": "assistant",
    "told": "memory",
}
"""Which reader answers for which surface."""

NOTHING: Final = "nothing"
FLOORS: Final = {
    "group: plans noticed": 0.38,
    "assistant: right kind": 0.15,
    "memory: facts kept": 0.7,
}

_PLANS: Final = frozenset({"event", "job", "cancel", "move"})
_KIND_OF_PREDICATE: Final[Mapping[str, str]] = {
    "event": "event", "pickup": "job", "dropoff": "job", "cover": "job", "task": "job",
    "reminder": "job", "list_add": "list", "list_remove": "list", "note": "list", "mail": "mail",
    "cancel": "cancel", "move": "move", "change": "move", "look_up": "look up", "fact": "fact",
    "preference": "fact", "forget": "forget",
}  # fmt: skip
_KIND_OF_TASK: Final[Mapping[str, str]] = {
    "cancel": "cancel",
    "move": "move",
    "pickup": "job",
    "dropoff": "job",
    "cover": "job",
}
_KIND_OF_REQUEST: Final[Mapping[str, str]] = {
    "calendar.create_event": "event", "calendar.delete_event": "cancel", "calendar.update_event": "move",
    "task.create": "job", "task.complete": "job", "task.update": "move", "task.delete": "cancel",
    "notes.append": "list", "notes.create": "list", "notes.remove_line": "list", "notes.delete": "list",
    "memory.store": "fact", "memory.forget": "forget", "memory.correct": "fact",
}  # fmt: skip
_SETTLES: Final = frozenset(
    {"accept", "offer", "assign", "decline", "withdraw", "promise", "correct"}
)
_SAMPLED: Final = 5
_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One labelled message and what each reader took it for.

    Attributes:
        surface: Where it was said.
        text: The message.
        kinds: What its labels say, a kind for each clause that means something; empty for talk.
        read: By reader, what it took the message for.
    """

    surface: str
    text: str
    kinds: frozenset[str]
    read: Mapping[str, str]

    @property
    def differing(self) -> tuple[str, ...] | None:
        """What the readers that read something took it for, if they disagree."""
        found = {kind for kind in self.read.values() if kind != NOTHING}
        return tuple(sorted(found)) if len(found) > 1 else None


def measure(*, root: Path, is_full: bool) -> Report:
    """Read messages of the corpus with all three readers.

    Args:
        root: The repository.
        is_full: All talks instead of every fifth.
    """
    compared = [*_compared(root, every=1 if is_full else _SAMPLED)]
    values = {
        "group: plans noticed": share(
            each.read["group"] != NOTHING
            for each in compared
            if each.surface == "group" and each.kinds & _PLANS
        ),
        "assistant: right kind": share(
            each.read["assistant"] in each.kinds
            for each in compared
            if each.surface == "assistant" and each.kinds
        ),
        "memory: facts kept": share(
            each.read["memory"] == "fact"
            for each in compared
            if each.surface == "told" and "fact" in each.kinds
        ),
    }
    return Report(
        suite="reading",
        tables=(_against_labels(compared), _disagreements(compared)),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=least) for name, least in FLOORS.items()
        ),
        worst=tuple(
            f"{' / '.join(each.differing)}: {each.text[:90]!r}"
            for each in compared
            if each.differing
        ),
    )


def _against_labels(compared: Sequence[Compared]) -> Table:
    """Count for each surface and kind how its own reader reads it."""
    rows: list[tuple[str | int | float, ...]] = []
    for surface, reader in OWN_SURFACE.items():
        own = [each for each in compared if each.surface == surface]
        for kind in sorted({kind for each in own for kind in each.kinds} | {NOTHING}):
            wanted = [
                each for each in own if kind in each.kinds or (kind == NOTHING and not each.kinds)
            ]
            read = [each for each in own if each.read[reader] == kind]
            rows.append(
                (
                    surface,
                    kind,
                    len(wanted),
                    share(each.read[reader] == kind for each in wanted),
                    share(each.read[reader] != NOTHING for each in wanted),
                    len(read),
                    share(
                        kind in each.kinds or (kind == NOTHING and not each.kinds) for each in read
                    ),
                )
            )
    return Table(
        title="Text by independent writers, each surface by its own reader",
        columns=(
            "surface",
            "kind",
            "messages",
            "read so",
            "read at all",
            "taken for it",
            "of these right",
        ),
        rows=tuple(rows),
    )


def _disagreements(compared: Sequence[Compared]) -> Table:
    """Count by class what two readers make of one message where both read something."""
    counts = Counter(each.differing for each in compared if each.differing)
    both = sum(sum(kind != NOTHING for kind in each.read.values()) > 1 for each in compared)
    rows = [(" / ".join(kinds), count) for kinds, count in counts.most_common()]
    return Table(
        title=f"Readers that disagree: {sum(counts.values())} of {both} messages that two or more read",
        columns=("taken for", "messages"),
        rows=tuple(rows),
    )


def _compared(root: Path, *, every: int) -> Iterator[Compared]:
    context = next(
        iter(labelled_requests(root / "evals/data/requests_heldout.jsonl", root))
    ).context
    with Stage({"TRIPWIRE_THRESHOLD": "0"}) as stage:
        for number, (_, talk) in enumerate(islice(read_corpus(root / FOLDER), 0, None, every)):
            household = replace(household_in(talk), id=f"talk-{number}")
            heard = play(stage.opened_with(household), inbound_of(talk, household))
            for message, taken in zip(talk.messages, heard, strict=True):
                if talk.surface != "group" and message.speaker == "Kin":
                    continue
                yield Compared(
                    surface=talk.surface,
                    text=message.text,
                    kinds=frozenset(filter(None, map(kind_of, message.clauses))),
                    read={
                        "group": _by_group(taken),
                        "assistant": _by_assistant(message, context),
                        "memory": _by_memory(message, _begin(talk, household)),
                    },
                )


def kind_of(clause: Clause) -> str | None:
    """Return what a clause is about in the few kinds that all readers share; None for talk."""
    if clause.modality is not None or clause.act in {"none", "greet"}:
        return None
    kind = _KIND_OF_PREDICATE.get(clause.predicate or "")
    return kind or ("job" if clause.act in _SETTLES and clause.predicate is None else None)


def _begin(talk: Talk, household: Household) -> datetime:
    return datetime.fromisoformat(talk.at).replace(tzinfo=household.zone)


def inbound_of(talk: Talk, household: Household) -> Iterable[InboundMessage]:
    """Return the messages of a talk as a channel hands them over, a minute apart."""
    for message in talk.messages:
        yield InboundMessage(
            channel=REPLAY,
            chat_id=household.id,
            message_id=str(message.number),
            sender=message.speaker,
            text=message.text,
            sent_at=_begin(talk, household) + message.number * _MINUTE,
        )


def _by_group(heard: Heard) -> str:
    extraction = heard.own["extraction"]
    if not extraction or heard.own["redline_decision"] is None or not extraction["is_coordination"]:
        return NOTHING
    return _KIND_OF_TASK.get(extraction["task"] or "", "event")


def _by_assistant(message: Message, context: PlanningContext) -> str:
    for action in plan_of(replace(context, text=message.text)).actions:
        name = f"{action.domain}.{action.action}"
        return _KIND_OF_REQUEST.get(name, "mail" if action.domain == "email" else "look up")
    return NOTHING


def _by_memory(message: Message, at: datetime) -> str:
    found = observe(message.text, said_at=at)
    return "fact" if found else NOTHING
