"""The rights of logins, on a database server: the same stories as on a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_login_rights import (
    MORE,
    test_a_login_sees_no_thread_of_a_wider_one,
    test_a_program_of_a_guest_does_not_go_on_with_the_talk_of_a_wider_login,
    test_another_process_answers_with_the_rights_of_the_login,
    test_chat_does_no_more_for_a_login_than_the_api,
    test_chat_tells_a_login_no_more_than_pages_do,
)

from page_visits import FREE
from remembered import remember
from web_server import Served, served

__all__ = [
    "test_a_login_sees_no_thread_of_a_wider_one",
    "test_a_program_of_a_guest_does_not_go_on_with_the_talk_of_a_wider_login",
    "test_another_process_answers_with_the_rights_of_the_login",
    "test_chat_does_no_more_for_a_login_than_the_api",
    "test_chat_tells_a_login_no_more_than_pages_do",
]
pytestmark = pytest.mark.slow


@pytest.fixture
def house(tmp_path: Path, postgres_url: str) -> Iterator[Served]:
    with served(tmp_path, database=postgres_url, rates=FREE, members=MORE) as serving:
        remember(serving, "sarah", "The code of the garage is 4711.")
        remember(serving, "sarah", "Leo is allergic to penicillin.")
        remember(serving, "leo", "The marbles are under the bed.", is_private=True)
        yield serving
