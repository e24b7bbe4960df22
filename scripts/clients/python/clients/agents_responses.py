# pip: openai-agents==0.24.0
"""The Agents SDK over Responses."""

from agents import OpenAIResponsesModel

from agents_shots import agents_shots

TITLE = "openai-agents, Responses"
SHOTS = agents_shots(
    lambda client, name: OpenAIResponsesModel(model=name, openai_client=client), True
)
