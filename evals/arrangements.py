"""What the state machine makes of whole talks: arrangements against the outcomes that the writers noted.

Once with frames made of the writers' own labels, which is the most that the state machine can reach with any reader, and
once with the frames of a reader. Only mistakes of writers of `SEEN` were looked at while the machine was written; figures of
`HELD_OUT` were, and the others came later.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from evals.report import Floor, Report, Table, share
from evals.talk_households import household_in
from kinkeeper.arrangements import Arrangement, Heard, State, Status, fold
from kinkeeper.arrangements.frame_grounding import grounding_of
from kinkeeper.arrangements.model import EVERYBODY, JOBS, When
from kinkeeper.household.model import Household
from kinkeeper.language.name_match import telling_stems
from kinkeeper.reading import (
    Act,
    Context,
    Frame,
    Modality,
    Predicate,
    Said,
    Slot,
    SlotName,
    Surface,
    Target,
    Utterance,
)
from kinkeeper.reading.model import Clause
from kinkeeper.reading.trained import TrainedReader
from training.corpus import HELD_OUT, Message, Outcome, Talk, read_corpus
from training.corpus import Clause as Labelled

FOLDER: Final = Path("training/data")
SEEN: Final = frozenset({"w01", "w02", "w03", "w04", "w05", "w06", "w07", "w08"})
FLOORS: Final[Mapping[str, float]] = {
    "labels, seen: found": 0.92,
    "labels, seen: right": 0.46,
    "labels, held out: found": 0.92,
    "labels, held out: right": 0.37,
}

_HOUR: Final = re.compile(r"(?<![\d:])(\d):")
_DAY: Final = re.compile(r"\b([A-Z][a-z]+ \d{1,2})(?=\s*(?:-|,|and\b|until\b|to\b))")
"""A day of the month before another one, which alone has the month."""
_MONTH: Final = re.compile(r"\d ((?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sep|Oct|Nov|Dec)[a-z]*)")
_MINUTE: Final = timedelta(minutes=1)
_MODALITIES: Final = {
    None: Modality.PLAIN,
    "past": Modality.PAST,
    "cond": Modality.CONDITIONAL,
    "hyp": Modality.HYPOTHETICAL,
    "reported": Modality.REPORTED,
    "quoted": Modality.QUOTED,
    "joke": Modality.JOKE,
}
_ERRANDS: Final = frozenset(
    {
        Predicate.TASK,
        Predicate.MAIL,
        Predicate.NOTE,
        Predicate.REMINDER,
        Predicate.LIST_ADD,
        Predicate.LIST_REMOVE,
    }
)
_CLASSES: Final = {
    **dict.fromkeys(_ERRANDS, "errand"),
    **dict.fromkeys(
        (Predicate.EVENT, Predicate.CANCEL, Predicate.MOVE, Predicate.CHANGE, Predicate.OTHER),
        "event",
    ),
}
FIELDS: Final = ("predicate", "for", "by", "when", "status")

Frames = Callable[[Talk, Message, Household], tuple[Frame, ...]]
"""How a message of a talk becomes frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One way to tell an arrangement: alone, or an event with who goes along.

    Attributes:
        whole: With what it leaves open filled in.
        tells: Id of the arrangement that it stands for.
        with_it: Id of the other one, whose fields it takes over.
    """

    whole: Arrangement
    tells: str
    with_it: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An outcome with the view that matches it best, if one does.

    Attributes:
        writer: Who wrote the talk.
        talk: Where it is.
        outcome: What was noted.
        view: What was made.
        wrong: Fields that differ; empty where all are right.
        unsaid: Of these, what is left blank because no message that decided the outcome says it.
    """

    writer: str
    talk: Talk
    outcome: Outcome
    view: View | None
    wrong: tuple[str, ...]
    unsaid: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A talk folded to its end.

    Attributes:
        writer: Who wrote it.
        judged: Its outcomes.
        shown: Arrangements that came of it.
        needless: Those that match no outcome.
        doubled: Needless ones that tell an outcome again.
    """

    writer: str
    judged: tuple[Judged, ...]
    shown: int
    needless: tuple[Arrangement, ...]
    doubled: tuple[Arrangement, ...]


def measure(*, root: Path, frames: Mapping[str, Frames] | None = None) -> Report:
    """Fold the group talks of the corpus and compare what comes of them.

    Args:
        root: The repository.
        frames: By name how messages become frames; the writers' labels and the trained reader unless given.
    """
    columns = frames or {"labels": labelled_frames, "trained reader": read_frames}
    talks = [each for each in read_corpus(root / FOLDER) if each[1].surface == "group"]
    played = {
        name: [played_of(writer, talk, make) for writer, talk in talks]
        for name, make in columns.items()
    }
    return Report(
        suite="arrangements",
        tables=(_totals(played), _by_class(next(iter(played.values())))),
        floors=tuple(_floors(played)),
        worst=tuple(_mistakes(next(iter(played.values())))),
    )


def figures_of(played: Sequence[Played]) -> Mapping[str, float]:
    """Return shares in [0, 1]: of outcomes found, right in every field and in each; of arrangements needless and doubled."""
    judged = [each for talk in played for each in talk.judged]
    found = [each for each in judged if each.view]
    shown = sum(each.shown for each in played) or 1
    return {
        "found": share(each.view is not None for each in judged),
        "right": share(each.view is not None and not each.wrong for each in judged),
        "right in all that was said": share(
            each.view is not None and not {*each.wrong} - each.unsaid for each in judged
        ),
        **{name: share(name not in each.wrong for each in found) for name in FIELDS},
        "needless": sum(len(each.needless) for each in played) / shown,
        "doubled": sum(len(each.doubled) for each in played) / shown,
    }


def _parts_of(played: Sequence[Played]) -> Iterator[tuple[str, Sequence[Played]]]:
    yield "seen", [each for each in played if each.writer in SEEN]
    yield "held out", [each for each in played if each.writer in HELD_OUT]
    if later := [each for each in played if each.writer not in SEEN | HELD_OUT]:
        yield "later", later


def _totals(played: Mapping[str, Sequence[Played]]) -> Table:
    rows: list[tuple[str | int | float, ...]] = []
    for name, talks in played.items():
        for half, part in _parts_of(talks):
            outcomes = sum(len(each.judged) for each in part)
            rows.append((name, half, outcomes, *figures_of(part).values()))
    return Table(
        title="Arrangements of group talks against the outcomes that their writers noted",
        columns=(
            "frames",
            "writers",
            "outcomes",
            "found",
            "right in all",
            "of what was said",
            *FIELDS,
            "needless",
            "doubled",
        ),
        rows=tuple(rows),
    )


def _by_class(played: Sequence[Played]) -> Table:
    judged = [each for talk in played for each in talk.judged]
    counts = Counter((e.outcome.predicate, e.outcome.status) for e in judged)
    rows: list[tuple[str | int | float, ...]] = []
    for key, count in counts.most_common():
        own = [e for e in judged if (e.outcome.predicate, e.outcome.status) == key]
        rows.append(
            (
                *key,
                count,
                share(e.view is not None for e in own),
                share(bool(e.view) and not e.wrong for e in own),
            )
        )
    return Table(
        title="By class, frames from the writers' labels",
        columns=("predicate", "status", "outcomes", "found", "right in all"),
        rows=tuple(rows),
    )


def _floors(played: Mapping[str, Sequence[Played]]) -> Iterator[Floor]:
    for name, talks in played.items():
        for half, part in _parts_of(talks):
            for figure, value in figures_of(part).items():
                key = f"{name}, {half}: {figure}"
                if key in FLOORS:
                    yield Floor(name=key, value=value, minimum=FLOORS[key])


def _mistakes(played: Sequence[Played]) -> Iterator[str]:
    for talk in played:
        for each in talk.judged:
            if talk.writer not in SEEN or (each.view and not each.wrong):
                continue
            verdict = ", ".join(each.wrong) if each.view else "lost"
            yield f"{each.talk.household} {each.talk.at} {each.outcome.predicate} {each.outcome.what}: {verdict}"


def played_of(writer: str, talk: Talk, make: Frames) -> Played:
    """Return what comes of one talk.

    Args:
        writer: Who wrote it.
        talk: In a group.
        make: How its messages become frames.
    """
    household = household_in(talk)
    state = state_of(talk, household, make)
    return judged_in(writer, talk, household, state)


def state_of(talk: Talk, household: Household, make: Frames) -> State:
    """Return the state after all messages of a talk."""
    state = State()
    for message in talk.messages:
        heard = heard_in(talk, message, household, make)
        state = fold(state, heard, household, heard.sent_at).state
    return state


def heard_in(talk: Talk, message: Message, household: Household, make: Frames) -> Heard:
    """Return a message of a talk as the fold takes it; each is a minute after the one before."""
    return Heard(
        message_id=str(message.number),
        speaker=message.speaker,
        text=message.text,
        sent_at=_at(talk, household) + message.number * _MINUTE,
        frames=make(talk, message, household),
        before=tuple(str(each.number) for each in talk.messages[: message.number - 1]),
    )


def _at(talk: Talk, household: Household) -> datetime:
    return datetime.fromisoformat(talk.at).replace(tzinfo=household.zone)


def labelled_frames(talk: Talk, message: Message, household: Household) -> tuple[Frame, ...]:
    """Return the frames that the writer's labels say; each is sure."""
    del talk, household
    return tuple(frame_of(each) for each in message.clauses)


