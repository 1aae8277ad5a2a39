"""From whom messages ask to keep what they tell, by generated and by written lists."""

import json
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from growth import cpu_seconds, grows_too_fast
from kinkeeper.household.file import load_household
from kinkeeper.household.viewers import (
    HOUSEHOLD_SCOPE,
    Viewer,
    is_hidden_from,
    narrowest,
    person_scope,
    surprise_scope,
)
from kinkeeper.language.dictionary import word_ranks
from kinkeeper.memory.statements import secrecy
from kinkeeper.memory.statements.secrecy import audience_of, points_back, secrecy_of
from kinkeeper.memory.statements.sentences import LONGEST_MESSAGE
from secrecy_messages import LISTS, Secret, secrets

HOUSEHOLD = load_household(LISTS / "household.toml")
PEOPLE = HOUSEHOLD.members_by_word
NAMES = {
    "niamh": ("Niamh", "she"),
    "chidi": ("Chidi", "he"),
    "ben": ("Ben", "he"),
    "ife": ("Ife", "she"),
}


def shown_to(secret: Secret) -> list[str]:
    """Return whom a secret is shown though it is kept from them."""
    first, *later = secret.messages
    text = "\n".join([first, *(each for each in later if points_back(each, PEOPLE))])
    scope = audience_of(text, HOUSEHOLD, secret.teller)
    others = [each for each in NAMES if each != secret.teller]
    kept = others if secret.kept_from is None else [secret.kept_from]
    return [each for each in kept if not is_hidden_from(scope, each)]


@pytest.mark.parametrize("name", ["dev", "heldout"])
def test_generated_secrets_are_kept(name: str) -> None:
    told = secrets(NAMES, ("niamh", "chidi"), name=name, count=600, seed=11)
    assert [each.how for each in told if shown_to(each)] == []


@pytest.mark.parametrize(
    "wish",
    [
        "Chidi hasn't a clue about it",
        "Chidi hasn't got the faintest idea",
        "please respect my privacy on this",
        "I would appreciate your discretion",
    ],
)
def test_a_wish_in_polite_or_roundabout_words_is_heard(wish: str) -> None:
    scope = audience_of(f"The kiln is paid for. {wish[0].upper()}{wish[1:]}.", HOUSEHOLD, "niamh")
    assert is_hidden_from(scope, "chidi")


def test_a_childs_surprise_is_open_to_the_others() -> None:
    told = [
        each
        for each in secrets(NAMES, ("niamh",), name="dev", count=400, seed=12)
        if each.kept_from in {"ben", "ife"} and not each.word.startswith(("Pomfret", "Fennimore"))
    ]
    open_to = [
        audience_of("\n".join(each.messages), HOUSEHOLD, "niamh")
        == surprise_scope([str(each.kept_from)])
        for each in told
    ]
    assert sum(open_to) >= 0.7 * len(open_to)


def test_what_is_told_without_a_wish_goes_to_whom_it_concerns() -> None:
    path: Path = LISTS / "defaults_heldout.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = []
    for line in lines:
        scope = audience_of(line["text"], HOUSEHOLD, "niamh")
        wanted = line["for"]
        is_right = {
            "home": scope == HOUSEHOLD_SCOPE,
            "teller": scope == person_scope("niamh"),
            "unsure": True,
        }.get(wanted, is_hidden_from(scope, wanted.partition(":")[2]))
        if not is_right:
            wrong.append(line["text"])
    assert len(wrong) <= 2, wrong


NO_WISHES = (
    "The quiet room is booked for Tuesday at 9",
    "The secret santa party is on Friday",
    "Remind me to tell Ben about the private tour",
    "Ben doesn't know his times tables",
    "I don't know when Ife comes home",
    "Nobody knows the wifi password",
    "Tell Ben not to forget his bag",
    "Keep the door shut",
    "The private school starts on Monday",
    "Don't let the dog out before Ife comes home",
    "Don't tell Ben to come early",
    "I never want a surprise party",
    "It came as a surprise that Ife won",
    "Don't forget to tell the school about the nuts",
    "Ben can't read without his glasses",
    "Nobody told me about the school trip",
    "Grandma stays with us over Easter",
    "Ife is coming to stay from Friday",
    "I can't tell lies from the truth",
    "Don't let me know what the others think",
)


@pytest.mark.parametrize("text", NO_WISHES)
def test_what_only_sounds_secret_is_no_wish(text: str) -> None:
    assert secrecy_of(text, HOUSEHOLD, "niamh") is None


