"""Every page of a household, for the application to include."""

from fastapi import APIRouter
from starlette.routing import Route

from kinkeeper.web import live
from kinkeeper.web.pages import (
    calendar,
    chat,
    event_forms,
    goals,
    health,
    pending,
    remembered,
    responses,
    sign_ins,
    tasks,
    today,
    why,
)

plain: list[Route] = [*responses.routes, *live.routes]
routers: tuple[APIRouter, ...] = tuple(
    page.router
    for page in (
        sign_ins,
        today,
        chat,
        pending,
        event_forms,
        calendar,
        why,
        remembered,
        tasks,
        goals,
        health,
    )
)
