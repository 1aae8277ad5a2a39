"""The upkeep of a household's memory by the settings: its model, its vectors, its people."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kinkeeper.bootstrap.memory import embedder_opened
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household, members_by_name
from kinkeeper.memory.concepts import follow_all_facts
from kinkeeper.memory.finding.embedding_worker import EmbeddingWork
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.memory.upkeep.batch import ModelBatch
from kinkeeper.memory.upkeep.consolidation import consolidate, cost_since
from kinkeeper.memory.upkeep.planner import Progress, Tools
from kinkeeper.memory.upkeep.runs import Run, RunState
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.models.model import ModelGateway
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import is_sqlite
from kinkeeper.store.store import Store


class Consolidating:
    """Brings one household's memory in step.

    Args:
        is_rehearsal: Whether it only tells what it would do: it does it to a copy, or, of a database on a
            server, looks at as much as one run does.
        is_agreed: Whether somebody has agreed to whatever leaves.
    """

    def __init__(
        self,
        settings: Settings,
        household: Household,
        store: Store,
        clock: Clock,
        *,
        progress: Progress,
        is_rehearsal: bool = False,
        is_agreed: bool = False,
    ) -> None:
        self._settings = settings
        self._household = household
        self._store = store
        self._clock = clock
        self._progress = progress
        self._is_rehearsal = is_rehearsal
        self._is_agreed = is_agreed

    async def run(self) -> Sequence[Run]:
        """Run until nothing new is left, or a person has to be asked.

        Returns:
            The runs, at least one; all but the last are done.

        Raises:
            ConflictError: Another process has just done it.
        """
        if not (self._is_rehearsal and is_sqlite(self._store.url)):
            return await self._run(self._store)
        begun = self._clock.now()
        with TemporaryDirectory() as folder:
            path = Path(folder) / "rehearsal.sqlite"
            await asyncio.to_thread(self._store.backup_to, path)
            with Store.open(str(path)) as copy:
                runs = await self._run(copy)
        cost = await cost_since(self._store, self._household.id, begun)
        told = [replace(run, change_set=None) for run in runs]
        return [*told[:-1], replace(told[-1], report=replace(told[-1].report, cost=cost))]

    async def _run(self, store: Store) -> Sequence[Run]:
        is_rehearsal = self._is_rehearsal and store is self._store
        zones = {self._household.id: self._household.zone}
        async with (
            models_opened(
                self._settings, store=self._store, clock=self._clock, zones=zones
            ) as gateway,
            embedder_opened(self._settings) as embedder,
        ):
            meaning = embedder if compares_meaning(embedder) else None
            tools, remarks = await self._tools(gateway, meaning, None if is_rehearsal else store)

            async def once() -> Run:
                return await consolidate(
                    store,
                    self._household.id,
                    tools,
                    now=self._clock.now(),
                    progress=self._progress,
                    is_rehearsal=is_rehearsal,
                    is_agreed=self._is_agreed,
                    remarks=remarks,
                )

            runs = [await once()]
            while (
                runs[-1].report.is_behind and runs[-1].state is RunState.DONE and not is_rehearsal
            ):
                runs.append(await once())
            if runs[-1].state is RunState.DONE and not self._is_rehearsal:
                await self._follow(meaning)
        return runs

    async def _tools(
        self, gateway: ModelGateway | None, meaning: Embedder | None, learning: Store | None
    ) -> tuple[Tools, Sequence[str]]:
        """Return what runs work with, and what they have to do without; new words are learnt in a store."""
        household = self._household
        tools = Tools(
            people=members_by_name(household),
            zone=household.zone,
            batch=ModelBatch(gateway, household.id) if gateway else None,
        )
        if meaning is None:
            return tools, ()
        try:
            if learning is not None:
                await self._embed(learning, meaning, "compute vectors of new texts")
            return replace(tools, likeness=await calibration_of(meaning)), ()
        except UnavailableError as error:
            return tools, [f"meanings were not compared: {error}"]

    async def _follow(self, meaning: Embedder | None) -> None:
        """Let what is derived from facts follow: the map of concepts, and vectors of new words."""
        self._progress("update the concept map")
        await follow_all_facts(self._store, self._household.id)
        if meaning is not None:
            with suppress(UnavailableError):  # the worker goes on trying
                await self._embed(self._store, meaning, "compute vectors of changed texts")

    async def _embed(self, store: Store, meaning: Embedder, step: str) -> None:
        self._progress(step)
        await EmbeddingWork(store, self._household.id, meaning).finish()
