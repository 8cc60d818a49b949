"""A server behind streamable HTTP: the SDK's transport on an HTTP client of our own.

The client adds what the SDK leaves out: it remembers the status that the SDK turns into a
general error, bounds a JSON body while reading, and keeps secrets that stand in the address
(`?key=`, `user:password@`, an expanded variable) out of the logs of the layers above it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.request import getproxies, proxy_bypass

import httpx2
from mcp.client import Transport
from mcp.client.streamable_http import streamable_http_client

from deferred_tools.sources.mcp.server import Endpoint

_CONNECT_SECONDS = 30.0
# A stream of events may be silent for as long as its server likes.
_TIMEOUT = httpx2.Timeout(_CONNECT_SECONDS, read=None)
