"""The fixtures that all clients share, and checks of what a client received."""

import json
import math
import pathlib
from typing import List, Literal

from pydantic import BaseModel, ConfigDict

FIXTURES = json.loads((pathlib.Path(__file__).parent.parent / "fixtures.json").read_text())
IMAGE_URL = f"data:image/png;base64,{FIXTURES['image']}"
QUESTION = FIXTURES["question"]
TOOL_QUESTION = FIXTURES["toolQuestion"]

City = Literal["Oslo", "Bern"]
Zone = Literal["UTC", "CET"]


class Report(BaseModel):
    """A report of the weather."""

    model_config = ConfigDict(extra="forbid")
    city: City
    degrees: float
    hours: List[str]


def weather(city: City) -> str:
    """Returns the weather of a city.

    Args:
        city: The city.
    """
    assert city in ("Oslo", "Bern"), city
    return f"sunny in {city}"


def clock(zone: Zone) -> str:
    """Returns the time in a zone.

    Args:
        zone: The zone.
    """
    assert zone in ("UTC", "CET"), zone
    return f"noon in {zone}"


def run_tool(name, arguments):
    """Runs the tool of this name with its arguments as JSON."""
    tools = {"weather": weather, "clock": clock}
    return tools[name](**json.loads(arguments))


def check_equal(actual, expected):
    assert actual == expected, f"{actual!r} is not {expected!r}"


def check_stream(pieces):
    """Checks the pieces of a stream: several, which together are the question."""
    check_equal("".join(pieces), QUESTION)
    assert len([piece for piece in pieces if piece]) > 2, "the text came in one piece"


def check_report(report):
    check_equal(Report.model_validate(report).model_dump(), FIXTURES["reportValue"])


def check_json(text):
    check_equal(json.loads(text), FIXTURES["jsonValue"])


def check_transcript(text):
    """Checks that the model has read all turns of the conversation, in order."""
    check_equal(text.split("\n"), FIXTURES["transcript"])


def check_image(text):
    """Checks that the bytes of the image have reached the model."""
    assert FIXTURES["imageQuestion"] in text and FIXTURES["imageText"] in text, text


def check_thinking(thinking):
    assert thinking and thinking.startswith(FIXTURES["thinkingText"]), f"the thinking is {thinking!r}"


def check_recalled(text, has_thinking):
    """Checks that the second step of a tool loop has everything of the first.

    `has_thinking` is false for a client that sends no thinking back.
    """

    def shown(lines):
        return [line for line in lines if has_thinking or not line.startswith("thinking: ")]

    check_equal(shown(text.split("\n")), shown(FIXTURES["recalled"]))


def check_embeddings(vectors):
    check_equal(len(vectors), 2)
    for vector in vectors:
        assert len(vector) > 1 and abs(math.hypot(*vector) - 1) < 1e-5, "not of length one"
    assert vectors[0] != vectors[1]
