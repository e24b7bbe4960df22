# pip: openai-agents==0.24.0
"""The Agents SDK over Chat Completions."""

from agents import OpenAIChatCompletionsModel

from agents_shots import agents_shots

TITLE = "openai-agents, Chat Completions"
SHOTS = agents_shots(
    lambda client, name: OpenAIChatCompletionsModel(model=name, openai_client=client), False
)
