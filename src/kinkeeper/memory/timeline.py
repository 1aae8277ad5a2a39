"""What statements that may bear on each other amount to, in the order of what they speak of. Pure.

Statements are taken in the order in which they hold, not in which they arrived, so the outcome is
the same whichever came first. Each joins the line of what it repeats, ends the lines that it
outdates, and otherwise begins one of its own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from kinkeeper.memory.confidence import FEELINGS_LAST, is_transient
from kinkeeper.memory.model import Category, Origin, Ruling, Standing, Statement, Verdict

Relate = Callable[[Statement, Statement], Ruling]
"""How a statement relates to an older one by their words: one of the rulings of two."""


class End(StrEnum):
    """Why something holds no more."""

    OUTDATED = "outdated"
    RETRACTED = "retracted"
    NEVER = "never"
    EXPIRED = "expired"


@dataclass(slots=True, eq=False)
class Line:
    """Statements that say the same, and what became of it.

    Attributes:
        statements: In the order in which they hold; never empty.
        supporters: Ids of episodes that support it without stating it.
        rivals: Lines that cannot hold beside this one, undecided.
        doubts: Lines of those whose word does not settle it, that say otherwise and nobody has decided.
        end: Why it holds no more; None while it holds.
        ended_at: Since when it holds no more, or will not.
        successor: The line that took its place, if any.
    """

    statements: list[Statement]
    supporters: list[str] = field(default_factory=list)
    rivals: list["Line"] = field(default_factory=list)
    doubts: list["Line"] = field(default_factory=list)
    end: End | None = None
    ended_at: datetime | None = None
    successor: "Line | None" = None

    @property
    def words(self) -> Statement:
        """The statement that tells it best: the last correction, else the last one."""
        corrections = [each for each in self.statements if each.is_correction]
        return (corrections or self.statements)[-1]

    @property
    def held_from(self) -> datetime:
        """Since when it holds."""
        return self.statements[0].held_from

    @property
    def episodes(self) -> tuple[str, ...]:
        """Ids of the distinct episodes it rests on, those that state it first."""
        stated = (each.episode_id for each in self.statements)
        return tuple(dict.fromkeys([*stated, *self.supporters]))

    @property
    def corrected_at(self) -> datetime | None:
        """When its words were set right explicitly for the last time, if ever."""
        return max((each.said_at for each in self.statements if each.is_correction), default=None)

    @property
    def standing(self) -> Standing:
        """How far the word of those who say it counts."""
        return max(each.standing for each in self.statements)

    @property
    def runs_until(self) -> datetime | None:
        """When it ends by itself, if ever: as its words say, and every feeling after a while."""
        ends = [self.words.valid_to] if self.words.valid_to else []
        if self.words.category is Category.EMOTIONAL and is_transient(self.words):
            ends.append(self.statements[-1].held_from + FEELINGS_LAST)
        return min(ends, default=None)

    def is_open_at(self, instant: datetime) -> bool:
        """Whether it still holds when something else begins to."""
        return self.end is None and (self.runs_until is None or instant < self.runs_until)

    def outranks(self, statement: Statement) -> bool:
        """Whether a statement may not change it: by who says it, or after it was set right explicitly."""
        if statement.standing != self.standing:
            return statement.standing < self.standing
        corrected = self.corrected_at
        if corrected is None or statement.is_correction:
            return False
        return statement.origin is not Origin.SAID or statement.said_at < corrected

    def close(self, end: End, at: datetime, successor: "Line | None" = None) -> None:
        """Let it hold no more."""
        self.end, self.ended_at, self.successor = end, at, successor


def canonical(statement: Statement) -> tuple[datetime, datetime, str, int, str]:
    """Return what orders statements, whenever they arrive."""
    return (
        statement.held_from,
        statement.said_at,
        statement.episode_id,
        statement.start,
        statement.id,
    )


def fold(
    statements: Iterable[Statement], *, relate: Relate, verdicts: Sequence[Verdict] = ()
) -> list[Line]:
    """Return what statements amount to.

    Args:
        statements: All that may bear on each other, in any order.
        verdicts: What was found about them otherwise, in any order.
    """
    said = {each.id: each for each in statements}
    folding = _Folding(relate, verdicts)
    steps: list[tuple[tuple[datetime, int], Statement | Verdict]] = []
    for place, each in enumerate(sorted(said.values(), key=canonical)):
        steps.append(((each.held_from, place), each))
    for place, verdict in enumerate(sorted(verdicts, key=lambda each: (each.made_at, each.id))):
        if not verdict.ruling.is_of_two and verdict.older in said:
            at = max(verdict.made_at, said[verdict.older].held_from)
            steps.append(((at, len(said) + place), verdict))
    for _, step in sorted(steps, key=lambda each: each[0]):
        if isinstance(step, Verdict):
            folding.rule(step)
        elif step.is_retraction:
            folding.take_back(step)
        else:
            folding.hear(step)
    return folding.finish()


class _Folding:
    """The lines so far."""

    def __init__(self, relate: Relate, verdicts: Sequence[Verdict]) -> None:
        self._relate = relate
        self._lines: list[Line] = []
        of_two = (each for each in verdicts if each.ruling.is_of_two and each.newer)
        self._verdicts = {
            frozenset({each.older, str(each.newer)}): each
            for each in sorted(of_two, key=lambda each: (each.made_at, each.id))
        }

    def hear(self, statement: Statement) -> None:
        """Take in what holds next."""
        rulings: dict[Ruling, list[Line]] = {}
        for line in self._open_at(statement.held_from):
            ruling, is_outranked = self._judge(line, statement)
            if is_outranked:
                behind = self._put_behind(statement, line)
                if statement.standing < line.standing and behind not in line.doubts:
                    line.doubts.append(behind)
                return
            rulings.setdefault(ruling, []).append(line)
        own, *others = rulings.get(Ruling.SAME) or [Line([])]
        if not own.statements:
            self._lines.append(own)
        if own.statements and statement.standing >= own.standing:
            # Who may settle it has said again that it is so.
            own.doubts.clear()
        own.statements.append(statement)
        for other in others:
            self._unite(own, other)
        for line in rulings.get(Ruling.UPDATE, []):
            line.close(End.OUTDATED, statement.held_from, own)
        for line in rulings.get(Ruling.CONTRADICTION, []):
            if line not in own.rivals:
                own.rivals.append(line)
                line.rivals.append(own)

    def take_back(self, statement: Statement) -> None:
        """End what a statement only takes back."""
        for line in self._open_at(statement.held_from):
            if not self._is_corrected(line, statement):
                continue
            if statement.standing < line.standing:
                line.doubts.append(self._put_behind(statement, line))
            else:
                line.close(End.RETRACTED, statement.held_from)

    def rule(self, verdict: Verdict) -> None:
        """Apply what was found about one statement to its line."""
        line = next(each for each in self._lines if _holds(each, verdict.older))
        if verdict.ruling is Ruling.SUPPORT:
            line.supporters.append(str(verdict.newer))
        elif verdict.ruling is Ruling.NEVER:
            line.close(End.NEVER, line.held_from)
            # What it was thought to have outdated holds on.
            for other in self._lines:
                if other.successor is line:
                    other.end = other.ended_at = other.successor = None
                if line in other.doubts:
                    other.doubts.remove(line)
        elif line.is_open_at(verdict.made_at):
            line.close(End.RETRACTED, verdict.made_at)

    def finish(self) -> list[Line]:
        """Return the lines, those that end by themselves with their ends."""
        for line in self._lines:
            if line.end is None and line.runs_until is not None:
                line.close(End.EXPIRED, line.runs_until)
        return self._lines

    def _open_at(self, instant: datetime) -> list[Line]:
        return [line for line in self._lines if line.is_open_at(instant)]

    def _judge(self, line: Line, statement: Statement) -> tuple[Ruling, bool]:
        """Return how a statement relates to a line, and whether the line outranks it."""
        verdict = self._verdict_on(line, statement)
        if verdict is not None:
            is_update = verdict.ruling is Ruling.UPDATE
            return verdict.ruling, is_update and verdict.older == statement.id
        ruling = self._by_words(line, statement)
        if ruling is not Ruling.SAME and statement.corrects and self._is_corrected(line, statement):
            ruling = Ruling.UPDATE
        # Where only one of them was taken for knowledge of how things work, that one may be the mistake.
        is_technical = {line.words.category, statement.category} == {Category.TECHNICAL}
        if ruling is Ruling.UPDATE and is_technical and not statement.is_correction:
            ruling = Ruling.OTHER
        if ruling is Ruling.CONTRADICTION and statement.standing > line.standing:
            ruling = Ruling.UPDATE
        differs = ruling in {Ruling.UPDATE, Ruling.CONTRADICTION}
        return ruling, differs and line.outranks(statement)

    def _by_words(self, line: Line, statement: Statement) -> Ruling:
        """Return how a statement relates to what a line says, in whichever of its wordings."""
        texts = {each.text: each for each in line.statements}
        wordings = [line.words, *(each for text, each in texts.items() if text != line.words.text)]
        rulings = (self._relate(each, statement) for each in wordings)
        return next((each for each in rulings if each is not Ruling.OTHER), Ruling.OTHER)

    def _verdict_on(self, line: Line, statement: Statement) -> Verdict | None:
        if not self._verdicts:
            return None
        pairs = (frozenset({each.id, statement.id}) for each in line.statements)
        found = [self._verdicts[pair] for pair in pairs if pair in self._verdicts]
        return max(found, key=lambda each: (each.made_at, each.id), default=None)

    def _is_corrected(self, line: Line, statement: Statement) -> bool:
        if not statement.corrects:
            return False
        wrong = replace(statement, text=statement.corrects, corrects=None)
        return self._relate(line.words, wrong) is Ruling.SAME

    def _put_behind(self, statement: Statement, line: Line) -> Line:
        """Keep what a line outranks as what that line outdated from the start."""
        for other in self._lines:
            if other.successor is line and self._relate(other.words, statement) is Ruling.SAME:
                other.statements.append(statement)
                return other
        own = Line([statement])
        own.close(End.OUTDATED, statement.held_from, line)
        self._lines.append(own)
        return own

    def _unite(self, own: Line, other: Line) -> None:
        own.statements = sorted([*own.statements, *other.statements], key=canonical)
        own.supporters += other.supporters
        own.doubts += [each for each in other.doubts if each not in own.doubts]
        self._lines.remove(other)
        for line in self._lines:
            if line.successor is other:
                line.successor = own
            if other in line.rivals:
                line.rivals.remove(other)
                if line is not own and own not in line.rivals:
                    line.rivals.append(own)
                    own.rivals.append(line)


def _holds(line: Line, statement_id: str) -> bool:
    return any(each.id == statement_id for each in line.statements)
