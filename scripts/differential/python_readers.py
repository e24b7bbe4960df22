# pip: aiohttp==3.14.5 Django==5.2.19 Werkzeug==3.1.9 starlette==1.10.0 python-multipart==0.0.34
"""Reads forms from lines of JSON with the parsers of four frameworks, and prints what each one reads."""

import asyncio
import base64
import io
import json
import sys
from unittest import mock

import django
from aiohttp import StreamReader
from aiohttp.test_utils import make_mocked_request
from aiohttp.web_request import FileField
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from starlette.requests import Request as StarletteRequest
from werkzeug.wrappers import Request as WerkzeugRequest

settings.configure()
django.setup()


def reading(items):
    """Returns the names of all parts in order of the alphabet, and the texts of the parts `model`."""
    return {
        "names": sorted(name for name, _ in items),
        "models": [
            value if isinstance(value, str) else "a file"
            for name, value in items
            if name == "model"
        ],
    }


def environ(content_type, body):
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.url_scheme": "http",
        "wsgi.errors": sys.stderr,
    }


def django_reader(content_type, body):
    request = WSGIRequest(environ(content_type, body))
    items = []
    for group in (request.POST, request.FILES):
        items += [(name, value) for name in group for value in group.getlist(name)]
    return items


def werkzeug_reader(content_type, body):
    request = WerkzeugRequest(environ(content_type, body))
    return [*request.form.items(multi=True), *request.files.items(multi=True)]


async def starlette_reader(content_type, body):
    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "headers": [(b"content-type", content_type.encode("latin-1"))],
    }
    return (await StarletteRequest(scope, receive).form()).multi_items()


async def aiohttp_reader(content_type, body):
    payload = StreamReader(mock.Mock(_reading_paused=False), 2**16, loop=asyncio.get_running_loop())
    payload.feed_data(body)
    payload.feed_eof()
    request = make_mocked_request(
        "POST", "/", headers={"Content-Type": content_type}, payload=payload
    )
    return list((await request.post()).items())


READERS = {
    "Django": django_reader,
    "Werkzeug": werkzeug_reader,
    "Starlette": starlette_reader,
    "aiohttp": aiohttp_reader,
}


async def main():
    for line in sys.stdin:
        form = json.loads(line)
        body = base64.b64decode(form["body"])
        readings = {}
        for name, read in READERS.items():
            try:
                items = read(form["contentType"], body)
                readings[name] = reading(await items if asyncio.iscoroutine(items) else items)
            except Exception as error:
                readings[name] = f"{type(error).__name__}: {error}"
        print(json.dumps(readings), flush=True)


asyncio.run(main())
