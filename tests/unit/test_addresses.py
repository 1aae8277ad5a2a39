"""Addresses are shown without the password they carry."""

import pytest

from kinkeeper.core.addresses import without_password
from kinkeeper.core.errors import InputError
from kinkeeper.settings.model import Settings
from kinkeeper.store.engines import parse_address

SECRET = "hunter2"  # noqa: S105 - a test's


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        (f"postgresql://kin:{SECRET}@db:5432/kin", "postgresql://kin:***@db:5432/kin"),
        (f"postgresql://kin:a@b/{SECRET}@db/kin", "postgresql://kin:***@db/kin"),
        (f"postgresql://:{SECRET}@db/kin", "postgresql://:***@db/kin"),
        (
            f"postgresql:///kin?host=x&password={SECRET}&a=b",
            "postgresql:///kin?host=x&password=***&a=b",
        ),
        (f"nonsense://kin:{SECRET}@", "nonsense://kin:***@"),
        ("postgresql://kin@db/kin", "postgresql://kin@db/kin"),
        ("sqlite:////var/lib/a:b@c.db", "sqlite:////var/lib/a:b@c.db"),
        ("/home/x/family.db", "/home/x/family.db"),
    ],
)
def test_a_password_is_hidden_and_nothing_else(address: str, shown: str) -> None:
    assert without_password(address) == shown


def test_settings_never_show_the_password_of_the_database() -> None:
    settings = Settings(database_url=f"postgresql://kin:{SECRET}@db/kin")
    assert settings.database_url is not None
    assert SECRET in settings.database_url
    assert SECRET not in settings.model_dump_json()
    assert SECRET not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    "address", [f"mysql://kin:{SECRET}@db/kin", f"mysql://kin:{SECRET}@db:port/kin"]
)
def test_an_address_that_is_refused_is_named_without_its_password(address: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_address(address)
    assert SECRET not in str(raised.value)
