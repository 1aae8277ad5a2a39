"""Care that somebody tells is told to whoever asks for it, with who said it and when, and becomes no plan."""

from pathlib import Path

import pytest

from combinations import combined
from kinkeeper.actions.repository import open_actions
from kinkeeper.bootstrap.memory import reading_of
from kinkeeper.brain.household_brain import HouseholdBrain
from kinkeeper.calendar.repository import list_events
from kinkeeper.conversation.answering.answerer import Answerer
from kinkeeper.conversation.planning.planners import Planners
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import list_facts
from kinkeeper.tasks.repository import open_tasks
from live_household import HOUSEHOLD
from talking import Talking, on_a_loop, talking

CHILDREN = (("Mia", "her"), ("Leo", "his"))
THINGS = ("zinc drops", "antibiotic", "cough syrup", "insulin")
GIVEN = (
    "i gave {who} {their} {thing} at 7",
    "ive given {who} {their} {thing} just now",
    "{who} got {their} {thing} at half six",
    "{who} had {their} {thing} at ten past 6",
    "done {who}'s {thing}",
    "gave {who} 5 ml of {thing} at 6.45, watching now",
    "i've put the {thing} in {who}'s left ear at 6.45",
    "put {thing} in {who}'s mouth at 7",
)
REFUSED = (
    "{who} refused {their} {thing} this morning",
    "{who} didn't take {their} {thing}",
    "{who} wouldn't take {their} {thing}",
    "no {thing} for {who} yet",
    "I haven't given {who} {their} {thing}",
)
TAKEN = ("took my {thing}", "had my {thing} at 7", "{thing} taken")
ASKED = (
    "has {who} had {their} {thing}?",
    "did anyone give {who} the {thing}?",
    "when was {who}'s last {thing}?",
    "has {who} had {their} {thing} today?",
)
ALL_ASKED = ("what has {who} had today?", "what did {who} have this morning?")


class House:
    """A household whose assistant answers from what it was told."""

    def __init__(self, talk: Talking) -> None:
        system = talk.system
        brain = HouseholdBrain(system.store, system.household, system.recall.finder, talk.clock)
        self.talk = talk.again(answerer=Answerer(know=brain.know))

    async def say(self, by: str, text: str) -> str:
        self.talk.later(seconds=20)
        return await self.talk.answer(text, by=by, thread_id=by)

    async def planned(self) -> list[str]:
        """Return what is in the calendar or waits for an approval."""
        viewer = Viewer.of(self.talk.system.household.id, "john")
        store, now = self.talk.system.store, self.talk.clock.now()
        cards = await store.read(lambda conn: open_actions(conn, viewer, now=now))
        events = await store.read(lambda conn: list_events(conn, viewer))
        return [*(each.proposal.summary for each in cards), *(each.summary for each in events)]

    async def facts(self) -> list[str]:
        """Return what memory has of what all the household may know, or john alone."""
        viewer, now = Viewer.of(self.talk.system.household.id, "john"), self.talk.clock.now()
        found = await self.talk.system.store.read(lambda conn: list_facts(conn, viewer, now=now))
        return [each.narrative for each in found]

    async def tasks(self) -> list[str]:
        viewer = Viewer.of(self.talk.system.household.id, "john")
        found = await self.talk.system.store.read(lambda conn: open_tasks(conn, viewer))
        return [str(each["title"]) for each in found]


@pytest.mark.parametrize("is_given", [True, False])
@on_a_loop
async def test_care_for_a_child_answers_every_adult_and_is_no_plan(
    tmp_path: Path, is_given: bool
) -> None:
    wrong = []
    cases = combined(GIVEN if is_given else REFUSED, CHILDREN, THINGS)
    for number, (told, (who, their), thing) in enumerate(cases):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, words = House(talk), {"who": who, "their": their, "thing": thing}
            before = await house.planned()
            said = await house.say("john", told.format(**words))
            answers = [
                await house.say("sarah", each.format(**words))
                for each in (*ASKED, *(ALL_ASKED if is_given else ()))
            ]
            is_answered = all(
                "John said: “" in each and each.startswith("On " if is_given else "No, ")
                for each in answers
            )
            if await house.planned() != before or not (is_answered and "everyone" in said):
                wrong.append((told.format(**words), said, answers))
    assert not wrong


