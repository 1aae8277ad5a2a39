"""What a model reads in group talk by independent writers: its frames, as far as they have ground, against the labels.

The program's own path is run: batches, the prompt, the call, the checks. The model's answers are recorded: they were
given to the prompts alone, by whom `ANSWERED_BY` says, so the figures tell what the design yields with a strong model and
how much the checks cost. `python -m evals.group_reading FOLDER` writes the prompts that have no answer yet.
"""

import asyncio
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from evals.arrangements import figures_of, labelled_frames, played_of, read_frames
from evals.report import Floor, Report, Table, share
from evals.talk_households import household_in
from kinkeeper.household.model import Household
from kinkeeper.models.client import estimated
from kinkeeper.models.model import ChatReply, ChatRequest, Finish, ModelError, Outcome, Usage
from kinkeeper.observer.group_reader import BatchRead, GroupReader, batch_of, group_prompt
from kinkeeper.reading.batch import Heard, Thing, cut_batches
from kinkeeper.reading.batch_grounding import Found
from kinkeeper.reading.model import Act, Frame, Predicate, SlotName, Target
from training.corpus import Clause, Message, Talk, read_corpus

ANSWERED_BY: Final = "Claude, from the prompts alone, 2026-11-23"
ANSWERS: Final = Path("evals/data/group_reading.jsonl")
WRITERS: Final = ("w09", "w10", "w11")
MESSAGES_A_WRITER: Final = 60
FLOORS: Final[Mapping[str, float]] = {
    "messages noticed": 0.9,
    "frames that are wanted": 0.85,
    "plans noticed": 0.9,
}

_BETWEEN: Final = timedelta(seconds=20)
_MESSAGES_A_DAY: Final = 150
_SAME_ACT: Final = {"promise": "offer", "correct": "state", "request": "ask"}
"""Acts that the answer's schema does not tell apart from others."""

_ONLY_ANSWERS: Final = frozenset({Act.ACCEPT, Act.DECLINE, Act.REPORT_DONE})
_HOUSEHOLD: Final = re.compile(r"<data household>\n.*\n")
_IDLE: Final = frozenset({"none", "greet"})


