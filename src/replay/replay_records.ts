import { wasServed } from "../observe/report.ts";
import type { Config } from "../config/schema.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { responseObjects } from "../record/events_of.ts";
import { type CallRecord, parseRecord } from "../record/record.ts";
import { compare, type Comparison } from "./compare.ts";
import type { NamedRecord } from "./groups.ts";
import { type DryGateway, newDryGateway, type RecordedRequest } from "./plan_record.ts";
import type { SkippedReason } from "./report.ts";

/** Options of a replay. A thread gets it as a message. */
export interface ReplaySettings {
  readonly before: Config;
  readonly after: Config;
  readonly seed: number;
  /** True if white space and the order of members of requests count. */
  readonly isExact: boolean;
  /** IDs of the responses that requests of the set continue. */
  readonly continued: ReadonlySet<string>;
}

/** The result for a record: how it differs, or why it was not replayed. */
export type ReplayResult = Comparison & { readonly record: NamedRecord } | SkippedReason;

/** Replays the text of a record. Earlier turns of its conversation were replayed before. */
export type ReplayRecord = (text: string) => Promise<ReplayResult>;

/** Returns what replays records one by one through two configurations. */
export function newReplay({ continued, isExact, ...settings }: ReplaySettings): ReplayRecord {
  const before = newDryGateway(settings.before, settings.seed);
  const after = newDryGateway(settings.after, settings.seed);
  const chain = newChain(continued, [before, after]);
  return async (text) => {
    const parsed = parseRecord(text);
    if (!parsed.ok) return "unreadable";
    const { record } = parsed;
    const { request, head, id, at } = record;
    if (request === undefined) return "head_only";
    if (head.cut.includes("request")) return "cut";
    if (request.body === null) return "endpoint";
    const earlier = await chain.find(record, request.body);
    if (typeof earlier === "string") return earlier;
    const { conversation } = earlier;
    const one = await before.replay(record, request, conversation);
    const userHeader = one?.client.userHeader ?? null;
    const other = await after.replay(record, request, conversation, userHeader);
    if (one === null || other === null) return "unreadable";
    if (one.client.kind === "missing" && other.client.kind === "missing") return "unknown_key";
    const calls = [one.call.kind, other.call.kind];
    if (calls.includes("other") && !calls.includes("refused")) return "endpoint";
    await chain.store(record, request, conversation);
    const { differences, cost } = compare(one, other, {
      head,
      before: before.config,
      after: after.config,
      isExact,
    });
    // What both refuse alike, although it was sent to a provider, was not compared.
    if (differences.length === 0 && one.call.kind === "refused" && wasServed(record.head)) {
      return "refused_by_both";
    }
    const named = { id, at, key: head.key, path: head.path, model: head.model_requested };
    return { record: named, differences, cost };
  };
}

/** The ID of the local conversation that a record continues; null for none. */
interface Earlier {
  readonly conversation: string | null;
}

/**
 * Returns the responses and conversations of a set that later records continue. Both gateways store
 * them in their memory, as they would have after the call.
 */
function newChain(continued: ReadonlySet<string>, gateways: readonly DryGateway[]) {
  return {
    /** Returns what a request continues, or why its earlier turns are not known. */
    async find({ head }: CallRecord, body: string): Promise<Earlier | SkippedReason> {
      const isNamed = body.includes('"previous_response_id"') || body.includes('"conversation"');
      const request = head.api === "responses" && isNamed ? parseJson(body) : undefined;
      if (!isObject(request)) return { conversation: null };
      const { previous_response_id: previous = null, conversation = null } = request;
      if (typeof previous === "string") {
        const stored = await Promise.all(gateways.map((one) => one.hasResponse(previous)));
        if (!stored.includes(true)) return "previous_not_recorded";
      }
      if (conversation === null) return { conversation: null };
      const id = isObject(conversation) ? conversation.id : conversation;
      if (typeof id !== "string") return { conversation: null };
      // Items that were there before the first record, or were added and deleted, are in no record.
      const counts = await Promise.all(gateways.map((one) => one.conversationItems(id)));
      return counts.some((items) => items === head.conversation_items)
        ? { conversation: id }
        : "conversation_not_recorded";
    },
    /** Stores the response of the record that was replayed last, if a later one continues it. */
    async store(
      record: CallRecord,
      request: RecordedRequest,
      conversation: string | null,
    ): Promise<void> {
      const { api, conversation_items } = record.head;
      const isTurn = conversation_items !== null;
      if (api !== "responses" || (continued.size === 0 && !isTurn)) return;
      const resource = resourceOf(record);
      const id = resource?.id;
      if (typeof id !== "string" || (!isTurn && !continued.has(id))) return;
      const held = continued.has(id) ? storingTurn(record, request) : null;
      for (const gateway of gateways) {
        if (held !== null) await gateway.replay(record, held, conversation);
        await gateway.store({ ...resource, id });
      }
    },
  };
}

/**
 * Returns the request of a turn of a WebSocket with a response that is stored: without, its socket
 * holds it for the next turn. Null for any other request.
 */
function storingTurn({ head }: CallRecord, { body, ...rest }: RecordedRequest) {
  const written = head.method === "GET" ? parseJson(body ?? "") : undefined;
  if (!isObject(written) || written.store !== false) return null;
  return { ...rest, body: JSON.stringify({ ...written, store: true }) };
}

/** Returns the response object of a record; null if it has none that is complete. */
function resourceOf({ response, head }: CallRecord): JsonObject | null {
  if (response === undefined || head.cut.includes("response")) return null;
  const objects = responseObjects(response);
  if (response.body !== null) return objects[0] ?? null;
  // The terminal event is the last one with a response.
  return objects.map((event) => event.response).findLast(isObject) ?? null;
}
