"""Runs the standard tests of LangChain for three clients over each kind of provider of a gateway.

The arguments are the gateway's address, a client key and the kinds. Prints a line of JSON for each test.
"""

import base64
import json
import struct
import sys
import zlib

import httpx
import pytest
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests

URL, KEY, *KINDS = sys.argv[1:]

# Each client API: the client, and what it is made with.
OPENAI = {"base_url": f"{URL}/v1", "api_key": KEY, "max_retries": 0}
CLIENTS = {
    "chat": (ChatOpenAI, {**OPENAI, "use_responses_api": False, "stream_usage": True}),
    "responses": (ChatOpenAI, {**OPENAI, "use_responses_api": True}),
    "messages": (ChatAnthropic, {"base_url": URL, "api_key": KEY, "max_retries": 0}),
}

# Models for tests, by the beginning of their names: one calls the first tool that it is offered,
# one follows the plan that the question has got on its way. In the others it repeats the question.
MODELS = {
    "test_tool_choice": "sim-tools",
    "test_agent_loop": "sim-tools",
    "test_bind_runnables_as_tools": "sim-tools",
    "test_structured_few_shot": "sim-tools",
    "test_structured_output": "sim-tools",
    "test_tool_calling": "sim-plan",
    "test_unicode_tool_call": "sim-plan",
    "test_json_mode": "sim-plan",
}


def png():
    """Returns a PNG of one pixel."""

    def chunk(kind, data):
        checksum = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\0\0\0\0")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")


FILES = {".png": png(), ".jpg": png(), ".pdf": b"%PDF-1.4\n%%EOF\n", ".wav": b"RIFF\0\0\0\0WAVE"}


def get_file(url, **_options):
    """Stands for `httpx.get`: the files that tests fetch are small ones of this machine."""
    content = next((file for end, file in FILES.items() if url.endswith(end)), FILES[".png"])
    return httpx.Response(200, content=content, request=httpx.Request("GET", url))


class Base(ChatModelIntegrationTests):
    """The standard tests, with a model of the simulator for each of them."""

    kind = api = ""
    supports_json_mode = property(lambda self: self.api != "messages")
    supports_image_inputs = supports_pdf_inputs = True
    # A tool message of Chat Completions has only texts.
    supports_image_tool_message = supports_pdf_tool_message = property(
        lambda self: self.api != "chat"
    )
    supports_audio_inputs = property(lambda self: self.api == "chat")
    supports_anthropic_inputs = property(lambda self: self.api == "messages")
    model_override_value = property(lambda self: f"{self.kind}-long")

    @property
    def chat_model_class(self):
        return CLIENTS[self.api][0]

    @property
    def chat_model_params(self):
        return {**CLIENTS[self.api][1], "model": f"{self.kind}/sim-echo"}

    @pytest.fixture
    def model(self, request, monkeypatch):
        monkeypatch.setattr(httpx, "get", get_file)
        test = request.node.originalname
        name = next((name for start, name in MODELS.items() if test.startswith(start)), "sim-echo")
        params = {**self.chat_model_params, "model": f"{self.kind}/{name}"}
        return self.chat_model_class(**params)


class Recorder:
    """Collects a class for each kind and client, and prints what each of its tests gave."""

    @staticmethod
    def pytest_pycollect_makemodule(module_path, parent):
        module = pytest.Module.from_parent(parent, path=module_path)
        for kind in KINDS:
            for api in CLIENTS:
                name = f"Test_{kind}_{api}"
                setattr(module.obj, name, type(name, (Base,), {"kind": kind, "api": api}))
        return module

    @staticmethod
    def pytest_runtest_logreport(report):
        if report.when == "call" or report.outcome != "passed":
            _file, group, test = report.nodeid.split("::")
            _test, kind, api = group.split("_")
            crash = getattr(report.longrepr, "reprcrash", None)
            words = crash.message if crash else str(report.longrepr or "")
            case = f"{api} over {kind}: {test}"
            print("\n" + json.dumps({"case": case, "outcome": report.outcome, "words": words}))


if __name__ == "__main__":
    # That test needs recorded traffic of its own.
    options = ["-q", "-p", "no:cacheprovider", "-k", "not test_stream_time", "-o", "asyncio_mode=auto"]
    # The clients keep connections of the loop in which they were made.
    options += ["-o", "asyncio_default_test_loop_scope=session"]
    sys.exit(0 if pytest.main([__file__, *options], plugins=[Recorder()]) in (0, 1) else 2)
