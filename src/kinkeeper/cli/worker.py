"""`kinkeeper worker`: understands the messages that were taken in."""

from kinkeeper.cli.located import Where, located


@located
def worker(where: Where) -> None:
    """Understand messages that were taken in, until it is told to stop."""
    from kinkeeper.cli.working import work

    work(where)
