# pip: haystack-ai==3.4.0
"""Haystack's OpenAI components and its agent."""

from haystack.components.agents import Agent
from haystack.components.embedders import OpenAIDocumentEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, Document, ImageContent
from haystack.tools import create_tool_from_function
from haystack.utils import Secret

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TITLE = "haystack"
TOOLS = [create_tool_from_function(checks.weather), create_tool_from_function(checks.clock)]


def generator(place, name, **more):
    return OpenAIChatGenerator(
        model=place.model(name),
        api_base_url=place.base_url,
        api_key=Secret.from_token(place.api_key),
        max_retries=0,
        **more,
    )


def ask(place, name, messages, **more):
    return generator(place, name, **more).run(messages=messages)["replies"][0]


def question(place):
    answer = ask(place, "sim-echo", [ChatMessage.from_user(QUESTION)])
    checks.check_equal(answer.text, QUESTION)


def stream(place):
    pieces = []
    callback = lambda chunk: pieces.append(chunk.content or "")
    ask(place, "sim-echo", [ChatMessage.from_user(QUESTION)], streaming_callback=callback)
    checks.check_stream(pieces)


def tools(place):
    agent = Agent(chat_generator=generator(place, "sim-tools-parallel"), tools=TOOLS)
    result = agent.run(messages=[ChatMessage.from_user(TOOL_QUESTION)])
    checks.check_equal(result["messages"][-1].text, FIXTURES["bothResults"])


def structured(place):
    answer = ask(
        place,
        "sim-json",
        [ChatMessage.from_user(QUESTION)],
        generation_kwargs={"response_format": checks.Report},
    )
    checks.check_report(checks.Report.model_validate_json(answer.text))


def turns(place):
    messages = [
        ChatMessage.from_system(FIXTURES["system"]),
        ChatMessage.from_user(FIXTURES["firstTurn"]),
    ]
    messages.append(ask(place, "sim-echo", messages))
    messages.append(ChatMessage.from_user(FIXTURES["secondTurn"]))
    checks.check_transcript(ask(place, "sim-transcript", messages).text)


def image(place):
    picture = ImageContent(base64_image=FIXTURES["image"], mime_type="image/png")
    message = ChatMessage.from_user(content_parts=[FIXTURES["imageQuestion"], picture])
    checks.check_image(ask(place, "sim-transcript", [message]).text)


def thinking(place):
    effort = {"generation_kwargs": {"reasoning_effort": "low"}}
    agent = Agent(chat_generator=generator(place, "sim-recall", **effort), tools=TOOLS)
    result = agent.run(messages=[ChatMessage.from_user(TOOL_QUESTION)])
    checks.check_recalled(result["messages"][-1].text, False)
    messages = [*result["messages"], ChatMessage.from_user(QUESTION)]
    checks.check_equal(ask(place, "sim-think", messages, **effort).text, QUESTION)


def required(place):
    answer = ask(
        place,
        "sim-tools",
        [ChatMessage.from_user(TOOL_QUESTION)],
        tools=TOOLS,
        generation_kwargs={"tool_choice": "required"},
    )
    checks.check_equal([call.tool_name for call in answer.tool_calls], ["weather"])


def embeddings(place):
    embedder = OpenAIDocumentEmbedder(
        model=place.model("sim-embed"),
        api_base_url=place.base_url,
        api_key=Secret.from_token(place.api_key),
        progress_bar=False,
        max_retries=0,
        raise_on_failure=True,
    )
    documents = [Document(content=FIXTURES[name]) for name in ("firstTurn", "secondTurn")]
    checks.check_embeddings([document.embedding for document in embedder.run(documents)["documents"]])


SHOTS = {
    "question": question,
    "stream": stream,
    "tools": tools,
    "structured": structured,
    "turns": turns,
    "image": image,
    "thinking": thinking,
    "required": required,
    "embeddings": embeddings,
}
