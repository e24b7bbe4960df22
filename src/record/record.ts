import * as z from "zod";
import { jsonSchemaOf } from "../config/json_schema.ts";
import { RECORD_FORMAT } from "./record_format.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";

/** Name or text that may be absent. */
const optionalText = z.string().nullable();
const count = z.int().min(0);
const texts = z.record(z.string(), z.string());

const attemptSchema = z.object({
  provider: z.string(),
  key: optionalText.describe("Name of the key of the provider; null if it has only one."),
  model: z.string(),
  outcome: z.string().describe('"success", or the error code of the attempt.'),
  began: z.number(),
  ended: z.number().describe("Milliseconds since the call began, as of `began`."),
});

const usageSchema = z.object({
  input: count.describe("Input tokens, with those of both cache counts."),
  output: count,
  total: count.nullable().describe("Total of the provider; null if it sent none."),
  cached: count,
  cache_write: count,
  reasoning: count,
});

const unitsSchema = z.object({
  images: count.optional(),
  seconds: z.number().min(0).optional(),
  characters: count.optional(),
});

const headSchema = z.object({
  method: z.string(),
  path: z.string(),
  api: optionalText.describe("Client API, as in `endpoints` of a client key."),
  key: optionalText.describe("Name of the client key, or of the client of a token."),
  groups: z.array(z.string()).describe("Groups of the client key."),
  template: optionalText,
  issuer: optionalText.describe("Issuer of the token; null for a configured key."),
  end_user: optionalText.describe("End user of the client key, as the part of a digest in logs."),
  labels: texts.describe("All labels of the client key."),
  session: optionalText,
  route: optionalText,
  model_requested: optionalText,
  conversation_items: count.nullable().default(null)
    .describe("Items that the gateway's own conversation had before the call; null for none."),
  stream: z.boolean(),
  status: z.int(),
  end: z.string().describe("How the call ended, as in the access log."),
  code: optionalText.describe("Error code; null for a call without an error."),
  attempts: z.array(attemptSchema),
  fallbacks: count,
  cache: z.enum(["HIT", "MISS"]).nullable(),
  lossy: z.array(z.string()).describe("Paths as in the header `X-Gateway-Lossy`."),
  verified: z.array(z.string()).describe("Paths as in the header `X-Gateway-Verified`."),
  redacted: z.record(z.string(), count)
    .describe("Values by the rule of `privacy` that acted, as in `X-Gateway-Redacted`."),
  usage: usageSchema.nullable(),
  units: unitsSchema.nullable().describe("What the call has used besides tokens."),
  cost: z.number().nullable().describe("Cost in USD."),
  ms: z.object({ first: z.number().nullable(), total: z.number() }),
  generation: z.string().describe(
    "Digest of the configuration that has routed the call, without its secrets.",
  ),
  version: z.string().describe("Version of the gateway."),
  why: z.array(z.enum(["key", "group", "route", "default"]))
    .describe("What asked for the record."),
  cut: z.array(z.string())
    .describe("What is missing: `request`, `response`, or paths of omitted bytes in the request."),
  tools_offered: z.array(z.string()),
  tools_called: z.array(z.string()),
  finish: optionalText.describe("Finish reason in the words of the client API."),
});

const recordSchema = z.object({
  format: z.literal(RECORD_FORMAT),
  id: z.string().min(1).describe("ID of the call, as in `X-Gateway-Request-Id`."),
  at: z.iso.datetime({ precision: 3 }).describe("Time at which the call began, in UTC."),
  head: headSchema,
  request: z.object({
    headers: texts.describe("Names are lower-case; no header has a credential."),
    query: z.string().describe("Query of the URL without question mark."),
    body: optionalText.describe("JSON text as received; null for a form, or if there is none."),
  }).optional().describe("Absent if only the head is recorded."),
  response: z.object({
    headers: texts,
    body: optionalText.describe("Text of a whole response; null for a stream."),
    events: optionalText.describe("Text of a stream; null for a whole response."),
  }).optional(),
  previous: z.object({
    response: z.string(),
    record: optionalText.describe("ID of the record that made the response; null if not known."),
  }).optional().describe("What `previous_response_id` names."),
});

/** One recorded call. */
export type CallRecord = z.output<typeof recordSchema>;

/** Members of a record without the content of its call. */
export type RecordHead = CallRecord["head"];

/** A record, or the problem with its text as the predicate of a sentence. */
export type ParsedRecord =
  | { readonly ok: true; readonly record: CallRecord }
  | { readonly ok: false; readonly problem: string };

/** Reads one line of exported records. Problems never quote the line. */
export function parseRecord(line: string): ParsedRecord {
  const value = parseJson(line);
  if (!isObject(value)) return { ok: false, problem: "is no JSON object" };
  if (value.format !== RECORD_FORMAT) {
    return { ok: false, problem: `has another format than ${RECORD_FORMAT}` };
  }
  const checked = recordSchema.safeParse(value);
  if (checked.success) return { ok: true, record: checked.data };
  const path = checked.error.issues[0]?.path.join(".") ?? "";
  return { ok: false, problem: `has a value at ${path} that the format does not permit` };
}

/** Returns the JSON Schema (draft 2020-12) of one line of exported records. */
export function recordJsonSchema(): JsonObject {
  return jsonSchemaOf(recordSchema, "Switchyard record");
}
