"""What a language model adds: rules, a model alone, and the rules with a model where they leave something open.

A fixed sample of labelled messages of the episodes: those that the rules leave open, and others. Each arm replays the
whole episode; only the sampled messages are read in the arm's way, as a call takes seconds on a small machine.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zoneinfo import ZoneInfo

from evals.episode_file import Episode, load_episodes
from evals.episode_scoring import Score, score_episode
from evals.false_speaks import replay_chatter
from evals.observer import household_files
from evals.replayed import EpisodePlayer, Reader, Stage
from evals.report import Floor, Report
from evals.second_look_report import (
    LEFT_OPEN,
    SURE,
    Arm,
    Messages,
    mistakes,
    question_table,
    reading_table,
)
from kinkeeper.bootstrap.models import models_opened
from kinkeeper.core.time import SystemClock
from kinkeeper.models.model import ModelGateway
from kinkeeper.observer.consultation import Consultation
from kinkeeper.observer.extraction.model_grounding import Doubt, Offer, doubt_about
from kinkeeper.observer.extraction.prepared import Around, Part
from kinkeeper.observer.extraction.rules_extractor import arranges
from kinkeeper.observer.model import BY_MODEL, Extraction
from kinkeeper.observer.settling.message_reader import Extractor, RulesExtractor, offered
from kinkeeper.observer.settling.model_extraction import ModelExtractor, extraction_prompt
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store

SUITE: Final = "extraction"
SETS: Final = ("dev", "dev2", "dev3")
_SAMPLED: Final[Mapping[str, int]] = {LEFT_OPEN: 14, SURE: 8}
_SAMPLED_HOUSEHOLDS: Final = 4


class _Listening(RulesExtractor):
    """The rules; notes which messages they leave open."""

    def __init__(self) -> None:
        self.open: set[str] = set()
        self.read: set[str] = set()

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return it as it is."""
        message = around.loaded.stored.message.message_id
        self.read.add(message)
        if not part.corrects and doubt_about(part.reading, part.extraction):
            self.open.add(message)
        return part


