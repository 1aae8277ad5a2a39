"""Every page of a household, for the application to include."""

from fastapi import APIRouter
from starlette.routing import Route

from kinkeeper.web import live
from kinkeeper.web.pages import (
    calendar,
    card_form,
    chat,
    health,
    pending,
    responses,
    sign_ins,
    tasks,
    today,
    welcome,
    why,
)
from kinkeeper.web.pages.memory import fact, known, memory_changes, overviews

plain: list[Route] = [*responses.routes, *live.routes]
routers: tuple[APIRouter, ...] = tuple(
    page.router
    for page in (
        sign_ins, today, chat, pending, card_form, calendar, why, known, fact, overviews,
        memory_changes, tasks, health, welcome,
    )
)  # fmt: skip
