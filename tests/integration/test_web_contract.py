"""The API keeps to its own description, whatever is sent to it."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kinkeeper.actions.proposals import propose
from kinkeeper.memory.ingest import ImportedFact, import_facts
from kinkeeper.memory.model import Category
from kinkeeper.web.security.request_limits import RateLimits
from pending_samples import adding, event, proposal
from web_server import Served, served

pytestmark = pytest.mark.slow

UNLIMITED = RateLimits(probe=None, login=None, ingest=None, read=None, write=None)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 12


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, rates=UNLIMITED, names=frozenset({"testserver"})) as serving:
        yield serving


def waiting(house: Served) -> str:
    here, now = house.system.household.id, house.clock.now()
    proposed = proposal(household=here)
    made = event("m1", household_id=here, who=("leo",), start=now + timedelta(days=1))
    proposed = replace(proposed, effects=adding(made))
    return house.system.store.write_now(
        lambda conn: propose(conn, proposed, household=house.system.household, now=now)
    ).action.id


def remembered(house: Served) -> str:
    here, now = house.system.household.id, house.clock.now()
    given = ImportedFact(
        id="f1", text="Leo is allergic to peanuts.", category=Category.IDENTITY, title="Leo", at=now
    )
    house.system.store.write_now(lambda conn: import_facts(conn, here, [given], at=now))
    return "f1"


def operations(house: Served) -> dict[str, Any]:
    schema = schemathesis.openapi.from_asgi("/openapi.json", house.app)
    found = [each.ok() for each in schema.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found}


def keeps_to_it(
    operation: Any, headers: dict[str, str], known: dict[str, str], statuses: set[int]
) -> None:
    """Send an operation what its description allows and what it does not; half of the ids are of what is there."""

    modes = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode]

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=st.one_of(*modes), is_known=st.booleans())
    def send(case: Case, is_known: bool) -> None:
        if is_known:
            case.path_parameters |= {
                name: known[name] for name in case.path_parameters.keys() & known.keys()
            }
        answer = case.call(headers=headers)
        statuses.add(answer.status_code)
        case.validate_response(answer, checks=CHECKS)

    send()


@pytest.mark.parametrize("login", ["owner", "nobody"])
def test_whatever_is_sent_the_answer_is_one_that_is_described(
    house: Served, login: str, subtests: pytest.Subtests
) -> None:
    headers = {"Authorization": f"Bearer {house.token('john')}"} if login == "owner" else {}
    known, statuses = {"action_id": waiting(house), "fact_id": remembered(house)}, set[int]()
    for name, operation in operations(house).items():
        with subtests.test(name):
            keeps_to_it(operation, headers, known, statuses)
    assert statuses >= ({200, 201, 404, 422} if login == "owner" else {200, 401, 404})


def test_the_description_names_every_error(house: Served) -> None:
    async def asked() -> Any:
        async with house.client() as client:
            return (await client.get("/openapi.json")).json()

    document = asyncio.run(asked())
    assert {
        "/observe",
        "/calendar.ics",
        "/brain/query",
        "/api/events",
        "/api/sessions/messages",
        "/api/context/inject",
        "/api/memory/search",
        "/api/facts/{fact_id}",
    } <= set(document["paths"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = operation["responses"]["404"]["content"]
            if path.startswith("/v1/"):
                assert told["application/json"]["schema"]["required"] == ["error"], (method, path)
                continue
            problem = told["application/problem+json"]
            assert problem["schema"]["$ref"].endswith("/Problem"), (method, path)
