"""Second thoughts about a time that was just said: "make that 10" after "in 20 minutes", "no, half past". Pure."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kinkeeper.actions.requests.model import ActionResult, ResultStatus
from kinkeeper.actions.requests.request_times import shifted
from kinkeeper.conversation.planning.case import Case, Groups, Step, action
from kinkeeper.conversation.planning.named import results_of
from kinkeeper.conversation.planning.references import MAKES, changed
from kinkeeper.conversation.planning.referents import latest
from kinkeeper.conversation.planning.relative import proposed_with

_HOUR: Final = timedelta(hours=1)
_NUMBERS: Final = {
    "a": 1.0, "an": 1.0, "one": 1.0, "half": 0.5, "half an": 0.5, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0,
    "ten": 10.0, "quarter": 15.0, "a quarter": 15.0, "fifteen": 15.0, "twenty": 20.0, "twenty-five": 25.0, "thirty": 30.0,
    "forty": 40.0, "forty-five": 45.0, "fifty": 50.0,
}  # fmt: skip


def another_length(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make that 10" and "no, an hour" where the time that is meant was counted from when it was said."""
    counted = _counted_from(case)
    if counted is None:
        return None
    at, unit = counted
    amount, unit = _number(groups["amount"]), groups["unit"] or unit
    if amount is None:
        return None
    length = amount * (_HOUR if unit.lower().startswith("h") else timedelta(minutes=1))
    return _moved(lambda _old: shifted(at, length), case)


def _counted_from(case: Case) -> tuple[datetime, str] | None:
    """Return from when on, and in which unit, the last time was counted; None where it was not."""
    for exchange in reversed(case.context.history):
        said = case.grammar.amending["counted_on"].search(exchange.text)
        if said is not None:
            return exchange.at.astimezone(case.household.zone).replace(microsecond=0), said["unit"]
        if case.grammar.amending["another_length"].fullmatch(exchange.text.strip(" .!")) is None:
            return None
    return None


def part_of_hour(groups: Groups, case: Case) -> Sequence[Step] | None:
    """Read "make it 10 past" and "quarter to": the nearest such time to what it is."""
    minutes = 30 if groups["part"].lower().startswith("half") else _number(groups["part"])
    if minutes is None:
        return None
    past = timedelta(minutes=minutes)
    if groups["way"].lower() in {"to", "before"}:
        past = _HOUR - past

    def near(old: datetime) -> datetime:
        hour = old.replace(minute=0, second=0, microsecond=0)
        return min(
            (hour + past + by for by in (-_HOUR, timedelta(), _HOUR)),
            key=lambda each: abs(each - old),
        )

    return _moved(near, case)


def _moved(when: Callable[[datetime], datetime], case: Case) -> Sequence[Step] | None:
    """Return what puts the one thing that was just made or changed at another time."""
    last = next(latest(case), None)
    things = results_of([last]) if last is not None and last.action in MAKES else ()
    if last is None or len(things) != 1 or "T" not in (things[0].start or ""):
        return None
    new = when(datetime.fromisoformat(things[0].start or ""))
    return [_step(last, {"start_time": new.isoformat()})]


def _step(last: ActionResult, changes: Mapping[str, Any]) -> Step:
    if last.status is ResultStatus.AWAITING:
        return action(last.domain, last.action, proposed_with(last, changes))
    (thing,) = results_of([last])
    return changed(thing, changes)


def _number(words: str) -> float | None:
    said = " ".join(words.lower().replace("-", " ").split())
    if said.isdecimal():
        return float(said)
    return _NUMBERS.get(said) or _NUMBERS.get(said.replace(" ", "-"))
