# pip: anthropic==2.14.0
"""The official SDK over Messages."""

from anthropic import Anthropic, APIStatusError

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TITLE = "anthropic (Python)"


def tool(name, member, values):
    properties = {member: {"type": "string", "enum": values}}
    schema = {"type": "object", "properties": properties, "required": [member]}
    return {"name": name, "description": f"Returns the {name}.", "input_schema": schema}


TOOLS = [tool("weather", "city", ["Oslo", "Bern"]), tool("clock", "zone", ["UTC", "CET"])]
RUN = {"weather": checks.weather, "clock": checks.clock}


def messages(place):
    return Anthropic(base_url=place.root, api_key=place.api_key, max_retries=0).messages


def user(content):
    return {"role": "user", "content": content}


def asked(model, *turns):
    return {"model": model, "max_tokens": 1024, "messages": list(turns)}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def question(place):
    message = messages(place).create(**asked(place.model("sim-echo"), user(QUESTION)))
    checks.check_equal(text_of(message), QUESTION)


def stream(place):
    with messages(place).stream(**asked(place.model("sim-echo"), user(QUESTION))) as events:
        pieces = list(events.text_stream)
        message = events.get_final_message()
    checks.check_stream(pieces)
    checks.check_equal(text_of(message), QUESTION)
    assert message.usage.output_tokens > 0


def tools(place):
    turns = [user(TOOL_QUESTION)]
    while True:
        model = place.model("sim-tools-parallel")
        message = messages(place).create(**asked(model, *turns), tools=TOOLS)
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            return checks.check_equal(text_of(message), FIXTURES["bothResults"])
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": RUN[call.name](**call.input)}
            for call in calls
        ]
        turns += [{"role": "assistant", "content": message.content}, user(results)]


def turns(place):
    first_turn = user(FIXTURES["firstTurn"])
    first = messages(place).create(
        **asked(place.model("sim-echo"), first_turn), system=FIXTURES["system"]
    )
    answer = {"role": "assistant", "content": first.content}
    second = messages(place).create(
        **asked(place.model("sim-transcript"), first_turn, answer, user(FIXTURES["secondTurn"])),
        system=FIXTURES["system"],
    )
    checks.check_transcript(text_of(second))


def early_stream(place, fault):
    return messages(place).stream(**asked(f"{fault}-{place.model('sim-plan')}", user(QUESTION)))


def failing(place):
    with early_stream(place, "failing") as events:
        checks.check_equal(events.response.headers["x-gateway-early"], "true")
        message = events.get_final_message()
    checks.check_equal(text_of(message), QUESTION)
    checks.check_equal(message.stop_reason, "end_turn")


def lost(place):
    try:
        with early_stream(place, "lost") as events:
            message = events.get_final_message()
    except APIStatusError as error:
        checks.check_equal(error.body["error"]["type"], "overloaded_error")
    else:
        raise AssertionError(f"no error, but {message}")


SHOTS = {
    "question": question,
    "stream": stream,
    "tools": tools,
    "turns": turns,
    "failing": failing,
    "lost": lost,
}