def frame_of(clause: Labelled) -> Frame:
    """Return the frame of a labelled clause."""
    is_plan = clause.act not in {"none", "greet"}
    return Frame(
        clause=Clause(clause.start, clause.end),
        act=Act(clause.act),
        predicate=Predicate(clause.predicate) if clause.predicate else None,
        modality=_MODALITIES[clause.modality],
        is_negated=clause.is_negated,
        is_secret=clause.is_secret,
        slots=tuple(
            Slot(name=SlotName(e.name), start=e.start, end=e.end, p=1.0) for e in clause.slots
        ),
        target=None if clause.link is None else Target(said=clause.link - 1, p=1.0),
        plan=float(is_plan),
        p=1.0,
    )


def read_frames(talk: Talk, message: Message, household: Household) -> tuple[Frame, ...]:
    """Return the frames of the trained reader."""
    before = talk.messages[: message.number - 1]
    utterance = Utterance(
        text=message.text,
        speaker=message.speaker,
        sent_at=_at(talk, household),
        surface=Surface.GROUP,
    )
    context = Context(
        before=[Said(each.speaker, each.text) for each in before],
        people=frozenset(map(str.casefold, household.words_for_people)),
        locale=household.locale,
    )
    return _reader().read(utterance, context).frames


@cache
def _reader() -> TrainedReader:
    return TrainedReader()


