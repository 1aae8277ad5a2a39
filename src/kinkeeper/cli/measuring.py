"""Runs the measurement suites and shows tables, floors and the worst mistakes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Drawing
from rich.text import Text

from kinkeeper.bootstrap.embedding import local_embedder
from kinkeeper.cli.opening import log_to_stderr
from kinkeeper.cli.suites import Suite
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.evaluation import (
    answers,
    brain,
    category,
    confirmations,
    consent,
    dialogues,
    likeness,
    memory_confidence,
    memory_laws,
    memory_leaks,
    memory_observations,
    memory_relations,
    memory_retrieval,
    months,
    observer,
    planner,
    questions,
    router,
    second_look,
    tripwire,
    when,
)
from kinkeeper.evaluation.memory_finders import has_vector_store
from kinkeeper.evaluation.report import Report, Table
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.settings.embedding import EmbedderChoice
from kinkeeper.settings.load import load_settings

_WORST_SHOWN = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What is measured on.

    Attributes:
        data: Folder with the public sets, if there is one.
        root: The repository, with our own labelled chats.
        is_full: All there is, instead of a sample of what is plenty.
    """

    data: Path | None
    root: Path
    is_full: bool

    @property
    def public(self) -> Path:
        """The folder with the public sets.

        Raises:
            InputError: None was named.
        """
        if self.data is None:
            raise InputError(
                "this suite needs the public data sets; name their folder with --data DIR "
                "or KINKEEPER_DATA"
            )
        return self.data


def _observer(scope: Scope) -> Report:
    if scope.data is None:
        notice("without public data sets (--data DIR) only our own chats are measured")
        return observer.measure_shipped(scope.root)
    return observer.measure(scope.data, is_full=scope.is_full, root=scope.root)


def _tripwire(scope: Scope) -> Report:
    return tripwire.measure(scope.public, chats=scope.root / "evals")


def _when(scope: Scope) -> Report:
    return when.measure(scope.public)


def _router(scope: Scope) -> Report:
    return router.measure(
        scope.data, embedders=_embedders(), root=scope.root, is_full=scope.is_full
    )


def _planner(scope: Scope) -> Report:
    return planner.measure(scope.data, root=scope.root, is_full=scope.is_full)


def _dialogues(scope: Scope) -> Report:
    return dialogues.measure(root=scope.root)


def _questions(scope: Scope) -> Report:
    return questions.measure(scope.root)


def _category(scope: Scope) -> Report:
    return category.measure(scope.data, embedders=_embedders(), root=scope.root)


def _likeness(scope: Scope) -> Report:
    named = {name: each for name, each in _embedders().items() if each is not None}
    return likeness.measure(scope.public, embedders=named)


def _embedders() -> Mapping[str, Embedder | None]:
    """Return the embedders inside this process, the best that is installed last."""
    found: dict[str, Embedder | None] = {"cues alone": None}
    for choice in (EmbedderChoice.HASHING, EmbedderChoice.AUTO):
        if embedder := local_embedder(choice):
            found[embedder.model] = embedder
    return found


def _brain(scope: Scope) -> Report:
    # Spelling alone tells the brain nothing that words do not.
    meaning = {name: each for name, each in _embedders().items() if compares_meaning(each)}
    return brain.measure(embedders={"words": None, **meaning}, root=scope.root)


def _extraction(scope: Scope) -> Report:
    return second_look.measure(scope.root, load_settings(), data=scope.data)


def _answers(scope: Scope) -> Report:
    return answers.measure(scope.root, is_full=scope.is_full)


def _confirmations(scope: Scope) -> Report:
    return confirmations.measure(scope.data, root=scope.root, is_full=scope.is_full)


def _consent(scope: Scope) -> Report:
    return consent.measure(scope.root, is_full=scope.is_full)


def _memory_relations(scope: Scope) -> Report:
    return memory_relations.measure(scope.data, root=scope.root)


def _memory_observations(scope: Scope) -> Report:
    return memory_observations.measure(scope.root)


def _memory_confidence(scope: Scope) -> Report:
    return memory_confidence.measure(has_others=scope.is_full)


def _memory_leaks(scope: Scope) -> Report:
    chains = memory_leaks.FULL if scope.is_full else memory_leaks.SAMPLE
    return memory_leaks.measure(scope.root, chains=chains, progress=notice)


