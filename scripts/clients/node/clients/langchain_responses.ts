import type { Client } from "../../client.ts";
import { langchainShots } from "../langchain.ts";

const { embeddings: _embeddings, ...shots } = langchainShots({ useResponsesApi: true }, true);

/** LangChain over Responses. */
export const client: Client = {
  title: "@langchain/openai, Responses",
  packages: ["@langchain/openai", "@langchain/core"],
  shots,
};