def judged_in(writer: str, talk: Talk, household: Household, state: State) -> Played:
    """Return the outcomes of a talk beside the arrangements of a state.

    Args:
        writer: Who wrote it.
        talk: In a group.
        household: Of the talk.
        state: After all of its messages.
    """
    views = [*_views(state)]
    wanted = [_Wanted.of(each, talk, household) for each in talk.outcomes]
    pairs = sorted(
        (
            (_likeness(one, view.whole), -len(one.wrong_in(view.whole)), -row, -column)
            for row, one in enumerate(wanted)
            for column, view in enumerate(views)
            if _is_candidate(one, view.whole)
        ),
        reverse=True,
    )
    taken: dict[int, View] = {}
    used: set[str | None] = set()
    for _, _, row, column in pairs:
        view = views[-column]
        if -row not in taken and view.tells not in used:
            taken[-row] = view
            used.add(view.tells)
    judged = tuple(
        Judged(
            writer=writer,
            talk=talk,
            outcome=one.outcome,
            view=taken.get(row),
            wrong=one.wrong_in(taken[row].whole) if row in taken else (),
            unsaid=one.unsaid_in(taken[row].whole, state) if row in taken else frozenset(),
        )
        for row, one in enumerate(wanted)
    )
    joined = {view.with_it for view in taken.values()}
    rest = [each for each in state.arrangements if each.id not in used | joined]
    doubled = [
        each
        for each in rest
        if any(
            _is_candidate(one, state.whole(each)) and one.is_again(state.whole(each))
            for one in wanted
        )
    ]
    return Played(
        writer=writer,
        judged=judged,
        shown=len(state.arrangements),
        needless=tuple(rest),
        doubled=tuple(doubled),
    )


def _views(state: State) -> Iterator[View]:
    for each in state.arrangements:
        whole = state.whole(each)
        yield View(whole=whole, tells=each.id)
        if each.is_job:
            continue
        for job in state.jobs_for(each):
            both = replace(
                whole,
                who_does=job.who_does,
                status=_later(whole.status, job.status),
                who_for=whole.who_for or job.who_for,
                evidence=(*whole.evidence, *job.evidence),
                stems=whole.stems | job.stems,
            )
            yield View(whole=both, tells=each.id, with_it=job.id)
            of_job = replace(
                both, predicate=job.predicate, when=state.whole(job).when, status=job.status
            )
            yield View(whole=of_job, tells=job.id, with_it=each.id)
    for absence in state.absences:
        whole = Arrangement(
            id=absence.id,
            predicate=Predicate.ABSENCE,
            what=absence.what,
            who_for=(absence.person,),
            when=absence.when,
            status=Status.OFF if absence.is_over else Status.AGREED,
            evidence=absence.evidence,
        )
        yield View(whole=whole, tells=absence.id)


