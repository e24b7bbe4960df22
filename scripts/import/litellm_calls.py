"""Prints which hosts LiteLLM calls for the names of files, as one JSON line for each file.

Reads from standard input a JSON list of files: {"name", "path", "environment", "requests"}, each
request {"model", "kind": "chat" | "embeddings", "status": what every host responds, "times"}.
LiteLLM is loaded once; each file and each request has a process of its own, forked from it, so
that no setting of a file is left for the next one. Nothing leaves the process: the transports of
httpx and requests are replaced.
"""

import asyncio
import gc
import json
import os
import random
import re
import signal
import sys

ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "DISABLE_AIOHTTP_TRANSPORT": "True",
    "LITELLM_LOG": "CRITICAL",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
os.environ.update(ENVIRONMENT)

import httpx  # noqa: E402
import requests  # noqa: E402
from litellm.proxy import proxy_server  # noqa: E402
from litellm.proxy.route_llm_request import route_request  # noqa: E402

# Time for a file, and for its requests: LiteLLM waits for databases that are not there.
SECONDS = 90
AT_ONCE = 4
MESSAGES = [{"role": "user", "content": "Say hello."}]
# Models in paths: Bedrock, Vertex AI and Gemini, Azure.
IN_PATH = re.compile(r"/(?:model|models|deployments)/([^/:]+(?::\d+)?)")
calls = []
status = 200


def arrived(method, url, content):
    """Records a call and returns status and body of the response."""
    if url.host == "oauth2.googleapis.com" or url.path.endswith("/oauth2/v2.0/token"):
        return 200, {"access_token": "t", "expires_in": 3600, "token_type": "Bearer"}
    if method != "POST":
        return 404, {}
    try:
        body = json.loads(content or b"{}")
    except ValueError:
        body = {}
    found = IN_PATH.search(url.path)
    model = body.get("model") or (found.group(1) if found else "")
    port = f":{url.port}" if url.port else ""
    calls.append([f"{url.host}{port}", model.replace("%3A", ":")])
    if status != 200:
        return status, {"error": {"message": "no", "type": "server_error", "code": "bad"}}
    return 200, answer(url.path, model)


def answer(path, model):
    """Returns a body in the form of the API that has this path."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    if path.endswith(("/embeddings", "/embed")):
        data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
        return {"object": "list", "model": model, "data": data, "usage": usage, "embeddings": [[0.5]]}
    if path.endswith("/messages") or ":rawPredict" in path:
        content = [{"type": "text", "text": "Hello."}]
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    message = {"role": "assistant", "content": "Hello."}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
        "service_tier": "default", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage,
        # Of Gemini, Ollama and Bedrock, which are read by their own members.
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        "response": "Hello.", "message": message, "done": True, "done_reason": "stop",
        "prompt_eval_count": 1, "eval_count": 1,
        "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
        "stopReason": "end_turn", "metrics": {"latencyMs": 1},
    }


async def send_async(_self, request):
    code, body = arrived(request.method, request.url, await request.aread())
    return httpx.Response(code, json=body, request=request)


def send(_self, request):
    code, body = arrived(request.method, request.url, request.read())
    return httpx.Response(code, json=body, request=request)


def send_requests(_self, request, **_options):
    content = request.body.encode() if isinstance(request.body, str) else request.body
    code, body = arrived(request.method, httpx.URL(request.url), content)
    response = requests.Response()
    response.status_code, response._content, response.request = code, json.dumps(body).encode(), request
    response.headers["content-type"] = "application/json"
    response.url = request.url
    return response


httpx.AsyncHTTPTransport.handle_async_request = send_async
httpx.HTTPTransport.handle_request = send
requests.adapters.HTTPAdapter.send = send_requests
wait = asyncio.sleep


async def sleep(seconds, result=None):
    """Waits between attempts take a hundredth."""
    return await wait(seconds / 100, result)


asyncio.sleep = sleep


async def called(router, model, kind, times):
    """Returns the calls of the same request, made so often."""
    for number in range(times):
        content = {"input": f"Hello {number}"} if kind == "embeddings" else {"messages": MESSAGES}
        route = "aembedding" if kind == "embeddings" else "acompletion"
        try:
            made = await route_request({"model": model, **content}, router, None, route)
            await made
        except Exception as error:
            if os.environ.get("SHOW"):
                print(model, type(error).__name__, str(error)[:300], file=sys.stderr)
    return list(calls)


def started(work):
    """Starts a process for `work`, and returns it with the pipe of its JSON value."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(SECONDS)
        try:
            result = work()
        except BaseException as error:
            result = {"problem": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        with os.fdopen(writing, "w") as out:
            json.dump(result, out)
        os._exit(0)
    os.close(writing)
    return child, reading


def finished(process):
    """Returns the JSON value of a process that has been started."""
    child, reading = process
    with os.fdopen(reading) as source:
        text = source.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"problem": f"no answer in {SECONDS} s"}


def of_requests(router, requests):
    """Returns the outcomes of requests that leave nothing behind for the next one."""
    global status
    outcomes = []
    for one in requests:
        status = one["status"]
        calls.clear()
        random.seed(1)
        outcomes.append(asyncio.run(called(router, one["model"], one["kind"], one["times"])))
    return outcomes


def of_file(file):
    os.environ.update(file["environment"])
    sys.stdout = sys.stderr
    config = proxy_server.ProxyConfig()
    router, _, _ = asyncio.run(config.load_config(router=None, config_file_path=file["path"]))
    # A deployment that has failed rests: each failing request has a process of its own.
    groups = [[one for one in file["requests"] if one["status"] == 200]]
    groups += [[one] for one in file["requests"] if one["status"] != 200]
    return [finished(started(lambda group=group: of_requests(router, group))) for group in groups]


files = json.load(sys.stdin)
gc.freeze()
running = []
for index, file in enumerate(files):
    running.append((file["name"], started(lambda file=file: of_file(file))))
    if len(running) == AT_ONCE or index == len(files) - 1:
        for name, process in running:
            print(json.dumps({"name": name, "outcome": finished(process)}), flush=True)
        running = []
