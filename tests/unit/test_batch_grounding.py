"""What of a model's answer about group talk is believed: quotations, ids, times, people, whose words they are."""

import json
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from batch_items import NEW_EVENT
from hostile_messages import TEXTS
from kinkeeper.models.structured import output_schema
from kinkeeper.reading import Act, Modality, Predicate
from kinkeeper.reading.batch import WINDOW, Batch, Heard, Thing, cut_batches, shown
from kinkeeper.reading.batch_answer import BatchAnswer, Item, quoted_span
from kinkeeper.reading.batch_grounding import Found, Grounded, grounded

ZONE = ZoneInfo("Europe/London")
TUESDAY = datetime(2026, 3, 10, 18, 0, tzinfo=ZONE)
PEOPLE = {"Ana": ("mum",), "Bo": ("dad",), "Kit": ("kitty",), "Zoë": ()}
SWIMMING = Thing(
    key="plan-1", title="swimming", at=datetime(2026, 3, 12, 16, 0, tzinfo=ZONE), who=("Kit",)
)
SURPRISE = Thing(key="event-1", title="cake tasting", at=date(2026, 3, 14), is_secret=True)
ITEM = {**NEW_EVENT, "message": "m2"}
STRANGE = [each for each in TEXTS if each.encode(errors="ignore").decode() == each]
ASKED = ("Ana", "who can get kit from drama tmrw at 5?")


def batch(*said: tuple[str, str], new: int = 1, days_apart: int = 0, **more: Any) -> Batch:
    """Return a talk, one message a minute, or each some days after the one before."""
    gap = timedelta(days=days_apart) if days_apart else timedelta(minutes=1)
    messages = [
        Heard(speaker=speaker, text=text, sent_at=TUESDAY + gap * number)
        for number, (speaker, text) in enumerate(said)
    ]
    known = {"arrangements": [SWIMMING], "events": [SURPRISE], "people": PEOPLE, "locale": "en-GB"}
    return Batch(messages=messages, new=new, **{**known, **more})


def read(talk: Batch, *items: dict[str, Any]) -> Grounded:
    answer = {"items": [{**ITEM, "message": [*talk.heard][-1], **item} for item in items]}
    return grounded(BatchAnswer.model_validate_json(json.dumps(answer), strict=True), talk)


def one(talk: Batch, **item: Any) -> Found:
    [found] = read(talk, item).found
    return found


def local(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=ZONE)


@pytest.mark.parametrize(
    ("text", "day", "hour", "at", "ref", "settled", "left_out"),
    [
        ("dentist thursday at 4", "thursday", "at 4", "2026-03-12T16:00", None, local(12, 16), ()),
        ("dentist thursday at 4", "Thursday", "AT 4", None, None, local(12, 16), ()),
        ("dentist thursday at 4", "thursday at 4", None, None, None, local(12, 16), ()),
        ("dentist on the 14th", "on the 14th", None, "2026-03-14", None, date(2026, 3, 14), ()),
        ("run thursday at 7", "thursday", "at 7", "2026-03-12T07:00", None, local(12, 7), ()),
        (
            "half an hour later",
            None,
            "half an hour later",
            "2026-03-12T16:30",
            "a1",
            local(12, 16, 30),
            (),
        ),
        ("its at 5 now", None, "at 5", "2026-03-12T17:00", "a1", local(12, 17), ()),
        ("moved to friday", "friday", None, "2026-03-13T16:00", "a1", local(13, 16), ()),
        ("same day as swimming", "a1", None, "2026-03-12", None, date(2026, 3, 12), ()),
        (
            "dentist, the early one tonight",
            "tonight",
            None,
            "2026-03-10",
            None,
            date(2026, 3, 10),
            (),
        ),
        ("dentist thursday", "thursday", None, "2026-03-19", None, date(2026, 3, 12), ("at",)),
        (
            "dentist thursday",
            "thursday",
            None,
            "2026-03-12T09:00",
            None,
            date(2026, 3, 12),
            ("at",),
        ),
        ("dentist thursday", "friday", None, "2026-03-13", None, None, ("day", "at")),
        ("dentist soon", None, None, "2026-03-13", None, None, ("at",)),
        ("dentist thursday", "thursday", None, "12 March", None, date(2026, 3, 12), ("at",)),
        ("dentist thursday", "e9", None, None, None, None, ("day",)),
    ],
)
def test_a_time_is_what_the_rules_read_or_a_known_time_with_what_was_said(
    text: str, day: str, hour: str, at: str, ref: str, settled: Any, left_out: tuple[str, ...]
) -> None:
    title = next((word for word in ("dentist", "run") if word in text), None)
    found = one(
        batch(("Ana", text)),
        does="change" if ref else "new",
        ref=ref,
        title=title,
        day=day,
        hour=hour,
        at=at,
    )
    assert (found.at, found.left_out) == (settled, left_out)