def _later(event: Status, job: Status) -> Status:
    return job if event.is_open and not job.is_open else event


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """An outcome with its words resolved."""

    outcome: Outcome
    predicate: Predicate
    stems: frozenset[str]
    who_for: frozenset[str]
    who_does: frozenset[str]
    when: When

    @classmethod
    def of(cls, outcome: Outcome, talk: Talk, household: Household) -> "_Wanted":
        grounding = grounding_of(household)
        return cls(
            outcome=outcome,
            predicate=Predicate(outcome.predicate),
            stems=telling_stems(outcome.what),
            who_for=frozenset(grounding.people_in(outcome.who_for)),
            who_does=frozenset(grounding.people_in(outcome.who_does)),
            when=grounding.time_in(_written_out(outcome.when), _at(talk, household)),
        )

    def wrong_in(self, whole: Arrangement) -> tuple[str, ...]:
        """Return the fields of an arrangement that differ."""
        checks = {
            "predicate": _class(self.predicate) == _class(whole.predicate),
            "for": _class(self.predicate) == "errand" or self._is_for(whole),
            "by": self._is_by(whole),
            "when": self._is_when(whole.when),
            "status": self._is_status(whole.status),
        }
        return tuple(name for name, holds in checks.items() if not holds)

    def _is_for(self, whole: Arrangement) -> bool:
        said = {*whole.who_for}
        if not self.who_for or said == self.who_for:
            return True
        return EVERYBODY in said and len(self.who_for) > 1

    def _is_by(self, whole: Arrangement) -> bool:
        said, name = {*whole.who_does}, self.outcome.who_does
        if self.predicate is Predicate.ABSENCE or self.outcome.status == "off":
            return True
        if self.who_does:
            return said == self.who_does or (EVERYBODY in said and len(self.who_does) > 1)
        if name in {"nobody", "-", ""}:
            return not said
        if name.startswith(("every", "all", "the ", "whoever")) or not whole.is_job:
            return True
        return bool(telling_stems(name) & telling_stems(" ".join(said)))

    def _is_when(self, when: When) -> bool:
        if self.when.days and when.days[:1] != self.when.days[:1]:
            return False
        if self.when.start is None:
            return True
        return self.when.start in {when.start, when.end} or (
            self.when.bound is not None and when.start is None
        )

    def _is_status(self, status: Status) -> bool:
        is_agreed = status in {Status.AGREED, Status.OWNED} and self.outcome.status == "agreed"
        return is_agreed or status.value == self.outcome.status

    def unsaid_in(self, whole: Arrangement, state: State) -> frozenset[str]:
        """Return the fields left blank of which the messages that decided the outcome say nothing."""
        said = [told for each in self.outcome.evidence for told in state.recent[str(each)]]
        people = {
            person
            for told in said
            for person in (*told.who_for, *told.whose, *told.called, told.speaker)
        }
        days = {day for told in said for day in told.when.days}
        blank = set()
        if not whole.who_for and not self.who_for & people:
            blank.add("for")
        if not whole.when.days and not {*self.when.days} & days:
            blank.add("when")
        return frozenset(blank)

    def is_again(self, whole: Arrangement) -> bool:
        """Tell whether an arrangement tells the same plan: its kind, and a word or the person and the day."""
        if _class(whole.predicate) != _class(self.predicate):
            return False
        return bool(self.stems & whole.stems) or (
            bool({*whole.who_for} & self.who_for) and whole.when.meets(self.when)
        )


def _written_out(when: str) -> str:
    """Return the time of an outcome with two digits for each hour and the month beside each day."""
    month = _MONTH.search(when)
    return _HOUR.sub(r"0\1:", _DAY.sub(rf"\1 {month[1]}", when) if month else when)


def _class(predicate: Predicate) -> str:
    return _CLASSES.get(predicate, predicate.value)


def _is_candidate(wanted: _Wanted, whole: Arrangement) -> bool:
    """Tell whether an arrangement can be what was noted: a message of it, and its kind, a word or who does it."""
    if not {*map(str, wanted.outcome.evidence)} & {*whole.evidence}:
        return False
    same_kind = (wanted.predicate in JOBS) == whole.is_job
    named = bool(wanted.stems & whole.stems)
    owned = bool(wanted.who_does & {*whole.who_does})
    return named or owned or (same_kind and _class(wanted.predicate) == _class(whole.predicate))


def _likeness(wanted: _Wanted, whole: Arrangement) -> float:
    own, noted = {*whole.evidence}, {*map(str, wanted.outcome.evidence)}
    overlap = len(own & noted) / len(own | noted)
    stems = len(wanted.stems & whole.stems) / (len(wanted.stems) or 1)
    same = _class(wanted.predicate) == _class(whole.predicate)
    return 2 * overlap + stems + same - 0.25 * len(wanted.wrong_in(whole))
