import { isObject, type JsonObject } from "../core/json/json.ts";
import { decodeUriText } from "../core/uri_text.ts";
import { demandsJson } from "../formats/json_demand.ts";
import { textOfString, walkJson } from "../privacy/json_strings.ts";
import type { CallPrivacy, TokenMap } from "../privacy/types.ts";
import type { ValuedObject } from "../store/privacy_values.ts";
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

/** Finds the values of the objects that a provider has stored and the path of a call names. */
export async function recallPath(call: Call, privacy: CallPrivacy): Promise<void> {
  await recall(call, privacy, pathIds(call));
}

/** Returns the identifiers in the path of a call, as bodies have them. */
export function pathIds({ path, report: { endpoint } }: Call): string[] {
  const pattern = endpoint.path.split("/");
  return path.split("/").filter((_part, at) => pattern[at]?.startsWith(":")).map(decodeUriText);
}

/** Finds the values of the objects that a request continues and its provider has stored. */
export async function recallContinued(
  call: Call,
  privacy: CallPrivacy,
  body: JsonObject,
): Promise<void> {
  const conversation = conversationIn(body);
  const { previous_response_id: previous } = body;
  if (conversation !== undefined) privacy.conversation = conversation;
  await recall(
    call,
    privacy,
    [conversation, previous].filter((id) => typeof id === "string"),
  );
}

/** Returns the ID of the conversation that a request or a response names. */
export function conversationIn({ conversation }: JsonObject): string | undefined {
  const id = isObject(conversation) ? conversation.id : conversation;
  return typeof id === "string" ? id : undefined;
}

/** Facts of stored objects that an answer with them has. */
interface StoredFacts {
  /** The identifiers of a list. */
  readonly ids: readonly string[];
  /** True for a response whose request has demanded JSON as its text. */
  readonly isJsonText: boolean;
}

/** Returns the facts of an answer, or of an event with it, by its JSON text. Can be interrupted. */
export function* storedFacts(text: string): Generator<void, StoredFacts, void> {
  const ids: string[] = [];
  let isJsonText = false;
  yield* walkJson(text, ({ kind, start, end }, [root, ...below]) => {
    const path = root === "response" ? below : [root, ...below];
    const [holder, place, member, ...rest] = path;
    if (kind !== "string" || rest.length > 0) return;
    if (holder === "data" && member === "id") ids.push(textOfString(text, start, end));
    if (holder === "text" && place === "format" && member === "type") {
      isJsonText = demandsJson({ text: { format: { type: textOfString(text, start, end) } } });
    }
  });
  return { ids, isJsonText };
}

/** Finds the values of objects that providers have stored. */
export async function recall(
  call: Call,
  privacy: CallPrivacy,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const values = await call.state.values.find(ids.map((id) => objectOf(call, id)));
  for (const one of values) privacy.earlier.set(one.core, one);
}

/**
 * Stores the values of a call for later reads of an object that its provider has stored, of its
 * conversation, and of those in the path of the call: items added to a conversation come back
 * with it.
 */
export async function storeValues(
  call: Call,
  privacy: CallPrivacy,
  resource: JsonObject,
): Promise<void> {
  const tokens = [...knownTokens(privacy).values()];
  const conversation = conversationIn(resource) ?? privacy.conversation;
  if (tokens.length === 0) return;
  for (const one of new Set([resource.id, conversation, ...pathIds(call)])) {
    if (typeof one !== "string") continue;
    await call.state.values.add(objectOf(call, one), tokens);
  }
}

function objectOf({ caller }: Call, id: string): ValuedObject {
  return { creator: caller.name, id };
}
