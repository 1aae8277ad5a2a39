"""Self-correction in a household's own world: where what people and models made of cards and offers is found."""

from functools import partial

from kinkeeper.background.regulator import Regulator
from kinkeeper.conversation.offer_labels import offer_labels, review_labels
from kinkeeper.conversation.review.rounds import ReviewRounds
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.jobs.leases import is_any_due
from kinkeeper.models.model import ModelGateway
from kinkeeper.observability.findings import Finding, ok
from kinkeeper.observer.accounts.card_labels import card_labels
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def regulator(settings: Settings, household: Household, store: Store, clock: Clock) -> Regulator:
    """Return what moves one household's bars."""
    cards = partial(card_labels, shipped=settings.extraction_threshold)
    return Regulator(
        store, household.id, labels=[cards, offer_labels], reviews=[review_labels], clock=clock
    )


def review_rounds(
    settings: Settings,
    household: Household,
    store: Store,
    *,
    gateway: ModelGateway | None,
    clock: Clock,
) -> ReviewRounds | None:
    """Return what has past decisions of routing judged again; None where there is no strong model."""
    if gateway is None or settings.strong_model is None:
        return None
    from kinkeeper.conversation.review.reviewer import Reviewer  # noqa: PLC0415 - loads the templates' library

    return ReviewRounds(
        store,
        household,
        judge=Reviewer(gateway),
        is_idle=lambda conn, household, now: not is_any_due(conn, household, now=now),
        clock=clock,
    )


def review_finding(settings: Settings) -> Finding:
    """Return whether past decisions of routing are judged again, and by which model."""
    has_server = settings.model_url is not None or settings.model_gguf is not None
    if settings.strong_model is None or not has_server:
        found = "off; it needs a strong model (set STRONG_MODEL to use one)"
    else:
        found = f"by {settings.strong_model}, when nothing else is to be done"
    return ok("review of past answers", found)