@pytest.mark.parametrize(
    "wish",
    [
        "no need for anyone else to know",
        "please leave this out of the family digest",
        "don't put that anywhere the family can read it",
        "not for the family group",
        "keep it off the wall screen",
        "no one's to hear about this",
        "this one's private",
        "it's nobody's business",
        "please don't share this",
        "you didn't hear this from me",
        "let's keep a lid on it",
        "dont tell any1",
        "dont tell rasheed at number 9",
        "I don't want the others worrying about it",
    ],
)
def test_a_wish_to_the_assistant_is_heard_in_whatever_order(wish: str) -> None:
    for text in (f"The kittens come on Friday. {wish}", f"{wish}. The kittens come on Friday"):
        found = secrecy_of(text, HOUSEHOLD, "niamh")
        assert found is not None
        assert (found.scope, "kittens" in found.rest) == (person_scope("niamh"), True), text


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Don't tell Ife we got the kittens", "except:,ife,"),
        ("Keep that between us, the kittens come on Friday", "except:,ben,ife,"),
        ("The kittens come on Friday", None),
    ],
)
def test_a_group_knows_what_was_said_in_it(text: str, scope: str | None) -> None:
    wish = secrecy_of(text, HOUSEHOLD, "niamh", is_group=True)
    assert (wish.scope if wish else None) == scope


@pytest.mark.parametrize(
    ("text", "is_meant_back"),
    [
        ("I'm pregnant, nobody should know yet", False),
        ("I quit! Don't tell Ben.", False),
        ("We’re moving, don’t tell the kids", False),
        ("I got promoted, keep that quiet", False),
        ("Oh, and I booked the surgery for Friday, don't tell Chidi", False),
        ("Also we have finally hired a lawyer, Chidi mustn't know", False),
        ("Please don't tell Chidi I booked a flight to Rome", False),
        ("Keep it to yourself: we lost the baby", False),
        ("Oh and don't tell Chidi I booked it", True),
        ("I mean it, not a word to Ben", True),
        ("I beg you, don't tell Ben", True),
        ("I'm scared, don't tell Ben", True),
        ("I'd rather nobody knew", True),
        ("I haven't told anyone yet", True),
        ("We are not ready to tell Ben", True),
        ("And keep that quiet", True),
        ("Oh and Ben mustn't know about the bike", True),
    ],
)
def test_a_wish_with_news_of_its_own_means_that_news(text: str, *, is_meant_back: bool) -> None:
    assert points_back(text, PEOPLE) is is_meant_back


NEWS = (
    "Grandma fell",
    "Mum's pregnant",
    "He quit",
    "Aunt Rose is pregnant",
    "They broke up",
    "Mia and Tom split up",
    "The boiler broke",
    "My sister moved out",
    "Ben's teacher resigned",
    "Dad lost his job",
    "The dog died",
)
WISHES = (
    "don't tell anyone",
    "nobody should know yet",
    "keep it quiet",
    "don't tell Ben",
    "it's a secret",
    "she asked us to keep it quiet",
)


@pytest.mark.parametrize("news", NEWS)
@pytest.mark.parametrize("wish", WISHES)
def test_news_of_others_with_a_wish_is_what_the_wish_means(news: str, wish: str) -> None:
    capital = wish[0].upper() + wish[1:]
    for text in (
        f"{news}, {wish}",
        f"{news}. {capital}.",
        f"{capital}: {news}",
        f"{capital}, {news}",
    ):
        assert not points_back(text, PEOPLE), text


WHAT_CAME_ABOUT = (
    "hired a lawyer",
    "got engaged",
    "sold the cottage",
    "booked Lisbon",
    "failed my exam",
    "bought a boat",
    "won the raffle",
)
WITHOUT_NEWS = (
    "keep that from {}",
    "{} mustn't see that",
    "dont let {} hear it",
    "really, not a word to {}",
    "ordered it, don't tell {}",
    "hide the eggs from {}",
    "promised, {} won't know",
    "that stays a secret from {}",
    "I'm nervous, {} shouldn't know",
)


@pytest.mark.parametrize("name", ["Ben", "ben", "Chidi", "chidi", "IFE", "mummy and ben"])
def test_a_wish_is_the_same_whatever_the_case_of_the_name(name: str) -> None:
    for told, wish in product(
        WHAT_CAME_ABOUT, ("{} mustn't know", "don't tell {}", "keep it from {}")
    ):
        for text in (f"{told}, {wish}", f"{told}. {wish}"):
            assert not points_back(text.format(name), PEOPLE), text
    for wish in WITHOUT_NEWS:
        assert points_back(wish.format(name), PEOPLE), wish
    for plain in ("{} is away on friday", "tell {} that dinner is at 6", "{} doesn't know the way"):
        assert not points_back(plain.format(name), PEOPLE), plain


@pytest.mark.parametrize("who", ["Grandma", "Mum", "She", "My sister", "Aunt Rose", "Chidi"])
@pytest.mark.parametrize(
    "asks",
    [
        "{} asked us not to tell anyone yet",
        "{} wants it kept quiet",
        "{} said not to tell anyone",
        "{} asked us to keep it quiet",
        "{} begged me, not a word to Ben",
        "{} is embarrassed, don't tell Ben",
        "{} agrees, don't tell Ben",
        "{} would rather nobody knew",
        "{} hasn't told anyone yet",
    ],
)
def test_who_asks_for_secrecy_is_no_news(who: str, asks: str) -> None:
    assert points_back(asks.format(who), PEOPLE)


