"""The doors for other programs, on the program itself: their own clients before `kinkeeper serve`."""

import asyncio
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI

from cli_program import Program
from running_server import Running, prepared, running, token, where

pytestmark = pytest.mark.slow

WORDS = "aardvark sandwiches"


def talk(server: Running, secret: str, *said: str) -> list[str]:
    messages: list[Any] = []
    with OpenAI(base_url=f"{server.address}/v1", api_key=secret) as client:
        for text in said:
            messages.append({"role": "user", "content": text})
            chunks = client.chat.completions.create(model="Icarus", messages=messages, stream=True)
            answer = "".join(each.choices[0].delta.content or "" for each in chunks)
            messages.append({"role": "assistant", "content": answer})
    return [each["content"] for each in messages[1::2]]


async def propose(server: Running, secret: str, text: str) -> Any:
    bearer = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=bearer) as http:
        connection = streamable_http_client(f"{server.address}/mcp", http_client=http)
        async with Client(connection) as client:
            told = await client.call_tool("remember", {"text": text})
            return told.structured_content


def test_programs_talk_and_propose_and_the_log_holds_no_word_of_it(program: Program) -> None:
    home = prepared(program)
    secret = token(home, "john")
    with running(home) as server:
        answers = talk(server, secret, f"remind me to buy {WORDS} tomorrow at 5pm", "yes")
        assert WORDS in answers[0]
        assert "I'll remind you" in answers[1]
        proposed = asyncio.run(propose(server, secret, f"Leo likes {WORDS}"))
        assert proposed["status"] == "awaiting"
        assert server.end() == 0
    assert WORDS not in server.log.read_text()
    assert "Traceback" not in server.log.read_text()
    listed = home.bare("pending", "--json", *where(home))
    assert WORDS in listed.out
    assert WORDS in home.bare("tasks", "--as", "john", *where(home)).out
