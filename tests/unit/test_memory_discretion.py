"""What seems private without a word that the rules know, and what is read without the embedder."""

from collections.abc import Iterator
from itertools import product

import pytest

from kinkeeper.household.viewers import HOUSEHOLD_SCOPE, person_scope
from kinkeeper.memory.statements import discretion
from kinkeeper.memory.statements.discretion import (
    STAGE,
    holds_sensitive,
    seems_own_title,
    seems_private,
)
from kinkeeper.memory.statements.secrecy import audience_of
from kinkeeper.observability.failures import POSTPONED
from planning import miller

AFFAIRS = [
    "Sat in the clinic car park for an hour before I dared go in",
    "The consultant wants me back on Monday, and he did not smile",
    "Cried all the way home on the tram again",
    "Still haven't told my boss that I sent the application off",
]
HOUSE = [
    "The plumber comes on Tuesday at nine to look at the boiler",
    "Our cat gets half a tin of fish in the morning",
    "The spare key hangs behind the coats in the hall",
    "The bins go out on Wednesday evening",
]
IDENTITY = [
    "I moved to Leeds",
    "I've moved to Bristol",
    "I live at 4 Elm Road now",
    "I was born in Delft",
    "I work at the bakery now",
    "My new phone number is 0771 4411",
    "I take a size 9 shoe",
]
"""Who the teller is and where to find them: those at home know it, and what was saved before for everybody changes with it."""


FRAMES = ("{}", "remind me to {}", "I need to {}", "I have to {} tomorrow at 5pm", "my {}")
ANOTHERS = (
    "visit Tom in rehab",
    "drop Nan at rehab",
    "drop nan at rehab on friday at 3",
    "visit tom in rehab",
    "pick up ben's prescription",
    "collect mum's biopsy results",
    "take Dad to chemo on friday",
    "drive Mum to the scan",
    "get Leo to physio by 4",
    "pick up antibiotics for Otto",
    "fetch the inhaler for Leo",
    "run Kezia to therapy at 5",
    "book Leo in for his jabs",
    "drop the dog off for surgery",
    "visit Nan at the hospice",
    "take the kids to counselling",
)
ONES_OWN = (
    "AA meeting with Tom",
    "therapy with Ben",
    "see Dr Shah about HRT",
    "tell Tom about my biopsy",
    "STI test with Mia",
    "my therapist Anna at 4",
    "pick up my prescription from Tom",
    "get Tom to pick up the antidepressants",
    "ask Ben to collect my biopsy results",
    "buy a pregnancy test for Mia",
    "date with Saffron",
    "marriage counselling with Ben",
    "vasectomy consult",
    "meet Tom at the AA meeting",
    "therapy at Tom's clinic",
    "colonoscopy on friday, Tom drives me",
    "buy an engagement ring for Anna",
    "condoms from Boots",
    "drop Nan off, then my biopsy",
)


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    discretion._chances.cache_clear()
    yield
    discretion._chances.cache_clear()


def test_own_affairs_are_the_tellers_and_the_house_is_everybodys() -> None:
    teller = person_scope("john")
    assert [audience_of(each, miller(), "john") for each in AFFAIRS] == [teller] * len(AFFAIRS)
    assert [audience_of(each, miller(), "john") for each in HOUSE] == [HOUSEHOLD_SCOPE] * len(HOUSE)


def test_who_somebody_is_and_where_they_live_is_not_kept_from_home() -> None:
    scopes = [audience_of(each, miller(), "john") for each in IDENTITY]
    assert scopes == [HOUSEHOLD_SCOPE] * len(IDENTITY)


def test_where_somebody_goes_in_secret_is_kept() -> None:
    assert audience_of("I moved to Leeds, tell nobody", miller(), "john") == person_scope("john")


def test_titles_and_groups_are_read_by_rules_alone() -> None:
    assert audience_of(AFFAIRS[0], miller(), "john", is_title=True) == HOUSEHOLD_SCOPE
    assert audience_of(AFFAIRS[0], miller(), "john", is_group=True) == HOUSEHOLD_SCOPE


def test_what_is_told_of_somebody_named_is_not_the_tellers() -> None:
    assert not seems_private("Leo faints when he sees blood")


def test_a_wish_that_names_someone_decides_alone() -> None:
    scope = audience_of(f"{AFFAIRS[2]}, don't tell Leo", miller(), "john")
    assert scope == audience_of("The kite is here, don't tell Leo", miller(), "john")


