# pip: llama-index-llms-openai-like==0.8.1 llama-index-llms-openai==0.8.3 llama-index-core==0.14.25
"""LlamaIndex over Responses."""

from llama_index.llms.openai_like import OpenAILikeResponses

from llama_index_shots import llama_index_shots

TITLE = "llama-index openai-like, Responses"
SHOTS = llama_index_shots(
    OpenAILikeResponses,
    "structured",
    {"reasoning_options": {"effort": "low", "summary": "auto"}},
)