@pytest.mark.parametrize(
    "unit",
    ["and ", "don't tell Ben ", "keep it ", "nobody ", "secret, ", "Ife's birthday present for "],
)
def test_reading_time_grows_with_the_length(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * size)[:size]
        secrecy._matches.cache_clear()
        return cpu_seconds(lambda: audience_of(text, HOUSEHOLD, "niamh"))

    assert not grows_too_fast(cost, 1000)


def test_scopes_narrow_each_other() -> None:
    ben, both = surprise_scope(["ben"]), surprise_scope(["ife", "ben"])
    assert narrowest([HOUSEHOLD_SCOPE, ben]) == ben
    assert narrowest([ben, surprise_scope(["ife"])]) == both
    assert narrowest([person_scope("niamh"), both]) == person_scope("niamh")
    assert narrowest([person_scope("ben"), both]) is None
    assert narrowest([person_scope("ben"), person_scope("ife")]) is None


def test_surprises_are_seen_by_members_only() -> None:
    scope = surprise_scope(["ben"])
    assert Viewer.of("okonkwo", "ife").sees(scope)
    assert not Viewer.of("okonkwo", "ben").sees(scope)
    assert not Viewer.of("okonkwo").sees(scope)
    assert not Viewer("okonkwo", frozenset({person_scope("ife")}), "ife").sees(scope)


