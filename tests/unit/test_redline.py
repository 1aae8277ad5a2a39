"""When the rules speak, seen on the smallest cases."""

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from kinkeeper.calendar.model import EventKind
from kinkeeper.core.time import Interval
from kinkeeper.observer.model import CoordinationType, Entity, Extraction, Stance, Task
from kinkeeper.observer.redline.case import Case, RedlineRules
from kinkeeper.observer.redline.redline_rules import decide
from kinkeeper.observer.schedule import Schedule, Slot

ZONE = ZoneInfo("Europe/Vienna")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=ZONE)
TODAY = NOW.date()


def named(kind: str, value: str) -> Entity:
    return Entity(type=kind, surface=value, start=0, end=len(value), value=value)


def asked(*entities: Entity, task: Task | None = Task.PICKUP, **fields: Any) -> Extraction:
    known: dict[str, Any] = {
        "is_coordination": True,
        "coordination_type": CoordinationType.TRANSPORT,
        "task": task,
        "stance": Stance.ASKS,
        "dates": (TODAY,),
        "entities": entities,
        "seeks_owner": True,
    }
    return Extraction(**{**known, **fields})


def rule(extraction: Extraction, *slots: Slot, series: tuple[Slot, ...] = ()) -> str | None:
    case = Case(
        extraction=extraction,
        schedule=Schedule(slots=slots, series=series),
        source_ids=frozenset({"7"}),
        sent_at=NOW,
        zone=ZONE,
        mentioned=frozenset(),
    )
    found = decide(case, RedlineRules()).rule
    return found.value if found else None


def booking(name: str, start: time, *, source: str | None = None, **fields: Any) -> Slot:
    begin = datetime.combine(TODAY, start, ZONE)
    known: dict[str, Any] = {
        "key": name,
        "kind": EventKind.BOOKING,
        "label": name,
        "day": TODAY,
        "interval": Interval(begin, begin + timedelta(hours=1)),
        "activity": name,
        "who": ("ada",),
        "event_id": name,
        "source_id": source,
    }
    return Slot(**{**known, **fields})


@pytest.mark.parametrize(
    ("extraction", "speaks"),
    [
        (asked(named("child", "ada"), child=("ada",)), True),
        (asked(named("task", "pickup")), True),
        (asked(named("activity", "judo"), activity="judo", child=("ada",)), True),
        (asked(), False),
        (asked(named("adult", "dad")), False),
        (
            asked(
                named("generic", "class"), activity="judo", child=("ada",), task=Task.APPOINTMENT
            ),
            False,
        ),
        (asked(named("child", "ada"), child=("ada",), seeks_owner=False), False),
    ],
    ids=["child", "handover", "activity", "nothing", "adult", "some class", "not wanted"],
)
def test_an_owner_is_asked_for_only_of_what_is_the_familys(
    extraction: Extraction, speaks: bool
) -> None:
    assert (rule(extraction) == "missing_variable") is speaks


def test_a_time_alone_collides_with_nothing() -> None:
    plan = Extraction(
        is_coordination=True,
        child=("ada",),
        dates=(TODAY,),
        times=(time(17),),
        entities=(named("time", "17:00"),),
    )
    judo = booking("judo", time(17))
    assert rule(plan, judo) is None
    assert (
        rule(
            Extraction(
                is_coordination=True,
                child=("ada",),
                dates=(TODAY,),
                times=(time(17),),
                activity="dentist",
                entities=(named("generic", "dentist"),),
            ),
            judo,
        )
        == "temporal_conflict"
    )


def claim(*entities: Entity, **fields: Any) -> Extraction:
    return asked(*entities, stance=Stance.CLAIMS, assigned_to=("eve",), seeks_owner=False, **fields)


def test_vague_claims_do_not_contradict_each_other() -> None:
    earlier = booking(
        "pickup",
        time(15),
        kind=EventKind.CARE,
        activity=None,
        task="pickup",
        who=(),
        interval=None,
        responsible=("adam",),
        event_id=None,
        source_id="3",
    )
    assert rule(claim(), earlier) is None
    assert rule(claim(named("task", "pickup")), earlier) == "resource_conflict"


@pytest.mark.parametrize(
    ("entities", "speaks"),
    [
        ((named("activity", "judo"), named("time", "09:00")), True),
        ((named("time", "09:00"),), False),
        ((named("activity", "judo"),), False),
    ],
    ids=["both said", "activity inherited", "time inherited"],
)
def test_only_what_was_said_is_held_against_the_calendar(
    entities: tuple[Entity, ...], speaks: bool
) -> None:
    judo = booking("judo", time(17))
    taken = claim(
        *entities,
        task=Task.DROPOFF,
        activity="judo",
        child=("ada",),
        dates=(date(2026, 3, 2),),
        times=(time(9),),
    )
    assert (rule(taken, judo, series=(judo,)) == "time_mismatch") is speaks


@pytest.mark.parametrize("task", [Task.DROPOFF, Task.PICKUP, Task.COVER])
@pytest.mark.parametrize(
    ("entities", "fields", "clashes"),
    [
        ((), {}, False),
        ((), {"who": ()}, False),
        ((named("time", "16:45"),), {}, True),
        ((), {"action_id": None, "event_id": "pics"}, True),
        ((), {"who": ("eve", "bob")}, True),
        ((), {"start": time(16, 30)}, True),
    ],
    ids=[
        "to it",
        "to what is anybody's",
        "own hour",
        "in the calendar",
        "of another",
        "another hour",
    ],
)
def test_the_drive_to_what_waits_does_not_clash_with_it(
    task: Task, entities: tuple[Entity, ...], fields: dict[str, Any], *, clashes: bool
) -> None:
    known = {"who": ("eve",), "event_id": None, "action_id": "a1", "responsible": ("eve",)} | fields
    pics = booking("pics", known.pop("start", time(16, 45)), source="3", **known)
    drive = claim(
        *entities,
        named("child", "ada"),
        task=task,
        activity="practice",
        child=("ada",),
        dates=(TODAY,),
        times=(time(16, 45),),
        is_special=True,
    )
    assert (rule(drive, pics) == "resource_conflict") is clashes
