"""The upkeep of a household's memory by the settings: its model, its vectors, its people."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from kinkeeper.bootstrap.embedding import embedder_opened
from kinkeeper.bootstrap.member_names import members_by_name
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.core.errors import UnavailableError
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.memory.concepts import follow_facts
from kinkeeper.memory.finding.embedding import EmbeddingWork
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.memory.upkeep.batch import ModelBatch
from kinkeeper.memory.upkeep.consolidation import consolidate
from kinkeeper.memory.upkeep.planner import Progress, Tools
from kinkeeper.memory.upkeep.report import RunState
from kinkeeper.memory.upkeep.runs import Run
from kinkeeper.models.embedding.calibration import calibration_of
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.models.model import ModelGateway
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


class Consolidating:
    """Brings one household's memory in step.

    Args:
        settings: In force.
        household: Whose memory.
        store: Its database.
        clock: Tells when.
        progress: Hears of each step.
        is_rehearsal: Whether it only tells what it would do, of as much as one run looks at.
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
            UnavailableError: The database cannot be written.
        """
        zones = {self._household.id: self._household.zone}
        async with (
            models_opened(
                self._settings, store=self._store, clock=self._clock, zones=zones
            ) as gateway,
            embedder_opened(self._settings) as embedder,
        ):
            meaning = embedder if compares_meaning(embedder) else None
            tools, remarks = await self._tools(gateway, meaning)
            runs = [await self._once(tools, remarks)]
            while runs[-1].report.is_behind and self._is_kept(runs[-1]):
                runs.append(await self._once(tools, remarks))
            if self._is_kept(runs[-1]):
                await self._follow(meaning)
        return runs

    def _is_kept(self, run: Run) -> bool:
        return run.state is RunState.DONE and not self._is_rehearsal

    async def _once(self, tools: Tools, remarks: Sequence[str]) -> Run:
        return await consolidate(
            self._store, self._household.id, tools, now=self._clock.now(),
            progress=self._progress, is_rehearsal=self._is_rehearsal, is_agreed=self._is_agreed,
            remarks=remarks,
        )  # fmt: skip

    async def _tools(
        self, gateway: ModelGateway | None, meaning: Embedder | None
    ) -> tuple[Tools, Sequence[str]]:
        """Return what runs work with, and what they have to do without."""
        household = self._household
        tools = Tools(
            people=members_by_name(household), zone=household.zone,
            batch=ModelBatch(gateway, household.id) if gateway else None,
        )  # fmt: skip
        if meaning is None:
            return tools, ()
        try:
            await self._embed(meaning, "learn what new words mean")
            return replace(tools, likeness=await calibration_of(meaning)), ()
        except UnavailableError as error:
            return tools, [f"meanings were not compared: {error}"]

    async def _follow(self, meaning: Embedder | None) -> None:
        """Let what is derived from facts follow: the map of concepts, and vectors of new words."""
        self._progress("draw the map of concepts anew")
        await self._store.write(lambda conn: follow_facts(conn, self._household.id))
        if meaning is not None:
            with suppress(UnavailableError):  # the worker goes on trying
                await self._embed(meaning, "learn what changed words mean")

    async def _embed(self, meaning: Embedder, step: str) -> None:
        if not self._is_rehearsal:
            self._progress(step)
            await EmbeddingWork(self._store, self._household.id, meaning).finish()