@pytest.mark.parametrize(
    "length", [100, LONGEST_MESSAGE - 200, LONGEST_MESSAGE, 3 * LONGEST_MESSAGE]
)
def test_a_wish_at_the_end_of_any_message_keeps_it_secret(length: int) -> None:
    told = "The bike is in the attic. " + "It came by post. " * (length // 17) + "Don't tell Ben."

    assert is_hidden_from(audience_of(told, HOUSEHOLD, "niamh"), "ben")


GIFTS = (
    "getting {whom} a telescope for christmas",
    "we're getting {whom} a watch for {their} birthday",
    "ordered {whom} some trainers for xmas",
    "remind me to wrap the scooter for {whom} on Thursday",
    "I bought a bike for {whom} for christmas",
    "booked a balloon ride for {whom} this Christmas",
    "knitting {whom} a cardigan",
    "knitting a scarf for {whom}",
    "wrap {whom}'s trainers tonight",
    "get a Valentine's present for {whom}",
    "for {their} birthday we are buying {whom} a guitar",
    "picked up the earrings for {whom}, for our anniversary",
    "baking {whom} a cake for {their} birthday",
    "remind me to engrave the watch for {whom}",
    "start a list of ideas for {whom}'s birthday: skates, perfume",
    "ordering {whom} flowers for valentines",
    "{whom} thinks they're getting socks but it's a phone",
    "if {whom} asks, the parcel is for the school",
    "assemble the trampoline on Christmas Eve once {whom} is asleep",
    "Ssssh, 24 December 5pm carols for {whom}",
    "{whom} still believes in Santa, so the train set is from him",
    "the drone is in the loft, {whom} is clueless",
    "hide the drum kit, it's for {whom}'s birthday",
)
NO_GIFTS = (
    "{whom} is home for christmas",
    "the alarm code is 4417",
    "the wifi password is swordfish",
    "if {whom} asks to come, say when",
    "{whom} thinks the film starts at six",
    "{whom} thinks pickup is at three but it's at four",
    "picking {whom} up from school at Easter",
    "get {whom} to tidy up for the party",
    "we wrap up at five so {whom} can come",
    "dinner with {whom} on Thursday for our planning",
)


@pytest.mark.parametrize("member", ["chidi", "ben", "ife"])
@pytest.mark.parametrize("form", GIFTS)
def test_a_gift_is_kept_from_whom_it_is_for(form: str, member: str) -> None:
    name, pronoun = NAMES[member]
    text = form.format(whom=name, their={"he": "his", "she": "her"}[pronoun])
    assert is_hidden_from(audience_of(text, HOUSEHOLD, "niamh"), member)


THINGS = ("scooter", "ukulele", "roller skates", "easel", "bonsai")
MEANT = (
    "remind {other} to collect {x}'s {thing} from the shop, its {his} present",
    "{x}'s {thing} is at the shop, it's {his} birthday present",
    "pick up {x}'s {thing}, it's for {his} birthday",
    "hide {x}'s {thing} before {he} gets home",
    "remind me to hide {x}s {thing} in the shed",
    "put the {thing} in {x}'s stocking",
    "{thing} goes in {his} stocking, {x} will love it",
    "buy {thing} for {x} (birthday present)",
    "{thing} for {x}, xmas pressie",
    "add {thing} to the shopping list, it's {x}s present",
    "the {thing} in the garage is for {x}'s birthday",
    "order the {thing}, thats {x}s christmas present",
    "{other} to pick up the {thing} for {x}, its for {his} bday",
    "ordered the {thing} for {x}'s 12th",
    "we got {x} a {thing} as a present",
    "{x} wants the {thing} so i ordered one for {his} birthday",
    "the {thing} is {x}'s main present",
    "{thing} to go under the tree for {x}",
    "buy the {thing}, it's one of {x}'s presents",
)
BROUGHT = (
    "get {x}'s {thing} out of the loft on christmas eve, from santa",
    "the {thing} is from father christmas",
    "{x} is getting the {thing} off santa",
    "add {thing} to the list, stocking fillers",
    "fill the stockings with {thing}",
    "fetch the {thing}, it's from the tooth fairy",
)
FEASTS_IN_THE_OPEN = (
    "book the hall for {his} birthday party",
    "book the hall for {x}'s birthday party",
    "{his} birthday is on friday",
    "{x}'s birthday is on friday",
    "{x}'s party is on saturday at 3",
    "order the cake for {x}'s birthday party",
    "{x}'s birthday dinner is at 7",
    "hang up the stockings",
    "write to santa with {x}",
    "photo with santa at 3 for {x}",
    "{x} has a letter from santa to post",
    "{x}'s birthday invitations need posting",
    "buy wrapping paper",
    "{x} has to bring a present to mia's party",
    "pick up {x}'s trainers, it's for {his} match",
    "it's for {his} own good",
    "order balloons for {x}'s birthday party",
    "get a cake for {x}'s birthday tea",
    "buy tights, {his} black stockings are torn",
    "remind {other} to collect {x}'s {thing} from the shop",
    "hide the chocolate eggs",
    "book a table for {x}'s birthday dinner",
)


def presents(forms: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield messages with whom the thing is for and who is to see to it."""
    for (form, thing), member in product(product(forms, THINGS), ("chidi", "ben", "ife")):
        (name, he), other = NAMES[member], "ben" if member == "chidi" else "chidi"
        his = {"he": "his", "she": "her"}[he]
        for x, who in ((name, NAMES[other][0]), (name.lower(), NAMES[other][0].lower())):
            yield form.format(x=x, other=who, he=he, his=his, thing=thing), member, other


def test_what_is_got_for_an_occasion_is_kept_from_whom_it_is_for() -> None:
    scopes = [
        (text, audience_of(text, HOUSEHOLD, "niamh", is_title=True), member, other)
        for text, member, other in presents(MEANT)
    ]
    assert [text for text, scope, member, _ in scopes if not is_hidden_from(scope, member)] == []
    assert [text for text, scope, _, other in scopes if is_hidden_from(scope, other)] == []


def test_what_is_said_to_be_brought_to_children_is_kept_from_them() -> None:
    scopes = {
        text: audience_of(text, HOUSEHOLD, "niamh", is_title=True) for text, *_ in presents(BROUGHT)
    }
    shown = [
        text
        for text, scope in scopes.items()
        for each in ("ben", "ife")
        if not is_hidden_from(scope, each)
    ]
    assert shown == []


def test_a_party_is_no_secret_of_whom_it_is_for() -> None:
    said = [text for text, *_ in presents(FEASTS_IN_THE_OPEN)]
    assert [text for text in said if secrecy_of(text, HOUSEHOLD, "niamh") is not None] == []


TOLD = ("order the {thing}", "the {thing} comes on Friday at 4pm", "pick up the {thing} on Monday")
FOR_GROWN_UPS = (
    "only grown-ups",
    "grown ups only",
    "adults only",
    "just for us adults",
    "strictly for the grown-ups",
    "not for the kids",
    "for grown-ups' eyes only",
    "parents' eyes only",
    "for parents only",
    "just us parents",
    "strictly us parents",
    "not for little ears",
    "not for young ears",
    "this is not for the children's ears",
    "not meant for the little ones",
)
BELIEFS = (
    "{x} thinks I am at the gym",
    "{x} thinks I'm working late",
    "{x} reckons we're at my mum's",
    "{x} still believes I'm visiting gran",
    "{x} thinks it's a check-up, actually it's the fair",
    "{x} believes we sold the kayak, really it is in the shed",
    "told {x} that the goldfish moved away, in truth it died",
    "{x} was told it is broken, in fact I hid it",
    "told {x} the kayak is sold, it's really in the shed",
    "{x} reckons that it rains, but really we go to the fair",
    "as far as {x} knows it's just a check-up",
    "as far as {x} is concerned I'm at work",
    "told {x} it's for school but really it's for the party",
)
OUT_OF_BOUNDS = (
    "bought {x} a kayak, it's behind the boiler, {he} mustn't go down there",
    "I ordered a drone, {x} must not look in the boot",
    "we've hidden the drum kit in the loft, {x} can't come up",
    "wrapped the kayak in the shed; {x} is not to peek",
)
SURPRISED = (
    "{x} will be so surprised",
    "{he} will be so surprised, {x} I mean",
    "can't wait to see {x}'s face",
    "imagine {x}'s face",
    "zip it around {x}",
    "lips sealed around {x}",
    "mum's the word when {x} is around",
    "shh in front of {x}",
    "{x} would kill me",
    "{x} would kill me if {he} knew",
    "{x} doesn't know I took it",
    "{x} doesnt know we bought it",
)
NOTHING_OF_THE_KIND = (
    "book the adults only session on friday", "only adults may use the sauna", "the grown-ups table is in the attic", "dinner on friday, grown-ups only",
    "cough syrup, not for kids under six", "adults pay 12 pounds", "the film is for grown-ups", "{x} thinks the gym is closed",
    "{x} thinks I am right about the roof", "{x} thinks I'm picking {him} up at three", "{x} thinks I'm too strict", "{x} reckons we're lost",
    "{x} mustn't go down there, the stairs are wet", "bought paint, {x} can't come to the shop", "{x} must not look in the sun",
    "ordered a taxi, {x} can't go without a coat", "{x} thinks it's at five, actually it's at six", "told {x} that dinner is at six, it's actually on friday",
    "{x} thinks it is on Monday, really it's Tuesday", "{x} thinks that film is great, {he} really does",
    "told {x} I'd be home, {he} is really happy", "{x} believes we leave at 8, in fact at 18:30", "the film is for grown-ups, really",
    "parents evening on friday, parents only", "who comes? just parents", "the parents arrive on friday", "lunch for the parents - at noon",
    "for grown-ups: steak, for the kids: nuggets", "the missus is coming on friday", "tell {x} I'm at the gym", "told {x} it's at four", "{x} will be surprised if we are late", "{x} would be surprised to hear that",
    "wash {x}'s face", "I can't see {his} face on the photo", "{x} doesn't know we moved the lesson to four", "{x} expects me at six",
    "{x} doesn't know I bought milk, tell {him}", "zip it up, {x}, it is cold", "the zip on {x}'s coat is broken", "my boss will kill me if I am late",
)  # fmt: skip


def of_members(forms: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what is said of each member, with their id."""
    for form, member in product(forms, ("chidi", "ben", "ife")):
        name, he = NAMES[member]
        him, his = {"he": ("him", "his"), "she": ("her", "her")}[he]
        for x in (name, name.lower()):
            yield form.format(x=x, he=he, him=him, his=his), member


def test_what_is_for_grown_ups_is_kept_from_the_children_alone() -> None:
    for told, wish, joint in product(TOLD, FOR_GROWN_UPS, (", {}", ". {}.", " - {}", " ({})")):
        said = wish[0].upper() + wish[1:] if joint.startswith(".") else wish
        found = secrecy_of(told.format(thing="kayak") + joint.format(said), HOUSEHOLD, "niamh")
        assert found is not None, (told, said)
        assert found.scope == surprise_scope(["ben", "ife"]), (told, said)
        assert "kayak" in found.rest


@pytest.mark.parametrize(
    "lead", ["for grown-ups: ", "For adults - ", "for us parents: ", "this is for grown-ups: "]
)
@pytest.mark.parametrize("told", TOLD)
def test_what_begins_by_saying_it_is_for_grown_ups_is_kept_from_the_children(
    lead: str, told: str
) -> None:
    found = secrecy_of(lead + told.format(thing="kayak"), HOUSEHOLD, "niamh")
    assert found is not None
    assert (found.scope, "kayak" in found.rest) == (surprise_scope(["ben", "ife"]), True)


@pytest.mark.parametrize(
    "who", ["the missus", "the other half", "my better half", "my husband", "the wife"]
)
@pytest.mark.parametrize(
    "wish",
    [
        "{} can't know about the kayak",
        "{} has to stay ignorant of the kayak",
        "keep the kayak from {}",
        "don't tell {} about the kayak",
    ],
)
def test_what_is_kept_from_a_partner_is_not_shown_to_them(who: str, wish: str) -> None:
    scope = audience_of(wish.format(who), HOUSEHOLD, "niamh", is_title=True)
    assert is_hidden_from(scope, "chidi")


@pytest.mark.parametrize("forms", [BELIEFS, SURPRISED, OUT_OF_BOUNDS])
def test_whom_a_thing_is_hidden_from_by_what_they_believe_or_will_feel_does_not_see_it(
    forms: tuple[str, ...],
) -> None:
    said = [
        (f"{told.format(thing=thing)}{joint}{wish}", member)
        for told, thing, joint, (wish, member) in product(
            TOLD, THINGS[:2], (", ", ". "), of_members(forms)
        )
    ]
    scopes = [(text, secrecy_of(text, HOUSEHOLD, "niamh"), member) for text, member in said]
    assert [
        text for text, wish, who in scopes if wish is None or not is_hidden_from(wish.scope, who)
    ] == []


def test_what_others_think_or_grown_ups_do_is_no_secret() -> None:
    said = [text for text, _ in of_members(NOTHING_OF_THE_KIND)]
    assert [text for text in said if secrecy_of(text, HOUSEHOLD, "niamh") is not None] == []


def slips(text: str) -> Iterator[str]:
    """Yield a text with one letter missing, doubled or swapped with its neighbour in one word, no name, that leaves no other word."""
    words = text.split(" ")
    for at, word in enumerate(words):
        for place in range(len(word) if word not in {"Chidi", "Ben"} else 0):
            for slip in (
                word[:place] + word[place + 1 :],
                word[: place + 1] + word[place:],
                word[:place] + word[place : place + 2][::-1] + word[place + 2 :],
            ):
                bare = slip.strip(".,:;!?").casefold()
                if len(bare) > 2 and bare not in word_ranks():
                    yield " ".join([*words[:at], slip, *words[at + 1 :]])


@pytest.mark.parametrize("name", ["dev", "heldout"])
def test_a_wish_with_a_slip_of_the_pen_is_heard(name: str) -> None:
    told = tomllib.loads((LISTS / f"wishes_{name}.toml").read_text(encoding="utf-8"))
    wishes = [
        each.format(x="Chidi", she="he", She="He", her="him")
        for many in told.values()
        for each in many
    ]
    said = [f"The kiln is paid for, {slip}" for wish in wishes for slip in slips(wish)]
    lost = [
        each
        for each in said
        if not is_hidden_from(audience_of(each, HOUSEHOLD, "niamh", is_title=True), "chidi")
    ]
    assert len(lost) <= 0.05 * len(said), (len(said), lost[:20])


@pytest.mark.parametrize(
    "wish",
    [
        "he musnt find out",
        "he shoudnt know",
        "he shldnt know",
        "hes not to know",
        "dont tel him",
        "its a suprise for chidi",
        "it's a surprize for Chidi",
        "keep it secert",
        "dont want him to know",
        "i dont want chidi knowing",
        "he mustn know",
        "DONT TELL HIM",
        "Dont tell Chidi",
        "dnt say anythin to chidi",
        "chidi isnt to kno",
    ],
)
@pytest.mark.parametrize(
    "told", ["booked Zorbing for chidi's 40th on the 12th at 2", "The kiln for Chidi is paid for"]
)
def test_a_wish_in_loose_spelling_is_heard(told: str, wish: str) -> None:
    for text in (f"{told}, {wish}", f"{told}. {wish}"):
        found = secrecy_of(text, HOUSEHOLD, "niamh")
        assert found is not None
        assert is_hidden_from(found.scope, "chidi")
        assert wish not in found.rest


def test_a_slip_of_the_pen_makes_no_wish_of_other_words() -> None:
    plain = (
        [each.format(whom="Ben") for each in NO_GIFTS]
        + [text for text, *_ in presents(FEASTS_IN_THE_OPEN)][::60]
        + [*NO_WISHES]
    )
    said = [slip for text in plain for slip in slips(text)]
    assert len(said) > 2000
    wrong = [text for text in said if secrecy_of(text, HOUSEHOLD, "niamh") is not None]
    assert len(wrong) <= 0.001 * len(said), wrong


@pytest.mark.parametrize("member", ["ben", "ife"])
@pytest.mark.parametrize(
    "text",
    [
        "password for the gun safe is Wibble77",
        "the code of the medicine cabinet is 4417",
        "gun cabinet code: 9921",
        "the PIN for parental controls is 2211",
        "our screen time passcode is 8080",
        "the drinks cabinet key is behind the clock",
    ],
)
def test_codes_of_what_children_must_not_open_are_kept_from_them(text: str, member: str) -> None:
    scope = audience_of(text, HOUSEHOLD, "niamh")
    assert is_hidden_from(scope, member)
    assert not is_hidden_from(scope, "chidi")


@pytest.mark.parametrize("form", NO_GIFTS)
def test_what_only_sounds_like_a_gift_is_kept_from_nobody(form: str) -> None:
    assert secrecy_of(form.format(whom="Ben"), HOUSEHOLD, "niamh") is None


@pytest.mark.parametrize(
    "wish",
    [
        "parents cant see this",
        "the grown-ups mustnt know",
        "dont let my parents see",
        "the olds wont hear of it",
    ],
)
def test_a_teenagers_wish_without_apostrophes_is_heard(wish: str) -> None:
    scope = audience_of(f"Text Rufio at 10pm, {wish}", HOUSEHOLD, "ben")
    assert all(is_hidden_from(scope, each) for each in ("niamh", "chidi"))


NAMED = (
    "don't mention {t} to {x}", "please dont mention {t} to {x} yet", "never mention {t} near {x}", "let's not mention {t} to {x}", "lets not bring up {t} with {x}",
    "can we not bring up {t} around {x}", "try not to mention {t} in front of {x}", "no one mention {t} to {x}", "nobody breathe a word of {t} to {x}",
    "nobody should say anything about {t} to {x}", "don't anyone mention {t} to {x}", "we mustn't talk about {t} when {x} is around", "avoid mentioning {t} to {x}",
    "be careful not to let on about {t} to {x}", "could everyone not mention {t} to {x}", "no mention of {t} to {x}", "no talking about {t} near {x}",
    "don't discuss {t} with {x}", "don't let slip about {t} to {x}", "don't let {t} slip to {x}", "I'd rather you didn't mention {t} to {x}", "not a word of {t} to {x}",
    "say nothing about {t} to {x}", "keep quiet about {t} around {x}", "don't talk to {x} about {t}", "don't say anything to {x} about {t}",
    "don't tell {x} anything about {t}", "don't let {x} hear about {t}", "we shouldn't reveal {t} to {x}", "don't hint at {t} to {x}", "stay quiet about {t} with {x}",
    "i don't want anyone mentioning {t} to {x}", "remember not to mention {t} to {x}", "keep {t} from {x}", "hide {t} from {x}", "{t} is not to be mentioned to {x}",
    "it's best we don't mention {t} to {x}", "not mentioning {t} to {x} for now", "mum's the word on {t} with {x}", "under no circumstances mention {t} to {x}",
    "stop mentioning {t} to {x}", "hold off mentioning {t} to {x}", "DON'T MENTION {t} TO {x}", "don't ever bring {t} up with {x}", "none of you mention {t} to {x}",
)  # fmt: skip
TOLD_OF_IT = (
    ", it comes on the 12th at 10",
    " - 8th jan 10am",
    "!! we fetch it on friday at 4",
    ". They arrive on the 16th at 2pm",
    ", viewing on the 14th at 5pm",
    " because it starts on the 9th at 3",
    ", he's due on the 3rd at noon",
)


@pytest.mark.parametrize("is_group", [False, True])
def test_a_thing_not_to_be_mentioned_is_kept_with_what_is_told_of_it(*, is_group: bool) -> None:
    wrong = []
    for form, news, thing in product(NAMED, (*TOLD_OF_IT, ""), ("the hamster", "our trip to Oslo")):
        for name, kept in (("Ben", ["ben"]), ("ife", ["ife"]), ("the kids", ["ben", "ife"])):
            text = form.format(t=thing, x=name) + news
            wish = secrecy_of(text, HOUSEHOLD, "niamh", is_group=is_group)
            is_kept = wish is not None and wish.scope == surprise_scope(kept)
            day = next((each for each in news.split() if each[:1].isdigit() or "day" in each), "")
            is_told = wish is not None and thing in wish.rest and day in wish.rest
            if not (is_kept and is_told) or points_back(text, PEOPLE) is bool(news):
                wrong.append((text, wish))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("never mention the clown to Ben, he comes at 2pm", "the clown comes at 2pm"),
        ("don't bring up the jabs with Ife, they're on Friday at 3", "the jabs are on Friday at 3"),
        (
            "nobody say a word about the raft to Ben: it'll be here on Monday",
            "the raft will be here on Monday",
        ),
        (
            "We got it! Don't mention the raft to Ben, it’s in the shed",
            "We got it! the raft is in the shed",
        ),
        (
            "don't talk to Ben about the raft, the courier comes on Friday",
            "the raft, the courier comes on Friday",
        ),
    ],
)
def test_what_a_wish_names_stands_for_the_pronoun_after_it(text: str, rest: str) -> None:
    wish = secrecy_of(text, HOUSEHOLD, "niamh")
    assert wish is not None
    assert wish.rest == rest