def test_words_count_from_the_day_on_which_they_were_sent() -> None:
    talk = batch(("Ana", "kit has a show tomorrow at 6"), ("Bo", "i'll take her"), days_apart=1)
    found = one(
        talk,
        does="answer",
        act="offer",
        kind="dropoff",
        ref="m1",
        title="a show",
        day="tomorrow",
        hour="at 6",
        at="2026-03-11T18:00",
        who=["Kit"],
        by=["Bo"],
    )
    assert (found.at, found.answers, found.left_out) == (local(11, 18), 0, ())
    assert (found.frame.act, found.frame.predicate) == (Act.OFFER, Predicate.DROPOFF)


def test_another_day_keeps_the_hour_of_what_was_said_in_the_same_stretch() -> None:
    talk = batch(("Ana", "dentist thursday at 4"), ("Bo", "no, its friday"), new=2)
    first = {"message": "m1", "title": "dentist", "day": "thursday", "hour": "at 4"}
    moved = {"does": "change", "ref": "m1", "day": "friday", "at": "2026-03-13T16:00"}
    assert [each.at for each in read(talk, first, moved).found] == [local(12, 16), local(13, 16)]


def test_an_answer_has_the_day_and_hour_of_the_message_that_it_answers() -> None:
    found = one(
        batch(ASKED, ("Bo", "me")), does="answer", act="offer", ref="m1", at="2026-03-11T17:00"
    )
    assert (found.at, found.left_out) == (local(11, 17), ())


def test_a_day_named_before_counts_where_no_other_was_said_but_is_less_sure() -> None:
    talk = batch(("Ana", "dentist on thursday"), ("Kit", "anyone?"), ("Bo", "at 4, ok"))
    offer = {"does": "answer", "act": "offer", "ref": "m2", "hour": "at 4"}
    before = one(talk, **offer, at="2026-03-12T16:00")
    assert before.at == local(12, 16)
    assert before.frame.p < one(talk, **offer).frame.p
    assert one(talk, **offer, at="2026-03-13T16:00").left_out == ("at",)


@pytest.mark.parametrize(
    ("speaker", "text", "act", "by", "kept", "read_as"),
    [
        ("Bo", "me!!", "offer", ["Bo"], ("Bo",), Act.OFFER),
        ("Bo", "me!!", "offer", ["dad"], ("Bo",), Act.OFFER),
        ("Bo", "me!!", "offer", [], ("Bo",), Act.OFFER),
        ("Bo", "me!!", "assign", ["Bo"], ("Bo",), Act.OFFER),
        ("Bo", "ana does it", "offer", ["Ana"], ("Ana",), Act.ASSIGN),
        ("Bo", "yes ana", "accept", ["Ana"], ("Ana",), Act.ACCEPT),
        ("Bo", "zoe will", "accept", ["Zoë"], ("Zoë",), Act.ASSIGN),
        ("Bo", "zoe will", "assign", ["Zoe", "Zoe"], ("Zoë",), Act.ASSIGN),
        ("Bo", "someone else", "assign", ["Zoë"], (), Act.ASSIGN),
        ("Bo", "coach Pym drives her", "assign", ["coach Pym"], ("outside person",), Act.ASSIGN),
        ("Bo", "the neighbours", "assign", ["outside person"], ("outside person",), Act.ASSIGN),
        ("Bo", "somebody", "assign", ["Mallory"], (), Act.ASSIGN),
    ],
)
def test_nobody_takes_something_on_in_the_words_of_another(
    speaker: str, text: str, act: str, by: list[str], kept: tuple[str, ...], read_as: Act
) -> None:
    found = one(
        batch(ASKED, (speaker, text)), does="answer", act=act, kind="pickup", ref="m1", by=by
    )
    assert (found.by, found.frame.act) == (kept, read_as)
    assert ("by" in found.left_out) == (len(kept) < len({*by}) and bool(by))


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"does": "nothing"}, "nothing"),
        ({"message": "m1", "title": "drama"}, "no new message"),
        ({"message": "m9", "title": "drama"}, "no new message"),
        ({"message": "plan-1", "title": "drama"}, "no new message"),
        ({"title": "a trip to the moon"}, "no evidence"),
        ({"who": ["Kit"], "by": ["Bo"], "at": "2026-03-12"}, "no evidence"),
        ({"does": "cancel", "ref": "a7"}, "no evidence"),
        ({"does": "cancel", "ref": "plan-1"}, "no evidence"),
        ({"does": "answer", "act": "accept", "ref": "a7"}, "answers nothing"),
        ({"does": "answer", "act": "accept", "ref": "m2"}, "answers nothing"),
        ({"does": "answer", "act": "accept"}, "answers nothing"),
    ],
)
def test_what_has_no_ground_at_all_is_left_out(item: dict[str, Any], why: str) -> None:
    assert read(batch(ASKED, ("Bo", "ok then")), item) == Grounded(found=(), refused={why: 1})


