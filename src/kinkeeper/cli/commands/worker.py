"""`kinkeeper worker`: understands the messages that were taken in."""

from kinkeeper.cli.located import Where, located
from kinkeeper.cli.memory import leave_out_unused


@located
def worker(where: Where) -> None:
    """Run a background worker."""
    leave_out_unused()
    from kinkeeper.cli.worker_run import work

    work(where)
