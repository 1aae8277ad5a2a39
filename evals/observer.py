"""The whole observer, measured: gates, understanding, attribution, episodes, and silence in ordinary talk."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from evals import tripwire
from evals.attribution import attribution_table, comparable_answers, link
from evals.chats import chat_figures, chat_tables, play_chats
from evals.episode_file import load_episodes
from evals.episode_scoring import Score, score_episode
from evals.episodes import MINIMUMS, report_scores
from evals.extraction import family_understood, real_understood
from evals.extraction_report import (
    confused,
    family_figures,
    family_tables,
    mistakes,
    real_figures,
    real_tables,
)
from evals.false_speaks import chatter_tables, replay_chatter
from evals.replayed import EpisodePlayer, Stage
from evals.report import Floor, Report, Table

SUITE: Final = "observer"

# A little under what was reached; a floor is raised when the figure has risen, never lowered in silence.
# Four went down by .005 to .04 when all layers of the encoder were fitted: it finds .033 more of what writers that were
# held out from training said, and these four sets had long been looked at.
FLOORS: Final[Mapping[str, float]] = {
    "ordinary talk: messages without a false one": 0.9993,
    "ordinary talk: messages understood or dropped": 1.0,
    "ordinary talk: unprompted messages made by a rule": 1.0,
    "real messages: found": 0.21,
    "real messages: kind right": 0.4,
    "real messages: person right": 0.27,
    "real messages: given to no wrong person": 0.97,
    "real messages: times read": 0.79,
    "technical chats: answers to questions linked rightly": 0.8,
    "episodes dev: unprompted messages found": 0.97,
    "episodes dev: unprompted messages right": 0.98,
    "episodes dev: messages without a false one": 0.9965,
    "episodes dev: attributions right": 0.97,
    "episodes dev: cancellations and edits honoured": 0.98,
    "episodes dev: messages given to no wrong person": 0.998,
    "episodes dev: all right": 0.91,
    "episodes dev: messages understood or dropped": 1.0,
    "episodes dev2: unprompted messages found": 0.92,
    "episodes dev2: unprompted messages right": 0.98,
    "episodes dev2: messages without a false one": 0.995,
    "episodes dev2: attributions right": 0.97,
    "episodes dev2: cancellations and edits honoured": 0.95,
    "episodes dev2: messages given to no wrong person": 0.997,
    "episodes dev2: all right": 0.905,
    "episodes dev2: messages understood or dropped": 1.0,
    "episodes dev3: unprompted messages found": 0.95,
    "episodes dev3: unprompted messages right": 0.95,
    "episodes dev3: messages without a false one": 0.994,
    "episodes dev3: attributions right": 0.98,
    "episodes dev3: cancellations and edits honoured": 0.95,
    "episodes dev3: messages given to no wrong person": 0.99,
    "episodes dev3: all right": 0.85,
    "episodes dev3: messages understood or dropped": 1.0,
    "episodes dev4: unprompted messages found": 0.97,
    "episodes dev4: unprompted messages right": 0.97,
    "episodes dev4: messages without a false one": 0.996,
    "episodes dev4: attributions right": 0.95,
    "episodes dev4: cancellations and edits honoured": 0.95,
    "episodes dev4: messages given to no wrong person": 0.996,
    "episodes dev4: all right": 0.96,
    "episodes dev4: messages understood or dropped": 1.0,
    "episodes heldout: unprompted messages found": 0.89,
    "episodes heldout: unprompted messages right": 0.95,
    "episodes heldout: messages without a false one": 0.985,
    "episodes heldout: attributions right": 0.9,
    "episodes heldout: cancellations and edits honoured": 0.94,
    "episodes heldout: messages given to no wrong person": 0.99,
    "episodes heldout: all right": 0.8,
    "episodes heldout: messages understood or dropped": 1.0,
    "our own chats dev: precision": 0.96,
    "our own chats dev: recall": 0.47,
    "our own chats dev: kind right": 0.64,
    "our own chats dev: answers attributed": 0.18,
    "our own chats heldout: precision": 0.93,
    "our own chats heldout: recall": 0.33,
    "our own chats heldout: kind right": 0.54,
    "our own chats heldout: answers attributed": 0.14,
    "our own chats: small talk without a false message": 0.997,
    "whole chats: messages without a false word aloud": 0.998,
    "whole chats: cards found": 0.845,
    "whole chats: cards wanted": 0.97,
    "whole chats: values right of those given": 0.965,
    "whole chats: owners right of those given": 0.98,
    "whole chats: answers linked rightly": 0.86,
}
_HELD_OUT: Final = "heldout"
_SAMPLED_HOUSEHOLDS: Final = 4
_ATTRIBUTION: Final = "attribution"


@dataclass(slots=True)
class _Part:
    """What a part of the suite adds to the report."""

    tables: list[Table] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    worst: list[str] = field(default_factory=list)

    def report(self) -> Report:
        return Report(
            suite=SUITE,
            tables=tuple(self.tables),
            floors=tuple(
                Floor(name=name, value=self.figures[name], minimum=minimum)
                for name, minimum in FLOORS.items()
                if name in self.figures
            ),
            worst=tuple(self.worst),
        )


def measure(data: Path, *, is_full: bool = False, root: Path = Path()) -> Report:
    """Measure the observer on public data and on what the repository ships.

    Args:
        data: Folder with the public sets.
        is_full: Everything there is; otherwise a fixed sample of the real talk, for quick checks.
        root: The repository: `evals`, and the households it names.

    Returns:
        Tables, floors, and the worst mistakes: false messages first. Held-out texts are never shown.

    Raises:
        InputError: A public set is missing.
    """
    public, shipped = measure_public(data, is_full=is_full, root=root), measure_shipped(root)
    return Report(
        suite=SUITE,
        tables=(*public.tables, *shipped.tables),
        floors=(*public.floors, *shipped.floors),
        worst=(*public.worst, *shipped.worst),
    )


def measure_public(data: Path, *, is_full: bool = False, root: Path = Path()) -> Report:
    """Measure what needs the public sets.

    Args:
        data: Folder with the public sets.
        is_full: As in `measure`.
        root: The repository.

    Raises:
        InputError: A public set is missing.
    """
    part = _Part()
    _chatter(part, data, root, is_full=is_full)
    _real_extraction(part, data, is_full=is_full)
    _links(part, data)
    if is_full:
        _tripwire(part, data, root)
    return part.report()


def measure_shipped(root: Path = Path()) -> Report:
    """Measure what needs the repository only: the episodes and our own family chats.

    Args:
        root: The repository.
    """
    part = _Part()
    with Stage() as stage:
        for path in sorted((root / "evals" / "data").glob("episodes_*.jsonl")):
            _episodes(part, stage, root, path)
    _family_extraction(part, root)
    _chats(part, root)
    return part.report()


def household_files(root: Path) -> list[Path]:
    """Return the household files of a repository: the sample's, and those of the measurements."""
    sample = root / "examples" / "miller" / "household.toml"
    return [sample, *sorted((root / "evals" / "data" / "households").glob("*.toml"))]


