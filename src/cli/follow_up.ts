import type { Cancellation } from "../core/cancellation.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import type { World } from "../core/world.ts";
import { RESPONSES_PATH } from "./first_call.ts";
import { postJson, wholeText } from "./post_json.ts";

/** Input of a response of the tour. */
export const WEATHER_QUESTION = "How is the weather?";

/** Function result that the tour sends. */
const RESULT = "sunny";

/** Function that a response may call. */
export const WEATHER_FUNCTION: JsonObject = {
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** Result of a response and its follow-up. */
export interface FollowUp {
  /** Result as one line of text, without a line break. */
  readonly line: string;
  /** ID of the last response; null if there was none. */
  readonly id: string | null;
}

/**
 * Creates a response that calls a function, and continues it with the function result only: the gateway
 * stores the earlier items. Rejects if stopped.
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
    line: `calls ${call.name}(${call.arguments}), receives "${RESULT}", answers: ${part.text}`,
    id: typeof second.id === "string" ? second.id : null,
  };
}

function itemsIn(list: JsonObject[string]): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function troubleOf({ error }: JsonObject): string {
  return isObject(error) && typeof error.message === "string" ? error.message : "no answer";
}