def _memory_laws(scope: Scope) -> Report:
    chains = memory_laws.FULL if scope.is_full else memory_laws.SAMPLE
    return memory_laws.measure(scope.root, chains=chains, progress=notice)


def _months(scope: Scope) -> Report:
    return months.measure(root=scope.root)


def _memory_retrieval(scope: Scope) -> Report:
    embedder = local_embedder(EmbedderChoice.AUTO)
    if not compares_meaning(embedder):
        embedder = None
        notice("without an embedder that tells what texts mean, memory is measured by words alone")
    elif not has_vector_store():
        notice(
            "Qdrant is not installed (pip install qdrant-client): memory is not compared with it"
        )
    return memory_retrieval.measure(scope.public, embedder=embedder)


SUITES: Mapping[Suite, Sequence[Callable[[Scope], Report]]] = {
    Suite.OBSERVER: (_observer,),
    Suite.TRIPWIRE: (_tripwire,),
    Suite.WHEN: (_when,),
    Suite.ROUTER: (_router,),
    Suite.PLANNER: (_planner,),
    Suite.QUESTIONS: (_questions,),
    Suite.DIALOGUES: (_dialogues,),
    Suite.CATEGORY: (_category,),
    Suite.LIKENESS: (_likeness,),
    Suite.EXTRACTION: (_extraction,),
    Suite.BRAIN: (_brain,),
    Suite.LEAKS: (_memory_leaks,),
    Suite.LAWS: (_memory_laws,),
    Suite.ANSWERS: (_answers,),
    Suite.CONFIRMATIONS: (_confirmations,),
    Suite.CONSENT: (_consent,),
    Suite.MONTHS: (_months,),
    Suite.MEMORY: (
        _memory_retrieval, _memory_relations, _memory_observations, _memory_leaks, _memory_laws, _memory_confidence,
        _category, _brain, _months,
    ),
    Suite.ALL: (
        _observer, _tripwire, _when, _router, _planner, _dialogues, _category, _likeness,
        _memory_retrieval, _memory_relations, _memory_observations,
    ),
}  # fmt: skip


def run_evaluation(suite: Suite, scope: Scope, *, as_json: bool) -> bool:
    """Run one suite or several, and show what they found.

    Args:
        suite: Which.
        scope: What to measure on.
        as_json: Answer with one JSON list.

    Returns:
        Whether every floor was reached.

    Raises:
        InputError: Its data is missing.
    """
    log_to_stderr()
    if not (scope.root / "evals").is_dir():
        raise InputError(
            f"{scope.root} is not the repository, which has our own labelled chats; name it with --root DIR"
        )
    reports = []
    for measure in SUITES[suite]:
        report = measure(scope)
        reports.append(report)
        if not as_json:
            _show(console(), report)
    if as_json:
        answer_json([_record(report) for report in reports])
    return all(floor.holds for report in reports for floor in report.floors)


def _record(report: Report) -> dict[str, Any]:
    record = asdict(report)
    for entry, floor in zip(record["floors"], report.floors, strict=True):
        entry["holds"] = floor.holds
    return record


def _show(screen: Console, report: Report) -> None:
    for table in report.tables:
        screen.print(_drawn(table))
    floors = Drawing(title=f"{report.suite}: floors", title_justify="left")
    for heading in ("figure", "now", "floor", ""):
        floors.add_column(heading, justify="left" if heading in {"figure", ""} else "right")
    for floor in report.floors:
        verdict = Text("ok", "green") if floor.holds else Text("BELOW", "bold red")
        floors.add_row(floor.name, f"{floor.value:.4g}", f"{floor.minimum:.4g}", verdict)
    screen.print(floors)
    if report.worst:
        screen.print(f"Worst mistakes ({len(report.worst)}):")
        for mistake in report.worst[:_WORST_SHOWN]:
            screen.print(f"  {mistake}", soft_wrap=True)


def _drawn(table: Table) -> Drawing:
    drawing = Drawing(title=table.title, title_justify="left")
    for number, heading in enumerate(table.columns):
        drawing.add_column(heading, justify="right" if number else "left")
    for row in table.rows:
        drawing.add_row(*(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row))
    return drawing
