"""The request by which a person turns remarks off, and on again, for themselves."""

from pydantic import Field

from kinkeeper.actions.consent import Stakes
from kinkeeper.actions.requests.model import Asked, Found, Parameters, RequestKind
from kinkeeper.background.drift.repository import choose
from kinkeeper.store.store import Store


class SetRemarks(Parameters):
    """Whether the person wants them."""

    is_on: bool = Field(description="false to stop them, true to have them again")


def remark_requests(store: Store) -> tuple[RequestKind, ...]:
    """Return the rows of the table of requests that are about remarks.

    It counts as one that only reads: it sets nothing but what the person themselves is told.
    """

    async def set_remarks(wanted: SetRemarks, asked: Asked) -> Found:
        household, member = asked.household.id, asked.member.id
        await store.write(
            lambda conn: choose(conn, household, member, is_on=wanted.is_on, now=asked.now)
        )
        return Found(result={"remarks": wanted.is_on})

    return (
        RequestKind(
            domain="memory",
            name="set_remarks",
            parameters=SetRemarks,
            stakes=Stakes.LOW,
            description="Stop or resume what the assistant tells this person unasked about calendar, tasks and memory.",
            progress="Changing that…",
            read=set_remarks,
        ),
    )
