"""What the fold decides about an arrangement is mirrored in its card: a row a class, said so that the rules alone miss it."""

from collections.abc import Iterator

import pytest

from family_chat import Chat, chat
from kinkeeper.actions.model import ActionStatus
from kinkeeper.household.viewers import is_hidden_from
from kinkeeper.observer.accounts.traces import load_trace
from kinkeeper.observer.tables import arrangements
from kinkeeper.reading import Frame, Modality, SlotName
from scripted_frames import frame, read_as

ASKED = "who can pick up Leo from soccer tomorrow?"
CLAIMED = "I'll pick up Leo from soccer tomorrow"
LATER = "the usual, as ever, and so on"


@pytest.fixture
def miller() -> Iterator[Chat]:
    with chat(tripwire_threshold=0.01) as found:
        yield found


def told(miller: Chat, monkeypatch: pytest.MonkeyPatch, first: str, *later: Frame | None) -> None:
    """Say something that the rules understand, then what only the trained reader does, each as a reply to the first."""
    texts = [f"{LATER} {number}" for number in range(len(later))]
    read_as(monkeypatch, {text: each for text, each in zip(texts, later, strict=True) if each})
    miller.say("Wed 2026-03-04 18:00", "john" if first == CLAIMED else "sarah", first, id="q")
    for number, text in enumerate(texts):
        miller.say(
            f"Wed 2026-03-04 18:0{number + 1}",
            "sarah" if first == CLAIMED else "john",
            text,
            reply_to="q",
        )


def owners(miller: Chat) -> list[list[str]]:
    """Return who has what waits."""
    waiting = miller.pending("Wed 2026-03-04 18:30")
    return [list(each.proposal.extraction["assigned_to"]) for each in waiting]


OFFER = frame(LATER, "offer.pickup", answers=0)
OFF = frame(LATER, "state.cancel", answers=0)
BACK_ON = frame(LATER, "state.cancel", answers=0, is_negated=True)
CLASSES = {
    "who has it now": (ASKED, [OFFER], [["john"]]),
    "too unsure to tell who has it": (
        ASKED,
        [frame(LATER, "offer.pickup", answers=0, p=0.3)],
        [["unspecified"]],
    ),
    "a joke gives it to nobody": (
        ASKED,
        [frame(LATER, "offer.pickup", answers=0, modality=Modality.JOKE)],
        [["unspecified"]],
    ),
    "off": (CLAIMED, [OFF], []),
    "too unsure to be off": (CLAIMED, [frame(LATER, "state.cancel", answers=0, p=0.3)], [["john"]]),
    "done": (CLAIMED, [frame(LATER, "report_done.pickup", answers=0)], []),
    "off and open again": (CLAIMED, [OFF, BACK_ON], [["john"]]),
    "somebody else is said to do it": (
        CLAIMED,
        [frame(LATER, "promise.pickup", answers=0)],
        [["john"]],
    ),
    "moved to another day": (
        CLAIMED,
        [frame(f"{LATER} 0 on Friday", "state.move", answers=0, named={SlotName.TO: "Friday"})],
        [["john"]],
    ),
    "nothing of it": (ASKED, [None], [["unspecified"]]),
}