@dataclass(slots=True)
class RecordedModel:
    """Answers prompts as somebody once did; fails where nobody has.

    Attributes:
        answers: By the prompt's digest.
        missing: Prompts without an answer, by digest.
        tokens: Of the prompts and answers, by kind.
        fallbacks: How often the reader went on without an answer, by outcome.
    """

    answers: Mapping[str, str]
    missing: dict[str, ChatRequest] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the recorded answer.

        Raises:
            ModelError: There is none.
        """
        key = digest_of(request)
        text = self.answers.get(key)
        if text is None:
            self.missing[key] = request
            raise ModelError("nobody has answered this prompt", outcome=Outcome.UNREACHABLE)
        head, *rest = (estimated(each.text) for each in request.messages)
        self.tokens += Counter(head=head, talk=sum(rest), answer=estimated(text))
        if request.output is not None:
            self.tokens["schema"] += estimated(json.dumps(dict(request.output.schema)))
        usage = Usage(input_tokens=head + sum(rest), output_tokens=estimated(text))
        return ChatReply(text=text, model="recorded", usage=usage, finish=Finish.STOP)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[str | ChatReply]:
        """Yield the whole answer.

        Raises:
            ModelError: There is none.
        """
        yield await self.complete(request)

    async def note_fallback(self, household: str, *, stage: str, outcome: Outcome) -> None:
        """Count that the reader went on without an answer."""
        del household, stage
        self.fallbacks[outcome.value] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkRead:
    """A talk, and what was read in each of its messages.

    Attributes:
        writer: Who wrote it.
        talk: With its labels.
        found: By position of the message.
        reads: The calls.
    """

    writer: str
    talk: Talk
    found: Mapping[int, Sequence[Found]]
    reads: Sequence[BatchRead]

    def frames_in(self, talk: Talk, message: Message, household: Household) -> tuple[Frame, ...]:
        """Return the frames of a message, with targets counted among all messages of the talk."""
        del talk, household
        return tuple(
            replace(each.frame, target=self._target(each, message.number - 1))
            for each in self.found.get(message.number - 1, ())
        )

    def _target(self, found: Found, position: int) -> Target | None:
        """Return what a frame speaks of: of a thing, the message that opened it."""
        if found.thing is not None:
            return Target(said=int(found.thing.split(".")[0]), p=1.0)
        if found.answers is None:
            return None
        return Target(said=position - found.message + found.answers, p=1.0)


def digest_of(request: ChatRequest) -> str:
    """Return what tells a prompt from others: all of it but the words that families have for their members."""
    text = _HOUSEHOLD.sub("", "\n".join(each.text for each in request.messages))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def recorded_answers(root: Path) -> dict[str, str]:
    """Return the recorded answers by digest of their prompts."""
    path = root / ANSWERS
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    records = (json.loads(line) for line in lines)
    return {each["prompt"]: json.dumps(each["answer"], ensure_ascii=False) for each in records}


def measured_talks(root: Path) -> Iterator[tuple[str, Talk]]:
    """Yield the group talks of the writers that are held out, the first of each up to about sixty messages."""
    heard: Counter[str] = Counter()
    for writer, talk in read_corpus(root / "training/data"):
        is_wanted = writer in WRITERS and talk.surface == "group"
        if is_wanted and heard[writer] + len(talk.messages) / 2 <= MESSAGES_A_WRITER:
            heard[writer] += len(talk.messages)
            yield writer, talk


async def read_talk(writer: str, talk: Talk, model: RecordedModel, *, stops: bool) -> TalkRead:
    """Read a talk batch by batch; what was read before is what is open.

    Args:
        writer: Who wrote it.
        talk: To be read.
        model: Answers.
        stops: Whether to stop at the first prompt without an answer.
    """
    household = household_in(talk)
    begin = datetime.fromisoformat(talk.at).replace(tzinfo=household.zone)
    messages = [
        Heard(speaker=each.speaker, text=each.text, sent_at=begin + each.number * _BETWEEN)
        for each in talk.messages
    ]
    reader = GroupReader(model, group_prompt())
    known = _Open()
    found: dict[int, list[Found]] = {}
    reads: list[BatchRead] = []
    read = 0
    for window, new in cut_batches(messages):
        read += new
        batch = batch_of(household, window, new, arrangements=[*known.things.values()])
        result = await reader.read(batch, talk.household)
        reads.append(result)
        if stops and result.grounded is None:
            break
        for each in result.grounded.found if result.grounded else ():
            position = read - len(window) + each.message
            found.setdefault(position, []).append(each)
            known.follow(each, read - len(window))
    return TalkRead(writer=writer, talk=talk, found=found, reads=reads)


@dataclass(slots=True)
class _Open:
    """What is open, as far as a next prompt needs it; the arrangements' own rules are measured elsewhere.

    Attributes:
        things: By key.
        spoken_of: Keys of the things that a message spoke of, by its position.
    """

    things: dict[str, Thing] = field(default_factory=dict)
    spoken_of: dict[int, dict[Predicate | None, str]] = field(default_factory=dict)

    def follow(self, found: Found, first: int) -> None:
        """Open, change or close what a frame speaks of.

        Args:
            found: The frame.
            first: Position of the batch's first message in the talk.
        """
        frame, position = found.frame, first + found.message
        key = self._meant(found, first)
        if frame.predicate is Predicate.CANCEL:
            self.things.pop(key or "", None)
            return
        old = self.things.get(key or "")
        if old is None and (frame.act in _ONLY_ANSWERS or not found.title):
            return
        if old is None:
            old = Thing(key=f"{position}.{len(self.things)}", title=found.title or "")
        is_left = frame.act in {Act.WITHDRAW, Act.DECLINE}
        self.things[old.key] = replace(
            old,
            at=found.at or old.at,
            who=found.who or old.who,
            by=() if is_left else found.by or old.by,
        )
        self.spoken_of.setdefault(position, {})[frame.predicate] = old.key

    def _meant(self, found: Found, first: int) -> str | None:
        """Return the thing that a frame names, or that the message spoke of that it answers, of its kind before others."""
        if found.thing is not None or found.answers is None:
            return found.thing
        spoken_of = self.spoken_of.get(first + found.answers, {})
        return spoken_of.get(found.frame.predicate) or next(iter(spoken_of.values()), None)


def measure(*, root: Path) -> Report:
    """Read the talks with the recorded answers.

    Args:
        root: The repository.
    """
    model = RecordedModel(recorded_answers(root))

    async def run() -> list[TalkRead]:
        return [
            await read_talk(writer, talk, model, stops=False)
            for writer, talk in measured_talks(root)
        ]

    talks = asyncio.run(run())
    judged = [each for talk in talks for each in _judged(talk)]
    values = {
        "messages noticed": share(each.is_noticed for each in judged if each.is_wanted),
        "frames that are wanted": share(each.is_wanted for each in judged if each.is_noticed),
        "plans noticed": share(
            any(number - 1 in talk.found for number in outcome.evidence)
            for talk in talks
            for outcome in talk.talk.outcomes
        ),
    }
    return Report(
        suite="group_reading",
        tables=(_by_writer(judged), _plans(talks), _checks(talks), _tokens(talks, model)),
        floors=tuple(
            Floor(name=name, value=values[name], minimum=least) for name, least in FLOORS.items()
        ),
        worst=tuple(each.told for each in judged if not each.is_exact and each.is_wanted),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A message, held against its labels.

    Attributes:
        writer: Who wrote it.
        is_wanted: Whether its labels arrange, ask or tell something.
        is_noticed: Whether a frame was read in it.
        is_act: Whether a clause's act was read.
        is_kind: Whether act and predicate were.
        is_linked: Whether what it answers was.
        is_timed: Whether its words for the time were, or neither has any.
        told: Message and reading, for the list of mistakes.
    """

    writer: str
    is_wanted: bool
    is_noticed: bool
    is_act: bool
    is_kind: bool
    is_linked: bool
    is_timed: bool
    told: str

    @property
    def is_exact(self) -> bool:
        """Whether all of it is right."""
        return self.is_kind and self.is_linked and self.is_timed