@pytest.mark.parametrize(
    ("text", "rest", "is_back"),
    [
        ("add milk to the list and don't mention the raft to Ben", "add milk to the list", False),
        (
            "remind me to paint the raft on friday, don't mention the raft to Ben",
            "remind me to paint the raft on friday",
            False,
        ),
        (
            "don't mention the raft to Ben. Remind me to paint it",
            "the raft. Remind me to paint it",
            False,
        ),
        ("oh and please don't mention our weekend in Oslo to Ben", "our weekend in Oslo", True),
        ("it's for his birthday, don't mention the raft to Ben", "it's for his birthday", True),
        ("keep the raft from Ben", "the raft", True),
        ("don't tell Ben about the raft", "the raft", True),
    ],
)
def test_what_stands_beside_a_wish_that_names_a_thing_stays(
    text: str, rest: str, *, is_back: bool
) -> None:
    wish = secrecy_of(text, HOUSEHOLD, "niamh")
    assert wish is not None
    assert (wish.scope, wish.rest) == (surprise_scope(["ben"]), rest)
    assert points_back(text, PEOPLE) is is_back


SAID_OF_MENTIONING = (
    "don't forget to mention the hamster to {x}", "why didn't you mention the trip to {x}?", "mention the trip to {x}", "I talked about the trip with {x}",
    "don't bring up the ladder", "don't bring the boxes up to {x}", "don't let the dog up near {x}", "don't talk with your mouth full, {x}", "no talking at the table",
    "{x} never talks about school", "don't raise your voice at {x}", "don't raise your voice with {x}", "did nobody mention the match to {x}?",
    "say something about the trip to {x}", "please bring up the washing with {x}", "nobody talks to me about football like {x}", "no one told me about the trip",
    "we can't talk on friday, meeting with {x}", "don't drop the box near {x}", "don't leave the gate open when {x} is around", "no nuts near {x}",
    "never leave the iron on around {x}", "don't give the drops to {x}", "don't show up late to {x}'s match", "don't share cups with {x}",
    "don't pass the cold on to {x}", "don't read the letter to {x}'s teacher", "you don't need to bring the bag to {x}", "don't repeat the dose to {x}",
    "the nuts must not be given to {x}", "keep the gate shut",
)  # fmt: skip