@on_a_loop
async def test_what_somebody_took_stays_theirs(tmp_path: Path) -> None:
    wrong = []
    for told, thing in combined(TAKEN, THINGS):
        async with talking(f"{tmp_path}/{told}{thing}.sqlite", Planners(None)) as talk:
            house = House(talk)
            said = await house.say("john", told.format(thing=thing))
            own = await house.say("john", f"have I taken my {thing}?")
            others = await house.say("sarah", f"has John taken his {thing}?")
            if "just for you" not in said or "you said: “" not in own or "said: “" in others:
                wrong.append((told.format(thing=thing), said, own, others))
    assert not wrong


@pytest.mark.parametrize(
    ("task", "told", "asked"),
    [
        ("feed the hamster at 8pm", "fed the hamster at 7", "did anyone feed the hamster?"),
        (
            "water the ferns tomorrow at 9",
            "watered the ferns already",
            "has anyone watered the ferns?",
        ),
        (
            "pay the playgroup tomorrow at 9",
            "paid the playgroup this morning",
            "has the playgroup been paid?",
        ),
        (
            "change Leo's dressing at 10am",
            "Leo's dressing done",
            "has Leo's dressing been changed?",
        ),
        ("take the blood thinner at 9", "blood thinner taken", "has the blood thinner been taken?"),
    ],
)
@on_a_loop
async def test_what_was_done_counts_no_more_as_open(
    tmp_path: Path, task: str, told: str, asked: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        await house.say("sarah", f"remind John to {task}")
        [title] = await house.tasks()
        said = await house.say("sarah", told)
        if said.startswith("Shall I mark"):  # it may be due again tonight
            assert "8pm" in task
        else:
            assert not await house.tasks(), said
        answer = await house.say("john", asked)
        assert "Nobody has ticked off" not in answer, title


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("gave Mia her {thing} at 7, keep it between us", "has Mia had her {thing}?"),
        ("gave Mia her {thing} at 7. don't tell Sarah", "has Mia had her {thing}?"),
        ("gave Mia her {thing} at 7", "has Leo had his {thing}?"),
        ("maybe give Mia her {thing} at 7", "has Mia had her {thing}?"),
        ("Mia gets her {thing} at 7", "has Mia had her {thing}?"),
        ("if Mia had her {thing} she can sleep", "has Mia had her {thing}?"),
        ("I took my own {thing}", "has John taken his {thing}?"),
    ],
)
@on_a_loop
async def test_secrets_others_and_plans_are_no_report(
    tmp_path: Path, told: str, asked: str
) -> None:
    for thing in THINGS:
        async with talking(f"{tmp_path}/{thing}.sqlite", Planners(None)) as talk:
            house = House(talk)
            await house.say("john", told.format(thing=thing))
            answer = await house.say("sarah", asked.format(thing=thing))
            assert " at 08:00 John said: “" not in answer, answer


