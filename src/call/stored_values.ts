import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import type { CallPrivacy, TokenMap } from "../privacy/types.ts";
import type { Call } from "./call.ts";

/** Returns the tokens of a call: those of its values, and those that its provider has stored. */
export function knownTokens({ tokens, earlier }: CallPrivacy): TokenMap {
  if (earlier.size === 0) return tokens;
  return {
    size: tokens.size + earlier.size,
    get: (core) => tokens.get(core) ?? earlier.get(core),
    values: () =>
      new Map([...earlier, ...[...tokens.values()].map((one) => [one.core, one] as const)])
        .values(),
  };
}

/**
 * Finds the values of the objects that a provider has stored and the call names: in its path, or as
 * what its request continues.
 */
export function recallValues(call: Call, privacy: CallPrivacy, body: JsonObject = {}): void {
  const { state, generation } = call;
  for (const id of [...namedIds(body), ...call.path.split("/")]) {
    const values = state.values.find(keyOf(call, id), generation.config.state.ttl);
    for (const one of values) privacy.earlier.set(one.core, one);
  }
}

/** Stores the values of a call for later reads of an object that its provider has stored. */
export function storeValues(call: Call, privacy: CallPrivacy, resource: JsonObject): void {
  const tokens = knownTokens(privacy);
  const { id, conversation } = resource;
  if (tokens.size === 0) return;
  for (const one of [id, ...namedIds({ conversation })]) {
    if (typeof one !== "string") continue;
    call.state.values.add(keyOf(call, one), tokens.values(), call.generation.config.state.ttl);
  }
}

/** The client is part of it: an ID alone does not give anyone the values of another client. */
function keyOf({ caller }: Call, id: string): string {
  return JSON.stringify([caller.name, id]);
}

function namedIds({ previous_response_id, conversation }: JsonObject): string[] {
  const ids: (JsonValue | undefined)[] = [
    previous_response_id,
    isObject(conversation) ? conversation.id : conversation,
  ];
  return ids.filter((id) => typeof id === "string");
}
