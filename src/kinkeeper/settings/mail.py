"""The settings of the household's mail account."""

from collections.abc import Callable
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from kinkeeper.connectors.mail.account import Account, parse_account
from kinkeeper.core.mail_address import is_mail_address
from kinkeeper.settings.fields import Secret


def _server(protocol: str) -> Callable[[SecretStr], SecretStr]:
    def check(secret: SecretStr) -> SecretStr:
        parse_account(secret.get_secret_value(), protocol=protocol)
        return secret

    return check


def _address(text: str) -> str:
    if not is_mail_address(text):
        raise ValueError("must be an email address: name@example.org")
    return text


class MailSettings(BaseModel):
    """Where mail is sent and read."""

    smtp_url: Annotated[Secret, AfterValidator(_server("smtp"))] | None = Field(
        default=None,
        description="Outgoing mail server: smtps://user:password@host; or set SMTP_URL_FILE to a file that contains it.",
    )
    imap_url: Annotated[Secret, AfterValidator(_server("imap"))] | None = Field(
        default=None,
        description="Mailbox: imaps://user:password@host; or set IMAP_URL_FILE to a file that contains it.",
    )
    mail_from: Annotated[str, AfterValidator(_address)] | None = Field(
        default=None, description="Sender address, if your login is not an email address."
    )

    @property
    def smtp_account(self) -> Account | None:
        """The login for sending, if there is one."""
        url = self.smtp_url
        return parse_account(url.get_secret_value(), protocol="smtp") if url else None

    @property
    def imap_account(self) -> Account | None:
        """The login of the mailbox, if there is one."""
        url = self.imap_url
        return parse_account(url.get_secret_value(), protocol="imap") if url else None

    @property
    def mail_sender(self) -> str | None:
        """The address that mail is sent from; None where no account is set up."""
        accounts = [each for each in (self.smtp_account, self.imap_account) if each]
        logins = [each.address for each in accounts if each.address]
        return (self.mail_from or next(iter(logins), None)) if accounts else None

    @model_validator(mode="after")
    def _require_sender(self) -> Self:
        if (self.smtp_url or self.imap_url) and self.mail_sender is None:
            raise ValueError("MAIL_FROM is needed, because the login is not an email address")
        return self


MAIL_SECRETS = frozenset({"smtp_url", "imap_url"})
