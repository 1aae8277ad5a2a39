"""The options and arguments of commands: which household, database and environment, and what several share."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

P = ParamSpec("P")

HouseholdOption = Annotated[
    Path | None,
    typer.Option(
        "--household", metavar="FILE", help="Household file.", rich_help_panel="Which household"
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        rich_help_panel="Which household",
        help="Database: a file, sqlite:///FILE or postgresql://…; created if missing.",
    ),
]
EnvironmentOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="NAME",
        rich_help_panel="Which household",
        help="Environment; each has its own database.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What the person said about where to work; None leaves it to the settings."""

    household: Path | None = None
    db: str | None = None
    env: str | None = None

    def over(self, other: "Where") -> "Where":
        """Return this, with what it leaves open taken from `other`."""
        return Where(
            household=self.household or other.household,
            db=self.db or other.db,
            env=self.env or other.env,
        )


def located(command: Callable[Concatenate[Where, P], None]) -> Callable[..., None]:
    """Give a command the options --household, --db and --env; it gets them as its first argument."""

    @wraps(command)
    def run(
        ctx: typer.Context, household: Path | None, db: str | None, env: str | None, **options: Any
    ) -> None:
        own = Where(household=household, db=db, env=env)
        where = own.over(ctx.obj) if isinstance(ctx.obj, Where) else own
        ctx.obj = where
        # A group runs its own command only where no subcommand follows.
        if ctx.invoked_subcommand is None:
            command(where, **options)  # type: ignore[call-arg]  # Typer passes all options by name

    _take_on_options(run, command)
    return run


def _take_on_options(run: Callable[..., None], command: Callable[..., None]) -> None:
    """Show Typer the command's own options and the common ones, without the place itself."""
    own = list(inspect.signature(command).parameters.values())[1:]
    kind = inspect.Parameter.KEYWORD_ONLY
    common = [
        inspect.Parameter("ctx", kind, annotation=typer.Context),
        *(
            inspect.Parameter(name, kind, annotation=annotation, default=None)
            for name, annotation in (
                ("household", HouseholdOption),
                ("db", DatabaseOption),
                ("env", EnvironmentOption),
            )
        ),
    ]
    parameters = [parameter.replace(kind=kind) for parameter in own] + common
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # read by inspect
    run.__annotations__ = {each.name: each.annotation for each in parameters}


# Options and arguments that several commands have.

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="Action id, or its first characters.")
]
AsOption = Annotated[
    str | None, typer.Option("--as", metavar="MEMBER", help="Who decides; default is the owner.")
]
LookOption = Annotated[
    str | None,
    typer.Option("--as", metavar="MEMBER", help="Who is asking; includes their private items."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
