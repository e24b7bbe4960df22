# pip: langchain==1.4.7 langchain-openai==1.7.3 langgraph==1.2.22
"""LangChain and LangGraph over Chat Completions."""

from langchain_openai_shots import langgraph_shots

TITLE = "langchain and langgraph, Chat Completions"
SHOTS = langgraph_shots(False)
