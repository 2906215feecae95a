# SPDX-License-Identifier: BSD-3-Clause
"""Several replicas of `pteron serve` behind one address, run by Ray Serve.

usage: serve.py MODEL.pte… [--replicas N] [--port N] [--command PTERON] [-- OPTIONS OF pteron serve]

Each replica is a process `pteron serve`, which Ray starts, places and starts again when it dies. Requests and streams pass through
unchanged, so the address has the whole API of OpenAI. Needs the command pteron and the package ray[serve].
"""
import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

# Where processors are few or busy, Ray's own processes take longer to start than it waits for them by itself.
os.environ.setdefault("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "300")
os.environ.setdefault("RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S", "120")
os.environ.setdefault("RAY_worker_register_timeout_seconds", "300")

import aiohttp
import ray
from ray import serve
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

LEFT_OUT = {"host", "connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}


def passed(headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in LEFT_OUT}


@serve.deployment(max_ongoing_requests=64, health_check_timeout_s=120, ray_actor_options={"num_cpus": 0.25})
class Pteron:
    def __init__(self, command: list[str]) -> None:
        self._server = subprocess.Popen([*command, "--port", "0", "--json", "-q"], stdout=subprocess.PIPE, text=True)
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError(f"pteron serve has not started; its exit code is {self._server.wait()}")
        self._url = json.loads(line)["url"]
        self._session: aiohttp.ClientSession | None = None
        self._ending = False
        threading.Thread(target=self._end_with_server, daemon=True).start()

    def _end_with_server(self) -> None:
        self._server.wait()
        if not self._ending:
            os._exit(1)  # so that Ray sends no more requests here, and starts another replica

    def __del__(self) -> None:
        self._ending = True
        self._server.terminate()
        self._server.wait()

    async def __call__(self, request: Request) -> Response:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False)
        url = self._url + request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            answer = await self._session.request(request.method, url, data=await request.body(), headers=passed(request.headers))
        except aiohttp.ClientError as error:
            problem = {"message": f"the replica does not answer: {error}", "type": "server_error", "param": None, "code": None}
            return Response(json.dumps({"error": problem}), 503, media_type="application/json")
        headers = {**passed(answer.headers), "X-Replica": self._url.rpartition(":")[2]}
        if answer.content_type != "text/event-stream":
            return Response(await answer.read(), answer.status, headers)

        async def pieces():
            try:
                async for piece in answer.content.iter_any():
                    yield piece
            finally:
                answer.close()  # a client that is gone is gone for the server, too

        return StreamingResponse(pieces(), answer.status, headers)


def options() -> tuple[argparse.Namespace, list[str]]:
    """Those of this script, and those behind -- for the server."""
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    parser = argparse.ArgumentParser(description="Replicas of pteron serve behind one address.")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--command", default="pteron")
    return parser.parse_args(given[:cut]), given[cut + 1 :]


def start_proxy(port: int) -> None:
    """Waits longer than Ray does, which gives up after a minute while its proxy goes on starting."""
    with contextlib.suppress(TimeoutError):
        serve.start(http_options={"host": "127.0.0.1", "port": port})
    end = time.monotonic() + 600
    while (states := set(serve.status().proxies.values())) != {"HEALTHY"}:
        if time.monotonic() > end:
            raise TimeoutError(f"Ray's proxy has not started: {states}")
        time.sleep(1)


def main() -> None:
    given, rest = options()
    command = [given.command, "serve", *map(os.path.abspath, given.models), *rest]
    ended = threading.Event()
    ray.init(include_dashboard=False)
    for number in (signal.SIGINT, signal.SIGTERM):  # only now: Ray has handlers of its own
        signal.signal(number, lambda *_: ended.set())
    start_proxy(given.port)
    serve.run(Pteron.options(num_replicas=given.replicas).bind(command))
    print(f"serving at http://127.0.0.1:{given.port}", flush=True)
    ended.wait()
    serve.shutdown()  # replicas end their servers
    ray.shutdown()


if __name__ == "__main__":
    main()
