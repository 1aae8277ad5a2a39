"""What acts outside the database, the mail and the tool servers: what calls them, and how they stand."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from sqlalchemy import URL

from kinkeeper.actions.effects.outside import CallTool
from kinkeeper.actions.outside.adapter import Adapter
from kinkeeper.actions.outside.worker import OutsidePace, OutsideWorker
from kinkeeper.actions.requests.email import email_requests
from kinkeeper.actions.requests.model import RequestKind
from kinkeeper.bootstrap.household_work import LongTask
from kinkeeper.connectors.mail.account import NotSetUp
from kinkeeper.connectors.tools.tool_records import CHECK, findings
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.job import Pace
from kinkeeper.mail.model import MailReader
from kinkeeper.observability.findings import Finding, ok, warning
from kinkeeper.settings.model import Settings
from kinkeeper.store.checks import stored_findings
from kinkeeper.store.store import Store

# The household's mail by the settings: what can be asked, what carries it out, and how it stands.
#
# The settings name one account. Where one process serves several households, whose it is would be a
# guess: then it is nobody's.

SENDING, READING = "mail server", "mailbox"
_NO_MAILBOX = "no mailbox is set up here (IMAP_URL)"
_NO_SERVER = "no mail server is set up here (SMTP_URL), so nothing was sent; the text is kept"
_SEVERAL = "SMTP_URL and IMAP_URL work with one household only, and there are several here; mail is switched off"


def mail_requests(settings: Settings, *, is_only_household: bool) -> tuple[RequestKind, ...]:
    """Return what can be asked about mail; without an account drafts are kept here.

    Args:
        is_only_household: Whether this installation serves one household.
    """
    mailbox = mailbox_for(settings, is_only_household=is_only_household)
    can_send = is_only_household and settings.smtp_url is not None
    return email_requests(mailbox, can_send=can_send)


def mailbox_for(settings: Settings, *, is_only_household: bool) -> MailReader | None:
    """Return the mailbox of the settings, where there is one and it is clear whose it is.

    Args:
        is_only_household: Whether this installation serves one household.
    """
    if not is_only_household or settings.imap_url is None:
        return None
    from kinkeeper.bootstrap.mail_servers import mailbox_of  # noqa: PLC0415 - loads the libraries for mail

    return mailbox_of(settings)


def mail_adapters(settings: Settings, *, is_only_household: bool) -> Mapping[str, Adapter]:
    """Return what carries out drafts and sent mails, by the names of the effects.

    Args:
        is_only_household: Whether this installation serves one household.
    """
    absent = {"email.create_draft": NotSetUp(_NO_MAILBOX), "email.send": NotSetUp(_NO_SERVER)}
    if not is_only_household or not _is_set_up(settings):
        return absent
    from kinkeeper.bootstrap.mail_servers import adapters_of  # noqa: PLC0415 - as above

    return {**absent, **adapters_of(settings)}


def mail_findings(settings: Settings, households: Sequence[Household]) -> Sequence[Finding]:
    """Return what is set up for mail, without asking a server."""
    if not _is_set_up(settings):
        return (
            ok(
                SENDING,
                "not set up; set SMTP_URL and IMAP_URL to send and search mail. Drafts are kept here",
            ),
        )
    if len(households) > 1:
        return (warning(SENDING, _SEVERAL, "run the household that owns the mailbox separately"),)
    sending, reading = settings.smtp_account, settings.imap_account
    sent = (
        f"sends at {sending.host} as {settings.mail_sender}"
        if sending
        else "none; set SMTP_URL to use one"
    )
    read = (
        f"at {reading.host}" if reading else "none; set IMAP_URL to use one. Drafts are kept here"
    )
    return (ok(SENDING, sent), ok(READING, read))


def mail_server_findings(settings: Settings, households: Sequence[Household]) -> Sequence[Finding]:
    """Ask the mail servers whether they let us in, and say how to mend it where not. Blocks; sends nothing."""
    set_up = mail_findings(settings, households)
    if len(set_up) == 1:
        return set_up
    from kinkeeper.bootstrap.mail_servers import ask_servers  # noqa: PLC0415 - as above

    return ask_servers(settings, set_up)


def _is_set_up(settings: Settings) -> bool:
    return settings.smtp_url is not None or settings.imap_url is not None


# The tool servers of the settings: what calls them for each household, and what a check of them
# finds.


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What one household can ask of others' tools.

    Attributes:
        requests: A row for each tool that was offered last, as of the moment it is called.
        adapters: Carry out what a person said yes to, by the name of the effect.
    """

    requests: Callable[[], tuple[RequestKind, ...]]
    adapters: Mapping[str, Adapter]


@asynccontextmanager
async def tools_opened(
    settings: Settings,
    households: Sequence[Household],
    store: Store,
    clock: Clock,
    *,
    looks: bool = True,
) -> AsyncIterator[Mapping[str, Tools]]:
    """Yield what each household can ask for, by its id, for the length of the block; nothing without servers.

    Args:
        households: For whom they are called.
        looks: Whether servers are asked now and then what they offer; else what they offered last counts.
    """
    if not settings.tool_servers:
        yield {}
        return
    # Loads the protocol's library, which takes seconds of a processor.
    from kinkeeper.connectors.tools.servers import ToolAdapter, ToolServers  # noqa: PLC0415

    async with AsyncExitStack() as stack:
        opened = {}
        for house in households:
            servers = ToolServers(store.locking(house.id), house.id, settings.tool_servers, clock)
            await stack.enter_async_context(servers.looking() if looks else servers.running())
            adapters = {CallTool.model_fields["effect"].default: ToolAdapter(servers)}
            opened[house.id] = Tools(requests=servers.requests, adapters=adapters)
        yield opened


def tool_findings(
    settings: Settings, households: Sequence[Household], store: Store
) -> list[Finding]:
    """Return how the tool servers stood when they were last looked at. Blocks for the database.

    Args:
        households: For whom they are called.
    """
    servers = settings.tool_servers
    if not servers:
        return [ok(CHECK, "none; set MCP_SERVERS to use some")]
    return [
        replace(each, household=house.id)
        for house in households
        for each in store.read_now(partial(findings, household=house.id, servers=servers))
    ]


def stored_tool_findings(
    url: URL, settings: Settings, households: Sequence[Household]
) -> Sequence[Finding]:
    """Return how the tool servers stood by a database, as `stored_findings` does."""
    if not settings.tool_servers:
        return ()
    return stored_findings(url, CHECK, lambda store: tool_findings(settings, households, store))


_CALL, _SPARE = timedelta(seconds=60), timedelta(seconds=30)


def outside_tasks(
    settings: Settings,
    households: Sequence[Household],
    store: Store,
    *,
    clock: Clock,
    pace: Pace,
    further: Mapping[str, Mapping[str, Adapter]],
) -> list[LongTask]:
    """Return one task a household that does what is queued to be done outside.

    Args:
        further: By household id, carry out what is not mail, by the name of the effect.
    """
    adapters = mail_adapters(settings, is_only_household=len(households) == 1)
    call = max([_CALL, *(each.longest_call for each in settings.tool_servers)])
    # Whoever takes a row calls, and may have to look what became of it.
    own_pace = OutsidePace(poll_every=pace.upkeep_every, call=call, lease=2 * call + _SPARE)
    return [
        OutsideWorker(
            store.locking(each.id),
            each.id,
            {**adapters, **further.get(each.id, {})},
            clock=clock,
            pace=own_pace,
        ).run
        for each in households
    ]
