# pip: smolagents[openai]==1.26.0
"""smolagents: its model alone, and a `ToolCallingAgent`, which requires a call in every step."""

import base64
import io

import PIL.Image
from smolagents import ChatMessage, OpenAIServerModel, ToolCallingAgent, tool
from smolagents.models import MessageRole

import checks
from checks import FIXTURES, QUESTION

TITLE = "smolagents"


def model(place, name, **more):
    return OpenAIServerModel(
        model_id=place.model(name),
        api_base=place.base_url,
        api_key=place.api_key,
        client_kwargs={"max_retries": 0},
        **more,
    )


def user(content):
    return ChatMessage(role=MessageRole.USER, content=content)


def question(place):
    answer = model(place, "sim-echo").generate([user(QUESTION)])
    checks.check_equal(answer.content, QUESTION)


def stream(place):
    deltas = model(place, "sim-echo").generate_stream([user(QUESTION)])
    checks.check_stream([delta.content or "" for delta in deltas])


def structured(place):
    schema = checks.Report.model_json_schema()
    form = {"name": "report", "schema": schema, "strict": True}
    answer = model(place, "sim-json").generate(
        [user(QUESTION)], response_format={"type": "json_schema", "json_schema": form}
    )
    checks.check_report(checks.Report.model_validate_json(answer.content))


def turns(place):
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=FIXTURES["system"]),
        user(FIXTURES["firstTurn"]),
    ]
    messages.append(model(place, "sim-echo").generate(messages))
    messages.append(user(FIXTURES["secondTurn"]))
    checks.check_transcript(model(place, "sim-transcript").generate(messages).content)


def image(place):
    picture = PIL.Image.open(io.BytesIO(base64.b64decode(FIXTURES["image"])))
    content = [
        {"type": "text", "text": FIXTURES["imageQuestion"]},
        {"type": "image", "image": picture},
    ]
    text = model(place, "sim-transcript").generate([user(content)]).content
    # smolagents encodes the picture again, so that its bytes are others.
    assert FIXTURES["imageQuestion"] in text and "[image/png, " in text, text


def required(place):
    calls = []

    @tool
    def weather(city: str) -> str:
        """Returns the weather of a city.

        Args:
            city: The city.
        """
        calls.append(city)
        return "sunny"

    # The simulator calls the first tool in every step, so the agent ends at its last one.
    agent = ToolCallingAgent(
        tools=[weather], model=model(place, "sim-tools"), max_steps=1, verbosity_level=0
    )
    agent.run(QUESTION)
    assert calls == ["text"], calls


SHOTS = {
    "question": question,
    "stream": stream,
    "structured": structured,
    "turns": turns,
    "image": image,
    "required": required,
}
