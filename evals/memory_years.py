"""Two years of silence: households are told facts of every class once, and nobody repeats them.

Statements go the way of everything that is said: read by the rules, stored, and consolidated night
after night on a clock that is moved. At the end each is looked up: in the facts that still hold, and
by a question through the one search that answers. What fades by nature must have left the facts, and
its words must still be found where they were said.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
from sqlalchemy import Connection

from evals.report import Floor, Report, Table, share
from kinkeeper.household.viewers import Viewer
from kinkeeper.memory.facts import facts_by_id
from kinkeeper.memory.finding.search import Finder, Search
from kinkeeper.memory.ingest import remember
from kinkeeper.memory.model import Episode, Fact, FactStatus, Origin
from kinkeeper.memory.statements.extraction import observe
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Tools
from kinkeeper.store.store import Store

SAMPLE, FULL = 2, 12
"""How many households live through the years: by default, and in full."""

DAYS = 730

FADING = "fading by nature"
"""Name of the class of what must not hold for years."""

_SEED = 41
_HOUSE = "years"
_ZONE = ZoneInfo("Europe/Dublin")
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_NIGHT_EVERY = timedelta(days=7)
_TELLING = timedelta(days=60)
_MOST_HITS = 5
_PEOPLE = (
    "Orla",
    "Tadeo",
    "Wren",
    "Maarit",
    "Jonas",
    "Priscilla",
    "Hugo",
    "Amara",
    "Felix",
    "Noor",
    "Sanne",
    "Dmitri",
)
_TOLD: dict[str, tuple[tuple[str, str], ...]] = {
    "identity": (
        ("{who} was born on {day} {month}", "when was {who} born?"),
        ("{who} works as a {job}", "what is {who}'s job?"),
        ("{who} is left-handed", "is {who} left-handed?"),
        ("{who} speaks {language} at home", "which language does {who} speak?"),
    ),
    "home": (
        ("We live at {number} {street}", "where do we live?"),
        ("{who}'s bedroom is the one above the {room}", "which is {who}'s bedroom?"),
        ("The boiler was made by {maker}", "who made the boiler?"),
        ("The spare key hangs behind the {room} door", "where is the spare key?"),
    ),
    "health": (
        ("{who} is allergic to {food}", "what is {who} allergic to?"),
        ("{who} has asthma and keeps an inhaler in the {room}", "who has asthma?"),
        ("{who} takes {medicine} every morning", "which medicine does {who} take?"),
        ("{who}'s doctor is Dr {surname}", "who is {who}'s doctor?"),
    ),
    "diet": (
        ("{who} is vegetarian", "is {who} vegetarian?"),
        ("{who} can't eat {food}", "what can {who} not eat?"),
        ("{who} doesn't drink {drink}", "what does {who} not drink?"),
    ),
    "relations": (
        ("{who}'s sister is called {other}", "who is {who}'s sister?"),
        ("{who}'s teacher is Mr {surname}", "who is {who}'s teacher?"),
        ("Our neighbour is {other} {surname}", "who is our neighbour?"),
        ("{who}'s best friend is {other}", "who is {who}'s best friend?"),
    ),
    "sizes": (
        ("{who}'s shoe size is {size}", "what is {who}'s shoe size?"),
        ("{who} wears size {size} trousers", "which size does {who} wear?"),
        ("{who} is {number} centimetres tall", "how tall is {who}?"),
    ),
    "codes": (
        ("The alarm code is {number}", "what is the alarm code?"),
        ("The wifi password is {word}{number}", "what is the wifi password?"),
        (
            "The shed padlock combination is {number}",
            "what is the combination of the shed padlock?",
        ),
    ),
    "told preferences": (
        ("{who} prefers {drink} to anything else", "what does {who} prefer?"),
        ("{who}'s favourite colour is {colour}", "what is {who}'s favourite colour?"),
        ("{who} always sits by the {room} window", "where does {who} always sit?"),
        ("{who} loves {food}", "what does {who} love?"),
        ("{who} hates {food}", "what does {who} hate?"),
    ),
    "rules and goals": (
        ("No screens in the {room} after {hour} o'clock", "what is the rule about screens?"),
        ("{who} must be home by {hour} on school nights", "when must {who} be home?"),
        ("{who} wants to learn {language} by heart", "what does {who} want to learn?"),
        ("Our budget for birthday presents is {number} euro", "what is the budget for presents?"),
    ),
    FADING: (
        ("I am worried about the {room} roof", "what am I worried about?"),
        ("I feel so happy about {other}'s visit", "what am I happy about?"),
        ("{who} is working on a model of a {room}", "what is {who} working on?"),
        ("{who} loves {food} soup these days", "which soup does {who} love?"),
        ("I'm decorating the {room} at the moment", "what am I decorating?"),
    ),
}
_VALUES: dict[str, tuple[str, ...]] = {
    "month": ("February", "April", "June", "July", "September", "November"),
    "job": ("surveyor", "midwife", "carpenter", "translator", "beekeeper", "cartographer"),
    "language": ("Basque", "Finnish", "Tamil", "Welsh", "Georgian", "Yoruba"),
    "street": ("Alder Lane", "Harbour Row", "Mill Terrace", "Vine Street", "Quarry Road"),
    "room": ("kitchen", "attic", "cellar", "pantry", "study", "porch"),
    "maker": ("Ferroli", "Vokera", "Junkers", "Atag", "Glowworm"),
    "food": ("celery", "lupin", "sesame", "mustard", "rhubarb", "okra", "lentils", "beetroot"),
    "medicine": ("levothyroxine", "ramipril", "montelukast", "metformin", "lansoprazole"),
    "surname": ("Okonjo", "Halloran", "Lindqvist", "Petrov", "Amankwah", "Delacroix"),
    "drink": ("rooibos", "buttermilk", "cider", "cordial", "lassi"),
    "other": ("Solveig", "Bartek", "Ines", "Kofi", "Yara", "Milo"),
    "colour": ("teal", "ochre", "maroon", "lilac", "amber"),
    "word": ("puffin", "walrus", "magpie", "otter"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A sentence that is told once.

    Attributes:
        kind: Its class.
        text: Its words.
        question: Asked about it at the end.
        at: When it is told, aware.
    """

    kind: str
    text: str
    question: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a sentence of which a fact was kept.

    Attributes:
        said: The sentence.
        holds: Whether its fact still holds.
        is_found: Whether the search that answers finds its words, in the fact or where they were said.
        status: Of the fact.
    """

    said: Said
    holds: bool
    is_found: bool
    status: FactStatus


def measure(households: int = SAMPLE, *, days: int = DAYS) -> Report:
    """Let households live through the years, and count what is gone.

    Args:
        households: How many, > 0.
        days: How long, > 60.
    """
    every = [each for number in range(households) for each in live(sentences(number), days=days)]
    lasting = [each for each in every if each.said.kind != FADING]
    fading = [each for each in every if each.said.kind == FADING]
    return Report(
        suite="memory years",
        tables=(_table(every, days),),
        floors=(
            Floor(
                name="lasting facts that hold",
                value=share(each.holds for each in lasting),
                minimum=1.0,
            ),
            Floor(
                name="lasting words found",
                value=share(each.is_found for each in lasting),
                minimum=0.97,
            ),
            Floor(
                name="fading facts that left",
                value=share(not each.holds for each in fading),
                minimum=0.9,
            ),
            Floor(
                name="fading words found",
                value=share(each.is_found for each in fading),
                minimum=0.8,
            ),
        ),
        worst=tuple(
            f"{each.status}: {each.said.text!r}"
            for each in lasting
            if not (each.holds and each.is_found)
        ),
    )


def sentences(number: int) -> Sequence[Said]:
    """Return what one household is told, each about a person or thing of its own.

    Args:
        number: Which household.
    """
    chance = np.random.default_rng([_SEED, number])
    people = [str(each) for each in chance.permutation(_PEOPLE)]
    found: list[Said] = []
    for kind, templates in _TOLD.items():
        for place, (template, question) in enumerate(templates):
            values = {name: str(chance.choice(some)) for name, some in _VALUES.items()}
            values |= {
                "who": people[(place + len(found)) % len(people)],
                "day": str(chance.integers(1, 29)),
            }
            values |= {
                "number": str(chance.integers(1, 9000)),
                "size": str(chance.integers(24, 47)),
            }
            values |= {"hour": str(chance.integers(5, 10))}
            at = _BEGIN + float(chance.uniform()) * _TELLING
            told = template.format(**values)
            found.append(Said(kind=kind, text=told, question=question.format(**values), at=at))
    return sorted(found, key=lambda each: each.at)


def live(said: Sequence[Said], *, days: int) -> list[Outcome]:
    """Tell a household sentences, let the nights pass, and look each one up.

    Args:
        said: In the order in which they are told.
        days: From the first night to the last.
    """
    with TemporaryDirectory() as folder, Store.open(str(Path(folder) / "memory.db")) as store:
        kept: dict[int, str] = {}
        waiting = list(enumerate(said))
        end = _BEGIN + timedelta(days=days)
        night = _BEGIN
        while night < end:
            night += _NIGHT_EVERY
            while waiting and waiting[0][1].at < night:
                number, each = waiting.pop(0)
                if fact := _tell(store, each):
                    kept[number] = fact
            _consolidate(store, night)
        return [_outcome(store, said[number], fact, end) for number, fact in kept.items()]


def _tell(store: Store, said: Said) -> str | None:
    """Tell a sentence; return the id of the fact that it became, if it was kept."""
    episode = Episode(
        household=_HOUSE,
        id=said.text,
        member="sanna",
        speaker="Sanna",
        text=said.text,
        said_at=said.at,
        origin=Origin.SAID,
        session=f"{said.at:%Y-%m-%d}",
    )
    seen = observe(said.text, said_at=said.at)
    people = {each.lower(): each.lower() for each in _PEOPLE}
    remembered = store.write_now(
        lambda conn: remember(conn, episode, seen, at=said.at, people=people)
    )
    own = [each.id for each in remembered.facts if episode.id in each.derived_from]
    return own[0] if own else None


def _consolidate(store: Store, now: datetime) -> None:
    tools = Tools(people={}, zone=_ZONE)
    asyncio.run(consolidate(store, _HOUSE, tools, now=now, progress=lambda _: None, is_agreed=True))


def _outcome(store: Store, said: Said, fact_id: str, now: datetime) -> Outcome:
    def read(conn: Connection) -> Fact:
        fact = facts_by_id(conn, _HOUSE, [fact_id])[fact_id]
        while fact.merged_into_id:
            fact = facts_by_id(conn, _HOUSE, [fact.merged_into_id])[fact.merged_into_id]
        return fact

    fact = store.read_now(read)
    finder = Finder(store, _HOUSE, zone=_ZONE)
    search = Search(text=said.question, viewer=Viewer.of(_HOUSE), now=now, limit=_MOST_HITS)
    hits = asyncio.run(finder.search(search)).hits
    return Outcome(
        said=said,
        holds=fact.is_current(now),
        status=fact.status,
        is_found=any(said.text.lower() in hit.text.lower() for hit in hits),
    )


def _table(every: Sequence[Outcome], days: int) -> Table:
    kinds = Counter(each.said.kind for each in every)
    rows = []
    for kind, number in kinds.items():
        some = [each for each in every if each.said.kind == kind]
        gone = sum(not each.holds for each in some)
        rows.append((kind, number, gone, sum(each.is_found for each in some)))
    return Table(
        title=f"Told once, looked up after {days} days",
        columns=("class", "facts kept", "facts gone", "words found by a question"),
        rows=tuple(sorted(rows)),
    )
