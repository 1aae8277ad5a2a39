"""How Alembic runs the revisions: on the connection it is given, inside that transaction."""

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext

from kinkeeper.store.schema import Instant, metadata


def render_item(kind: str, value: Any, _context: AutogenContext) -> str | Literal[False]:
    """Return how a drafted revision writes a column type, so that it never depends on later code."""
    if kind == "type" and isinstance(value, Instant):
        return "sa.String(length=27)"
    return False


def _run() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        render_as_batch=True,
        render_item=render_item,
    )
    with context.begin_transaction():
        context.run_migrations()


# Alembic executes this file under that name; an import only defines.
if __name__ == "env_py":
    _run()
