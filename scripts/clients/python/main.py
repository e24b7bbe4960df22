"""Runs one client and prints a line of JSON for it and for each cell.

Its arguments are the JSON of the gateways' base URLs and the name of a file in `clients/`.
"""

import asyncio
import importlib
import inspect
import json
import pathlib
import signal
import sys

HERE = pathlib.Path(__file__).parent
CELL_TIMEOUT_S = 60
PROVIDER_TYPES = ["compat", "messages", "local", "native"]


class Place:
    """Where one use of a client sends its requests."""

    def __init__(self, root, key, provider_type):
        self.root = root
        self.base_url = f"{root}/v1"
        self.api_key = key
        self.provider_type = provider_type

    def model(self, name):
        """Returns the model of the place's provider with this name in the simulator."""
        return f"{self.provider_type}/{name}"


def error_of(shot, place):
    signal.alarm(CELL_TIMEOUT_S)
    try:
        result = shot(place)
        if inspect.iscoroutine(result):
            asyncio.run(result)
        return None
    except BaseException as error:  # A client may end the program.
        return f"{type(error).__name__}: {error}"[:2000]
    finally:
        signal.alarm(0)


def no_answer(_signal, _frame):
    raise TimeoutError("no answer")


def main():
    urls = json.loads(sys.argv[1])
    name = sys.argv[2]
    sys.path[:0] = [str(HERE), str(HERE / "clients")]
    signal.signal(signal.SIGALRM, no_answer)
    client = importlib.import_module(name)
    print(json.dumps({"client": client.TITLE, "packages": []}), flush=True)
    for shot, run in client.SHOTS.items():
        for capability_set, root in urls.items():
            for provider_type in PROVIDER_TYPES:
                key = f"sk-{name}-{shot}-{provider_type}-{capability_set}"
                error = error_of(run, Place(root, key, provider_type))
                cell = {"key": key, "shot": shot, "type": provider_type, "set": capability_set}
                print("\n" + json.dumps({**cell, "error": error}), flush=True)


main()
