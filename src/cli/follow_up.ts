import type { Cancellation } from "../core/cancellation.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import { RESPONSES_PATH } from "./first_call.ts";
import { postJson, wholeText } from "./post_json.ts";

/** What a response of the tour asks. */
export const WEATHER_QUESTION = "How is the weather?";

/** What the tour says when the model calls its function. */
const RESULT = "sunny";

/** The function that a response may call. */
export const WEATHER_FUNCTION: JsonObject = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** How a response and its follow-up went. */
export interface FollowUp {
  /** For people, without a line break. */
  readonly line: string;
  /** Of the last response; null when there was none. */
  readonly id: string | null;
}

/**
 * Creates a response that calls a function, and continues it with the result alone: all that was
 * said before is the gateway's to know. Rejects when stopped.
 */
export async function followUp(
  model: string,
  url: string,
  world: Pick<World, "send">,
  stop: Cancellation,
): Promise<FollowUp> {
  async function create(fields: JsonObject): Promise<JsonObject> {
    const body = { model, tools: [WEATHER_FUNCTION], ...fields };
    const answer = await postJson(world, `${url}${RESPONSES_PATH}`, body, stop);
    const value = parseJson(await wholeText(answer));
    return isObject(value) ? value : {};
  }

  const first = await create({ input: WEATHER_QUESTION });
  const call = itemsIn(first.output).find(({ type }) => type === "function_call");
  if (call === undefined) return { line: troubleOf(first), id: null };
  const output = { type: "function_call_output", call_id: call.call_id ?? null, output: RESULT };
  const second = await create({ previous_response_id: first.id ?? null, input: [output] });
  const [message] = itemsIn(second.output);
  const [part] = itemsIn(message?.content);
  if (typeof part?.text !== "string") return { line: troubleOf(second), id: null };
  return {
    line: `calls ${call.name}(${call.arguments}), is told "${RESULT}", says: ${part.text}`,
    id: typeof second.id === "string" ? second.id : null,
  };
}

function itemsIn(list: JsonObject[string]): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function troubleOf({ error }: JsonObject): string {
  return isObject(error) && typeof error.message === "string" ? error.message : "no answer";
}
