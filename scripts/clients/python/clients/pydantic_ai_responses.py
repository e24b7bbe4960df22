# pip: pydantic-ai-slim[openai]==2.68.0
"""Pydantic AI over Responses."""

from pydantic_ai.models.openai import OpenAIResponsesModel

from pydantic_ai_shots import pydantic_ai_shots

TITLE = "pydantic-ai, Responses"
SHOTS = pydantic_ai_shots(
    OpenAIResponsesModel,
    {"openai_reasoning_effort": "low", "openai_reasoning_summary": "auto"},
    False,
)
