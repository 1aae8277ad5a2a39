"""The settings of what the household's assistant is connected to: its calendar server."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from kinkeeper.connectors.caldav.address import Address
from kinkeeper.core.errors import InputError
from kinkeeper.settings.fields import Positive, Secret


def _server_address(secret: SecretStr) -> SecretStr:
    try:
        Address.parse(secret.get_secret_value())
    except InputError as error:
        raise ValueError(str(error)) from error
    return secret


class ConnectorSettings(BaseModel):
    """Where the household's calendar is kept besides here."""

    caldav_url: Annotated[Secret, AfterValidator(_server_address)] | None = Field(
        default=None,
        description="Calendar server: https://user:password@host/calendar/; CALDAV_URL_FILE names a file "
        "with it.",
    )
    caldav_sync_minutes: Positive = Field(
        default=5, description="How often the calendar server is looked at, minutes."
    )


CONNECTOR_SECRETS = frozenset({"caldav_url"})
