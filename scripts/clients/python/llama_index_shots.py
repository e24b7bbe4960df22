"""Uses of LlamaIndex with one of its models for APIs like OpenAI's."""

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION

TOOLS = [FunctionTool.from_defaults(checks.weather), FunctionTool.from_defaults(checks.clock)]


def llama_index_shots(model_class, parsed_as, thinking_settings):
    """Returns the uses of LlamaIndex; the settings make a model think.

    `parsed_as` is the name of the use in which an answer is parsed.
    """

    def model(place, name, **more):
        return model_class(
            model=place.model(name),
            api_base=place.base_url,
            api_key=place.api_key,
            is_chat_model=True,
            is_function_calling_model=True,
            max_retries=0,
            **more,
        )

    def user(content):
        return ChatMessage(role="user", content=content)

    def question(place):
        answer = model(place, "sim-echo").chat([user(QUESTION)])
        checks.check_equal(answer.message.content, QUESTION)

    def stream(place):
        chunks = model(place, "sim-echo").stream_chat([user(QUESTION)])
        checks.check_stream([chunk.delta or "" for chunk in chunks])

    async def tools(place):
        agent = FunctionAgent(tools=TOOLS, llm=model(place, "sim-tools-parallel"))
        checks.check_equal(str(await agent.run(TOOL_QUESTION)), FIXTURES["bothResults"])

    def turns(place):
        messages = [ChatMessage(role="system", content=FIXTURES["system"])]
        messages.append(user(FIXTURES["firstTurn"]))
        messages.append(model(place, "sim-echo").chat(messages).message)
        messages.append(user(FIXTURES["secondTurn"]))
        answer = model(place, "sim-transcript").chat(messages)
        checks.check_transcript(answer.message.content)

    def image(place):
        blocks = [TextBlock(text=FIXTURES["imageQuestion"]), ImageBlock(url=checks.IMAGE_URL)]
        answer = model(place, "sim-transcript").chat([ChatMessage(role="user", blocks=blocks)])
        checks.check_image(answer.message.content)

    async def thinking(place):
        agent = FunctionAgent(tools=TOOLS, llm=model(place, "sim-recall", **thinking_settings))
        checks.check_recalled(str(await agent.run(TOOL_QUESTION)), False)

    def parsed(place):
        # Over Chat Completions this is a call that must be made, over Responses a format of the text.
        llm = model(place, "sim-tools").as_structured_llm(checks.Report)
        checks.check_report(llm.chat([user(QUESTION)]).raw.model_dump())

    return {
        "question": question,
        "stream": stream,
        "tools": tools,
        "turns": turns,
        "image": image,
        "thinking": thinking,
        parsed_as: parsed,
    }
