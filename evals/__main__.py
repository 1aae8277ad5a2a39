"""`python -m evals SUITE`: accuracy on labelled data, with floors and the worst mistakes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as Drawing
from rich.text import Text

from evals import (
    answers,
    arrangements,
    brain,
    cards,
    category,
    confirmations,
    consent,
    dialogues,
    drift,
    group_reading,
    likeness,
    memory_confidence,
    memory_laws,
    memory_leaks,
    memory_observations,
    memory_relations,
    memory_retrieval,
    memory_years,
    months,
    observer,
    planner,
    questions,
    reading,
    router,
    second_look,
    self_correction,
    tripwire,
    when,
)
from evals.memory_finders import has_vector_store
from evals.report import Report, Table
from evals.suites import Suite
from kinkeeper.bootstrap.memory import local_embedder
from kinkeeper.cli.opener import log_to_stderr
from kinkeeper.cli.tables import console
from kinkeeper.cli.terminal import answer_json, notice
from kinkeeper.core.errors import InputError
from kinkeeper.memory.finding.search import compares_meaning
from kinkeeper.models.embedding.embedder import Embedder
from kinkeeper.settings.load import load_settings
from kinkeeper.settings.models import EmbedderChoice

_WORST_SHOWN = 15
_ROOT = Path(__file__).parents[1]

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


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
    return tripwire.measure(scope.public, chats=scope.root / "evals" / "data")


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


def _drift(scope: Scope) -> Report:
    return drift.measure(root=scope.root)


def _cards(scope: Scope) -> Report:
    return cards.measure(root=scope.root, is_full=scope.is_full)


def _arrangements(scope: Scope) -> Report:
    return arrangements.measure(root=scope.root)


def _reading(scope: Scope) -> Report:
    return reading.measure(root=scope.root, is_full=scope.is_full)


def _group_reading(scope: Scope) -> Report:
    return group_reading.measure(root=scope.root)


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


def _memory_years(scope: Scope) -> Report:
    return memory_years.measure(memory_years.FULL if scope.is_full else memory_years.SAMPLE)


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


def _self_correction(scope: Scope) -> Report:
    return self_correction.measure(root=scope.root)


SUITES: Mapping[Suite, Sequence[Callable[[Scope], Report]]] = {
    Suite.OBSERVER: (_observer,),
    Suite.TRIPWIRE: (_tripwire,),
    Suite.WHEN: (_when,),
    Suite.ROUTER: (_router,),
    Suite.PLANNER: (_planner,),
    Suite.QUESTIONS: (_questions,),
    Suite.READING: (_reading, _group_reading),
    Suite.ARRANGEMENTS: (_arrangements,),
    Suite.CARDS: (_cards,),
    Suite.DIALOGUES: (_dialogues,),
    Suite.CATEGORY: (_category,),
    Suite.LIKENESS: (_likeness,),
    Suite.DRIFT: (_drift,),
    Suite.SELF_CORRECTION: (_self_correction,),
    Suite.EXTRACTION: (_extraction,),
    Suite.BRAIN: (_brain,),
    Suite.LEAKS: (_memory_leaks,),
    Suite.LAWS: (_memory_laws,),
    Suite.ANSWERS: (_answers,),
    Suite.CONFIRMATIONS: (_confirmations,),
    Suite.CONSENT: (_consent,),
    Suite.MONTHS: (_months,),
    Suite.YEARS: (_memory_years,),
    Suite.MEMORY: (
        _memory_retrieval,
        _memory_relations,
        _memory_observations,
        _memory_leaks,
        _memory_laws,
        _memory_confidence,
        _memory_years,
        _category,
        _brain,
        _months,
    ),
    Suite.ALL: (
        _observer,
        _tripwire,
        _when,
        _router,
        _planner,
        _dialogues,
        _category,
        _likeness,
        _memory_retrieval,
        _memory_relations,
        _memory_observations,
    ),
}


@app.command()
def evaluate(
    suite: Annotated[Suite, typer.Argument(metavar="SUITE", help="Suite to run.")],
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", envvar="KINKEEPER_DATA", help="Folder with the public data sets."
        ),
    ] = None,
    *,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Repository folder with the labelled chats.")
    ] = _ROOT,
    full: Annotated[bool, typer.Option("--full", help="Use all data instead of a sample.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure accuracy on labelled data; fails if a figure is below its floor."""
    log_to_stderr()
    if not (root / "evals" / "data").is_dir():
        raise InputError(
            f"{root} is not the repository, which has our own labelled chats; specify it with --root DIR"
        )
    scope = Scope(data=data, root=root, is_full=full)
    reports = []
    for measure in SUITES[suite]:
        report = measure(scope)
        reports.append(report)
        if not json_:
            _show(console(), report)
    if json_:
        answer_json([_record(report) for report in reports])
    if not all(floor.holds for report in reports for floor in report.floors):
        raise typer.Exit(1)


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


if __name__ == "__main__":
    app()
