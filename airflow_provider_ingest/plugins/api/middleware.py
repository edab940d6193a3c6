"""ASGI layers: slashes at the end of paths, and headers that every answer has."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class MountPathMiddleware:
    """Lets the mounted app see every path that is its own.

    A mounted app only sees paths below the slash, and none with a newline: ``GET /api/v1/ingest`` would fall through
    to Airflow's own routes. Sits around the whole server, so it touches nothing but those.

    :param prefix: where the app is mounted.
    """

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self.app = app
        self.prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with the slash where it is missing."""
        if scope["type"] == "http":
            path, mounts = scope["path"], (self.prefix, scope.get("root_path", "") + self.prefix)
            if path in mounts:
                scope = {**scope, "path": path + "/"}
            elif "\n" in path and path.startswith(tuple(mount + "/" for mount in mounts)):
                scope = {**scope, "path": path.replace("\n", "\ufffd")}
        await self.app(scope, receive, send)


class ApiMiddleware:
    """Takes a slash off the end of a path, so that each route answers with and without it, and adds headers."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        root = scope.get("root_path", "")
        if path.endswith("/") and path.removeprefix(root) != "/":
            scope = {**scope, "path": path.rstrip("/")}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("X-Content-Type-Options", "nosniff")
            await send(message)

        await self.app(scope, receive, send_with_headers)
