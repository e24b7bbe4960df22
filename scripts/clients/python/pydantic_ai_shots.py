"""Uses of Pydantic AI with one of its kinds of OpenAI models."""

import base64

from openai import AsyncOpenAI
from pydantic_ai import Agent, BinaryContent, NativeOutput, ToolOutput
from pydantic_ai.messages import ThinkingPart
from pydantic_ai.profiles.openai import openai_model_profile
from pydantic_ai.providers.openai import OpenAIProvider

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION


def pydantic_ai_shots(model_class, thinking_settings, shows_thinking):
    """Returns the uses of Pydantic AI; the settings make a model think.

    `shows_thinking` is false for a model that reads only summaries of reasoning.
    """

    def agent(place, name, **more):
        client = AsyncOpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0)
        # The client sends encrypted reasoning back only for models whose names it knows.
        profile = openai_model_profile("gpt-5") if place.provider_type == "native" else None
        provider = OpenAIProvider(openai_client=client)
        model = model_class(place.model(name), provider=provider, profile=profile)
        return Agent(model, retries=0, **more)

    async def question(place):
        result = await agent(place, "sim-echo").run(QUESTION)
        checks.check_equal(result.output, QUESTION)

    async def stream(place):
        async with agent(place, "sim-echo").run_stream(QUESTION) as result:
            pieces = [piece async for piece in result.stream_text(delta=True, debounce_by=None)]
        checks.check_stream(pieces)

    async def tools(place):
        helper = agent(place, "sim-tools-parallel", tools=[checks.weather, checks.clock])
        result = await helper.run(TOOL_QUESTION)
        checks.check_equal(result.output, FIXTURES["bothResults"])
        async with helper.run_stream(TOOL_QUESTION) as streamed:
            checks.check_equal(await streamed.get_output(), FIXTURES["bothResults"])

    async def structured(place):
        helper = agent(place, "sim-json", output_type=NativeOutput(checks.Report))
        result = await helper.run(QUESTION)
        checks.check_report(result.output.model_dump())

    async def turns(place):
        shared = {"instructions": FIXTURES["system"]}
        first = await agent(place, "sim-echo", **shared).run(FIXTURES["firstTurn"])
        second = await agent(place, "sim-transcript", **shared).run(
            FIXTURES["secondTurn"], message_history=first.all_messages()
        )
        checks.check_transcript(second.output)

    async def image(place):
        picture = BinaryContent(base64.b64decode(FIXTURES["image"]), media_type="image/png")
        result = await agent(place, "sim-transcript").run([FIXTURES["imageQuestion"], picture])
        checks.check_image(result.output)

    async def thinking(place):
        shared = {"model_settings": thinking_settings}
        helper = agent(place, "sim-recall", tools=[checks.weather, checks.clock], **shared)
        first = await helper.run(TOOL_QUESTION)
        checks.check_recalled(first.output, True)
        parts = first.all_messages()[1].parts
        thoughts = [part.content for part in parts if isinstance(part, ThinkingPart)]
        assert len(thoughts) == 1, thoughts
        if shows_thinking:
            checks.check_thinking(thoughts[0])
        second = await agent(place, "sim-think", **shared).run(
            QUESTION, message_history=first.all_messages()
        )
        checks.check_equal(second.output, QUESTION)

    async def required(place):
        # The usual way of Pydantic AI: the output is the call of a tool that must be called.
        helper = agent(place, "sim-tools", output_type=ToolOutput(checks.Report))
        result = await helper.run(QUESTION)
        checks.check_report(result.output.model_dump())

    return {
        "question": question,
        "stream": stream,
        "tools": tools,
        "structured": structured,
        "turns": turns,
        "image": image,
        "thinking": thinking,
        "required": required,
    }
