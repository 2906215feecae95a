# SPDX-License-Identifier: BSD-3-Clause
"""Several replicas of `pteron serve` behind one address, run by Ray Serve.

usage: serve.py MODEL.pte… [--replicas N] [--port N] [-- OPTIONS OF pteron serve]

Each replica is a process `pteron serve`, which Ray starts, places and starts again; requests and streams pass through unchanged, so
the address has the whole API of OpenAI. Needs the packages pteron and ray[serve].
"""
import argparse
import json
import os
import signal
import subprocess
import sys

import aiohttp
import ray
from ray import serve
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

LEFT_OUT = {"host", "connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}


def passed(headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in LEFT_OUT}


@serve.deployment(max_ongoing_requests=64, ray_actor_options={"num_cpus": 0.25})
class Pteron:
    def __init__(self, command: list[str]) -> None:
        self._server = subprocess.Popen([*command, "--port", "0", "--json", "-q"], stdout=subprocess.PIPE, text=True)
        line = self._server.stdout.readline()
        if not line:
            raise RuntimeError("pteron serve has not started")
        self._url = json.loads(line)["url"]
        self._session: aiohttp.ClientSession | None = None

    def __del__(self) -> None:
        self._server.terminate()

    def check_health(self) -> None:
        if self._server.poll() is not None:
            raise RuntimeError(f"pteron serve has ended with {self._server.returncode}")

    async def __call__(self, request: Request) -> Response:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None), auto_decompress=False)
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            answer = await self._session.request(request.method, self._url + path, data=await request.body(), headers=passed(request.headers))
        except aiohttp.ClientError as error:
            problem = {"message": f"the replica does not answer: {error}", "type": "server_error", "param": None, "code": None}
            return Response(json.dumps({"error": problem}), 503, media_type="application/json")
        headers = passed(answer.headers)
        if answer.content_type != "text/event-stream":
            return Response(await answer.read(), answer.status, headers)

        async def pieces():
            try:
                async for piece in answer.content.iter_any():
                    yield piece
            finally:
                answer.close()  # a client that is gone is one for the replica, too

        return StreamingResponse(pieces(), answer.status, headers)


def main() -> None:
    own, _, rest = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description="Replicas of pteron serve behind one address.")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--replicas", type=int, default=2)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--command", default="pteron")
    given = parser.parse_args(own.split())
    command = [given.command, "serve", *map(os.path.abspath, given.models), *rest.split()]
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    ray.init()
    serve.start(http_options={"host": "127.0.0.1", "port": given.port})
    serve.run(Pteron.options(num_replicas=given.replicas).bind(command))
    print(f"serving at http://127.0.0.1:{given.port}", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    serve.shutdown()  # replicas end their servers
    ray.shutdown()


if __name__ == "__main__":
    main()
