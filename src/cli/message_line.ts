import type { Cancellation } from "../core/cancellation.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import { postJson, wholeText } from "./post_json.ts";

const MESSAGES_PATH = "/v1/messages";

/** Limit of the message; the simulated models say less. */
const MAX_TOKENS_COUNT = 1000;

/** What the client of the Messages API says to each provider. */
export const GREETING = "Say hello to the Messages API.";

/**
 * Sends a request of the Messages API and returns the content blocks of the message as one line of text,
 * without a line break. Rejects if stopped.
 */
export async function messageLine(
  model: string,
  url: string,
  world: Pick<World, "send">,
  stop: Cancellation,
): Promise<string> {
  const messages = [{ role: "user", content: GREETING }];
  const body = { model, max_tokens: MAX_TOKENS_COUNT, messages };
  const response = await postJson(world, `${url}${MESSAGES_PATH}`, body, stop);
  const message = parseJson(await wholeText(response));
  if (!isObject(message)) return `status ${response.status}`;
  if (!Array.isArray(message.content)) return troubleOf(message);
  return message.content.filter(isObject).map(shown).join(", ");
}

function shown(block: JsonObject): string {
  return block.type === "thinking" ? `thinks "${block.thinking}"` : `says "${block.text}"`;
}

function troubleOf({ error }: JsonObject): string {
  return isObject(error) ? String(error.message) : "no message";
}