@pytest.mark.parametrize("name", CLASSES)
def test_the_card_follows_its_arrangement(
    name: str, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later, wanted = CLASSES[name]
    told(miller, monkeypatch, first, *later)
    assert owners(miller) == wanted
    assert miller.events() == []
    assert not [each for each in miller.spoken() if not each["is_soundless"]]


THING = f"{LATER}: the sunflowers"
DAY = f"{LATER}, Friday"
ASKS = frame(THING, "ask.task", named={SlotName.WHAT: "the sunflowers"})
TAKES = {SlotName.WHEN: "Friday"}
IN_PIECES = {
    "what, then who and when": (
        ASKS,
        DAY,
        frame(DAY, "offer.task", named=TAKES, answers=0),
        ["2026-03-06"],
    ),
    "still only asked for": (ASKS, DAY, frame(DAY, "ask.task", named=TAKES, answers=0), None),
    "too unsure": (ASKS, DAY, frame(DAY, "offer.task", named=TAKES, answers=0, p=0.2), None),
    "a joke": (
        ASKS,
        DAY,
        frame(DAY, "offer.task", named=TAKES, answers=0, modality=Modality.JOKE),
        None,
    ),
    "of no day": (ASKS, LATER, frame(LATER, "offer.task", answers=0), None),
    "of another plan": (ASKS, DAY, frame(DAY, "offer.task", named=TAKES), None),
}


@pytest.mark.parametrize("name", IN_PIECES)
def test_what_several_messages_say_has_a_card(
    name: str, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, text, later, days = IN_PIECES[name]
    read_as(monkeypatch, {THING: first, text: later})
    miller.say("Wed 2026-03-04 18:00", "sarah", THING, id="q")
    assert miller.pending("Wed 2026-03-04 18:00") == []
    reply_to = "q" if later.target else None
    miller.say("Wed 2026-03-04 18:01", "john", text, reply_to=reply_to)
    waiting = [each.proposal for each in miller.pending("Wed 2026-03-04 18:30")]
    assert [each.extraction["dates"] for each in waiting] == ([days] if days else [])
    assert all("sunflowers" in each.summary.lower() for each in waiting)
    assert not [each for each in miller.spoken() if not each["is_soundless"]]


@pytest.mark.parametrize("number", [0, 1])
def test_what_one_of_several_messages_keeps_secret_is_kept_from_its_card(
    number: int, miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [THING, DAY]
    texts[number] += ", don't tell Mia"
    takes = frame(texts[1], "offer.task", named=TAKES, answers=0)
    read_as(monkeypatch, {texts[0]: ASKS, texts[1]: takes})
    miller.say("Wed 2026-03-04 18:00", "sarah", texts[0], id="q")
    miller.say("Wed 2026-03-04 18:01", "john", texts[1], reply_to="q")
    [card] = miller.pending("Wed 2026-03-04 18:30")
    assert is_hidden_from(card.proposal.scope, "mia")


@pytest.mark.parametrize("joint", [", ", "!! ", " - "])
@pytest.mark.parametrize(
    "wish",
    [
        "dont mention the bunk bed to Mia",
        "nobody say a word about the bunk bed to mia",
        "lets not bring up the bunk bed with the kids",
        "can we not discuss the bunk bed when Mia is around",
        "keep quiet about the bunk bed around Mia",
    ],
)
def test_a_card_about_what_is_not_to_be_mentioned_is_kept_from_whom_it_names(
    wish: str, joint: str, miller: Chat
) -> None:
    miller.say("Wed 2026-03-04 18:00", "sarah", f"{wish}{joint}we can fetch it on Friday at 5")
    [card] = miller.pending("Wed 2026-03-04 18:30")
    assert is_hidden_from(card.proposal.scope, "mia")
    assert not is_hidden_from(card.proposal.scope, "john")


def test_what_is_replaced_can_no_longer_be_confirmed(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(miller, monkeypatch, ASKED, OFFER)
    statuses = [each.status for each in miller.actions()]
    assert statuses == [ActionStatus.SUPERSEDED, ActionStatus.PENDING]
    assert [each["status"] for each in miller.questions()] == ["answered"]


def test_an_arrangement_that_is_off_has_no_card_that_can_be_confirmed(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(miller, monkeypatch, CLAIMED, OFF)
    assert [each["status"] for each in miller.rows(arrangements)] == ["off"]
    assert [each.status for each in miller.actions()] == [ActionStatus.WITHDRAWN]


def test_a_confirmed_card_stays_as_the_person_left_it(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_as(monkeypatch, {LATER: OFF})
    miller.say("Wed 2026-03-04 18:00", "john", CLAIMED, id="q")
    card = miller.actions()[0]
    miller.confirm("Wed 2026-03-04 18:01", "john", card.id)
    miller.say("Wed 2026-03-04 18:02", "sarah", LATER, reply_to="q")
    assert miller.action(card.id).status is ActionStatus.DONE


def test_an_edited_message_is_folded_again(miller: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, {})
    miller.say("Wed 2026-03-04 18:00", "john", "I'll pick up Leo from soccer tomorrow", id="q")
    miller.edit("Wed 2026-03-04 18:01", "john", "I'll pick up Mia from ballet tomorrow", "q")
    rows = miller.rows(arrangements)
    assert [each["versions"][-1]["value"]["who_for"] for each in rows] == [["mia"]]


def test_why_tells_that_a_card_follows_its_plan(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(miller, monkeypatch, CLAIMED, OFF, BACK_ON)
    last = miller.decisions()[-1]["message_id"]
    steps = miller.store.read_now(lambda conn: load_trace(conn, miller.household, last)).steps
    assert [each.text.partition(":")[0] for each in steps if each.stage == "action"] == [
        "A card follows its plan"
    ]


def test_a_decision_that_changed_a_card_can_be_proved(
    miller: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(miller, monkeypatch, CLAIMED, OFF)
    before = miller.rows(arrangements)
    for row in miller.decisions():
        assert miller.wait(miller.system.prover().prove(row["id"])).differences == ()
    assert miller.rows(arrangements) == before