def test_without_the_embedder_words_are_read_and_it_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(discretion, "weights_path", lambda: None)
    before = POSTPONED.get(STAGE, 0)
    assert seems_private("I cried at the clinic and my doctor said I am depressed")
    assert POSTPONED[STAGE] == before + 1


def test_a_private_sentence_in_a_long_message_keeps_it_private() -> None:
    text = "The bins go out on Wednesday evening. " * 12 + AFFAIRS[3]
    assert seems_private(text)


def test_blank_text_is_nobodys_affair() -> None:
    assert not seems_private(" \n ")


def test_somebodys_health_is_theirs_where_they_are_named_and_ones_own_where_they_are_not() -> None:
    said = [frame.format(each) for frame, each in product(FRAMES, ANOTHERS)]
    assert [each for each in said if holds_sensitive(each)] == []
    said = [frame.format(each) for frame, each in product(("my {}", "I have {}"), ONES_OWN)]
    assert [each for each in said if not holds_sensitive(each)] == []


OUTSIDERS = (
    "my boss",
    "my friend Grainne",
    "the babysitter",
    "our neighbour",
    "our lodger",
    "my colleague",
    "my best friend",
)
HEALTH = ("has cancer", "is pregnant", "takes insulin", "is on antidepressants", "has epilepsy")
HOW_TOLD = (
    "{who} {has}",
    "{who} rang, she {has}",
    "{who}'s name is Frodwin and he {has}",
    "{who}: apparently she {has}",
)


def test_the_health_of_others_who_are_no_family_stays_with_who_tells_it() -> None:
    household = miller()
    told = [
        form.format(who=who, has=has) for form, who, has in product(HOW_TOLD, OUTSIDERS, HEALTH)
    ]
    assert [each for each in told if audience_of(each, household, "john") == HOUSEHOLD_SCOPE] == []


@pytest.mark.parametrize(
    "text",
    [
        "Mia has a cold",
        "my mum has high blood pressure",
        "the cat takes half a tablet",
        "Mia's teacher has her inhaler",
        "the babysitter gave him his medicine",
        "my friend is allergic to nuts",
        "our neighbour has a dog",
        "the doctor says her blood pressure is fine",
        "the teacher says the kids need their inhalers",
    ],
)
def test_what_the_household_has_to_know_of_health_is_for_all(text: str) -> None:
    assert audience_of(text, miller(), "john") == HOUSEHOLD_SCOPE


WHO = ("a girl in my class", "the big boys", "Robin", "someone at swimming", "my cousin")
WHAT_THEY_DO = (
    "push me off the swing",
    "laughs at me",
    "call me names",
    "kicks me under the table",
    "kissed me",
)
OWN_DEEDS = (
    "i like Robin",
    "i fancy someone called Juno",
    "i smashed the green lamp",
    "i took a coin from the jar",
    "i want to live with nan",
    "i cheated in the quiz",
    "i tried a cigarette",
    "i hide sweets in my bed",
)
HOW_DEEDS_ARE_TOLD = ("{}", "well {} and nobody saw it", "i think {}", "{} every day")
CHILDRENS_NEWS = (
    "the wifi is down again",
    "nana is scared of geese",
    "I'm allergic to kiwi",
    "I can't eat prawns",
    "mom said we can get a hamster",
    "my teacher is Mrs Okoro",
    "my class goes to the zoo on the 12th",
    "I have no school on friday",
    "we need a costume for the play",
    "dad is out of shaving foam",
    "my bike has a flat tyre",
    "the coach moved practice to tuesdays",
    "Mia has a fever",
    "the bus leaves at 7:40 now",
)


def test_what_a_child_tells_of_itself_is_its_own_and_its_news_of_home_is_for_all() -> None:
    told = [f"{who} {does}" for who, does in product(WHO, WHAT_THEY_DO)]
    told += [form.format(each) for form, each in product(HOW_DEEDS_ARE_TOLD, OWN_DEEDS)]
    own = person_scope("leo")
    assert [each for each in told if audience_of(each, miller(), "leo") != own] == []
    news = [each for each in CHILDRENS_NEWS if audience_of(each, miller(), "leo") == own]
    assert news == []
    for_all = ("i smashed the green lamp", "i hide the sweets in the loft", "i like tea")
    assert [audience_of(each, miller(), "john") for each in for_all] == [HOUSEHOLD_SCOPE] * 3


