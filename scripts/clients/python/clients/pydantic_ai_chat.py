# pip: pydantic-ai-slim[openai]==2.68.0
"""Pydantic AI over Chat Completions."""

from pydantic_ai.models.openai import OpenAIChatModel

from pydantic_ai_shots import pydantic_ai_shots

TITLE = "pydantic-ai, Chat Completions"
SHOTS = pydantic_ai_shots(OpenAIChatModel, {"openai_reasoning_effort": "low"}, True)
