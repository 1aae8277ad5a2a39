"""What goes into a model's context within a budget of tokens. Pure.

Recent messages come first and always, then results of tools; both lose their oldest words where they are too
long, and the result tells what was cut. Of remembered facts, then of episodes, as much worth as fits goes in
whole. System text fills what is left; what nobody wants gives the first two back what they lost.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kinkeeper.memory.context.knapsack import best_fit

TokenCounter = Callable[[str], int]
"""Returns how many tokens a text has, or more; of texts put together no more than of the texts apart."""

DEFAULT_TOKENS = 1500
# Most tokens of each part in a budget of that size; they grow and shrink with it.
_RECENT, _TOOLS, _FACTS, _EPISODES = 500, 400, 200, 200
_LINE_END = 1  # every text stands on lines of its own
_CUT = "…"


class Part(StrEnum):
    """What a text in a context is."""

    SYSTEM = "system"
    RECENT = "recent"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A remembered text that may go in, whole or not at all.

    Attributes:
        id: Of the fact or episode.
        text: As it would stand there.
        worth: How much it would help; >= 0, on any scale.
    """

    id: str
    text: str
    worth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that would go in if there were room.

    Attributes:
        system: What the assistant is told about itself.
        recent: The latest messages, oldest first.
        tools: Results of tools in this turn, oldest first.
        facts: Remembered ones.
        episodes: Remembered ones.
    """

    system: str = ""
    recent: Sequence[str] = ()
    tools: Sequence[str] = ()
    facts: Sequence[Memory] = ()
    episodes: Sequence[Memory] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A text that did not go in whole.

    Attributes:
        part: What it is.
        index: Its place among those of its part.
        tokens: Of the whole text.
        kept: Of what went in; 0 where nothing did.
    """

    part: Part
    index: int
    tokens: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """What goes in, each part in the order it came.

    Attributes:
        system: Its beginning where it was cut.
        recent: The latest, whole; the first of them may have lost its beginning.
        tools: The same of results of tools.
        facts: Those chosen.
        episodes: Those chosen.
        tokens: Of all of it; never more than the budget.
        cuts: What was cut or left out of the system text, the messages and the results.
    """

    system: str
    recent: Sequence[str]
    tools: Sequence[str]
    facts: Sequence[Memory]
    episodes: Sequence[Memory]
    tokens: int
    cuts: Sequence[Cut]


def fit(wanted: Wanted, *, count: TokenCounter, budget: int = DEFAULT_TOKENS) -> Fitted:
    """Return what goes into a context.

    Args:
        wanted: All that would.
        count: Counts tokens.
        budget: Most tokens in all, >= 0.
    """
    size = _on_own_lines(count)
    recent_need, tools_need = sum(map(size, wanted.recent)), sum(map(size, wanted.tools))
    recent_room = min(recent_need, _share(_RECENT, budget))
    tools_room = min(tools_need, _share(_TOOLS, budget))
    room = budget - recent_room - tools_room
    facts = _chosen(wanted.facts, size, min(room, _share(_FACTS, budget)))
    room -= _total(facts, size)
    episodes = _chosen(wanted.episodes, size, min(room, _share(_EPISODES, budget)))
    room -= _total(episodes, size)
    system, system_cuts = _beginning(wanted.system, size, room)
    room -= size(system)
    recent_room += (more := min(room, recent_need - recent_room))
    tools_room += min(room - more, tools_need - tools_room)
    recent, recent_cuts = _latest(Part.RECENT, wanted.recent, size, recent_room)
    tools, tools_cuts = _latest(Part.TOOL, wanted.tools, size, tools_room)
    return Fitted(
        system=system, recent=recent, tools=tools, facts=facts, episodes=episodes,
        tokens=sum(map(size, (system, *recent, *tools))) + _total((*facts, *episodes), size),
        cuts=(*system_cuts, *recent_cuts, *tools_cuts),
    )  # fmt: skip


def _on_own_lines(count: TokenCounter) -> TokenCounter:
    return lambda text: count(text) + _LINE_END if text else 0


def _share(tokens: int, budget: int) -> int:
    return tokens * budget // DEFAULT_TOKENS


def _total(memories: Iterable[Memory], size: TokenCounter) -> int:
    return sum(size(memory.text) for memory in memories)


def _chosen(memories: Sequence[Memory], size: TokenCounter, room: int) -> list[Memory]:
    sizes = [size(memory.text) for memory in memories]
    return [memories[n] for n in best_fit(sizes, [memory.worth for memory in memories], room)]


def _beginning(text: str, size: TokenCounter, room: int) -> tuple[str, list[Cut]]:
    whole = size(text)
    if whole <= room:
        return text, []
    kept = _longest(lambda length: text[:length].rstrip() + _CUT, len(text), size, room)
    return kept, [Cut(part=Part.SYSTEM, index=0, tokens=whole, kept=size(kept))]


def _latest(
    part: Part, texts: Sequence[str], size: TokenCounter, room: int
) -> tuple[list[str], list[Cut]]:
    """Return the texts that fit, from the last one back, and what was cut of those before."""
    kept: list[str] = []
    cuts: list[Cut] = []
    for index in range(len(texts) - 1, -1, -1):
        text = texts[index]
        whole = size(text)
        if whole > room:
            text = _end(text, size, room)
            cuts.append(Cut(part=part, index=index, tokens=whole, kept=size(text)))
            room = 0  # what is older does not go in where what is newer did not
        if text:
            kept.append(text)
            room -= min(room, whole)
    return kept[::-1], cuts[::-1]


def _end(text: str, size: TokenCounter, room: int) -> str:
    return _longest(lambda length: _CUT + text[-length:].lstrip(), len(text), size, room)


def _longest(made: Callable[[int], str], most: int, size: TokenCounter, room: int) -> str:
    """Return the longest text, made from a number of characters below `most`, that fits; "" where none does."""
    fits, too_long = 0, most
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size(made(middle)) <= room:
            fits = middle
        else:
            too_long = middle
    return made(fits) if fits else ""
