"""Types of single settings, and what makes their values wrong."""

import re
from typing import Annotated
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, SecretStr

from kinkeeper.core.addresses import without_password
from kinkeeper.core.errors import InputError
from kinkeeper.digest.repository import parse_time
from kinkeeper.messaging.outbound import QuietHours

# The hours are a household's own; whether they are hours at all does not depend on where it lives.
_ANY_ZONE = ZoneInfo("UTC")
_WEBHOOK_SECRET = re.compile(r"[A-Za-z0-9_-]{16,256}")

Share = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(gt=0)]
NotNegative = Annotated[int, Field(ge=0)]
RoutePath = Annotated[str, Field(pattern=r"^/[A-Za-z0-9._~/-]*$")]
Port = Annotated[int, Field(ge=0, le=65535)]


def _parts(text: str) -> SplitResult:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host")
    if parts.username or parts.password:
        raise ValueError("must not contain a password")
    return parts


def _url(text: str) -> str:
    _parts(text)
    return text.rstrip("/")


def _origin(text: str) -> str:
    parts = _parts(text)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(
            "must consist only of scheme, host name and port, e.g. https://family.example"
        )
    return text.rstrip("/")


def _tls_url(text: str) -> str:
    if _parts(text).scheme != "https":
        raise ValueError("must begin with https://")
    return text


def _quiet_hours(text: str) -> str:
    try:
        QuietHours.parse(text, _ANY_ZONE)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def _daily_time(text: str) -> str:
    try:
        parse_time(text)
    except InputError as error:
        raise ValueError(str(error)) from error
    return text


def _host_names(value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(each.strip().lower() for each in value.split(",") if each.strip())


def _not_empty(secret: SecretStr) -> SecretStr:
    if not secret.get_secret_value().strip():
        raise ValueError("is empty")
    return secret


def _webhook_secret(secret: SecretStr) -> SecretStr:
    if not _WEBHOOK_SECRET.fullmatch(secret.get_secret_value()):
        raise ValueError("must be 16 to 256 letters, digits, _ or -")
    return secret


# Shown without the password it may hold; the program itself reads all of it.
DatabaseUrl = Annotated[str, PlainSerializer(without_password, when_used="json")]
HostName = Annotated[str, Field(pattern=r"^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$")]
HostNames = Annotated[tuple[HostName, ...], BeforeValidator(_host_names)]
Url = Annotated[str, AfterValidator(_url)]
Origin = Annotated[str, AfterValidator(_origin)]
TlsUrl = Annotated[str, AfterValidator(_tls_url)]
DailyTime = Annotated[str, AfterValidator(_daily_time)]
DailyHours = Annotated[str, AfterValidator(_quiet_hours)]
Secret = Annotated[SecretStr, AfterValidator(_not_empty)]
WebhookSecret = Annotated[SecretStr, AfterValidator(_webhook_secret)]
