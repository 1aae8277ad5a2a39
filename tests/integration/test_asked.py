"""Whose words, which limits and which open cards a question asks for: answered from what is stored, to whom it may be told."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from combinations import combined
from kinkeeper.bootstrap import open_system
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.core.time import VirtualClock
from kinkeeper.household.file import load_household
from kinkeeper.settings.model import Settings
from kinkeeper.settings.models import EmbedderChoice
from live_household import HOUSEHOLD, MONDAY
from talking import on_a_loop

GUEST = """
[[members]]
id = "nana"
name = "Nana"
role = "other"

[[activities]]
id = "kendo"

[[events]]
id = "leo-kendo"
summary = "Leo kendo"
activity = "kendo"
who = ["leo"]
start = 2026-02-03T17:00:00
duration_minutes = 60
rrule = "FREQ=WEEKLY;BYDAY=TU,TH"
"""


async def answers(folder: Path, said: Sequence[tuple[str, str]]) -> list[str]:
    """Return what is answered to what members say one after the other, each in a thread of their own, with all that is told read."""
    file = folder / "household.toml"
    file.write_text(HOUSEHOLD.read_text(encoding="utf-8") + GUEST, encoding="utf-8")
    home, told = load_household(file), list[str]()
    with open_system(
        Settings(embedder=EmbedderChoice.HASHING),
        household_file=file,
        database=str(folder / "family.sqlite"),
        now=MONDAY,
    ) as system:
        clock = VirtualClock(MONDAY)
        conversation = system.talk(clock).conversation
        for by, text in said:
            member = home.member(by)
            assert member is not None
            turn = await conversation.say(member, text, channel="web", thread_id=by)
            last = ""
            async for event in conversation.events(
                member, turn.thread_id, after=turn.after, turn_id=turn.turn_id
            ):
                last = str(event.data.get("text", ""))
            told.append(last)
            clock.advance_to(clock.now().replace(minute=(clock.now().minute + 1) % 60))
            while await reading_of(home, system.store, clock).run_once():
                pass
        await conversation.close()
    return told


# Whose words.

SAID = {
    "john": ("the tombola needs forty prizes", "the ferry leaves from Kelmscott"),
    "sarah": ("the tombola table stands in the gym", "the ferry has a ramp for prams"),
}
PRIVATE = {
    "john": "just for me: the tombola is a swindle",
    "sarah": "just for me: the ferry makes me seasick",
}
NAMES = {"john": ("John", "dad", "daddy"), "sarah": ("Sarah", "mom")}
THINGS = ("tombola", "ferry")
FORMS = (
    "what did {who} say about the {it}?",
    "what did {who} tell you about the {it}?",
    "did {who} mention the {it}?",
    "what has {who} said about the {it}?",
    "has {who} said anything about the {it}?",
    "tell me what {who} said about the {it}",
    "did {who} say anything about the {it}?",
    "what did {who} report about the {it}",
)


@on_a_loop
async def test_only_the_words_of_whoever_is_named_are_told(tmp_path: Path) -> None:
    before = [(by, text) for by, texts in SAID.items() for text in (*texts, PRIVATE[by])]
    cases = [
        (by, form.format(who=name, it=thing), place)
        for by, names in NAMES.items()
        for name, form, (place, thing) in combined([*names], FORMS, [*enumerate(THINGS)])
    ]
    asked = [("leo", text) for _, text, _ in cases]
    told = (await answers(tmp_path, [*before, *asked]))[len(before) :]
    hidden = [text.partition(": ")[2].rpartition(" ")[2] for text in PRIVATE.values()]
    wrong = []
    for (by, text, place), answer in zip(cases, told, strict=True):
        others = [each for who, texts in SAID.items() if who != by for each in texts]
        is_told = SAID[by][place].rpartition(" ")[2] in answer
        leaks = [each for each in others if each.rpartition(" ")[2] in answer]
        if not is_told or leaks or any(each in answer for each in hidden):
            wrong.append((text, answer))
    assert wrong == []


@on_a_loop
async def test_where_they_said_nothing_that_is_said_and_ones_own_words_are_ones_own(
    tmp_path: Path,
) -> None:
    before = [("john", SAID["john"][0]), ("john", PRIVATE["john"])]
    asked = [
        ("sarah", "what did Henrik say about the tombola?"),
        ("sarah", "what did Nana say about the tombola?"),
        ("sarah", "did Mia mention the tombola?"),
        ("sarah", "what did Henrik say yesterday?"),
        ("john", "what did I tell you about the tombola?"),
        ("sarah", "who said the tombola needs prizes?"),
        ("sarah", "what do you know about the tombola?"),
        ("sarah", "what did Nana tell you?"),
        ("sarah", "what did John tell you?"),
    ]
    told = (await answers(tmp_path, [*before, *asked]))[2:]
    assert all(each.startswith("I know of nothing that ") for each in told[:4]), told
    assert "swindle" in told[4], told
    assert "John said" in told[5], told
    assert "prizes" in told[6], told
    assert told[7].startswith("I don't pass on"), told
    assert "prizes" in told[8], told
    assert not any("swindle" in each for each in (*told[5:], *told[:4])), told


# What somebody may not have.

LIMITS: Mapping[str, tuple[str, str, str]] = {
    "Leo is allergic to sesame": ("Leo", "allergy", "sesame"),
    "Mia can't have penicillin": ("Mia", "have", "penicillin"),
    "Nana doesn't eat fish": ("Nana", "eat", "fish"),
    "Leo can't drink cola": ("Leo", "drink", "cola"),
    "Mia is intolerant of lactose": ("Mia", "allergy", "lactose"),
    "Nana is scared of geese": ("Nana", "fear", "geese"),
}
CLOSED = {
    "allergy": (
        "is {who} allergic to {it}?",
        "has {who} got an allergy to {it}?",
        "who is allergic to {it}?",
    ),
    "have": (
        "can {who} have {it}?",
        "may {who} take {it}?",
        "is {who} allowed {it}?",
        "who can't have {it}?",
    ),
    "eat": (
        "does {who} eat {it}?",
        "can {who} eat {it}?",
        "does anybody here not eat {it}?",
        "who doesn't eat {it}?",
    ),
    "drink": (
        "can {who} drink {it}?",
        "is {who} allowed to drink {it}?",
        "who must not drink {it}?",
    ),
    "fear": ("is {who} scared of {it}?", "who is afraid of {it}?"),
}
OPEN = {
    "allergy": (
        "is {who} allergic to anything?",
        "what is {who} allergic to?",
        "has {who} got any allergies?",
        "any allergies?",
        "who has an allergy?",
    ),
    "have": (
        "what can't {who} have?",
        "is there anything {who} can't have?",
        "what must {who} avoid?",
    ),
    "eat": (
        "what doesn't {who} eat?",
        "what can't {who} eat?",
        "is there anything {who} doesn't eat?",
    ),
    "drink": ("what can't {who} drink?", "is there anything {who} must not drink?"),
    "fear": ("is {who} scared of anything?", "what is {who} afraid of?"),
}


@on_a_loop
async def test_a_known_limit_is_told_however_it_is_asked_for(tmp_path: Path) -> None:
    before = [each for text in LIMITS for each in (("john", text), ("john", "yes"))]
    cases = [
        (form.format(who=who, it=thing), thing)
        for who, kind, thing in LIMITS.values()
        for form in (*CLOSED[kind], *OPEN[kind])
    ]
    asked = [("sarah", text) for text, _ in cases]
    told = (await answers(tmp_path, [*before, *asked]))[len(before) :]
    wrong = [
        (text, answer)
        for (text, thing), answer in zip(cases, told, strict=True)
        if thing not in answer or "Not that I know" in answer
    ]
    assert wrong == []


@on_a_loop
async def test_what_is_no_limit_or_anothers_is_not_told_as_one(tmp_path: Path) -> None:
    before = [
        ("john", "Leo is allergic to sesame"),
        ("john", "yes"),
        ("john", "just for me: Mia can't have lentils"),
    ]
    asked = (
        ("sarah", "is Mia allergic to anything?"),
        ("sarah", "what can't Mia have?"),
        ("sarah", "is Leo allergic to nuts?"),
        ("john", "can Mia have lentils?"),
        ("sarah", "can Mia have lentils?"),
        ("sarah", "can Leo use the Civic on Friday?"),
        ("sarah", "who can't come on Friday?"),
        ("sarah", "what does Leo have on Tuesday?"),
    )
    told = (await answers(tmp_path, [*before, *asked]))[len(before) :]
    assert [each[:15] for each in told[:3]] == ["Not that I know"] * 3, told
    assert "sesame" in told[2], told
    assert "lentils" in told[3], told
    assert "can't have lentils" not in told[4], told
    assert not any("sesame" in each for each in told[5:]), told
    assert "soccer" in told[7], told


WAITS: Sequence[tuple[str, str, Sequence[str]]] = (
    ("john", "leo's allergic to sesame", ("is leo allergic to anything", "what is Leo allergic to?", "any allergies?", "can leo have sesame", "who is allergic to sesame")),
    ("sarah", "mia is coeliac", ("is mia coeliac", "what can't mia eat", "does mia have any dietary requirements?")),
    ("john", "mia is allergic to latex", ("what is mia allergic to", "can mia touch latex", "is there anything mia can't have?")),
    ("leo", "I can't eat prawns", ("what can't leo eat?", "can leo eat prawns", "is there anything leo doesn't eat?")),
    ("leo", "I'm allergic to kiwi", ("is leo allergic to anything?", "what is leo allergic to")),
    ("leo", "nana is scared of geese", ("is nana scared of anything?", "what is nana afraid of")),
)  # fmt: skip
"""Who tells a limit that waits for a yes, and how it is asked for."""


@on_a_loop
async def test_a_limit_that_waits_for_a_yes_is_told_as_not_confirmed(tmp_path: Path) -> None:
    for number, (by, text, asked) in enumerate(WAITS):
        folder = tmp_path / str(number)
        folder.mkdir()
        adults = [("john", each) for each in asked] + [("sarah", each) for each in asked]
        # Children and guests see nothing that others told before an adult agrees.
        others = [(who, each) for who in {"mia", "nana", "leo"} - {by} for each in asked]
        told = (await answers(folder, [(by, text), *adults, *others]))[1:]
        word = text.rpartition(" ")[2]
        for (who, each), answer in zip(adults, told, strict=False):
            is_said = word in answer and ("Not confirmed yet" in answer or "waiting" in answer)
            assert is_said, (who, each, answer)
        for (who, each), answer in zip(others, told[len(adults) :], strict=True):
            assert word not in answer or word in each, (who, each, answer)
            assert "Not confirmed yet" not in answer, (who, each, answer)


@on_a_loop
async def test_what_waits_for_oneself_alone_is_told_to_nobody_else(tmp_path: Path) -> None:
    said = [
        ("john", "just for me: Leo is allergic to sesame"),
        ("sarah", "is Leo allergic to anything?"),
        ("john", "is Leo allergic to anything?"),
        ("leo", "just for me: I can't eat prawns"),
        ("john", "what can't Leo eat?"),
        ("leo", "what can't I eat?"),
        ("sarah", "Mia is coeliac"),
        ("john", "is Leo coeliac?"),
        ("john", "can Mia eat nuts?"),
    ]
    told = await answers(tmp_path, said)
    assert told[1].startswith("Not that I know: nobody"), told
    assert "sesame" in told[2], told
    assert "prawns" not in told[4], told
    assert "prawns" in told[5], told
    assert "Mia" not in told[7], told
    assert told[8].startswith("Not that I know."), told


# How what waits for a yes stands.

WAITING = (
    ("leo", "put the book fair on saturday at 2pm"),
    ("john", "maybe add a haircut on monday at 3pm"),
    ("john", "should I move ballet to 5 on wednesday?"),
)
ALL = (
    "approve everything that is waiting",
    "approve all",
    "yes to everything",
    "confirm everything",
    "accept all pending requests",
    "can you approve everything",
    "please approve all the open cards",
    "reject everything",
    "decline all requests",
)
COUNTED = (
    "how many things wait for me?",
    "how many things are waiting for my approval?",
    "how many cards are open?",
    "how many requests are pending?",
    "how many approvals are there?",
    "what is waiting?",
)
WHETHER = (
    "is the {it} confirmed?",
    "has the {it} been approved?",
    "is the {it} confirmed yet?",
    "was the {it} accepted?",
    "is the {it} still unconfirmed?",
    "has the {it} been confirmed by anyone?",
)
KNOWING = (
    "who else knows about it?",
    "who knows about the haircut?",
    "does Leo know about the haircut?",
    "who can see the book fair?",
)


@on_a_loop
async def test_all_that_waits_is_shown_before_any_of_it_is_decided(tmp_path: Path) -> None:
    for number, text in enumerate(ALL):
        folder = tmp_path / str(number)
        folder.mkdir()
        said = [
            *WAITING,
            ("sarah", text),
            ("john", "what is waiting?"),
            ("sarah", "the haircut"),
            ("john", "what is waiting?"),
        ]
        told = (await answers(folder, said))[len(WAITING) :]
        for each in ("book fair", "haircut", "ballet"):
            assert each in told[0], (text, told)
            assert each in told[1], (text, told)
        assert "haircut" in told[2], (text, told)
        assert "haircut" not in told[3], (text, told)
        assert "book fair" in told[3], (text, told)


@on_a_loop
async def test_what_stands_and_what_waits_is_told_from_the_cards(tmp_path: Path) -> None:
    kinds = (
        ("book fair", "Not yet"),
        ("haircut", "Not yet"),
        ("ballet class", ""),
        ("soccer", "Yes"),
        ("picnic", "I find nothing"),
    )
    whether = [(form.format(it=it), begins) for form, (it, begins) in product(WHETHER, kinds)]
    said = [
        *WAITING,
        *(("sarah", text) for text, _ in whether),
        *(("sarah", text) for text in COUNTED),
    ]
    told = (await answers(tmp_path, said))[len(WAITING) :]
    wrong = [
        (text, answer)
        for (text, begins), answer in zip(whether, told, strict=False)
        if not answer.startswith(begins)
    ]
    assert wrong == []
    for answer in told[len(whether) :]:
        assert all(each in answer for each in ("book fair", "haircut", "ballet")), answer


@on_a_loop
async def test_of_whoever_knows_it_is_said_that_nobody_can_tell(tmp_path: Path) -> None:
    told = (await answers(tmp_path, [*WAITING, *(("sarah", text) for text in KNOWING)]))[3:]
    assert all(each.startswith("I can't tell who knows") for each in told), told
    told = await answers(
        tmp_path,
        [
            ("john", "remind me to hide the ring at 5pm, just for me"),
            ("john", "who else knows about it?"),
        ],
    )
    assert told[1].startswith("Only you can see it"), told


@on_a_loop
async def test_a_child_decides_nothing_and_one_request_is_no_other(tmp_path: Path) -> None:
    said = [
        *WAITING,
        ("leo", "approve everything that is waiting"),
        ("john", "what is waiting?"),
        ("john", "yes to everything"),
        ("john", "yes to all"),
        ("john", "what is waiting?"),
        ("john", "confirm everything"),
        ("john", "how many tasks are open?"),
    ]
    told = (await answers(tmp_path, said))[len(WAITING) :]
    assert "an adult's approval" in told[0], told
    assert "haircut" in told[1], told
    assert "book fair" in told[2], told
    assert told[4] == told[5] == "Nothing is waiting for approval.", told
    assert "approval" not in told[6], told


# What was done or happened.

REPORTS = {
    "gave leo 5ml calpol at 9": ("has leo had calpol today?", "has leo had calpol this morning", "did leo have any medicine today?", "has anybody given leo calpol"),
    "mia had her inhaler at 8": ("has mia had her inhaler today?", "did mia have her inhaler this morning", "has mia had any medicine today"),
    "leo threw up at school": ("was leo sick today?", "who said leo was sick", "did leo throw up today", "has leo vomited today"),
    "mia had porridge at 7": ("did mia eat anything today", "has mia eaten?", "has mia had anything to eat today", "did mia have porridge today"),
    "leo slept from 1 to 3": ("did leo nap today?", "has leo slept today", "did leo have a nap today", "has leo had a sleep today?"),
    "fed the dog at 7": ("has anyone fed the dog?", "has the dog been fed today", "did somebody feed the dog today", "was the dog fed this morning"),
    "mia took her antibiotics this morning": ("has mia taken her antibiotics today", "did mia take her antibiotics", "has mia had her antibiotics?"),
}  # fmt: skip


@on_a_loop
async def test_what_was_done_is_told_to_who_asks_and_never_denied(tmp_path: Path) -> None:
    for number, (report, asked) in enumerate(REPORTS.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        questions = [("sarah", each) for each in asked]
        said = [*questions, ("john", report), *questions, *(("john", each) for each in asked)]
        told = await answers(folder, said)
        before, after = told[: len(asked)], told[len(asked) + 1 :]
        assert not [each for each in before if each.startswith("No")], before
        assert "Saved for everyone" in told[len(asked)], told[len(asked)]
        words = report.split(" ", 1)[1]
        told_back = [words in each and "2 March 2026" in each for each in after]
        assert all(told_back), [*zip(said[len(asked) + 1 :], after, strict=True)]


@on_a_loop
async def test_what_was_done_is_told_of_nobody_else_no_other_day_and_not_where_it_is_private(
    tmp_path: Path,
) -> None:
    said = [
        ("john", "gave leo 5ml calpol at 9"),
        ("sarah", "has mia had calpol today?"),
        ("sarah", "did leo have calpol yesterday?"),
        ("sarah", "has leo had his inhaler today?"),
        ("john", "I took ibuprofen at 8"),
        ("sarah", "did john take ibuprofen today?"),
        ("john", "just for me: gave mia piriton at 8"),
        ("sarah", "has mia had piriton today?"),
        ("leo", "mia had her inhaler at 8"),
        ("sarah", "has mia had her inhaler today?"),
        ("sarah", "is there soccer today?"),
        ("sarah", "was there chess on saturday?"),
    ]
    told = await answers(tmp_path, said)
    assert "gave leo" not in told[1], told
    assert told[2].startswith("I don't know"), told
    assert "of then" in told[2], told
    assert told[3].startswith("I don't know"), told
    assert "ibuprofen at 8" not in told[5], told
    assert "gave mia" not in told[7], told
    assert not told[9].startswith("No"), told
    assert "inhaler" in told[9], told
    assert told[10].startswith("Nothing about soccer is in the calendar today. The next is"), told
    assert told[11].startswith("I don't know"), told


# Questions without a mark or an apostrophe.

KEPT_THINGS = {
    "the spare key is under the blue pot": "the spare key",
    "the tombola float is in the biscuit tin": "the tombola float",
    "mia's inhaler is in the hall drawer": "mia's inhaler",
}
WHERE = ("wheres {}", "where is {}", "where's {}", "Wheres {}?", "so wheres {}", "hey wheres {}")
WHO = ("whos our plumber", "who is our plumber", "Whos our plumber?", "so whos our plumber")
ASKED_PLAINLY = (
    "is anything being delivered",
    "is everything ready for saturday",
    "is dinner ready",
    "is mia home",
    "are the kids asleep",
    "will nana be there",
    "have the bins gone out",
    "has the post come",
    "whys the heating off",
    "hows the boiler",
    "whens the boiler man coming",
    "did anything arrive",
    "is nobody home",
    "was the parcel delivered",
)


@on_a_loop
async def test_a_question_without_a_mark_or_apostrophe_is_answered(tmp_path: Path) -> None:
    told = [*KEPT_THINGS, "our plumber is Mr Quillfeather"]
    asked = [
        (form.format(thing), text.rpartition(" ")[2])
        for text, thing in KEPT_THINGS.items()
        for form in WHERE
    ]
    asked += [(form, "Quillfeather") for form in WHO]
    said = [*(("john", each) for each in told), *(("sarah", each) for each, _ in asked)]
    answered = (await answers(tmp_path, said))[len(told) :]
    wrong = [
        (text, answer)
        for (text, word), answer in zip(asked, answered, strict=True)
        if word not in answer
    ]
    assert wrong == []


@on_a_loop
async def test_a_question_without_a_mark_is_never_kept_as_news(tmp_path: Path) -> None:
    for by in ("leo", "sarah"):
        folder = tmp_path / by
        folder.mkdir()
        said = [(by, each) for each in ASKED_PLAINLY]
        told = await answers(
            folder,
            [*said, ("john", "what is waiting?"), ("john", "what do you know about dinner?")],
        )
        kept = [
            pair
            for pair in zip(ASKED_PLAINLY, told, strict=False)
            if any(word in pair[1] for word in ("aved", "haven't", "isn't kept", "left the"))
        ]
        assert kept == []
        assert told[-2] == "Nothing is waiting for approval."
        assert "dinner ready" not in told[-1]


# When something takes place, of several days.

OF_EACH = (
    "when is kendo {}",
    "when's kendo {}?",
    "whens leo's kendo {}",
    "what time is kendo {}?",
    "when is leo's kendo {}?",
    "when does kendo finish {}?",
    "when does kendo finish {}",
    "what time is leo's kendo {}",
)
OF_ONE = (
    "when is the next kendo",
    "when is kendo",
    "when is the next kendo this week",
    "when is the first kendo this week?",
    "when is kendo tomorrow",
    "what time is kendo tomorrow?",
)


@on_a_loop
async def test_every_time_of_several_days_is_told(tmp_path: Path) -> None:
    weeks = {"this week": ("tomorrow", "Thursday"), "next week": ("March 10", "March 12")}
    cases = [(form.format(week), week) for form, week in product(OF_EACH, weeks)]
    said = [*(("sarah", text) for text, _ in cases), *(("john", text) for text in OF_ONE)]
    told = await answers(tmp_path, said)
    wrong = [
        (text, answer)
        for (text, week), answer in zip(cases, told, strict=False)
        if not all(day in answer for day in weeks[week])
    ]
    assert wrong == []
    alone = told[len(cases) :]
    assert not [each for each in alone if "tomorrow" not in each or "Thursday" in each], alone


# What was given up as it was said.

TOLD_WRONG = (
    (
        "Mia is allergic to penicillin",
        "penicillin",
        "cashews",
        ("what is mia allergic to?", "is mia allergic to {}?"),
    ),
    ("Leo can't eat eggs", "eggs", "dairy", ("what can't leo eat?", "can leo eat {}?")),
    (
        "Leo's blood type is A positive",
        "A positive",
        "O negative",
        ("what is leo's blood type?", "what is leos blood type?"),
    ),
)
SET_RIGHT = (
    "{told}, sorry not {old}, {new}",
    "{told}. no wait, its {new}",
    "{told}, hang on, {new}",
    "{told}, oops, it's {new}",
    "{told} no wait thats what he takes, so he isnt. its {new}",
    "remember that {told}, i mean {new}",
)


@on_a_loop
async def test_what_is_set_right_as_it_is_told_is_told_whole(tmp_path: Path) -> None:
    wrong = []
    for number, ((fact, old, new, asked), form) in enumerate(product(TOLD_WRONG, SET_RIGHT)):
        folder = tmp_path / str(number)
        folder.mkdir()
        text = form.format(told=fact, old=old, new=new)
        questions = [(by, each.format(new)) for by in ("john", "sarah") for each in asked]
        first, *told = await answers(
            folder, [("john", text), *questions, ("john", "yes"), *questions]
        )
        del told[len(questions)]
        is_own = "just for you" in first or "for you only" in first
        wrong += [
            (text, each, answer)
            for (by, each), answer in zip(questions * 2, told, strict=True)
            if (by == "john" or not is_own)
            and (new not in answer or "nobody has told me" in answer)
        ]
    assert wrong == [], (len(wrong), wrong)
