import { type HostProfile, profileOf } from "../../data/hosts.ts";
import { isObject, type JsonDocument, type JsonObject, parseJson } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { pushAll } from "../../core/push_all.ts";
import type { OwnedReasoning } from "../../core/stream/reasoning.ts";
import {
  changeMembers,
  type Edit,
  findValue,
  parseElements,
  parseMembers,
  splice,
} from "../../formats/edit.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Target } from "../wire.ts";
import { type ReturnedReasoning, returnedReasoning } from "./host_reasoning.ts";
import type { NumberedFunctions } from "./text_enums.ts";
import { rewriteTools, type SchemaPlace } from "./tool_schemas.ts";

/** A place of a Chat request of which the host gets only a part. */
export type LostPlace =
  | { readonly kind: "member"; readonly message: number; readonly name: string }
  | {
    readonly kind: "call";
    readonly message: number;
    readonly call: number;
    /** Name of its member; absent for the whole call. */
    readonly name?: string;
  }
  | SchemaPlace;

/** A Chat request with what the gateway knows besides its text. */
export interface GivenRequest {
  readonly document: JsonDocument;
  /** Returns the stored reasoning of a message by its index; null for none. */
  storedAt(message: number): OwnedReasoning | null;
  /** Returns the path of a place in the client's request; null for what it has not sent. */
  pathOf(place: LostPlace): string | null;
  /** Records the path of a field of which the host gets only a part. */
  lose(path: string): void;
}

/** A Chat request for one host. */
export interface Adapted {
  readonly document: JsonDocument;
  /** The functions whose numbers the host gets as texts; absent for none. */
  readonly numbered?: NumberedFunctions;
  /** Indexes of the tools whose strict schema was changed; absent for none. */
  readonly strict?: readonly number[];
}

/** Changes of one message, and places of which something is lost. */
interface MessageChange {
  /** Position of the message in the text. */
  readonly start: number;
  readonly members: Change[];
  /** Changes of its tool calls by their indexes. */
  readonly calls: (readonly [index: number, changes: readonly Change[]])[];
  readonly lost: LostPlace[];
}

type Change = readonly [key: string, valueText: string | null];

/**
 * Returns a Chat request as the profile of its provider wants it; the same document without a
 * profile. Only the members that differ are edited. Refuses the schema of a function that would be
 * too large.
 */
export function adaptToHost(
  given: GivenRequest,
  target: Target,
  { refuse }: Carrier,
): Result<Adapted> {
  const { document } = given;
  const name = target.provider.settings.compatibility_profile;
  if (name === undefined) return success({ document });
  const profile = profileOf(name);
  const { text } = document;
  const edits = changeMembers(text.indexOf("{"), document.members, limits(document, profile));
  const lost: LostPlace[] = [];
  let rewritten = {};
  for (const change of messageChanges(given, target, profile)) {
    pushAll(edits, editsOf(text, change));
    pushAll(lost, change.lost);
  }
  if (profile.rewritesSchemas === true) {
    const tools = rewriteTools(
      document,
      (tool) =>
        refuse({ path: given.pathOf({ kind: "schema", tool, below: "" }) ?? "tools" }, TOO_LARGE),
    );
    if (!tools.ok) return tools;
    pushAll(edits, tools.value.edits);
    pushAll(lost, tools.value.lost);
    const { numbered, strict } = tools.value;
    rewritten = { ...numbered.size > 0 && { numbered }, ...strict.length > 0 && { strict } };
  }
  for (const path of lost.map(given.pathOf)) if (path !== null) given.lose(path);
  return success({
    document: edits.length === 0 ? document : edited(text, edits),
    ...rewritten,
  });
}

const TOO_LARGE = "The schema is too large when its references are written out.";

function messageChanges(
  { document: { text, value }, storedAt }: GivenRequest,
  target: Target,
  profile: HostProfile,
): readonly MessageChange[] {
  const messages = Array.isArray(value.messages) ? value.messages : [];
  const spans = parseElements(text, findValue(text, ["messages"])?.start ?? text.length);
  const lastUser = messages.findLastIndex((one) => isObject(one) && one.role === "user");
  return spans.flatMap(({ start }, index) => {
    const message = messages[index];
    if (!isObject(message)) return [];
    const returned = returnedReasoning(storedAt(index), target);
    return changeMessage({ message, start, index, profile, returned, isOpen: index > lastUser });
  });
}

function edited(text: string, edits: readonly Edit[]): JsonDocument {
  const changed = splice(text, edits);
  const value = parseJson(changed);
  return { text: changed, value: isObject(value) ? value : {}, members: parseMembers(changed) };
}

/** Returns the changes of the limit of completion tokens, which each host knows by one name. */
function limits({ text, value, members }: JsonDocument, { tokenLimit }: HostProfile): Change[] {
  if (tokenLimit === undefined) return [];
  const other = tokenLimit === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  const given = members.find(({ key }) => key === other);
  if (given === undefined) return [];
  const isSet = (value[tokenLimit] ?? null) !== null || (value[other] ?? null) === null;
  const renamed: Change[] = isSet ? [] : [[tokenLimit, text.slice(given.start, given.end)]];
  return [[other, null], ...renamed];
}

/** One message with what decides its changes. */
interface ChangedMessage {
  readonly message: JsonObject;
  readonly start: number;
  readonly index: number;
  readonly profile: HostProfile;
  readonly returned: ReturnedReasoning;
  /** True if no message of the user follows. */
  readonly isOpen: boolean;
}