def _judged(read: TalkRead) -> Iterator[Judged]:
    for place, message in enumerate(read.talk.messages):
        found = read.found.get(place, ())
        clauses = [each for each in message.clauses if _is_wanted(each)]
        pairs = [[_compared(clause, each) for each in found] for clause in clauses]
        best = [max(each, default=(False,) * 4) for each in pairs]
        yield Judged(
            writer=read.writer,
            is_wanted=bool(clauses),
            is_noticed=bool(found),
            is_act=bool(best) and all(each[0] for each in best),
            is_kind=bool(best) and all(each[1] for each in best),
            is_linked=bool(best) and all(each[2] for each in best),
            is_timed=bool(best) and all(each[3] for each in best),
            told=_told(message, clauses, found),
        )


def _is_wanted(clause: Clause) -> bool:
    """Whether a clause arranges something; jokes, what is over, lasting facts, questions for information do not."""
    is_idle = clause.act in _IDLE or clause.modality in {"past", "joke", "quoted"}
    return not is_idle and clause.predicate not in {"look_up", "fact", "preference"}


def _compared(clause: Clause, found: Found) -> tuple[bool, bool, bool, bool]:
    """Return whether act, kind, link and time of a frame are those of a label."""
    frame = found.frame
    is_act = frame.act.value == _SAME_ACT.get(clause.act, clause.act)
    predicate = frame.predicate.value if frame.predicate else None
    is_mended = clause.act == "correct" and predicate in {"move", "change"}
    is_kind = is_act and (is_mended or clause.predicate in {None, predicate})
    is_linked = clause.link is None or found.answers is not None or found.thing is not None
    times = [each for each in clause.slots if each.name == "when"]
    spans = [(each.start, each.end) for each in frame.slots if each.name is SlotName.WHEN]
    is_timed = bool(times) == bool(spans) and all(
        any(start < each.end and each.start < end for start, end in spans) for each in times
    )
    return is_act, is_kind, is_linked, is_timed