def _chatter(part: _Part, data: Path, root: Path, *, is_full: bool) -> None:
    households = household_files(root)
    outcome = replay_chatter(
        data, households if is_full else households[:_SAMPLED_HOUSEHOLDS], is_full=is_full
    )
    total = outcome.total
    rate = total.messages / outcome.seconds
    part.tables += [
        *chatter_tables(outcome),
        Table(
            title="Throughput, both tiers on a virtual clock",
            columns=("messages", "seconds", "messages a second"),
            rows=((total.messages, round(outcome.seconds, 1), round(rate, 1)),),
        ),
    ]
    part.figures |= {
        "ordinary talk: messages without a false one": 1 - total.per_thousand / 1_000,
        "ordinary talk: messages understood or dropped": 1 - total.failed / total.messages,
        "ordinary talk: unprompted messages made by a rule": 1
        - sum(speak.line.get("redline_trigger_rule") is None for speak in total.speaks)
        / max(1, len(total.speaks)),
    }
    part.worst += [f"false {speak}" for speak in total.speaks]


def _real_extraction(part: _Part, data: Path, *, is_full: bool) -> None:
    understood = real_understood(data / "coordination_real_dev.jsonl", sure_only=not is_full)
    part.tables += [*real_tables(understood), confused("real messages", understood)]
    figures = real_figures(understood)
    part.figures |= {f"real messages: {name}": value for name, value in figures.items()}
    part.worst += mistakes(understood)