function changeMessage(given: ChangedMessage): MessageChange {
  const { message, start, index, profile } = given;
  const change: MessageChange = { start, members: [], calls: [], lost: [] };
  if (message.role === "assistant") {
    change.members.push(...reasoningChanges(given));
    if (profile.unsignedCall !== undefined) {
      signMessage(given, change);
      signCalls(given, profile.unsignedCall, change);
    }
  }
  const { members } = profile;
  if (members === undefined) return change;
  const own = unknownMembers(message, members.message);
  change.members.push(...own.changes);
  change.lost.push(...own.lost.map((name) => ({ kind: "member", message: index, name }) as const));
  for (const [call, item] of callsOf(message).entries()) {
    if (!isObject(item)) continue;
    const { changes, lost } = unknownMembers(item, members.call);
    if (changes.length > 0) change.calls.push([call, changes]);
    change.lost.push(
      ...lost.map((name) => ({ kind: "call", message: index, call, name }) as const),
    );
  }
  return change;
}

/** Returns the removal of members that the host does not know, and which of them said something. */
function unknownMembers(holder: JsonObject, known: readonly string[]) {
  const unknown = Object.entries(holder).filter(([name, value]) =>
    value === null ? name !== "content" : !known.includes(name)
  );
  return {
    changes: unknown.map(([name]): Change => [name, null]),
    lost: unknown.flatMap(([name, value]) => value === null || isEmptyValue(value) ? [] : [name]),
  };
}

function isEmptyValue(value: unknown): boolean {
  return value === "" || Array.isArray(value) && value.length === 0;
}

/** Returns the changes by which a message has its reasoning where the host wants it. */
function reasoningChanges({ message, profile, returned }: ChangedMessage): Change[] {
  const { reasoning_content: text = null } = message;
  if (profile.needsReasoning === true) {
    // A client may have the text of another host, under the other name.
    const known = typeof message.reasoning === "string" ? message.reasoning : "";
    return text === null && callsOf(message).length > 0
      ? [["reasoning_content", JSON.stringify(known)]]
      : [];
  }
  if (profile.takesReasoning !== true) return [];
  const own = message.reasoning_details ?? null;
  const details = profile.hasReasoningDetails === true && own === null ? returned.details : null;
  const changes: Change[] = [];
  if (text !== null) changes.push(["reasoning_content", null]);
  if (details !== null) changes.push(["reasoning_details", JSON.stringify(details)]);
  else if (typeof text === "string" && text !== "" && (message.reasoning ?? null) === null) {
    changes.push(["reasoning", JSON.stringify(text)]);
  }
  return changes;
}

/**
 * Adds the signature of a message that the client has sent without it, and leaves out that of
 * another account or model: the host refuses it.
 */
function signMessage({ message, index, returned }: ChangedMessage, change: MessageChange): void {
  const { extra_content: sent = null } = message;
  const isForeign = isObject(sent) && returned.isForeign(sent);
  if (isObject(sent) && !isForeign) return;
  const { ownSignature } = returned;
  if (ownSignature !== null) {
    change.members.push(["extra_content", JSON.stringify(ownSignature)]);
  } else if (isForeign) {
    change.members.push(["extra_content", null]);
    change.lost.push({ kind: "member", message: index, name: "extra_content" });
  }
}

/**
 * Adds the signatures of the calls that the client has sent without one, or with that of another
 * account or model. Of a call of the current turn that has none, the first of its message gets the
 * word that the host accepts in place of a signature (Gemini API, thought signatures).
 */
function signCalls(
  { message, index, returned, isOpen }: ChangedMessage,
  unsigned: string,
  change: MessageChange,
): void {
  for (const [call, item] of callsOf(message).entries()) {
    if (!isObject(item)) continue;
    const { extra_content: sent = null } = item;
    const isForeign = isObject(sent) && returned.isForeign(sent);
    if (isObject(sent) && !isForeign) continue;
    const known = typeof item.id === "string" ? returned.signatures.get(item.id) : undefined;
    if (known !== undefined) {
      change.calls.push([call, [["extra_content", JSON.stringify(known)]]]);
    } else if (isOpen && call === 0) {
      const made = { google: { thought_signature: unsigned } };
      change.calls.push([call, [["extra_content", JSON.stringify(made)]]]);
      change.lost.push({ kind: "call", message: index, call });
    } else if (isForeign) {
      change.calls.push([call, [["extra_content", null]]]);
      change.lost.push({ kind: "call", message: index, call, name: "extra_content" });
    }
  }
}

function callsOf({ tool_calls: calls }: JsonObject): readonly unknown[] {
  return Array.isArray(calls) ? calls : [];
}

function editsOf(text: string, { start, members, calls }: MessageChange): Edit[] {
  if (members.length === 0 && calls.length === 0) return [];
  const own = parseMembers(text, start);
  const edits = changeMembers(start, own, members);
  const list = own.findLast(({ key }) => key === "tool_calls");
  const spans = calls.length === 0 || list === undefined ? [] : parseElements(text, list.start);
  for (const [index, changes] of calls) {
    const at = spans[index]?.start;
    if (at !== undefined) pushAll(edits, changeMembers(at, parseMembers(text, at), changes));
  }
  return edits;
}
