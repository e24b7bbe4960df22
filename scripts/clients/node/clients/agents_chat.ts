import { OpenAIChatCompletionsModel } from "@openai/agents";
import { agentsShots } from "../agents_sdk.ts";
import type { Client } from "../../client.ts";

/** The Agents SDK over Chat Completions. */
export const client: Client = {
  title: "@openai/agents, Chat Completions",
  packages: ["@openai/agents"],
  shots: agentsShots(
    (connection, model) => new OpenAIChatCompletionsModel(connection, model),
    false,
  ),
};
