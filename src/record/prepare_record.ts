import { isObject, parseJson } from "../core/json/json.ts";
import { setLatest } from "../core/set_latest.ts";
import { textBeginning } from "../core/text_beginning.ts";
import { clientKeyRule } from "./client_key_rule.ts";
import { contentFacts, FACTS, NO_CONTENT_FACTS, responseId } from "./content_facts.ts";
import { responseObjects } from "./events_of.ts";
import { withoutLogprobs } from "./logprobs.ts";
import type { MaskingRule } from "./mask_text.ts";
import type { CallRecord, RecordHead } from "./record.ts";
import type { BegunMask, RecordMask } from "./record_mask.ts";
import {
  type KnownHead,
  MAX_KNOWN_NAME_CHARS,
  type StoredBody,
  type StoredHead,
  type WrittenRecord,
} from "./written_record.ts";

/** Maximum length of a name that clients choose. */
const MAX_NAME_CHARS = 1_024;

/** The parts of a record, which are sealed apart. */
export interface PreparedRecord {
  readonly head: StoredHead;
  /** Null for a head alone. */
  readonly body: StoredBody | null;
}

/**
 * A request without these beginnings of names has neither facts nor earlier turns. The engine looks
 * for a text of less than seven characters many times faster than for a longer one or a pattern.
 */
const REQUEST_FACTS = ['"tools', '"previ'] as const;

/** IDs of the records that made the last responses, by the IDs of these. */
export interface Makers {
  get(response: string): string | undefined;
  set(response: string, record: string): void;
}

/** Number of responses of which is known what record made them. */
const MAX_MAKERS = 10_000;

/** Returns what the records of one process will have made. */
export function newMakers(): Makers {
  const records = new Map<string, string>();
  return {
    get: (response) => records.get(response),
    set: (response, record) => void setLatest(records, response, record, MAX_MAKERS),
  };
}

/**
 * Returns the parts of a record, masked; null if masking has failed. `makers` gets the response
 * that it made.
 */
export function prepareRecord(
  record: WrittenRecord,
  mask: RecordMask,
  makers: Makers,
): PreparedRecord | null {
  try {
    const { id, at, clientKey } = record;
    const further = clientKey === undefined ? [] : [clientKeyRule(clientKey)];
    const { head, request, response } = masked(record, mask(), further);
    const text = request?.body ?? "";
    const asked = REQUEST_FACTS.some((one) => text.includes(one)) ? parseJson(text) : undefined;
    const client = isObject(asked) ? asked : null;
    const objects = request === undefined ? [] : responseObjects(response, FACTS);
    const facts = request === undefined ? NO_CONTENT_FACTS : contentFacts(client, objects);
    const made = head.api === "responses" ? responseId(objects) : null;
    if (made !== null) makers.set(made, id);
    const whole: RecordHead = { ...head, ...facts };
    const previous = client?.previous_response_id;
    const body: StoredBody | null = request === undefined ? null : {
      request,
      ...response !== undefined && { response },
      ...typeof previous === "string" && {
        previous: { response: previous, record: makers.get(previous) ?? null },
      },
    };
    return { head: { id, at, head: whole }, body };
  } catch {
    return null;
  }
}

/** Returns a record that was read, with all masked that a client or a provider has written. */
export function maskRecord(record: CallRecord, mask: BegunMask): CallRecord {
  const { head, request, response } = masked(record, mask, []);
  const { tools_offered, tools_called } = record.head;
  return {
    ...record,
    head: {
      ...head,
      tools_offered: tools_offered.map(mask.text),
      tools_called: tools_called.map(mask.text),
      finish: record.head.finish,
    },
    ...request !== undefined && { request },
    ...response !== undefined && { response },
  };
}

/** Headers, texts and names of clients and providers in a record. */
interface MaskedParts {
  readonly head: KnownHead;
  readonly request?: CallRecord["request"] | undefined;
  readonly response?: CallRecord["response"] | undefined;
}

/** Returns parts in which everything that a client or a provider has written is masked. */
function masked(
  { head, request, response }: MaskedParts,
  mask: BegunMask,
  further: readonly MaskingRule[],
): MaskedParts {
  const isCut = (part: "request" | "response") => head.cut.includes(part);
  const short = (one: string) => textBeginning(one, MAX_NAME_CHARS);
  const name = (one: string) => short(mask.body(one, one.length >= MAX_KNOWN_NAME_CHARS - 1));
  const nameOrNull = (one: string | null) => one === null ? null : name(one);
  const hidden = (one: string | null, mask: (one: string, isCut: boolean) => string) =>
    one === null ? null : withoutLogprobs(mask(one, isCut("response")), one, isCut("response"));
  const headers = (fields: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, mask.header(value)]),
    );
  return {
    head: {
      ...head,
      path: short(mask.path(head.path)),
      session: nameOrNull(head.session),
      model_requested: nameOrNull(head.model_requested),
      attempts: head.attempts.map((one) => ({ ...one, model: name(one.model) })),
      lossy: head.lossy.map(mask.text),
      verified: head.verified.map(mask.text),
    },
    ...request !== undefined && {
      request: {
        headers: headers(request.headers),
        query: mask.query(request.query),
        body: request.body === null ? null : mask.body(request.body, isCut("request")),
      },
    },
    ...response !== undefined && {
      response: {
        headers: headers(response.headers),
        body: hidden(response.body, mask.body),
        events: hidden(response.events, (one, isCut) => mask.events(one, isCut, further)),
      },
    },
  };
}
