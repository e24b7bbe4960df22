import { createHash } from "node:crypto";
import type { EndpointFacts } from "../core/endpoint.ts";
import { isObject, type JsonDocument, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { atPace } from "../core/at_once.ts";
import { isRefusal } from "../core/failure/failure.ts";
import { type Failed, refuse, type Result, success } from "../core/failure/result.ts";
import { memoryOf } from "../formats/request_memory.ts";
import { demandsJson } from "../formats/json_demand.ts";
import { type MultipartBody, partText, withContents } from "../formats/multipart.ts";
import { decodeUriText } from "../core/uri_text.ts";
import { changesAnswers, newMaskText } from "../privacy/answer_text.ts";
import { finishText } from "../privacy/finish.ts";
import { memberOf, valueAt, writePath } from "../privacy/json_strings.ts";
import { lossyParts, lossyPaths, type Replaced } from "../privacy/lossy_paths.ts";
import { newPace, type Pace } from "../privacy/pace.ts";
import { replaceInForm } from "../privacy/replace_form.ts";
import { replaceInDocument, type ReplaceOptions } from "../privacy/replace_json.ts";
import { restoreObject, restoreText } from "../privacy/restore_json.ts";
import { search } from "../privacy/search.ts";
import type { CallPrivacy, Policy, Scopes } from "../privacy/types.ts";
import type { Call, CallClient } from "../call/call.ts";
import { holdBody } from "../traffic/call_memory.ts";
import { knownTokens, pathIds, recallContinued, recallPath } from "./stored_values.ts";
import { conversationIn, sessionOf } from "../call/session.ts";

/** Returns the policy of an admitted call; null if no rules hold for it. */
export function policyOf(
  { generation, client }: Pick<Call, "generation"> & { readonly client: Pick<CallClient, "key"> },
): Policy | null {
  return generation.privacy?.policyFor(client.key?.privacy ?? []) ?? null;
}

/** Gives a call the rules of a policy, if it has one. */
export function startPrivacy(call: Call, policy: Policy | null): void {
  const { generation: { privacy }, client, report } = call;
  if (privacy === null || policy === null) return;
  client.privacy = privacy.newCall(policy);
  report.privacy = client.privacy.counts;
  hideSession(call, client.privacy);
  hidePath(call, client.privacy);
}

/** Replacements of the values of a request. */
type Place = Pick<ReplaceOptions, "masks">;

/**
 * Returns the body of a request as providers may have it: the rules of the call have replaced
 * values in it. The same document if there are no rules or no values. Refused as the rules say, or
 * if there is no memory for it besides the one that was received.
 */
export async function replaceDocument(
  call: Call,
  document: JsonDocument,
  place: Place = {},
): Promise<Result<JsonDocument>> {
  const { privacy } = call.client;
  if (privacy === null) return success(document);
  // That of the body is in the report of a refused call too.
  hideSession(call, privacy);
  const refused = refuseModelHeader(call, privacy);
  if (refused !== null) return refused;
  if (document.members.length === 0) return success(document);
  privacy.answer.isJsonText = demandsJson(document.value);
  await recallPath(call, privacy);
  await recallContinued(call, privacy, document.value);
  const replaced = await paced(
    call,
    privacy,
    document.value,
    (options) => replaceInDocument(privacy, document, { ...place, ...options }),
  );
  if (!replaced.ok) return replaced;
  const isSame = replaced.value === document;
  const written = (hasTokens: boolean) =>
    writtenPaths(call, document.value, {
      hasTokens,
      isMasked: function* (path, value) {
        return !isSame &&
          (yield* isMasked(privacy, value, valueAt(replaced.value.value, path)));
      },
    });
  const hasTokens = knownTokens(privacy).size > 0;
  if (hasTokens || !isSame || changesAnswers(privacy.policy.response)) {
    privacy.counts.lossy = await written(hasTokens);
  }
  if (rootIn(document.value) !== undefined) privacy.lossyWithTokens = await written(true);
  if (isSame) return replaced;
  return holdBody(call, memoryOf(replaced.value.text)) ?? replaced;
}

/**
 * True if a text that the provider gets does not stand for the one in its place in a value. Can be
 * interrupted.
 */
function* isMasked(
  { tokens }: CallPrivacy,
  value: JsonValue | undefined,
  sent: JsonValue | undefined,
): Generator<void, boolean, void> {
  const [texts, others] = Array.isArray(value) ? [value, sent] : [[value], [sent ?? null]];
  for (const [at, text] of texts.entries()) {
    const other = memberOf(others, at);
    if (typeof text !== "string" || text === other) continue;
    if (restoreText(String(other), tokens) !== text) return true;
    yield;
  }
  return false;
}

/** Returns the paths that rules let an answer keep only in part, as the API writes them. */
async function writtenPaths(
  call: Call,
  request: JsonObject,
  replaced: Replaced,
): Promise<string[]> {
  const paths = await atPace(paceOf(call), lossyPaths(request, replaced));
  const { api } = call.report.endpoint;
  return paths.map((path) => api === "messages" ? path.join(".") : writePath(path));
}

/** Returns items of a dialogue that the gateway has stored as providers may have them. */
export async function replaceItems(
  call: Call,
  items: readonly JsonObject[],
): Promise<Result<readonly JsonObject[]>> {
  const { privacy } = call.client;
  if (privacy === null || items.length === 0) return success(items);
  const value = { input: [...items] };
  const document = { text: JSON.stringify(value), value, members: [] };
  const replaced = await paced(
    call,
    privacy,
    value,
    (options) => replaceInDocument(privacy, document, options),
  );
  if (!replaced.ok) return replaced;
  if (privacy.tokens.size > 0) privacy.counts.lossy = privacy.lossyWithTokens;
  const changed = replaced.value.value.input;
  if (replaced.value === document || !Array.isArray(changed)) return success(items);
  const full = holdBody(call, memoryOf(replaced.value.text));
  if (full !== null) return full;
  return success(items.map((item, index) => {
    const sent = changed[index];
    return !isObject(sent) || JSON.stringify(sent) === JSON.stringify(item) ? item : sent;
  }));
}

/** Returns a new item of a request as the client wrote it, to be stored. */
export async function writtenItem(
  { client: { privacy } }: Call,
  item: JsonObject,
  pace: Pace,
): Promise<JsonObject> {
  if (privacy === null || privacy.tokens.size === 0) return item;
  return await atPace(pace, restoreObject(item, privacy.tokens, privacy.answer));
}

/** Returns a text of a request as the client wrote it: that of an answer that it has received. */
export function writtenText({ client: { privacy } }: Call, text: string): string {
  return privacy === null ? text : restoreText(text, privacy.tokens);
}

/** Returns a multipart body as providers may have it, like `replaceDocument`. Files stay unread. */
export async function replaceForm(
  call: Call,
  form: MultipartBody,
  place: Place = {},
): Promise<Result<MultipartBody>> {
  const { privacy } = call.client;
  if (privacy === null) return success(form);
  const refused = refuseModelHeader(call, privacy);
  if (refused !== null) return refused;
  const replaced = await paced(
    call,
    privacy,
    {},
    (options) => replaceInForm(privacy, form, { ...place, ...options }),
  );
  if (privacy.tokens.size > 0 || changesAnswers(privacy.policy.response)) {
    privacy.counts.lossy = lossyParts(form.parts, (part) => partText(form, part));
  }
  if (!replaced.ok) return replaced;
  const bytes = replaced.value.reduce((sum, content) => sum + (content?.length ?? 0), 0);
  if (bytes === 0) return success(form);
  return holdBody(call, bytes) ?? success(withContents(form, replaced.value));
}

/** Refuses a model in a header that has a value: providers would get it as it is. */
export function refuseModelHeader(
  { controls: { model } }: { readonly controls: Pick<Call["controls"], "model"> },
  { policy }: Pick<CallPrivacy, "policy">,
): Failed | null {
  if (model === null) return null;
  const found = search(model, policy.request).find(({ rule }) => rule.action !== "monitor");
  if (found === undefined) return null;
  const code = found.rule.action === "refuse" ? "privacy_rule_matched" : "privacy_unreplaceable";
  const rule = `has a value of the privacy rule '${found.rule.name}'`;
  return refuse(code, { kind: "rule", rule }, "X-Gateway-Model");
}

/** Takes session and conversation out of the report if they have a value: it would be logged. */
function hideSession({ report }: Call, { policy }: CallPrivacy): void {
  const has = (name: string | null) => name !== null && search(name, policy.request).length > 0;
  if (has(report.conversation)) report.conversation = null;
  if (!has(report.session)) return;
  report.session = null;
  report.sessionFrom = null;
}

/**
 * Parts and characters of a path that a report has with rules: each part is searched, also in calls
 * without a client key, and no path of an endpoint has as many. Measured: to search 60 KB takes 3
 * to 6 ms.
 */
const MAX_PATH_PARTS = 64, MAX_PATH_CHARS = 1_024;

/** Masks the values in a path in the report: it is in log lines and spans. */
function hidePath({ path, report }: Call, { policy }: CallPrivacy): void {
  if (path === report.endpoint.path) return;
  const masks = newMaskText(policy.request);
  // Of a value that would be cut no part is left.
  const end = path.length > MAX_PATH_CHARS ? path.lastIndexOf("/", MAX_PATH_CHARS) : path.length;
  report.path = (path.slice(0, end) || "/").split("/", MAX_PATH_PARTS).map((part) => {
    const text = decodeUriText(part);
    const masked = finishText(masks, text, "plain");
    return masked === text ? part : masked;
  }).join("/");
}

/** Returns the failure of a body that rules cannot search, without the values in a key it names. */
export function hideValues({ policy }: Pick<CallPrivacy, "policy">, failed: Failed): Failed {
  const { failure } = failed;
  if (!isRefusal(failure) || failure.reason.kind !== "text") return failed;
  const { kind, at, reason } = failure;
  return refuse(kind, finishText(newMaskText(policy.request), reason.text, "plain"), at);
}

/** Searches a request within the time that it may take, with the scopes of its call. */
async function paced<Value>(
  call: Call,
  privacy: CallPrivacy,
  body: JsonObject,
  search: (options: Pick<ReplaceOptions, "pace" | "scopes">) => Promise<Result<Value>>,
): Promise<Result<Value>> {
  const scopes = privacy.scopes ??= await findScopes(call, body);
  const pace = paceOf(call);
  const replaced = await search({ pace, scopes });
  privacy.counts.searchMs += pace.spentMs();
  if (!replaced.ok && replaced.failure.kind === "privacy_search_timeout") {
    call.responseHeaders["x-should-retry"] = "false";
  }
  return replaced;
}

/** Returns the pace of a search for a call. */
export function paceOf({ world, generation, turns }: Call): Pace {
  const turn = async () => {
    await new Promise<void>((go) => void world.after(0, go));
    await turns.next("large");
  };
  return newPace(() => world.now(), turn, generation.privacy?.maxSearchMs ?? Infinity);
}

/** Facts besides its body on which the scopes of a call depend. */
type Scoped = Pick<Call, "headers" | "generation"> & {
  readonly caller: Pick<Call["caller"], "name">;
  readonly client: Pick<CallClient, "session">;
  readonly report: { readonly endpoint: Pick<EndpointFacts, "api"> };
};

/**
 * Returns the scopes of tokens. The conversation is the session that the client names, else `root`,
 * the name of what the request continues, which is its ID where that is all that is known, else the
 * first text of its user.
 */
export function scopesOf(
  call: Scoped,
  body: JsonObject,
  root: string | undefined = rootIn(body),
): Scopes {
  const { caller, report: { endpoint: { api } } } = call;
  const session = call.client.session ?? sessionOf(call, { api, body });
  const { messages, input, items } = body;
  const name = session?.name ?? root ?? nameOf(messages ?? input ?? items);
  return {
    client: JSON.stringify(["client", caller.name]),
    conversation: JSON.stringify(["conversation", caller.name, name]),
  };
}

/** Returns the ID of what a request continues. */
function rootIn(body: JsonObject): string | undefined {
  const { previous_response_id: previous } = body;
  return conversationIn(body) ?? (typeof previous === "string" ? previous : undefined);
}

async function findScopes(call: Call, body: JsonObject): Promise<Scopes> {
  const [id = conversationIn(body)] = pathIds(call);
  const { previous_response_id: previous } = body;
  if (id !== undefined || typeof previous !== "string") return scopesOf(call, body, id);
  const found = await call.state.objects.responses.find(previous);
  const stored = found.ok ? found.value?.snapshot?.input : undefined;
  // Of a response that its provider stores only the ID is known.
  return scopesOf(call, body, stored === undefined ? previous : nameOf(stored));
}

/** Returns the name of a dialogue: the digest of the first text of its user, in each turn alike. */
function nameOf(dialogue: unknown): string {
  return createHash("sha256").update(firstText(dialogue)).digest("base64url");
}

function firstText(dialogue: unknown): string {
  if (!Array.isArray(dialogue)) return quoted(dialogue ?? "");
  const first = dialogue.find((item: unknown) => isObject(item) && item.role === "user");
  return quoted(isObject(first) ? textOf(first.content) : "");
}

/** A text with fewer characters is quoted for its digest, which takes longer than the digest. */
const MAX_QUOTED_CHARS = 64 * 1024;

function quoted(value: unknown): string {
  const isLong = typeof value === "string" && value.length > MAX_QUOTED_CHARS;
  return isLong ? value : JSON.stringify(value);
}

/** Returns the texts of a content: a client may send one text as it is or as a part. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: unknown) =>
    isObject(part) && typeof part.text === "string" ? part.text : ""
  ).join("");
}
