# pip: langchain==1.4.7 langchain-openai==1.7.3 langgraph==1.2.22
"""LangChain and LangGraph over Responses."""

from langchain_openai_shots import langgraph_shots

TITLE = "langchain and langgraph, Responses"
SHOTS = langgraph_shots(True, use_responses_api=True)
SHOTS.pop("embeddings")
