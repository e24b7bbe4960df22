import type { Client } from "../../client.ts";
import { langchainShots } from "../langchain.ts";

/** LangChain over Chat Completions. */
export const client: Client = {
  title: "@langchain/openai, Chat Completions",
  packages: ["@langchain/openai", "@langchain/core"],
  shots: langchainShots({}, false),
};
