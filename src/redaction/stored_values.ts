import type { EndpointFacts } from "../core/endpoint.ts";
import type { JsonObject } from "../core/json/json.ts";
import { decodeUriText } from "../core/uri_text.ts";
import { textOfString, walkJson } from "../privacy/json_strings.ts";
import type { CallPrivacy, TokenMap } from "../privacy/types.ts";
import type { ValuedObject } from "../store/privacy_values.ts";
import type { Call } from "../call/call.ts";
import { conversationIn } from "../call/session.ts";

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

/** End of the path of an endpoint that returns the object that the path names. */
const NAMED_OBJECT = /\/(?::\w+|cancel)$/;

/** Finds the values of the objects that a provider has stored and the path of a call names. */
export async function recallPath(call: Call, privacy: CallPrivacy): Promise<void> {
  const areJson = await recall(call, privacy, pathIds(call));
  const isNamed = NAMED_OBJECT.test(call.report.endpoint.path);
  if (isNamed && areJson.at(-1) === true) privacy.answer.isJsonText = true;
}

/** The path of a call, and that of its endpoint. */
type CalledPath = Pick<Call, "path"> & {
  readonly report: { readonly endpoint: Pick<EndpointFacts, "path"> };
};

/** Returns the identifiers in the path of a call, as bodies have them. */
export function pathIds({ path, report: { endpoint } }: CalledPath): string[] {
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

/**
 * Returns the identifiers of the objects of a list by their place in it, by its JSON text. Can be
 * interrupted.
 */
export function* listedIds(text: string): Generator<void, ReadonlyMap<number, string>, void> {
  const ids = new Map<number, string>();
  yield* walkJson(text, ({ kind, start, end }, [holder, place, member, ...rest]) => {
    if (kind !== "string" || rest.length > 0 || holder !== "data" || member !== "id") return;
    if (typeof place === "number") ids.set(place, textOfString(text, start, end));
  });
  return ids;
}

/** Finds the values of the objects of a list that providers have stored. */
export async function recallListed(
  call: Call,
  { earlier, answer }: CallPrivacy,
  ids: ReadonlyMap<number, string>,
): Promise<void> {
  const areJson = await recall(call, { earlier }, [...ids.values()]);
  answer.jsonObjects = new Set([...ids.keys()].filter((_place, at) => areJson[at] === true));
}

/** Finds the values of objects that providers have stored; true for each whose text is JSON. */
async function recall(
  call: Call,
  { earlier }: Pick<CallPrivacy, "earlier">,
  ids: readonly string[],
): Promise<readonly boolean[]> {
  if (ids.length === 0) return [];
  const found = await call.state.values.find(ids.map((id) => objectOf(call, id)));
  for (const { values } of found) for (const one of values) earlier.set(one.core, one);
  return found.map(({ isJsonText }) => isJsonText);
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
    const isJsonText = one === resource.id && privacy.answer.isJsonText;
    await call.state.values.add(objectOf(call, one), { values: tokens, isJsonText });
  }
}

function objectOf({ caller }: Call, id: string): ValuedObject {
  return { creator: caller.name, id };
}
