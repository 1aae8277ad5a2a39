"""Every page of a household, for the application to include."""

from fastapi import APIRouter
from starlette.routing import Route

from kinkeeper.web import live
from kinkeeper.web.pages import (
    calendar,
    chat,
    correcting,
    digest,
    health,
    imports,
    keys,
    login,
    pending,
    silence,
    static,
    tasks,
    today,
    welcome,
    why,
)
from kinkeeper.web.pages.memory import changes, exporting, fact, heard, known
from kinkeeper.web.pages.memory import map as map_

plain: list[Route] = [*static.routes, *live.routes]
routers: tuple[APIRouter, ...] = (
    login.router,
    today.router,
    chat.router,
    pending.router,
    correcting.router,
    digest.router,
    calendar.router,
    imports.router,
    why.router,
    known.router,
    fact.router,
    heard.router,
    map_.router,
    changes.router,
    exporting.router,
    tasks.router,
    silence.router,
    health.router,
    keys.router,
    welcome.router,
)
