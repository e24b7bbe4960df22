import { OpenAIResponsesModel } from "@openai/agents";
import { agentsShots } from "../agents_sdk.ts";
import type { Client } from "../../client.ts";

/** The Agents SDK over Responses. */
export const client: Client = {
  title: "@openai/agents, Responses",
  packages: ["@openai/agents"],
  shots: agentsShots((connection, model) => new OpenAIResponsesModel(connection, model), true),
};