@pytest.mark.parametrize(
    "text",
    [
        "Mia got a dentist appointment for friday at 4",
        "Leo got his recital on friday at 5",
        "I've taken friday off",
        "we got judo at 5 tomorrow",
        "put swimming on saturday at 10 in the calendar",
        "haircut booked at 6 tomorrow",
        "put eye test for Leo in on friday at 7",
    ],
)
@on_a_loop
async def test_what_is_still_ahead_is_planned(tmp_path: Path, text: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        before = await house.planned()
        await house.say("john", text)
        assert len(await house.planned()) == len(before) + 1


@pytest.mark.parametrize(
    ("told", "asked", "begins"),
    [
        ("Mia had her insulin at 7 but forgot her tablet", "has Mia had her tablet?", "No, "),
        ("Mia had her insulin at 7 but forgot her tablet", "has Mia had her insulin?", "On "),
        (
            "Leo didn't want porridge but he had his antibiotic",
            "has Leo had his antibiotic?",
            "On ",
        ),
        ("Mia and Leo had toast for breakfast", "what have the kids eaten today?", "On "),
        ("gave the kids their vitamins", "has Leo had his vitamin?", "On "),
        ("walked the dog, fed the cat and watered the ferns", "has anyone fed the cat?", "On "),
        ("the guinea pig spat out his paste", "did the guinea pig get his paste?", "No, "),
        ("no, Leo hasn't had his inhaler", "has Leo had his inhaler?", "No, "),
        (
            "i gave Leo his penicillin at 7",
            "has Leo had his antibiotic today?",
            "I don't know: nobody has told me just that. ",
        ),
    ],
)
@on_a_loop
async def test_each_clause_answers_for_itself(
    tmp_path: Path, told: str, asked: str, begins: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        await house.say("john", told)
        answer = await house.say("sarah", asked)
        assert answer.startswith(begins)
        assert " at 08:00 John said: “" in answer


SAYS = (
    "Sarah says {told}",
    "the nanny told me {told}",
    "apparently {told}",
    "heard from school that {told}",
    "Mia's teacher said that {told}",
)
HEARD = ("Leo threw up", "Leo was sick at nursery", "Leo vomited in the car", "leo had diarrhoea")


@on_a_loop
async def test_hearsay_of_a_child_that_is_ill_answers_every_adult(tmp_path: Path) -> None:
    wrong = []
    for number, (says, told) in enumerate(combined(SAYS, HEARD)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, words = House(talk), says.format(told=told)
            await house.say("john", "Leo had the cough syrup at 7")
            said = await house.say("john", words)
            answer = await house.say("sarah", "has Leo been sick?")
            if "everyone" not in said or f"John said: “{words}”" not in answer:
                wrong.append((words, said, answer))
    assert not wrong


@pytest.mark.parametrize(
    "told",
    [
        "Leo had the cough syrup at 7",
        "Leo got his fever drops",
        "Sarah says Mia threw up",
        "Leo told me Sarah was sick",
    ],
)
@on_a_loop
async def test_what_is_no_hearsay_of_illness_answers_no_question_for_it(
    tmp_path: Path, told: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        await house.say("john", told)
        assert told not in await house.say("sarah", "has Leo been sick?")


# Whose names are on no list, who are called by what they are, and a pet of whom the household file knows nothing.
SUBJECTS = (
    "Yxtal",
    "oskarina",
    "gran",
    "the cat",
    "zorblax",
    "both kids",
    "Yxtal and Oskarina",
    "her brother",
    "everybody",
)
UNMARKED = (
    "did {who} have the puffer this morning",
    "did {who} take the puffer today",
    "{has} {who} had the puffer today",
    "{has} {who} had any of the puffer",
    "{has}n't {who} been given the puffer yet",
    "so did {who} get the puffer",
)
TOLD = (
    "did {child}'s puffer at 7",
    "did {child}s puffer just now",
    "{child} had the puffer at 7",
    "did you ring? gave {child} the puffer at 7",
    "had to give {child} the puffer at 7",
)


@pytest.mark.parametrize("who", SUBJECTS)
@on_a_loop
async def test_what_is_asked_without_a_mark_is_never_kept_or_quoted(
    tmp_path: Path, who: str
) -> None:
    household = _with_rare_names(tmp_path)
    is_several = " and " in who or who.startswith("both")
    async with talking(tmp_path, Planners(None), household=household) as talk:
        house = House(talk)
        await house.say("john", f"remind me to give {who} the puffer at 9pm")
        before = await house.planned()
        for form in UNMARKED:
            asked = form.format(who=who, has="have" if is_several else "has")
            said = await house.say("john", asked)
            assert "Saved" not in said, (asked, said)
        assert await house.planned() == before
        await reading_of(talk.system.household, talk.system.store, talk.clock).run_once()
        assert not await house.facts()
        for form in UNMARKED:
            asked = form.format(who=who, has="have" if is_several else "has")
            said = await house.say("sarah", asked)
            assert "said" not in said, (asked, said)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("child", ["Yxtal", "oskarina"])
@on_a_loop
async def test_what_is_told_without_its_subject_is_no_question(
    tmp_path: Path, told: str, child: str
) -> None:
    household = _with_rare_names(tmp_path)
    async with talking(tmp_path, Planners(None), household=household) as talk:
        house = House(talk)
        await house.say("john", told.format(child=child))
        answer = await house.say("sarah", f"has {child} had the puffer today")
        assert "John said: “" in answer, answer


def _with_rare_names(folder: Path) -> Path:
    text = HOUSEHOLD.read_text(encoding="utf-8")
    file = folder / "household.toml"
    text = text.replace('name = "Leo"', 'name = "Oskarina"').replace(
        'name = "Mia"', 'name = "Yxtal"'
    )
    file.write_text(text, encoding="utf-8")
    return file


# The hours of each talk stand in the order in which they are told; the last of them is 7.45.
HOURS = (("7.45", "6.30", "7.15"), ("6.30", "7.45", "7.15"), ("6.30", "7.15", "7.45"))
DOSES = (
    "{who} had {thing} at {hour}",
    "gave {who} 2.5 ml of {thing} {hour}",
    "{who}'s had {thing}, {hour}",
)
MEDICINES = (("calpol", "nurofen", "gaviscon"), ("movicol", "cough syrup", "piriton"))
DOSES_ASKED = (
    "when was {who}'s last dose",
    "when was {who}s last medicine?",
    "has {who} had painkillers?",
    "when did {who} last have any medicine",
    "what was {who}'s last dose?",
    "how long ago was {who}'s last dose",
)


@pytest.mark.parametrize(("hours", "things"), [*combined(HOURS, MEDICINES)])
@on_a_loop
async def test_the_last_dose_is_the_last_that_was_given(
    tmp_path: Path, hours: tuple[str, ...], things: tuple[str, ...]
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house, told = House(talk), dict[str, str]()
        await house.say("john", "Mia hasn't had her medicine yet")
        for asked in DOSES_ASKED:
            assert (await house.say("sarah", asked.format(who="Mia"))).startswith("No, ")
        for form, hour, thing in zip(DOSES, hours, things, strict=True):
            told[hour] = form.format(who="Mia", thing=thing, hour=hour)
            await house.say("john", told[hour])
        await house.say("john", "Mia had porridge just now")
        await house.say("john", "Leo had melatonin just now")
        await house.say("john", "Mia refused her vitamins")
        for asked in DOSES_ASKED:
            answer = await house.say("sarah", asked.format(who="Mia"))
            places = [answer.find(f"“{told[hour]}”") for hour in sorted(told, reverse=True)]
            assert -1 not in places, (asked, answer)
            assert places == sorted(places), (asked, answer)
            assert not any(each in answer for each in ("porridge", "Leo", "vitamins")), answer
        for hour, thing in zip(hours, things, strict=True):
            answer = await house.say("sarah", f"when did Mia last have {thing}?")
            assert answer.count("said: “") == 1, answer
            assert told[hour] in answer
        await house.say("john", "Mia spat out her tablet")
        for asked in DOSES_ASKED:
            answer = await house.say("sarah", asked.format(who="Mia"))
            assert not answer.startswith("No, ")
            assert all(each in answer for each in told.values()), answer


@on_a_loop
async def test_the_last_of_one_thing_is_the_last_that_was_given(tmp_path: Path) -> None:
    for number, hours in enumerate(HOURS):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house = House(talk)
            for hour in hours:
                await house.say("john", f"gave Leo his inhaler at {hour}")
            for asked in ("has Leo had his inhaler?", "when did Leo last have his inhaler"):
                assert "inhaler at 7.45" in await house.say("sarah", asked)
            await house.say("john", "Leo hasn't had his inhaler since")
            assert (await house.say("sarah", "has Leo had his inhaler?")).startswith("No, ")
            assert "7.45" in await house.say("sarah", "when did Leo last have his inhaler?")


DENIED = (
    "{who} hasnt had {their} {thing} yet",
    "{who} hasn't had {their} {thing} yet",
    "never gave {who} the {thing}",
    "i never gave {who} {their} {thing}",
    "didnt give {who} {their} {thing} this morning",
    "havent done {who}'s {thing}",
    "nobody gave {who} {their} {thing}",
    "not given {who} {their} {thing}",
    "still haven't given {who} {their} {thing}",
    "{who} never had {their} {thing}",
    "{who} wasnt given {their} {thing}",
)
RULES = (
    "{who} never takes {their} {thing} with milk",
    "{who} is not to have {thing}",
    "never give {who} {thing}",
)


@on_a_loop
async def test_what_was_not_done_ticks_nothing_off_and_is_told(tmp_path: Path) -> None:
    wrong = []
    cases = combined(DENIED, CHILDREN, ("puffer", "nasal spray", "antibiotic"))
    for number, (form, (who, their), thing) in enumerate(cases):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, words = House(talk), {"who": who, "their": their, "thing": thing}
            for task in (f"{who} again at 9pm", f"give {who} {their} {thing} at 9pm"):
                await house.say("john", f"remind me: {task}")
            before = await house.tasks(), await house.planned()
            said = await house.say("john", form.format(**words))
            answers = [await house.say("sarah", each.format(**words)) for each in ASKED[:2]]
            is_open = (await house.tasks(), await house.planned()) == before
            is_told = all(
                each.startswith("No, ") and form.format(**words) in each for each in answers
            )
            offers = any(each in said for each in ("Shall I", "as done", "won't", "calendar"))
            if not (is_open and is_told and "everyone" in said) or offers:
                wrong.append((form.format(**words), said, answers))
    assert not wrong


@pytest.mark.parametrize("rule", RULES)
@on_a_loop
async def test_a_rule_is_no_report_of_what_was_not_done(tmp_path: Path, rule: str) -> None:
    for who, their in CHILDREN:
        async with talking(f"{tmp_path}/{who}.sqlite", Planners(None)) as talk:
            house, words = House(talk), {"who": who, "their": their, "thing": "nasal spray"}
            await house.say("john", rule.format(**words))
            answer = await house.say("sarah", ASKED[0].format(**words))
            assert not answer.startswith("No, "), answer


@on_a_loop
async def test_a_name_alone_ticks_off_no_task(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        await house.say("john", "remind me: zinc for Mia at 9pm")
        before = await house.tasks()
        for told in ("Mia's fed", "Mia is done", "gave Mia her nasal spray", "washed Mia"):
            said = await house.say("john", told)
            assert "Shall I" not in said, said
        assert await house.tasks() == before
        await house.say("john", "zinc for Mia is done")
        assert await house.tasks() != before


FREED = (
    "no need to {fetch} {who} tomorrow, {their} aunt is coming",
    "no need to {fetch} {who} from nursery tomorrow, Jane has {them}",
    "you don't have to {fetch} {who} tomorrow, my sister's doing it",
    "Jane is coming tomorrow so you don't need to {fetch} {who}",
)
WHO_FETCHES = (
    "who's fetching {who} tomorrow",
    "who's picking up {who} tomorrow?",
    "who is collecting {who} tomorrow",
    "who picks {who} up tomorrow?",
)
NOT_THAT = (
    "who's fetching {other} tomorrow?",
    "who's fetching {who} on Friday?",
    "who's feeding the cat tomorrow?",
)


@on_a_loop
async def test_who_need_not_fetch_a_child_is_told_by_whoever_knows(tmp_path: Path) -> None:
    wrong = []
    cases = combined(
        FREED,
        ("fetch", "pick up", "collect", "get"),
        [("Mia", "her", "her", "Leo"), ("Leo", "his", "him", "Mia")],
    )
    for number, (form, fetch, (who, their, them, other)) in enumerate(cases):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house = House(talk)
            told = form.format(fetch=fetch, who=who, their=their, them=them)
            said = await house.say("sarah", told)
            answers = [await house.say("john", each.format(who=who)) for each in WHO_FETCHES]
            others = [
                await house.say("john", each.format(who=who, other=other)) for each in NOT_THAT
            ]
            is_told = all(f"Sarah said: “{told}”" in each for each in answers)
            if not (is_told and said.startswith("Saved for everyone")) or told in " ".join(others):
                wrong.append((told, said, answers, others))
    assert not wrong


# What somebody must not get, told to those who mind them, by all the ways in which that is put.
BARRED = (
    "don't give {who} {thing}",
    "pls dont give {who} any {thing}, it upsets {them}",
    "do not feed {who} {thing}, {them} is poorly after it",
    "never give {who} {thing}",
    "nobody give {who} {thing} please",
    "don't ever serve {thing} to {who}",
    "no {thing} for {who}",
    "no more {thing} for {who}, doctor's orders",
    "no {thing} near {who} please",
    "don't let {who} eat {thing}",
    "never let {who} taste {thing}",
    "keep {thing} away from {who}, {them} swells up",
    "{who} mustnt have {thing}",
    "{who} isnt to have any {thing}",
    "{who} is not allowed {thing}",
)
EATEN = ("marzipan", "mango", "celery")
MAY_THEY = ("can {who} have {thing}?", "may {who} eat {thing}?", "can {who} have some {thing} now?")


@pytest.mark.parametrize(("who", "them"), [("Mia", "she"), ("Leo", "he")])
@on_a_loop
async def test_what_somebody_must_not_get_is_a_no_to_whoever_asks(
    tmp_path: Path, who: str, them: str
) -> None:
    wrong = []
    for number, (form, thing) in enumerate(combined(BARRED, EATEN)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house = House(talk)
            before = await house.planned()
            told = form.format(who=who, them=them, thing=thing)
            said = await house.say("john", told)
            answers = [
                await house.say("sarah", each.format(who=who, thing=thing)) for each in MAY_THEY
            ]
            is_told = all(told.rstrip(" .") in each and "John said" in each for each in answers)
            if (
                not is_told
                or not said.startswith("Saved for everyone")
                or before != await house.planned()
            ):
                wrong.append((told, said, answers))
    assert not wrong


@pytest.mark.parametrize(
    "told",
    [
        "keep the canoe away from Leo",
        "don't let Leo near the loft",
        "don't give Leo the canoe yet",
        "don't let Leo see the canoe",
        "keep the canoe from Leo",
        "don't let Leo find out about the canoe",
        "no canoe for Leo's birthday, that's what he thinks, don't tell him",
    ],
)
@on_a_loop
async def test_what_may_be_kept_from_somebody_is_no_diet(tmp_path: Path, told: str) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        said = await house.say("john", told)
        assert not said.startswith("Saved for everyone at home. "), said
        assert told not in await house.say("leo", "can Leo have the canoe?")


@on_a_loop
async def test_what_is_in_the_calendar_is_called_off_all_the_same(tmp_path: Path) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        assert "cancel" in await House(talk).say("john", "no soccer for Leo tomorrow")


# An allergy that nobody is sure of, and how somebody fared after something.
DOUBTED = (
    "I think {who} might be allergic to {thing}",
    "i wonder whether that is an allergy: {who} got a rash after the {thing}",
    "{who} could well have a {thing} allergy",
    "the doctor suspects {who} has a {thing} allergy",
    "school says {who} reacted badly to {thing}",
    "{who}'s lips went puffy after {thing}",
    "{who} came out in spots after the {thing}",
    "perhaps {thing} makes {who} itch",
    "not sure but {who} seems intolerant to {thing}",
    "I suspect {who} reacts to {thing}",
    "gran reckons {who} is allergic to {thing}",
)
WHICH = (
    "is {who} allergic to anything?",
    "does {who} have any allergies?",
    "what must {who} avoid?",
    "is {who} allergic to {thing}?",
)


@pytest.mark.parametrize("who", ["Mia", "Leo"])
@on_a_loop
async def test_an_allergy_in_doubt_is_quoted_and_never_denied(tmp_path: Path, who: str) -> None:
    wrong = []
    for number, (form, thing) in enumerate(combined(DOUBTED, EATEN)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, told = House(talk), form.format(who=who, thing=thing)
            said = await house.say("john", told)
            answers = [
                await house.say("sarah", each.format(who=who, thing=thing)) for each in WHICH
            ]
            if not said.startswith("Saved for everyone") or not all(
                f"John said: “{told}”" in each for each in answers
            ):
                wrong.append((told, said, answers))
    assert not wrong


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Leo isn't allergic to mango", "is Leo allergic to anything?"),
        ("Leo reacted well when he heard the news", "is Leo allergic to anything?"),
        ("is Leo allergic to mango?", "is Leo allergic to anything?"),
        ("I think Leo might be allergic to mango", "is Mia allergic to anything?"),
        ("just for me: Leo might be allergic to mango", "is Leo allergic to anything?"),
        ("could Leo be allergic to mango?", "what is Leo allergic to?"),
    ],
)
@on_a_loop
async def test_what_tells_of_no_allergy_is_quoted_as_none(
    tmp_path: Path, told: str, asked: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        await house.say("john", told)
        assert "John said" not in await house.say("sarah", asked)


# What children and guests tell of themselves, with and without apostrophes.
OWN_LIMITS = (
    "i cant eat {thing}",
    "I don't eat {thing}",
    "i dont eat {thing}",
    "{thing} makes me ill",
    "im allergic to {thing}, the nurse said",
    "i mustnt have {thing} with my tablets",
    "i'm not allowed {thing}",
)


@pytest.mark.parametrize("by", ["leo", "mia"])
@on_a_loop
async def test_what_a_child_cannot_eat_goes_to_an_adult_with_its_name(
    tmp_path: Path, by: str
) -> None:
    wrong = []
    for number, (form, thing) in enumerate(combined(OWN_LIMITS, EATEN)):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, told = House(talk), form.format(thing=thing)
            said = await house.say(by, told)
            reading = reading_of(talk.system.household, talk.system.store, talk.clock)
            while await reading.run_once():
                pass
            answer = await house.say("sarah", f"can {by.title()} have {thing}?")
            if "once an adult approves it" not in said or f"{by.title()}: “" not in answer:
                wrong.append((told, said, answer))
    assert not wrong


# What was not done, and was after all, told with the next message.
NOT_YET = (
    "I haven't given {who} {their} {thing} yet",
    "{who} hasn't had {their} {thing}, forgot",
    "{who} refused {their} {thing}",
    "didn't give {who} the {thing} this morning",
)
AFTER_ALL = (
    "oh wait, I did give it, about half 7",
    "ok given now",
    "done now",
    "just gave it",
    "{they} has now",
    "actually {they} did, at 7",
    "{they} took it in the end",
    "got it down {them} finally",
    "hang on, I gave it at ten past 7",
)
OTHER_DEEDS = (
    "I gave {other} some toast",
    "had a beer",
    "{other} had a bath",
    "not yet",
    "he'd rather not",
)


@on_a_loop
async def test_what_was_done_after_all_is_denied_no_more(tmp_path: Path) -> None:
    wrong = []
    afters = [*((each, True) for each in AFTER_ALL), *((each, False) for each in OTHER_DEEDS)]
    cases = combined(afters, NOT_YET, ("zinc drops", "insulin", "piriton"))
    for number, ((after, is_done), denied, thing) in enumerate(cases):
        words = {
            "who": "Mia",
            "their": "her",
            "they": "she",
            "them": "her",
            "thing": thing,
            "other": "Leo",
        }
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house = House(talk)
            await house.say("john", denied.format(**words))
            await house.say("john", after.format(**words))
            answer = await house.say("sarah", f"has Mia had her {thing}?")
            is_told = after.format(**words) in answer if is_done else answer.startswith("No, ")
            if not is_told or answer.startswith("No, ") is is_done:
                wrong.append((denied, after, answer))
    assert not wrong


# A dose, told with a wish to be reminded of the next one; the clock says eight in the morning.
DOSE_THEN = (
    ("gave {who} {thing} at 7, remind me at 11 for the next one", "give {who} {thing}", 11),
    ("{who} had {thing} at 6.45, remind {whom} to give the next at 1", "give {who} {thing}", 13),
    (
        "{who} has a temperature of 38.4, had {thing} at 7, next dose 11 remind me",
        "give {who} {thing}",
        11,
    ),
    ("gave {who} {their} {thing} just now. remind me again at 9 tonight", "give {who} {thing}", 21),
    (
        "{who}'s had 5 ml of {thing} at 6 and 5 ml at 7.30, remind me not before 12",
        "give {who}",
        12,
    ),
    ("just gave {who} {their} {thing}, next one in 4 hours, remind me", "give {who} {thing}", 12),
    ("i gave {who} {thing} at 7.10. can you remind me at 11.50", "give {who} {thing}", 11),
    (
        "{who} had {thing} at 7 so {they} is due another at 1pm, please remind {whom}",
        "give {who} {thing}",
        13,
    ),
    (
        "gave {who} {thing} at half six, set a reminder for 12 for the next lot",
        "give {who} {thing}",
        12,
    ),
    (
        "remind me at 11.30 to give {who} more {thing}, {they} had some at 7",
        "give {who} more {thing}",
        11,
    ),
    ("remind me to give {who} {thing} at 12, last one was at 6", "give {who} {thing}", 12),
    ("gave {who} {thing}, remind me in 6 hours", "give {who} {thing}", 14),
)
NO_TIME = (
    "gave {who} {thing} at 7, remind me when the next one is due",
    "gave {who} {thing} at 6, next one in 4 hours, remind me",
    "gave {who} {thing} at 6, remind me at 10 for the next one or at 11",
)


@on_a_loop
async def test_a_dose_is_kept_and_the_next_is_reminded_of_at_its_own_time(tmp_path: Path) -> None:
    wrong = []
    forms = [*DOSE_THEN, *((each, "", None) for each in NO_TIME)]
    cases = combined(forms, CHILDREN, ("calpol", "zinc drops", "antibiotic", "gaviscon"))
    for number, ((form, title, hour), child, thing) in enumerate(cases):
        who, their = child
        words = {
            "who": who,
            "their": their,
            "thing": thing,
            "they": "she" if who == "Mia" else "he",
            "whom": "Sarah",
        }
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, told = House(talk), form.format(**words)
            said = await house.say("john", told)
            answer = await house.say("sarah", f"has {who} had {their} {thing}?")
            viewers = [Viewer.of(talk.system.household.id, each) for each in ("john", "sarah")]
            found = {
                (str(each["title"]), str(each["deadline"])[11:13])
                for viewer in viewers
                for each in await talk.system.store.read(
                    lambda conn, viewer=viewer: open_tasks(conn, viewer)
                )
            }
            is_reminded = (
                len(found) == 1
                and all(
                    one.startswith(title.format(**words)) and at == f"{hour:02}"
                    for one, at in found
                )
                if hour
                else not found and "When is the next dose due?" in said
            )
            if not is_reminded or "Saved for everyone" not in said or f"“{told}”" not in answer:
                wrong.append((told, said, answer, found))
    assert not wrong


@pytest.mark.parametrize(
    ("told", "title"),
    [
        ("remind me to give Mia calpol at 11", "give Mia calpol"),
        ("Leo had a party yesterday, remind me to wash his kit at 11", "wash his kit"),
        ("remind me at 11 that Leo had a party", "Leo had a party"),
        ("Leo had judo at 7, remind me to pay the club at 11", "pay the club"),
    ],
)
@on_a_loop
async def test_a_reminder_of_something_else_is_no_next_dose(
    tmp_path: Path, told: str, title: str
) -> None:
    async with talking(tmp_path, Planners(None)) as talk:
        house = House(talk)
        said = await house.say("john", told)
        assert "next dose" not in said
        assert all("give Leo" not in each for each in await house.tasks())
        assert title in " ".join(await house.tasks()) or not await house.tasks(), said


# Whether, or when, a medicine may be given: what forbids it, and what was given, by whatever name.
MAY_GIVE = (
    "can I give {who} {thing} now?",
    "can {who} have {thing}?",
    "when can {who} have more {thing}?",
    "is it too soon to give {who} {thing}?",
    "how long until {who} can have {thing} again?",
)
SAME = (
    ("nurofen", "ibuprofen"),
    ("ibuprofen", "advil"),
    ("calpol", "paracetamol"),
    ("tylenol", "calpol"),
)
OF_MEDICINE = (
    ("gave {who} {told} at 7", False),
    ("no more {told} for {who} until 12", False),
    ("{who} mustn't have {told}", True),
    ("don't give {who} {told}, doctor's orders", True),
)


@on_a_loop
async def test_a_medicine_asked_for_is_answered_with_doses_and_limits(tmp_path: Path) -> None:
    wrong = []
    cases = combined(SAME, OF_MEDICINE, CHILDREN)
    for number, ((told, thing), (form, is_no), (who, _)) in enumerate(cases):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, words = House(talk), form.format(who=who, told=told)
            other = "Leo" if who == "Mia" else "Mia"
            await house.say("john", words)
            answers = [
                await house.say("sarah", each.format(who=who, thing=thing)) for each in MAY_GIVE
            ]
            others = [
                await house.say("sarah", each.format(who=other, thing=thing)) for each in MAY_GIVE
            ]
            lead = "No, as far as I was told." if is_no else "That I can't say. What I was told:"
            is_told = all(each.startswith(lead) and words in each for each in answers)
            if not is_told or any(words in each for each in others):
                wrong.append((words, answers, others))
    assert not wrong


BEFELL = (
    "{who} fell off the trampoline and cut {their} knee",
    "{who} threw up twice at nursery",
    "{who}'s off school with a tummy bug",
    "{who} has a fever of 38.7",
)
HOW_ARE_THEY = (
    "how is {who}?",
    "how's {who} doing?",
    "how is {who} today?",
    "is {who} ok?",
    "did anything happen to {who}?",
    "what happened to {who}?",
)


@pytest.mark.parametrize("told", BEFELL)
@on_a_loop
async def test_how_somebody_is_is_told_from_what_was_said_of_them(
    tmp_path: Path, told: str
) -> None:
    wrong = []
    for number, (who, their) in enumerate(CHILDREN):
        async with talking(f"{tmp_path}/{number}.sqlite", Planners(None)) as talk:
            house, words = House(talk), told.format(who=who, their=their)
            other = "Leo" if who == "Mia" else "Mia"
            await house.say("john", words)
            for each in HOW_ARE_THEY:
                answer = await house.say("sarah", each.format(who=who))
                of_other = await house.say("sarah", each.format(who=other))
                if f"John said: “{words}”" not in answer or words in of_other:
                    wrong.append((words, each, answer, of_other))
            if "fell" not in words and words not in await house.say("sarah", "is anyone ill?"):
                wrong.append((words, "is anyone ill?"))
            talk.later(days=3)
            if words in await house.say("sarah", f"how is {who}?"):
                wrong.append((words, "three days later"))
    assert not wrong