class _Sampled(RulesExtractor):
    """Another extractor for the sampled messages of one episode, the rules for the others."""

    def __init__(self, other: Extractor, messages: Iterable[str]) -> None:
        self._other = other
        self._messages = frozenset(messages)
        self.asked: list[Consultation] = []

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Let the other look at it, if it is of a sampled message."""
        if around.loaded.stored.message.message_id not in self._messages:
            return part
        looked = await self._other.reconsider(part, around)
        if looked.consultation is not None:
            self.asked.append(looked.consultation)
        return looked


class _Alone(ModelExtractor):
    """Asks about everything, tells nothing of what the rules read, and believes every answer."""

    async def reconsider(self, part: Part, around: Around) -> Part:
        """Return what the model says instead of what the rules read."""
        blank = replace(part, extraction=Extraction(is_coordination=False))
        offer = offered(part, around)
        consultation = await self.consult(blank, around, offer, Doubt.UNPLACED)
        return replace(
            part,
            extraction=_believed(part.extraction, consultation, offer),
            consultation=consultation,
        )


def _believed(rules: Extraction, consultation: Consultation, offer: Offer) -> Extraction:
    """Return what a model says, all of it, with the words of the text that the rules found."""
    answer = consultation.answer
    if answer is None:
        return Extraction(is_coordination=False)
    said = Extraction(
        is_coordination=False,
        task=answer.task,
        stance=answer.stance,
        dates=tuple(sorted(offer.dates[key] for key in answer.dates)),
        times=tuple(sorted(offer.times[key] for key in answer.times)),
        assigned_to=tuple(answer.owners) or Extraction(is_coordination=False).assigned_to,
        child=tuple(answer.children),
        activity=answer.activity,
        location=answer.place,
        entities=rules.entities,
        confidence=0.9,
        extractor=BY_MODEL,
    )
    return arranges(said) if answer.is_arrangement else said


def measure(
    root: Path, settings: Settings, *, data: Path | None, sets: Sequence[str] = SETS
) -> Report:
    """Measure how rarely a model is asked, and, where the settings name one, compare the three ways to read.

    Args:
        root: The repository.
        settings: In force.
        data: Folder with the public sets, for the share of ordinary talk; None leaves that out.
        sets: Which of our sets of episodes.

    Raises:
        InputError: A public set is missing.
    """
    with Stage() as stage, asyncio.Runner() as runner, ExitStack() as held:
        bench = _Bench(EpisodePlayer(stage, root), runner, _episodes(root, sets))
        asked, groups = bench.sampled()
        shares = {"episodes": asked}
        if data is not None:
            shares["ordinary talk"] = _share_of_talk(data, root, runner)
        models = _opened(settings, runner, held)
        arms = bench.arms(models, groups) if models else ()
    floors = [
        Floor(name=f"{name}: messages without a question to a model", value=1 - share, minimum=0.93)
        for name, share in shares.items()
    ]
    if arms:
        rules, helped = (sum(map(arm.fields_right, groups.values())) for arm in arms[:2])
        floors.append(Floor(name="fields right, against rules", value=helped / rules, minimum=1.0))
    return Report(
        suite=SUITE,
        tables=(reading_table(arms, groups), question_table(arms)) if arms else (),
        floors=tuple(floors),
        worst=tuple(mistakes(arms[1:], groups)),
    )


def _episodes(root: Path, sets: Sequence[str]) -> Mapping[str, Episode]:
    return {
        f"{name}/{episode.id}": episode
        for name in sets
        for episode in load_episodes(root / "evals" / "data" / f"episodes_{name}.jsonl")
    }


def _share_of_talk(data: Path, root: Path, runner: asyncio.Runner) -> float:
    listening = _Listening()
    households = household_files(root)[:_SAMPLED_HOUSEHOLDS]
    outcome = replay_chatter(data, households, is_full=False, reader=Reader(listening, runner))
    return len(listening.open) / outcome.total.messages


def _opened(settings: Settings, runner: asyncio.Runner, held: ExitStack) -> ModelGateway | None:
    folder = held.enter_context(TemporaryDirectory(prefix="kinkeeper-eval-"))
    store = held.enter_context(Store.open(str(Path(folder) / "calls.sqlite")))
    zones: Mapping[str, ZoneInfo] = defaultdict(lambda: ZoneInfo("UTC"))
    opening = models_opened(settings, store=store, clock=SystemClock(), zones=zones)
    gateway: ModelGateway | None = runner.run(opening.__aenter__())
    held.callback(lambda: runner.run(opening.__aexit__(None, None, None)))
    return gateway


@dataclass(frozen=True, slots=True)
class _Bench:
    """Replays episodes with one extractor or another.

    Attributes:
        player: Plays them.
        runner: Of the event loop of the models.
        episodes: By id.
    """

    player: EpisodePlayer
    runner: asyncio.Runner
    episodes: Mapping[str, Episode]

    def sampled(self) -> tuple[float, Mapping[str, Messages]]:
        """Return the share of all messages that the rules leave open, and a sample of labelled ones by group."""
        labelled: dict[str, list[tuple[str, str]]] = {LEFT_OPEN: [], SURE: []}
        left_open = 0
        for key, episode in self.episodes.items():
            listening = _Listening()
            self._score(episode, listening)
            left_open += len(listening.open)
            for message, expected in episode.lines.items():
                if "extraction" in expected and message in listening.read:
                    labelled[LEFT_OPEN if message in listening.open else SURE].append(
                        (key, message)
                    )
        total = sum(len(episode.messages) for episode in self.episodes.values())
        return left_open / total, {
            group: _by_episode(_spread(found, _SAMPLED[group])) for group, found in labelled.items()
        }

    def arms(self, models: ModelGateway, groups: Mapping[str, Messages]) -> Sequence[Arm]:
        """Replay the episodes with sampled messages, those read in each of the ways."""
        prompt = extraction_prompt()
        ways = {
            "rules": RulesExtractor(),
            "rules, a model where open": ModelExtractor(models, prompt),
            "a model alone": _Alone(models, prompt),
        }
        return [self._arm(name, extractor, groups) for name, extractor in ways.items()]

    def _arm(self, name: str, extractor: Extractor, groups: Mapping[str, Messages]) -> Arm:
        scores, asked = {}, []
        for key, episode in self.episodes.items():
            messages = [each for group in groups.values() for each in group.get(key, ())]
            if messages:
                sampled = _Sampled(extractor, messages)
                scores[key] = self._score(episode, sampled)
                asked += sampled.asked
        return Arm(name, scores, asked)

    def _score(self, episode: Episode, extractor: Extractor) -> Score:
        reader = Reader(extractor, self.runner)
        lines = self.player.run(episode.household, episode.messages, episode.until, reader)
        return score_episode(episode, lines, self.player.pending())


def _spread(found: Sequence[tuple[str, str]], count: int) -> Sequence[tuple[str, str]]:
    """Return about as many, evenly from the whole list."""
    step = max(1, len(found) // count)
    return found[::step][:count]


def _by_episode(found: Iterable[tuple[str, str]]) -> Messages:
    grouped: dict[str, set[str]] = defaultdict(set)
    for key, message in found:
        grouped[key].add(message)
    return {key: frozenset(messages) for key, messages in grouped.items()}
