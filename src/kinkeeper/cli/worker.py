"""`kinkeeper worker`: understands the messages that were taken in."""

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory import log_without_paint


@located
def worker(where: Where) -> None:
    """Understand messages that were taken in, until it is told to stop."""
    log_without_paint()
    from kinkeeper.cli.working import work

    work(where)
