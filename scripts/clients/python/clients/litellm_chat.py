# pip: litellm==1.106.2 mcp==2.3.0
"""LiteLLM as a client of the gateway."""

import litellm

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TITLE = "litellm"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": FIXTURES[name]["description"],
            "parameters": FIXTURES[name]["parameters"],
            "strict": True,
        },
    }
    for name in ("weather", "clock")
]


def user(content):
    return {"role": "user", "content": content}


def ask(place, name, messages, **more):
    return litellm.completion(
        model=f"openai/{place.model(name)}",
        api_base=place.base_url,
        api_key=place.api_key,
        messages=messages,
        num_retries=0,
        max_retries=0,
        **more,
    )


def loop(place, name, messages, **more):
    """Runs the calls of an answer and asks again, until an answer has no calls."""
    while True:
        message = ask(place, name, messages, tools=TOOLS, **more).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            content = checks.run_tool(call.function.name, call.function.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


def question(place):
    answer = ask(place, "sim-echo", [user(QUESTION)])
    checks.check_equal(answer.choices[0].message.content, QUESTION)


def stream(place):
    chunks = ask(place, "sim-echo", [user(QUESTION)], stream=True)
    checks.check_stream([chunk.choices[0].delta.content or "" for chunk in chunks])


def tools(place):
    text = loop(place, "sim-tools-parallel", [user(TOOL_QUESTION)])
    checks.check_equal(text, FIXTURES["bothResults"])


def structured(place):
    answer = ask(place, "sim-json", [user(QUESTION)], response_format=checks.Report)
    report = checks.Report.model_validate_json(answer.choices[0].message.content)
    checks.check_report(report.model_dump())


def json_object(place):
    asked = [user(FIXTURES["jsonQuestion"])]
    answer = ask(place, "sim-json", asked, response_format={"type": "json_object"})
    checks.check_json(answer.choices[0].message.content)


def turns(place):
    messages = [{"role": "system", "content": FIXTURES["system"]}, user(FIXTURES["firstTurn"])]
    messages.append(ask(place, "sim-echo", messages).choices[0].message)
    messages.append(user(FIXTURES["secondTurn"]))
    answer = ask(place, "sim-transcript", messages)
    checks.check_transcript(answer.choices[0].message.content)


def image(place):
    content = [
        {"type": "text", "text": FIXTURES["imageQuestion"]},
        {"type": "image_url", "image_url": {"url": checks.IMAGE_URL}},
    ]
    answer = ask(place, "sim-transcript", [user(content)])
    checks.check_image(answer.choices[0].message.content)


def thinking(place):
    effort = {"reasoning_effort": "low", "allowed_openai_params": ["reasoning_effort"]}
    messages = [user(TOOL_QUESTION)]
    checks.check_recalled(loop(place, "sim-recall", messages, **effort), True)
    message = ask(place, "sim-think", [*messages, user(QUESTION)], **effort).choices[0].message
    checks.check_equal(message.content, QUESTION)
    checks.check_thinking(message.reasoning_content)


def required(place):
    answer = ask(
        place,
        "sim-tools",
        [user(TOOL_QUESTION)],
        tools=TOOLS,
        tool_choice={"type": "function", "function": {"name": "clock"}},
        parallel_tool_calls=False,
    )
    calls = answer.choices[0].message.tool_calls
    checks.check_equal([call.function.name for call in calls], ["clock"])


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
}