@pytest.mark.parametrize("is_group", [False, True])
def test_what_is_said_of_mentioning_or_not_done_near_somebody_is_no_wish(*, is_group: bool) -> None:
    said = [form.format(x=name) for form, name in product(SAID_OF_MENTIONING, ("Ben", "ife"))]
    assert [
        each for each in said if secrecy_of(each, HOUSEHOLD, "niamh", is_group=is_group) is not None
    ] == []


def hidden_from(text: str, teller: str = "niamh") -> frozenset[str]:
    """Return the ids of the family that may not see what a message tells."""
    scope = audience_of(text, HOUSEHOLD, teller)
    return frozenset(each for each in NAMES if is_hidden_from(scope, each))


NEWS = ("the pixie dust is from the craft shop", "the guinea pig was buried", "Otto left the note")
STILL_BELIEVED = (
    "{x} still believes",
    "{x} still believes in it so mind what you say",
    "{x} is still a believer",
    "{x} thinks the pixie is real",
    "{x} still thinks the guinea pig ran away",
    "{x} reckons the guinea pig is coming back",
)
NOT_FOR_THEM = (
    "not for {x}'s ears",
    "this isn't for {x}'s little ears",
    "not within {x}'s hearing",
    "nobody tell {x}",
    "no one should tell {x} please",
)
FOR_ADULTS = ("grown-ups only please", "adults only pls", "parents only please")
NO_BELIEFS = (
    "{x} thinks the bus leaves at 8 on friday",
    "{x} still thinks judo is on monday but it's on tuesday",
    "{x} believes she can win the race",
    "{x} still thinks the soup is too hot",
    "nobody told {x} that judo is off",
    "{x} needs drops for both ears",
    "nobody tells {x} to brush, please remind him",
    "the parents only see the teacher on friday",
)


