# pip: llama-index-llms-openai-like==0.8.1 llama-index-llms-openai==0.8.3 llama-index-core==0.14.25
"""LlamaIndex over Chat Completions."""

from llama_index.llms.openai_like import OpenAILike

from llama_index_shots import llama_index_shots

TITLE = "llama-index openai-like, Chat Completions"
SHOTS = llama_index_shots(
    OpenAILike, "required", {"additional_kwargs": {"reasoning_effort": "low"}}
)
