"""Shows how memory fares."""

from rich.console import Console
from rich.text import Text

from kinkeeper.memory.memory_metrics import MemoryFigures
from kinkeeper.memory.model import FactStatus


def show_memory(screen: Console, found: MemoryFigures) -> None:
    """Show the figures of memory; of an empty memory, that it is empty.

    Args:
        screen: Where.
        found: The figures.
    """
    if not found.episodes and not found.facts:
        screen.print("Memory: empty")
        return
    screen.print(Text("Memory", "bold"))
    kept = sum(count for status, count in found.facts.items() if status.is_active)
    rest = ", ".join(
        f"{status.value.replace('_', ' ')} {count}"
        for status, count in sorted(found.facts.items())
        if not status.is_active
    )
    screen.print(f"  {found.episodes} episodes, {kept} facts in use{f' ({rest})' if rest else ''}")
    screen.print(f"  sentences that repeat a known fact: {_share(found.repeated_share)}")
    faded = found.facts.get(FactStatus.DEPRECATED, 0)
    screen.print(f"  supported by more than one episode: {found.supported}; faded: {faded}")
    screen.print(
        f"  contradictions: {_share(found.settled_without_model)} settled without a model, "
        f"{found.undecided} undecided, {found.contradicted} facts flagged"
    )
    screen.print(
        f"  models this week: {found.model_calls} calls, estimated cost {found.model_cost:.4f}"
    )


def _share(share: float | None) -> str:
    return "none" if share is None else f"{share:.0%}"
