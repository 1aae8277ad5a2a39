"""People as the pages show them, and the frame around every page that says who looks. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count

import regex

from kinkeeper.household.model import Household, Member
from kinkeeper.household.viewers import kept_from, person_of
from kinkeeper.language.text import enumerated

TINTS = 8
PATTERNS = 8
_GRAPHEME = regex.compile(r"\X")
_LONGEST_INITIALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody as they are drawn.

    Attributes:
        id: Member id, or the name as sent.
        name: Display name.
        initials: One to three characters that no other member has.
        tint: 1 to 8, a colour of the style sheet; 0 of nobody and of guests.
        pattern: 1 to 8, a pattern of the style sheet; 0 is plain.
    """

    id: str
    name: str
    initials: str
    tint: int
    pattern: int


NOBODY = Person(id="", name="Nobody yet", initials="?", tint=0, pattern=0)
EVERYBODY = Person(id="*", name="Everybody", initials="✳", tint=0, pattern=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The members of a household, drawn.

    Attributes:
        members: In file order, by id.
    """

    members: Mapping[str, Person]

    def of(self, member_id: str) -> Person:
        """Return how somebody is drawn; a guest is drawn plain, under the name as sent."""
        known = self.members.get(member_id)
        if known is not None:
            return known
        return Person(
            id=member_id,
            name=f"{member_id} (a guest)",
            initials=_letters(member_id)[0].upper(),
            tint=0,
            pattern=0,
        )

    def each(self, member_ids: Iterable[str]) -> tuple[Person, ...]:
        """Return how several are drawn, each once, in the given order."""
        return tuple(self.of(member_id) for member_id in dict.fromkeys(member_ids))

    def names(self, member_ids: Iterable[str]) -> str:
        """Return names joined: "Leo", "Leo and Mia", "Leo, Mia and Sam"."""
        return enumerated([person.name for person in self.each(member_ids)])

    def audience(self, scope: str) -> str:
        """Return who may see what has a scope, to somebody who may: "Only you can see this", "Hidden from Mia"; "" for all.

        Args:
            scope: Of a row that is shown to them.
        """
        if hidden := kept_from(scope):
            return f"Hidden from {self.names(sorted(hidden))}"
        return "Only you can see this" if person_of(scope) is not None else ""


def people_of(household: Household) -> People:
    """Draw the members of a household; up to 64 differ by colour and pattern together."""
    initials = _initials(household.members)
    return People(
        members={
            member.id: Person(
                id=member.id,
                name=member.name,
                initials=initials[member.id],
                tint=number % TINTS + 1,
                pattern=(number + number // TINTS) % PATTERNS + 1,
            )
            for number, member in enumerate(household.members)
        }
    )


def _initials(members: Iterable[Member]) -> dict[str, str]:
    """Give each the shortest beginning of the name that nobody else has, else a number that no beginning is."""
    names = {member.id: _letters(member.name) for member in members}
    found = {each: start for each in names if (start := _own_beginning(each, names)) is not None}
    taken = {each.casefold() for each in found.values()}
    for member_id, letters in names.items():
        if member_id not in found:
            numbered = (f"{letters[0].upper()}{number}" for number in count(1))
            found[member_id] = next(each for each in numbered if each.casefold() not in taken)
            taken.add(found[member_id].casefold())
    return found


def _own_beginning(member_id: str, names: Mapping[str, list[str]]) -> str | None:
    """Return the shortest beginning of a name that nobody else has, capitalised, if one is short enough."""
    letters = names[member_id]
    others = [other for each, other in names.items() if each != member_id]
    for length in range(1, min(_LONGEST_INITIALS, len(letters)) + 1):
        wanted = _folded(letters, length)
        if all(_folded(each, length) != wanted for each in others):
            return "".join(letters[:length]).capitalize()
    return None


def _folded(letters: list[str], length: int) -> str:
    return "".join(letters[:length]).casefold()


def _letters(name: str) -> list[str]:
    letters = [each for each in _GRAPHEME.findall(name) if not each.isspace()]
    return letters or ["?"]


# What surrounds every page: whose household it is, who looks, where one can go. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The frame of a page.

    Attributes:
        bot_name: What the assistant is called.
        viewer: Who looks; None where nobody is logged in.
        pending: How many decisions wait.
        here: Key of the page in the navigation; empty where it is none of it.
        csrf: Token that every form sends back; empty where nobody is logged in.
        cursor: Where the page's live updates go on from; empty where it has none.
        may_decide: Whether the viewer may confirm.
        sees_all: Whether the viewer is of the family: neither a guest nor a screen on the wall.
        may_speak: Whether the viewer may talk with the assistant.
        at: When the page was made, in ISO 8601.
        clock: The same as a time of day in words.
        day: The same as a day in words.
    """

    bot_name: str
    viewer: Person | None = None
    pending: int = 0
    here: str = ""
    csrf: str = ""
    cursor: str = ""
    may_decide: bool = False
    sees_all: bool = True
    may_speak: bool = False
    at: str = ""
    clock: str = ""
    day: str = ""
