"""Uses of the Agents SDK with one of its kinds of models."""

import agents
from agents import Agent, ModelSettings, Runner, function_tool
from openai import AsyncOpenAI
from openai.types.responses import ResponseTextDeltaEvent
from openai.types.shared import Reasoning

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

# Traces would be sent to the makers of the SDK.
agents.set_tracing_disabled(True)

TOOLS = [function_tool(checks.weather), function_tool(checks.clock)]
THINKING = ModelSettings(reasoning=Reasoning(effort="low", summary="auto"))


def agents_shots(new_model, sends_thinking_back):
    """Returns the uses of the SDK; `new_model` makes a model of a client and a name."""

    def agent(place, name, **more):
        client = AsyncOpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0)
        return Agent(name="helper", model=new_model(client, place.model(name)), **more)

    async def question(place):
        result = await Runner.run(agent(place, "sim-echo"), QUESTION)
        checks.check_equal(result.final_output, QUESTION)

    async def stream(place):
        result = Runner.run_streamed(agent(place, "sim-echo"), QUESTION)
        pieces = [
            event.data.delta
            async for event in result.stream_events()
            if event.type == "raw_response_event" and isinstance(event.data, ResponseTextDeltaEvent)
        ]
        checks.check_stream(pieces)

    async def tools(place):
        helper = agent(place, "sim-tools-parallel", tools=TOOLS)
        result = await Runner.run(helper, TOOL_QUESTION)
        checks.check_equal(result.final_output, FIXTURES["bothResults"])
        streamed = Runner.run_streamed(helper, TOOL_QUESTION)
        async for _event in streamed.stream_events():
            pass
        checks.check_equal(streamed.final_output, FIXTURES["bothResults"])

    async def structured(place):
        helper = agent(place, "sim-json", output_type=checks.Report)
        result = await Runner.run(helper, QUESTION)
        checks.check_report(result.final_output.model_dump())

    async def turns(place):
        shared = {"instructions": FIXTURES["system"]}
        first = await Runner.run(agent(place, "sim-echo", **shared), FIXTURES["firstTurn"])
        items = [*first.to_input_list(), {"role": "user", "content": FIXTURES["secondTurn"]}]
        second = await Runner.run(agent(place, "sim-transcript", **shared), items)
        checks.check_transcript(second.final_output)

    async def image(place):
        content = [
            {"type": "input_text", "text": FIXTURES["imageQuestion"]},
            {"type": "input_image", "image_url": checks.IMAGE_URL, "detail": "auto"},
        ]
        items = [{"role": "user", "content": content}]
        result = await Runner.run(agent(place, "sim-transcript"), items)
        checks.check_image(result.final_output)

    async def thinking(place):
        helper = agent(place, "sim-recall", tools=TOOLS, model_settings=THINKING)
        first = await Runner.run(helper, TOOL_QUESTION)
        checks.check_recalled(first.final_output, sends_thinking_back)
        items = [*first.to_input_list(), {"role": "user", "content": QUESTION}]
        second = await Runner.run(agent(place, "sim-think", model_settings=THINKING), items)
        checks.check_equal(second.final_output, QUESTION)

    async def required(place):
        settings = ModelSettings(tool_choice="clock", parallel_tool_calls=False)
        helper = agent(place, "sim-tools", tools=TOOLS, model_settings=settings)
        result = await Runner.run(helper, TOOL_QUESTION)
        checks.check_equal(result.final_output, 'The tools said "noon in UTC".')

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
