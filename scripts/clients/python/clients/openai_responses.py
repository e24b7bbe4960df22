# pip: openai==3.54.0
"""The official SDK over Responses; the tool loop once with and once without stored responses."""

import json

import openai
from openai import OpenAI
from pydantic import BaseModel, ConfigDict

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TITLE = "openai (Python), Responses"


class Weather(BaseModel):
    """Returns the weather of a city."""

    model_config = ConfigDict(extra="forbid")
    city: checks.City


class Clock(BaseModel):
    """Returns the time in a zone."""

    model_config = ConfigDict(extra="forbid")
    zone: checks.Zone


def strict_tool(model, name):
    function = openai.pydantic_function_tool(model, name=name)["function"]
    return {"type": "function", **function}


TOOLS = [strict_tool(Weather, "weather"), strict_tool(Clock, "clock")]


def responses(place):
    return OpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0).responses


def user(content):
    return {"role": "user", "content": content}


def outputs_of(response):
    return [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": checks.run_tool(item.name, item.arguments),
        }
        for item in response.output
        if item.type == "function_call"
    ]


def question(place):
    response = responses(place).create(model=place.model("sim-echo"), input=QUESTION)
    checks.check_equal(response.output_text, QUESTION)


def stream(place):
    with responses(place).stream(model=place.model("sim-echo"), input=QUESTION) as events:
        pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        checks.check_equal(events.get_final_response().output_text, QUESTION)
    checks.check_stream(pieces)


def tools(place):
    shared = {"model": place.model("sim-tools-parallel"), "tools": TOOLS}
    asked = [user(TOOL_QUESTION)]
    first = responses(place).parse(**shared, input=asked)
    second = responses(place).parse(
        **shared, previous_response_id=first.id, input=outputs_of(first)
    )
    checks.check_equal(second.output_text, FIXTURES["bothResults"])
    first = responses(place).parse(**shared, input=asked, store=False)
    second = responses(place).parse(
        **shared, input=[*asked, *first.output, *outputs_of(first)], store=False
    )
    checks.check_equal(second.output_text, FIXTURES["bothResults"])


def structured(place):
    items = [user(QUESTION)]
    for _turn in range(2):
        response = responses(place).parse(
            model=place.model("sim-json"), input=items, text_format=checks.Report, store=False
        )
        checks.check_report(response.output_parsed.model_dump())
        # What the SDK parsed is sent back with the items.
        items += [*response.output, user("And tomorrow?")]


def json_object(place):
    response = responses(place).create(
        model=place.model("sim-json"),
        input=FIXTURES["jsonQuestion"],
        text={"format": {"type": "json_object"}},
    )
    checks.check_json(response.output_text)


def turns(place):
    instructions = FIXTURES["system"]
    first = responses(place).create(
        model=place.model("sim-echo"), instructions=instructions, input=FIXTURES["firstTurn"]
    )
    second = responses(place).create(
        model=place.model("sim-transcript"),
        instructions=instructions,
        previous_response_id=first.id,
        input=FIXTURES["secondTurn"],
    )
    checks.check_transcript(second.output_text)


def image(place):
    content = [
        {"type": "input_text", "text": FIXTURES["imageQuestion"]},
        {"type": "input_image", "image_url": checks.IMAGE_URL, "detail": "auto"},
    ]
    response = responses(place).create(
        model=place.model("sim-transcript"), input=[user(content)]
    )
    checks.check_image(response.output_text)


def thinking(place):
    shared = {
        "model": place.model("sim-recall"),
        "tools": TOOLS,
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }
    asked = [user(TOOL_QUESTION)]
    first = responses(place).create(**shared, input=asked)
    reasoning = first.output[0]
    parts = [*reasoning.summary, *(reasoning.content or [])]
    checks.check_thinking(parts[0].text)
    second = responses(place).create(**shared, input=[*asked, *first.output, *outputs_of(first)])
    checks.check_recalled(second.output_text, True)


def required(place):
    response = responses(place).create(
        model=place.model("sim-tools"),
        input=TOOL_QUESTION,
        tools=TOOLS,
        tool_choice={"type": "function", "name": "clock"},
        parallel_tool_calls=False,
    )
    calls = [item for item in response.output if item.type == "function_call"]
    checks.check_equal([json.loads(call.arguments) for call in calls], [{"zone": "UTC"}])


def failing(place):
    model = f"failing-{place.model('sim-plan')}"
    with responses(place).stream(model=model, input=QUESTION) as events:
        pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
        checks.check_equal("".join(pieces), QUESTION)
        checks.check_equal(events.get_final_response().output_text, QUESTION)


def lost(place):
    model = f"lost-{place.model('sim-plan')}"
    events = responses(place).create(model=model, input=QUESTION, stream=True)
    checks.check_equal(events.response.headers["x-gateway-early"], "true")
    *_, last = events
    checks.check_equal(last.type, "response.failed")
    checks.check_equal(last.response.error.code, "server_error")


SHOTS = {
    "question": question,
    "stream": stream,
    "tools": tools,
    "structured": structured,
    "json": json_object,
    "turns": turns,
    "image": image,
    "thinking": thinking,
    "required": required,
    "failing": failing,
    "lost": lost,
}