def test_what_a_child_still_believes_or_is_not_to_hear_is_kept_from_them() -> None:
    orders = ("{news}, {wish}", "{wish}: {news}", "{wish}. {news}")
    leaks = []
    for child, news, order in product(("ben", "ife"), NEWS, orders):
        for wish in (*STILL_BELIEVED, *NOT_FOR_THEM, *FOR_ADULTS):
            for name in (NAMES[child][0], NAMES[child][0].lower()):
                text = order.format(news=news, wish=wish.format(x=name))
                leaks += [text] if child not in hidden_from(text) else []
    assert leaks == []


def test_what_people_think_and_who_was_told_is_no_secret() -> None:
    said = [form.format(x=NAMES[each][0]) for form in NO_BELIEFS for each in ("ben", "ife")]
    said += [form.format(x="Chidi") for form in STILL_BELIEVED]
    assert [text for text in said if secrecy_of(text, HOUSEHOLD, "niamh")] == []


GRAVE = (
    "{x} got drunk last night",
    "{x}'s counsellor is Mrs Otter, mondays at 4",
    "{x} self harmed on sunday",
    "{x} was arrested in Cork",
    "{x} has an eating disorder",
    "{x} is gambling",
    "{x}'s first period came",
)
OF_NOBODY_AT_HOME = (
    "aunt Orla is getting divorced",
    "my brother is in prison",
    "gran had an affair",
)
NOT_GRAVE = (
    "{x} had a fever at noon",
    "{x} took the antibiotics",
    "{x} has a free period on tuesday",
    "{x} drinks more water now",
    "{x} is allergic to nuts",
    "the therapy dog visits {x} on friday",
)