def test_each_value_without_ground_makes_a_frame_less_sure() -> None:
    talk = batch(("Ana", "dentist thursday"))
    chances = [
        one(talk, title="dentist", day="thursday", **more).frame.p
        for more in (
            {},
            {"hour": "at 4"},
            {"hour": "at 4", "by": ["Mallory"]},
            {"hour": "at 4", "by": ["Mallory"], "ref": "a9"},
        )
    ]
    assert chances == sorted(set(chances), reverse=True)
    maybe = one(talk, title="dentist", day="thursday", certain=False)
    assert maybe.frame.p < chances[0]
    assert maybe.frame.modality is Modality.HYPOTHETICAL


@pytest.mark.parametrize("says", [True, False])
def test_what_was_read_from_something_secret_is_secret(says: bool) -> None:
    whisper = Heard(speaker="Ana", text="cake for bo on friday", sent_at=TUESDAY, is_secret=True)
    talk = batch(("Kit", "friday then"))
    shared = Batch(
        messages=[whisper, *talk.messages], new=1, people=PEOPLE, events=[SURPRISE], locale="en-GB"
    )
    for item in (
        {"title": "cake", "day": "friday"},
        {"does": "answer", "act": "accept", "ref": "m1"},
        {"does": "cancel", "ref": "e1"},
        {"title": "friday then", "day": "e1"},
    ):
        assert one(shared, secret=says, **item).frame.is_secret
    assert one(shared, secret=says, title="friday then").frame.is_secret == says


def test_one_message_without_words_for_them_takes_off_one_thing_at_most() -> None:
    things = [Thing(key=f"plan-{n}", title=f"lesson {n}", at=date(2026, 3, 12)) for n in range(20)]
    talk = batch(("Bo", "it's off"), arrangements=things)
    found = read(talk, *({"does": "cancel", "ref": f"a{n}"} for n in range(1, 20)))
    assert [each.thing for each in found.found] == ["plan-0"]
    named = batch(("Bo", "lesson 3 and lesson 5 are off"), arrangements=things)
    items = [{"does": "cancel", "ref": f"a{n + 1}", "title": f"lesson {n}"} for n in (3, 5)]
    assert [each.thing for each in read(named, *items).found] == ["plan-3", "plan-5"]


def test_spans_lie_in_the_message_and_its_clause() -> None:
    text = "lol. Dentist is THURSDAAAY at 4! bring snacks"
    found = one(batch(("Ana", text)), title="dentist", day="thursdaay", hour="at 4")
    clause = found.frame.clause
    assert text[clause.start : clause.end].strip() == "Dentist is THURSDAAAY at 4!"
    spans = [(each.name, text[each.start : each.end]) for each in found.frame.slots]
    assert spans == [("what", "Dentist"), ("when", "THURSDAAAY"), ("when", "at 4")]


def test_people_are_marked_and_targets_counted_as_the_contract_has_it() -> None:
    text = "ana can take kitty, swimming is off"
    found = read(
        batch(ASKED, ("Bo", text)),
        {"does": "answer", "act": "assign", "ref": "m1", "by": ["Ana"], "who": ["Kit"]},
        {"does": "cancel", "ref": "a1", "title": "swimming"},
    ).found
    spans = [
        {(each.name.value, text[each.start : each.end]) for each in one.frame.slots}
        for one in found
    ]
    assert spans == [{("who_does", "ana"), ("who_for", "kitty")}, {("what", "swimming")}]
    said, item = (each.frame.target for each in found)
    assert said is not None
    assert said.said == 0
    assert item is not None
    assert item.item == 0


