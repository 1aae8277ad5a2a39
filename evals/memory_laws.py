"""What must be true of any chain of statements: the order of arrival changes nothing, what held when is known, every change is taken back."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

from evals.memory_chains import FURTHER, Draws, Told, chain, draws_of, in_files, plain_chain
from evals.memory_moments import held_at, moments, planted, told_by
from evals.memory_orders import Arrival, differences, hear, orders, state_after
from evals.memory_undoing import not_restored
from evals.report import Floor, Report, Table
from kinkeeper.household.file import load_household
from kinkeeper.household.model import Household
from kinkeeper.memory.browser import as_of
from kinkeeper.store.store import Store

SAMPLE, FULL = 20, 1_000
"""How many chains are told: by default, and in full."""

_FAMILY = Path("examples") / "miller" / "household.toml"
_ASKER = "john"
_SEED = 5
_A_FILE = 100
_SOON = timedelta(hours=1)
_FEW = 2


@dataclass(slots=True)
class Laws:
    """What was found of chains.

    Attributes:
        found: A line each breach.
        chains: How many were told.
        orders: Orders of arrival that were compared with another.
        differing: Chains whose final state depends on the order.
        moments: Moments asked about, of what fills slots of the data file and of what is told in free words.
        wrong: Of those, where memory tells something else than was planted.
        taken_back: Changes taken back.
        not_restored: Chains with something unsound, or not as it was.
    """

    found: list[str] = field(default_factory=list)
    chains: int = 0
    orders: int = 0
    differing: int = 0
    moments: int = 0
    wrong: int = 0
    wrong_freely: int = 0
    taken_back: int = 0
    not_restored: int = 0


def measure(
    root: Path, *, chains: int = SAMPLE, progress: Callable[[str], None] = lambda _: None
) -> Report:
    """Tell chains in several orders, ask what held when, and take everything back.

    Args:
        root: The repository.
        chains: How many, > 0.
        progress: Told how far it is.
    """
    family, laws = load_household(root / _FAMILY), Laws()
    for store, numbers in in_files(chains, a_file=_A_FILE):
        asyncio.run(try_laws(store, family, numbers, seed=_SEED, into=laws))
        progress(f"{numbers.stop} of {chains} chains, {len(laws.found)} breaches")
    return _report(laws)


async def try_laws(
    store: Store, family: Household, numbers: Iterable[int], *, seed: int, into: Laws
) -> None:
    """Tell chains, and note what should never be.

    Args:
        store: Holds none of these chains.
        family: Whose members speak.
        numbers: Which chains; each is the same whichever others are told.
        seed: Of all chains.
        into: Is added to.
    """
    for number in numbers:
        trial = _Trial(store=store, family=family, number=number, seed=seed, into=into)
        into.chains += 1
        await trial.orders()
        trial.moments()
        trial.undoing()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """One chain, told to households of its own.

    Attributes:
        store: The database.
        family: Whose members speak.
        number: Which chain.
        seed: Of all chains.
        into: Is added to.
    """

    store: Store
    family: Household
    number: int
    seed: int
    into: Laws

    async def orders(self) -> None:
        """Compare the states after several orders of arrival."""
        draws = self._draws()
        turns = chain(draws)
        states = [
            await state_after(self._arrival(f"o{place}", turns), turns, order)
            for place, order in enumerate(orders(draws, len(turns)))
        ]
        found = [line for state in states[1:] for line in differences(states[0], state)]
        self.into.orders += len(states) - 1
        self.into.differing += bool(found)
        self._note("another order", found[:_FEW])

    def moments(self) -> None:
        """Ask what held at every moment, and compare it with what was planted."""
        turns = plain_chain(self._draws())
        arrival = self._arrival("m", turns)
        for place in reversed(range(len(turns))):
            self.store.write_now(
                partial(hear, arrival=arrival, turns=turns, place=place, at=arrival.now)
            )
        claims = planted(turns)
        for instant in moments(claims):
            facts = self.store.read_now(partial(as_of, viewer=arrival.viewer, instant=instant))
            differs = held_at(claims, instant) ^ told_by(facts, turns)
            self.into.moments += 1
            self.into.wrong += any(of not in FURTHER for _, of, _ in differs)
            self.into.wrong_freely += any(of in FURTHER for _, of, _ in differs)
            self._note(f"{instant}", map(str, sorted(differs)))

    def undoing(self) -> None:
        """Take every change back, and look whether all is as it was."""
        draws = self._draws()
        turns = chain(draws)
        found, count = not_restored(self._arrival("u", turns), turns, draws)
        self.into.taken_back += count
        self.into.not_restored += bool(found)
        self._note("taken back", found)

    def _draws(self) -> Draws:
        return draws_of(self.number, seed=self.seed)

    def _arrival(self, household: str, turns: Sequence[Told]) -> Arrival:
        return Arrival(
            store=self.store,
            people=replace(self.family, id=f"{household}-{self.number}"),
            asker=_ASKER,
            now=max(turn.at for turn in turns) + _SOON,
        )

    def _note(self, what: str, lines: Iterable[str]) -> None:
        self.into.found += [f"chain {self.number}, {what}: {line}" for line in lines]


def _report(laws: Laws) -> Report:
    asked = max(1, laws.moments)
    rows = (
        ("chains told in other orders", laws.chains, laws.differing),
        ("moments, of slots of the data file", laws.moments, laws.wrong),
        ("moments, of other things", laws.moments, laws.wrong_freely),
        ("chains taken back, change by change", laws.chains, laws.not_restored),
    )
    return Report(
        suite="memory laws",
        worst=tuple(laws.found),
        tables=(
            Table(
                title=f"Laws of memory; {laws.orders} further orders, {laws.taken_back} changes taken back",
                columns=("what", "tried", "broken"),
                rows=rows,
            ),
        ),
        floors=(
            Floor(
                name="final states that the order left alike",
                minimum=1.0,
                value=1 - laws.differing / laws.chains,
            ),
            Floor(name="moments told as planted", value=1 - laws.wrong / asked, minimum=1.0),
            Floor(
                name="chains restored, and sound",
                minimum=1.0,
                value=1 - laws.not_restored / laws.chains,
            ),
        ),
    )