def _links(part: _Part, data: Path) -> None:
    answers = comparable_answers(data / "irc_reply_attribution_dev.jsonl")
    part.tables.append(attribution_table(answers))
    to_questions = [answer for answer in answers if answer.is_to_question]
    part.figures["technical chats: answers to questions linked rightly"] = link(
        to_questions, every_question=True
    ).recall


def _tripwire(part: _Part, data: Path, root: Path) -> None:
    report = tripwire.measure(data, chats=root / "evals" / "data")
    part.tables += [replace(table, title=f"Tripwire: {table.title}") for table in report.tables]
    part.worst += [f"tripwire {line}" for line in report.worst]


def _episodes(part: _Part, stage: Stage, root: Path, path: Path) -> None:
    split = path.stem.removeprefix("episodes_")
    started = time.perf_counter()
    player = EpisodePlayer(stage, root)
    scores = [
        score_episode(
            episode,
            player.run(episode.household, episode.messages, episode.until),
            player.pending(),
        )
        for episode in load_episodes(path)
    ]
    seconds = time.perf_counter() - started
    report = report_scores(scores)
    part.tables += [
        *(replace(table, title=f"{table.title}, {split}") for table in report.tables),
        _targets(split, report, scores, seconds),
    ]
    messages = sum(len(score.episode.messages) for score in scores)
    part.figures |= {f"episodes {split}: {each.name}": each.value for each in report.floors}
    part.figures |= {
        f"episodes {split}: all right": _share([score.all_right for score in scores]),
        f"episodes {split}: messages understood or dropped": 1 - player.failures / messages,
    }
    if split != _HELD_OUT:
        part.worst += [f"episode {line[:400]}" for line in report.worst]


def _targets(split: str, report: Report, scores: Sequence[Score], seconds: float) -> Table:
    """Return the promised figures beside those reached; answers also in their own situation alone."""
    own = report_scores([score for score in scores if score.episode.slice == _ATTRIBUTION])
    rows = [(each.name, each.value, MINIMUMS[each.name]) for each in report.floors]
    name = "attributions right"
    alone = next(each.value for each in own.floors if each.name == name)
    return Table(
        title=f"Episodes, promised and reached, {split} ({seconds:.0f} s)",
        columns=("figure", "reached", "promised"),
        rows=(*rows, (f"{name}, situation {_ATTRIBUTION} alone", alone, MINIMUMS[name])),
    )


def _family_extraction(part: _Part, root: Path) -> None:
    understood = family_understood(root / "evals" / "data")
    part.tables += [*family_tables(understood), confused("our own chats", understood)]
    for split in ("dev", _HELD_OUT):
        figures = family_figures([each for each in understood if each.source == split])
        part.figures |= {f"our own chats {split}: {name}": v for name, v in figures.items()}
    speaks = [each for each in understood if each.is_false_speak]
    quiet = sum(not each.labels["is_coordination"] for each in understood)
    part.figures["our own chats: small talk without a false message"] = 1 - len(speaks) / quiet
    part.worst += mistakes(understood)


def _chats(part: _Part, root: Path) -> None:
    scores = play_chats(root / "evals" / "data" / "chats", root)
    part.tables += chat_tables(scores, "Whole chats of strangers")
    figures = chat_figures(list(scores.values()))
    part.figures |= {f"whole chats: {name}": value for name, value in figures.items()}
    part.worst += [f"chat {line[:300]}" for score in scores.values() for line in score.mistakes]


def _share(rights: Sequence[bool]) -> float:
    return sum(rights) / len(rights)