def _told(message: Message, clauses: Sequence[Clause], found: Sequence[Found]) -> str:
    wanted = ", ".join(f"{each.act}.{each.predicate}" for each in clauses)
    read = ", ".join(f"{each.frame.act.value}.{each.frame.predicate}" for each in found)
    return f"{wanted} read as {read or 'nothing'}: {message.text[:70]!r}"


def _by_writer(judged: Sequence[Judged]) -> Table:
    rows: list[tuple[str | int | float, ...]] = []
    for writer in (*WRITERS, "all"):
        own = [each for each in judged if writer in {each.writer, "all"}]
        wanted = [each for each in own if each.is_wanted]
        noticed = [each for each in own if each.is_noticed]
        rows.append(
            (
                writer,
                len(own),
                len(wanted),
                share(each.is_noticed for each in wanted),
                share(each.is_act for each in wanted),
                share(each.is_kind for each in wanted),
                share(each.is_linked for each in wanted),
                share(each.is_timed for each in wanted),
                share(each.is_exact for each in wanted),
                share(each.is_wanted for each in noticed),
            )
        )
    return Table(
        title=f"Group talk by writers that are held out; answers by {ANSWERED_BY}",
        columns=(
            "writer",
            "messages",
            "wanted",
            "noticed",
            "act",
            "and kind",
            "link",
            "time",
            "exact",
            "precision",
        ),
        rows=tuple(rows),
    )


def _plans(talks: Sequence[TalkRead]) -> Table:
    """Fold the frames into arrangements: the model's, the trained reader's, and what the labels themselves come to."""
    names = ("found", "right", "needless", "doubled")
    rows: list[tuple[str | int | float, ...]] = []
    for reader in ("model", "trained reader", "labels"):
        played = []
        for each in talks:
            makes = {
                "model": each.frames_in,
                "trained reader": read_frames,
                "labels": labelled_frames,
            }
            played.append(played_of(each.writer, each.talk, makes[reader]))
        figures = figures_of(played)
        rows.append((reader, *(figures[name] for name in names)))
    return Table(
        title="The same talks folded into arrangements",
        columns=("frames of", *names),
        rows=tuple(rows),
    )


def _checks(talks: Sequence[TalkRead]) -> Table:
    grounded = [each.grounded for talk in talks for each in talk.reads if each.grounded]
    counts: Counter[str] = Counter()
    for result in grounded:
        counts["frames kept"] += len(result.found)
        counts.update({f"item refused: {why}": n for why, n in result.refused.items()})
        counts.update(f"value left out: {name}" for each in result.found for name in each.left_out)
    return Table(
        title="What the checks left", columns=("what", "count"), rows=tuple(sorted(counts.items()))
    )


def _tokens(talks: Sequence[TalkRead], model: RecordedModel) -> Table:
    messages = sum(len(each.talk.messages) for each in talks)
    calls = sum(len(each.reads) for each in talks)
    answered = max(1, calls - model.fallbacks.total())
    a_day = _MESSAGES_A_DAY / max(1, messages) * calls / answered
    rows = [(each, count // answered, round(count * a_day)) for each, count in model.tokens.items()]
    return Table(
        title=f"Tokens, estimated: {messages} messages in {calls} calls, {model.fallbacks.total()} without an answer",
        columns=("part", "a call", f"a day of {_MESSAGES_A_DAY} messages"),
        rows=tuple(rows),
    )


def write_unanswered(root: Path, folder: Path) -> int:
    """Write the next prompt of each talk that has no answer yet; returns how many."""
    model = RecordedModel(recorded_answers(root))
    for writer, talk in measured_talks(root):
        asyncio.run(read_talk(writer, talk, model, stops=True))
    folder.mkdir(parents=True, exist_ok=True)
    for key, request in model.missing.items():
        text = "\n\n".join(each.text for each in request.messages[1:])
        (folder / f"{key}.prompt.txt").write_text(text, encoding="utf-8")
    return len(model.missing)


if __name__ == "__main__":
    sys.stdout.write(f"{write_unanswered(Path.cwd(), Path(sys.argv[1]))} prompts to be answered\n")