@pytest.mark.parametrize(
    ("quote", "text", "found"),
    [
        ("on the 14th", "its On the  14th, ok", "On the  14th"),
        ("mum's car", "take mum\u2019s car", "mum\u2019s car"),
        ("'half 4'", "at half 4", "half 4"),
        ("sooo late", "soooooo late", "soooooo late"),
        ("caf\u00e9", "the CAF\u00c9!", "CAF\u00c9"),
        ("4", "at 14", None),
        ("art", "party", None),
        ("", "anything", None),
        ("...", "well...", None),
        ("a.*b", "a cab", None),
        ("x " * 40, "x " * 80, None),
    ],
)
def test_a_quotation_is_found_as_spellings_are_folded(
    quote: str, text: str, found: str | None
) -> None:
    span = quoted_span(quote, text)
    assert (text[slice(*span)] if span else None) == found


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_span_that_is_found_lies_in_the_text(quote: str, text: str) -> None:
    span = quoted_span(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


words = st.one_of(
    st.none(), st.text(max_size=30), st.sampled_from(["m1", "a1", "e1", "tmrw", *STRANGE])
)
items = st.fixed_dictionaries(
    {
        "message": st.sampled_from(["m1", "m2", "a1", "m99", ""]),
        "does": st.sampled_from(["new", "change", "cancel", "answer", "nothing"]),
        "act": st.sampled_from(["state", "ask", "offer", "accept", "assign", "withdraw"]),
        "kind": st.sampled_from(["event", "pickup", "task"]),
        "ref": st.one_of(st.none(), st.sampled_from(["m1", "m2", "a1", "e1", "x"])),
        "title": words, "day": words, "hour": words,
        "at": st.one_of(st.none(), st.text(max_size=20), st.just("9999-12-31T23:59"), st.just("0001-01-01")),
        "who": st.lists(st.text(max_size=12), max_size=8),
        "by": st.lists(st.sampled_from(["Ana", "Bo", "Mallory", "outside person"]), max_size=8),
        "certain": st.booleans(), "secret": st.booleans(),
    }
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(items, max_size=6))
def test_whatever_a_model_answers_only_what_was_shown_comes_out(made: list[dict[str, Any]]) -> None:
    talk = batch(ASKED, ("Bo", "me! also swimming is off on thursday"))
    fitting = [{**each, "title": (each["title"] or "")[:100] or None} for each in made]
    result = grounded(BatchAnswer(items=[Item(**each) for each in fitting]), talk)
    assert len(result.found) + sum(result.refused.values()) == len(made)
    for found in result.found:
        assert found.message == 1
        assert found.answers in {None, 0}
        assert found.thing in {None, "plan-1", "event-1"}
        assert {*found.by, *found.who} <= {*PEOPLE, "outside person"}
        assert 0 <= found.frame.p <= 0.9
        assert found.at is None or found.at.year in range(2025, 2028)


@pytest.mark.parametrize(
    "answer",
    [
        "[" * 100_000,
        '{"items": ' + "[" * 5_000,
        "null",
        '{"items": {}}',
        '{"items": [[]]}',
        json.dumps({"items": [{**ITEM, "audience": "everybody"}]}),
        json.dumps({"items": [{**ITEM, "certain": "yes"}]}),
        json.dumps({"items": [{**ITEM, "who": "Kit"}]}),
        json.dumps({"items": [{**ITEM, "who": ["x"] * 9}]}),
        json.dumps({"items": [{**ITEM, "title": "x" * 10_000_000}]}),
        json.dumps({"items": [ITEM] * 21}),
        json.dumps({"items": [], "more": 1}),
    ],
    ids=range(12),
)
def test_an_answer_of_another_shape_is_none(answer: str) -> None:
    with pytest.raises(ValidationError):
        BatchAnswer.model_validate_json(answer, strict=True)


def test_the_schema_is_flat_and_short() -> None:
    schema = dict(output_schema(BatchAnswer).schema)
    assert len(json.dumps(schema)) / 3.5 < 600
    assert {*schema["$defs"]} == {"Item"}


def test_whatever_a_message_holds_it_takes_a_bounded_part_of_the_prompt() -> None:
    for text in ("x" * 100_000, "<" * 100_000, "\U000e0041" * 100_000, "ж" * 100_000, "🧁" * 9999):
        talk = shown(batch(("Ana", text)))["talk"]
        assert len(json.dumps(talk, ensure_ascii=True)) < 12_000


def test_a_talk_is_cut_where_nobody_writes_and_every_message_is_new_once() -> None:
    seconds = [0, 20, 50, 300, 310, *range(400, 400 + 30 * 40, 40)]
    messages = [
        Heard(speaker="Ana", text=str(n), sent_at=TUESDAY + timedelta(seconds=after))
        for n, after in enumerate(seconds)
    ]
    stretches = [*cut_batches(messages)]
    new = [each.text for window, count in stretches for each in window[-count:]]
    assert new == [each.text for each in messages]
    assert [count for _, count in stretches[:2]] == [3, 2]
    assert all(len(window) <= WINDOW for window, _ in stretches)
    assert all(count < WINDOW for _, count in stretches)
    assert [*cut_batches([])] == []
