"""Timezones and locales: whether they exist, and which one was probably meant."""

import re
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from kinkeeper.household.name_folding import nearest

_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")


def read_zone(name: str) -> ZoneInfo:
    """Return the zone with that IANA name.

    Raises:
        ValueError: There is none; the message suggests the nearest.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        suggestion = _nearest_zone(name)
        advice = f'did you mean "{suggestion}"?' if suggestion else 'write e.g. "Europe/London"'
        raise ValueError(f'"{name}" is not a known time zone; {advice}') from error


def _nearest_zone(name: str) -> str | None:
    """Return the zone whose name, or whose city alone, is nearest."""
    wanted = "_".join(name.split())
    zones = sorted(available_timezones())
    cities = {zone.rsplit("/", 1)[-1]: zone for zone in zones if "/" in zone}
    by_name = nearest(wanted, zones)
    by_city = nearest(wanted.rsplit("/", 1)[-1], cities)
    if by_name and ("/" in wanted or by_city is None):
        return by_name
    return cities[by_city] if by_city else None


def read_locale(tag: str) -> str:
    """Return the language tag as it is.

    Raises:
        ValueError: It is not of the form language-REGION with a region that exists.
    """
    if not _LOCALE.fullmatch(tag):
        language, *rest = re.split(r"[-_]", tag)
        tidy = "-".join([language.lower(), *(part.upper() for part in rest)])
        meant = f'did you mean "{tidy}"?' if _LOCALE.fullmatch(tidy) else 'write e.g. "en-US"'
        raise ValueError(f'"{tag}" is not a language tag (language-REGION); {meant}')
    region = tag.rsplit("-", 1)[-1]
    if region.isupper() and region not in _regions():
        raise ValueError(
            f'"{region}" in "{tag}" is not an ISO country code (US, GB, AU, IN, DE, ...); '
            "it decides on which day the week starts and how dates are read"
        )
    return tag


@cache
def _regions() -> frozenset[str]:
    """Return the ISO 3166 codes, as the timezone database lists them."""
    table = files("tzdata").joinpath("zoneinfo/iso3166.tab").read_text(encoding="utf-8")
    return frozenset(line[:2] for line in table.splitlines() if line and not line.startswith("#"))
