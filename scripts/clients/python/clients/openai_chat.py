# pip: openai==3.54.0
"""The official SDK over Chat Completions."""

from openai import APIError, OpenAI, pydantic_function_tool
from pydantic import BaseModel, ConfigDict

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TITLE = "openai (Python), Chat Completions"


class Weather(BaseModel):
    """Returns the weather of a city."""

    model_config = ConfigDict(extra="forbid")
    city: checks.City


class Clock(BaseModel):
    """Returns the time in a zone."""

    model_config = ConfigDict(extra="forbid")
    zone: checks.Zone


TOOLS = [
    pydantic_function_tool(Weather, name="weather"),
    pydantic_function_tool(Clock, name="clock"),
]


def connect(place):
    return OpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0)


def user(content):
    return {"role": "user", "content": content}


def loop(place, model, messages, **more):
    """Runs the calls of an answer and asks again, until an answer has no calls."""
    while True:
        completion = connect(place).chat.completions.parse(
            model=place.model(model), messages=messages, tools=TOOLS, **more
        )
        message = completion.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            content = checks.run_tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def question(place):
    completion = connect(place).chat.completions.create(
        model=place.model("sim-echo"), messages=[user(QUESTION)]
    )
    checks.check_equal(completion.choices[0].message.content, QUESTION)


def stream(place):
    chunks = list(
        connect(place).chat.completions.create(
            model=place.model("sim-echo"),
            messages=[user(QUESTION)],
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    checks.check_stream([choice.delta.content or "" for chunk in chunks for choice in chunk.choices])
    assert chunks[-1].usage.completion_tokens > 0


def tools(place):
    checks.check_equal(
        loop(place, "sim-tools-parallel", [user(TOOL_QUESTION)]), FIXTURES["bothResults"]
    )


def structured(place):
    messages = [user(QUESTION)]
    for _turn in range(2):
        completion = connect(place).chat.completions.parse(
            model=place.model("sim-json"), messages=messages, response_format=checks.Report
        )
        checks.check_report(completion.choices[0].message.parsed.model_dump())
        # What the SDK parsed is sent back with the message.
        messages += [completion.choices[0].message, user("And tomorrow?")]


def json_object(place):
    completion = connect(place).chat.completions.create(
        model=place.model("sim-json"),
        messages=[user(FIXTURES["jsonQuestion"])],
        response_format={"type": "json_object"},
    )
    checks.check_json(completion.choices[0].message.content)


def turns(place):
    messages = [{"role": "system", "content": FIXTURES["system"]}, user(FIXTURES["firstTurn"])]
    chat = connect(place).chat.completions
    first = chat.create(model=place.model("sim-echo"), messages=messages)
    messages += [first.choices[0].message, user(FIXTURES["secondTurn"])]
    second = chat.create(model=place.model("sim-transcript"), messages=messages)
    checks.check_transcript(second.choices[0].message.content)


def image(place):
    content = [
        {"type": "text", "text": FIXTURES["imageQuestion"]},
        {"type": "image_url", "image_url": {"url": checks.IMAGE_URL}},
    ]
    completion = connect(place).chat.completions.create(
        model=place.model("sim-transcript"), messages=[user(content)]
    )
    checks.check_image(completion.choices[0].message.content)


def thinking(place):
    messages = [user(TOOL_QUESTION)]
    text = loop(place, "sim-recall", messages, reasoning_effort="low")
    checks.check_recalled(text, True)
    completion = connect(place).chat.completions.create(
        model=place.model("sim-think"),
        messages=[*messages, user(QUESTION)],
        reasoning_effort="low",
    )
    message = completion.choices[0].message
    checks.check_equal(message.content, QUESTION)
    checks.check_thinking(message.reasoning_content)


def required(place):
    completion = connect(place).chat.completions.parse(
        model=place.model("sim-tools"),
        messages=[user(TOOL_QUESTION)],
        tools=TOOLS,
        tool_choice={"type": "function", "function": {"name": "clock"}},
        parallel_tool_calls=False,
    )
    calls = completion.choices[0].message.tool_calls
    checks.check_equal([call.function.parsed_arguments.zone for call in calls], ["UTC"])


def embeddings(place):
    response = connect(place).embeddings.create(
        model=place.model("sim-embed"), input=[FIXTURES["firstTurn"], FIXTURES["secondTurn"]]
    )
    checks.check_embeddings([item.embedding for item in response.data])


def early_stream(place, fault):
    """Returns a stream whose head was sent before the provider responded."""
    chunks = connect(place).chat.completions.create(
        model=f"{fault}-{place.model('sim-plan')}", messages=[user(QUESTION)], stream=True
    )
    checks.check_equal(chunks.response.headers["x-gateway-early"], "true")
    return chunks


def failing(place):
    chunks = list(early_stream(place, "failing"))
    choices = [choice for chunk in chunks for choice in chunk.choices]
    checks.check_equal("".join(choice.delta.content or "" for choice in choices), QUESTION)
    checks.check_equal(choices[-1].finish_reason, "stop")


def lost(place):
    try:
        chunks = list(early_stream(place, "lost"))
    except APIError as error:
        checks.check_equal(error.message, "Out of order.")
    else:
        raise AssertionError(f"no error, but {chunks}")


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
    "embeddings": embeddings,
    "failing": failing,
    "lost": lost,
}
