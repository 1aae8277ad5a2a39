"""Who says that it is the other way round gives the last two their jobs the other way round, and nobody else does."""

from itertools import product

from family_chat import chat
from kinkeeper.actions.model import ActionStatus

HAD = {"John": ("Leo", "soccer on Thu Mar 5"), "Sarah": ("Mia", "ballet on Wed Mar 4")}
SHARED_OUT = (
    (("john", "I'll take Leo to soccer on thursday and Sarah takes Mia to ballet on wed"),),
    (
        ("john", "I'll take Leo to soccer on thursday"),
        ("sarah", "and I'll take Mia to ballet on wed"),
    ),
    (
        ("sarah", "I'll take Mia to ballet on wednesday and John takes Leo to soccer thursday"),
        ("john", "ok"),
    ),
)
OTHER_WAY = (
    "no wait, other way round",
    "sorry, the other way around",
    "actually vice versa",
    "oops wrong way round",
    "other way about please",
    "no swap them round",
    "wait, let's swap those",
)
NOT_SO = (
    ("john", "other way round?"),
    ("leo", "other way round"),
    ("sarah", "the buggy wheel is on the other way round"),
    ("sarah", "is it the other way round"),
    ("john", "we drove the other way round to school"),
)


def waiting(*said: tuple[str, str]) -> list[str]:
    """Return the cards that wait after several messages, a minute apart."""
    with chat("miller") as miller:
        for minute, (sender, text) in enumerate(said):
            miller.say(f"Mon 2026-03-02 09:{minute:02}", sender, text)
        waits = [each for each in miller.actions() if each.status is ActionStatus.PENDING]
        return sorted(each.proposal.summary for each in waits)


def taken(by: dict[str, str]) -> list[str]:
    return sorted(f"{who} takes {HAD[job][0]} to {HAD[job][1]}" for who, job in by.items())


def test_the_other_way_round_swaps_who_has_which() -> None:
    swapped = taken({"John": "Sarah", "Sarah": "John"})
    wrong = [
        (said, words, found)
        for said, words, sender in product(SHARED_OUT, OTHER_WAY, ("john", "sarah"))
        if (found := waiting(*said, (sender, words))) != swapped
    ]
    assert wrong == []


def test_what_swaps_nothing_leaves_them() -> None:
    stand = taken({"John": "John", "Sarah": "Sarah"})
    wrong = [
        (said, each) for said, each in product(SHARED_OUT, NOT_SO) if waiting(*said, each) != stand
    ]
    assert wrong == []
    alone = ("john", "I'll take Leo to soccer on thursday")
    assert waiting(alone, ("john", OTHER_WAY[0])) == taken({"John": "John"})