RESULTS = ("smear", "mammogram", "scan", "biopsy", "blood test", "pregnancy test")
STATES = (
    "overdraft",
    "credit card",
    "depression",
    "migraine",
    "blood pressure",
    "cholesterol",
    "marriage",
    "period",
)
PARTNERS = ("wife", "husband", "boyfriend", "girlfriend")
BARE_AFFAIRS = (
    *product(RESULTS, ("came back clear", "was abnormal", "was positive")),
    *product(STATES, ("is a mess", "is worse again", "is out of control", "is 8 days late")),
    *product(PARTNERS, ("moved out", "cheated", "slept with someone")),
    *product(("lost 90", "won 400", "blew 60"), ("at roulette", "on poker", "in the casino")),
    *product(("stopped", "started"), ("the pill", "antidepressants", "smoking again")),
)
THINGS = (
    "dishwasher",
    "parking",
    "boiler",
    "freezer",
    "printer",
    "bike shed",
    "nursery",
    "heating",
    "rubbish",
)
BARE_NEWS = (
    *product(THINGS, ("is broken", "moved to the back", "serviced on friday", "is off on tuesday", "got fixed")),
    *product(("wifi password", "alarm code", "gate pin", "shed key"), ("is 4471", "changed to plum", "is under the mat")),
    *product(("inhaler", "insulin", "first aid kit"), ("is in the fridge door", "is on the top shelf")),
    *product(PARTNERS, ("is at the dentist", "works late on fridays", "is away till sunday", "is vegan")),
    *product(("kids", "baby", "dog", "grandma"), ("has a temperature", "is on antibiotics", "threw up")),
    *product(("fed", "washed", "paid", "found", "booked"), ("the cat", "the plumber", "the holiday flat")),
)  # fmt: skip


def test_what_is_told_without_a_subject_is_its_tellers_where_it_would_be_with_my() -> None:
    own = person_scope("john")
    leaked = [
        text for text in map(" ".join, BARE_AFFAIRS) if audience_of(text, miller(), "john") != own
    ]
    assert len(leaked) <= len(BARE_AFFAIRS) // 20, leaked
    kept = [text for text in map(" ".join, BARE_NEWS) if audience_of(text, miller(), "john") == own]
    assert kept == []


OWN_TITLES = (
    "fasting bloods",
    "nerve test",
    "liver clinic",
    "mole check",
    "pain clinic",
    "lumbar puncture",
    "psych appointment",
)
PLAIN_TITLES = (
    "haircut",
    "dentist",
    "choir",
    "driving lesson",
    "team meeting",
    "boiler check",
    "mock exam",
    "car service",
)


def test_a_visit_that_names_nobody_is_private_by_its_meaning() -> None:
    assert [each for each in OWN_TITLES if not seems_own_title(each)] == []
    assert [each for each in PLAIN_TITLES if seems_own_title(each)] == []
    assert [each for each in ANOTHERS if seems_own_title(each)] == []


CHILDREN = ("Mia", "Leo", "my daughter", "my son", "the baby", "the kids", "the dog")
OF_A_CHILD = (
    "no more than 3 doses of calpol a day for {who}",
    "max dose for {who}: 250 mg",
    "doctor says max 200mg for {who}",
    "250mg every 6 hours at most for {who}",
    "{who} can have 250mg every 6 hours",
    "{who} can have 5 ml of syrup at night",
    "antibiotics for {who} three times a day till friday",
    "the highest ibuprofen dose for {who} is 200 mg",
    "{who} needs a blood test and an inhaler",
)
NOT_OF_A_CHILD = (
    "no more than 3 doses of codeine a day for me",
    "my max dose is 250 mg and Mia has school",
    "doctor says max 200mg for me",
    "I take 20mg, Leo takes none",
    "I feel sick, Mia is at school",
    "Leo gave me my antidepressants",
    "I fed the dog and my biopsy came back abnormal",
)


def test_a_childs_health_is_for_all_who_care_for_it_and_ones_own_is_not() -> None:
    told = [form.format(who=who) for form, who in product(OF_A_CHILD, CHILDREN)]
    for teller in ("john", "sarah"):
        own = person_scope(teller)
        assert [each for each in told if audience_of(each, miller(), teller) == own] == []
        assert {audience_of(each, miller(), teller) for each in NOT_OF_A_CHILD} == {own}
    wished = {audience_of(f"{each}. Tell nobody", miller(), "john") for each in told}
    assert wished == {person_scope("john")}
