"""Self-correction in a household's own world: where what its people made of cards and offers is found."""

from functools import partial

from kinkeeper.background.regulator import Regulator
from kinkeeper.conversation.offer_labels import offer_labels
from kinkeeper.core.time import Clock
from kinkeeper.household.model import Household
from kinkeeper.observer.accounts.card_labels import card_labels
from kinkeeper.settings.model import Settings
from kinkeeper.store.store import Store


def regulator(settings: Settings, household: Household, store: Store, clock: Clock) -> Regulator:
    """Return what moves one household's bars."""
    cards = partial(card_labels, shipped=settings.extraction_threshold)
    return Regulator(store, household.id, labels=[cards, offer_labels], clock=clock)
