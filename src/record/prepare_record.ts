import { deflateRawSync } from "node:zlib";
import { isObject, parseJson } from "../core/json/json.ts";
import { contentFacts, NO_CONTENT_FACTS } from "./content_facts.ts";
import { responseObjects } from "./events_of.ts";
import type { RecordHead } from "./record.ts";
import { redactCredentials } from "./redact_credentials.ts";
import type { RecordPolicy, StoredBody, WrittenRecord } from "./written_record.ts";

/** The parts of a record as they are sealed. */
export interface PreparedRecord {
  readonly at: number;
  readonly head: Uint8Array;
  /** Compressed; null for a head alone. */
  readonly body: Uint8Array | null;
}

const encoder = new TextEncoder();

/** Returns the parts of a record as they are sealed; null if masking has failed. */
export function prepareRecord(record: WrittenRecord, policy: RecordPolicy): PreparedRecord | null {
  try {
    const { id, at, head, request, response } = redacted(record, policy);
    const asked = request?.body ? parseJson(request.body) : undefined;
    const client = isObject(asked) ? asked : null;
    const facts = request === undefined
      ? NO_CONTENT_FACTS
      : contentFacts(client, responseObjects(response));
    const whole: RecordHead = { ...head, ...facts };
    const previous = client?.previous_response_id;
    const body: StoredBody | null = request === undefined ? null : {
      request,
      ...response !== undefined && { response },
      ...typeof previous === "string" && { previous: { response: previous, record: null } },
    };
    return {
      at,
      head: encoder.encode(JSON.stringify({ id, head: whole })),
      body: body === null
        ? null
        : deflateRawSync(encoder.encode(JSON.stringify(body)), { level: 1 }),
    };
  } catch {
    return null;
  }
}

/** Returns a record in which the policy has masked what it names. */
function redacted(record: WrittenRecord, policy: RecordPolicy): WrittenRecord {
  if (policy === "none") return record;
  const { request, response, ...rest } = record;
  return {
    ...rest,
    ...request !== undefined && {
      request: {
        headers: redactedValues(request.headers),
        query: redactCredentials(request.query),
        body: request.body === null ? null : redactCredentials(request.body),
      },
    },
    ...response !== undefined && {
      response: {
        headers: redactedValues(response.headers),
        body: response.body === null ? null : redactCredentials(response.body),
        events: response.events === null ? null : redactCredentials(response.events),
      },
    },
  };
}

function redactedValues(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, redactCredentials(value)]),
  );
}
