"""Uses of LangChain's OpenAI models and of agents on LangGraph with them."""

from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

import checks
from checks import FIXTURES, QUESTION, TOOL_QUESTION


class Answer(BaseModel):
    """An answer in JSON."""

    text: str


def langgraph_shots(sends_thinking_back, **settings):
    """Returns the uses of models with these settings, which may send their thinking back."""

    def chat(place, name, **more):
        return ChatOpenAI(
            model=place.model(name),
            base_url=place.base_url,
            api_key=place.api_key,
            max_retries=0,
            **settings,
            **more,
        )

    def agent(place, name, **more):
        return create_agent(chat(place, name, **more), [checks.weather, checks.clock])

    def asked(text):
        return {"messages": [HumanMessage(text)]}

    def question(place):
        checks.check_equal(chat(place, "sim-echo").invoke(QUESTION).text, QUESTION)

    def stream(place):
        checks.check_stream([chunk.text for chunk in chat(place, "sim-echo").stream(QUESTION)])

    def tools(place):
        result = agent(place, "sim-tools-parallel").invoke(asked(TOOL_QUESTION))
        checks.check_equal(result["messages"][-1].text, FIXTURES["bothResults"])
        streamed = agent(place, "sim-tools-parallel", streaming=True).invoke(asked(TOOL_QUESTION))
        checks.check_equal(streamed["messages"][-1].text, FIXTURES["bothResults"])

    def structured(place):
        model = chat(place, "sim-json").with_structured_output(checks.Report)
        checks.check_report(model.invoke(QUESTION).model_dump())

    def json_object(place):
        model = chat(place, "sim-json").with_structured_output(Answer, method="json_mode")
        checks.check_equal(model.invoke(FIXTURES["jsonQuestion"]).text, FIXTURES["jsonQuestion"])

    def turns(place):
        messages = [SystemMessage(FIXTURES["system"]), HumanMessage(FIXTURES["firstTurn"])]
        messages += [chat(place, "sim-echo").invoke(messages), HumanMessage(FIXTURES["secondTurn"])]
        checks.check_transcript(chat(place, "sim-transcript").invoke(messages).text)

    def image(place):
        content = [
            {"type": "text", "text": FIXTURES["imageQuestion"]},
            {"type": "image_url", "image_url": {"url": checks.IMAGE_URL}},
        ]
        checks.check_image(chat(place, "sim-transcript").invoke([HumanMessage(content)]).text)

    def thinking(place):
        reasoning = {"reasoning_effort": "low"}
        first = agent(place, "sim-recall", **reasoning).invoke(asked(TOOL_QUESTION))
        checks.check_recalled(first["messages"][-1].text, sends_thinking_back)
        second = chat(place, "sim-think", **reasoning).invoke(
            [*first["messages"], HumanMessage(QUESTION)]
        )
        checks.check_equal(second.text, QUESTION)

    def required(place):
        model = chat(place, "sim-tools")
        value = model.with_structured_output(checks.Report, method="function_calling")
        checks.check_report(value.invoke(QUESTION).model_dump())
        result = create_agent(model, [], response_format=ToolStrategy(checks.Report))
        checks.check_report(result.invoke(asked(QUESTION))["structured_response"].model_dump())

    def embeddings(place):
        model = OpenAIEmbeddings(
            model=place.model("sim-embed"),
            base_url=place.base_url,
            api_key=place.api_key,
            max_retries=0,
            # The length of the input is counted with tables that are fetched, without this.
            check_embedding_ctx_length=False,
        )
        texts = [FIXTURES["firstTurn"], FIXTURES["secondTurn"]]
        checks.check_embeddings(model.embed_documents(texts))

    return {
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
    }