def test_a_grave_affair_of_another_is_for_the_adults_and_whose_it_is() -> None:
    wrong = []
    for who, form in product(("ben", "ife", "chidi"), GRAVE):
        text = form.format(x=NAMES[who][0])
        wrong += [text] if hidden_from(text) != {"ben", "ife"} - {who} else []
    wrong += [text for text in OF_NOBODY_AT_HOME if not hidden_from(text) >= {"ben", "ife"}]
    wrong += [
        text for x in ("Ben", "Ife") for form in NOT_GRAVE if hidden_from(text := form.format(x=x))
    ]
    assert wrong == []


AMONG = (
    "{news}, keep it between me and {x}",
    "keep this between {x} and me: {news}",
    "{news}, only {x} and I should know",
    "strictly between me and {x}, {news}",
    "just for me and {x}: {news}",
)


def test_what_is_between_two_is_for_both_and_nobody_else() -> None:
    wrong = []
    for form, who in product(AMONG, ("chidi", "ben", "ife")):
        text = form.format(news="the yawl is for sale", x=NAMES[who][0])
        wrong += [text] if hidden_from(text) != {*NAMES} - {who, "niamh"} else []
    alone = {*NAMES} - {"niamh"}
    wrong += [
        text
        for form in AMONG
        if hidden_from(text := form.format(news="the yawl is for sale", x="my sister")) != alone
    ]
    shared = ("split the bill between me and Chidi", "only me and Ben are going to the match")
    assert wrong == []
    assert [text for text in shared if secrecy_of(text, HOUSEHOLD, "niamh")] == []
