import { providerSchema } from "../../../src/config/provider_schema.ts";
import type { ProviderConfig } from "../../../src/config/schema.ts";
import type { StreamEvent } from "../../../src/core/events.ts";
import type { FaultKind, RefusalKind } from "../../../src/core/failure.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json.ts";
import { type Result, success } from "../../../src/core/result.ts";
import { readDocument } from "../../../src/formats/document.ts";
import { sseFraming } from "../../../src/formats/sse.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import type { Mint, Provider } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { textPieces } from "../../support/pieces.ts";

/** Settings as they are written in a configuration file. */
export type Written = Record<string, unknown>;

/** A provider of type messages. */
export function provider(written: Written = {}): Provider {
  const settings: ProviderConfig = {
    ...providerSchema.parse(written),
    type: "messages",
    base_url: "http://localhost/v1",
    normalize_developer_role: false,
  };
  return {
    id: "p",
    wire: messages,
    settings,
    base: "http://localhost",
    account: "account",
    namespace: "namespace",
    secrets: [],
  };
}

/** Ids are of no account here; the clock stands at 1,700,000,000. */
export const mint: Mint = { uuid: () => "id", unix: () => 1_700_000_000 };

/** The value of a step that must have gone well. */
export function valueOf<T>(result: Result<T>): T {
  assert(result.ok, result.ok ? "" : JSON.stringify(result.failure));
  return result.value;
}

/** Asserts kind and path of a step that must have failed; `param` null is no path. */
export function assertFailed(
  result: Result<unknown>,
  kind: RefusalKind | FaultKind,
  param: string | null = null,
): void {
  assert(!result.ok, "went well");
  const { failure } = result;
  const found = { kind: failure.kind, param: "param" in failure ? failure.param : null };
  assertEquals<unknown>(found, { kind, param });
}

/** The text that goes out for the text of a request. */
export function encodeText(text: string, written: Written = {}, model = "m"): Result<string> {
  const document = valueOf(readDocument(text));
  const chat = { document, stream: document.value.stream === true, includeUsage: false };
  const request = messages.encode(chat, { provider: provider(written), model });
  if (!request.ok) return request;
  assertEquals(`${request.value.method} ${request.value.path}`, "POST /v1/messages");
  return success(request.value.body ?? "");
}

/** What goes out for fields beside a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<JsonObject> {
  return encodeRequest({ messages: [{ role: "user", content: "Hi" }], ...fields }, written);
}

/** What goes out for a whole request. */
export function encodeRequest(request: Written, written: Written = {}): Result<JsonObject> {
  const text = encodeText(JSON.stringify({ model: "p/m", ...request }), written);
  if (!text.ok) return text;
  const body = parseJson(text.value);
  assert(isObject(body));
  return success(body);
}

/** `system` and `messages` that go out for the messages of a request. */
export function encodeMessages(list: readonly unknown[]): Result<JsonObject> {
  const body = encodeRequest({ messages: list });
  if (!body.ok) return body;
  const { system, messages: sent = null } = body.value;
  return success(system === undefined ? { messages: sent } : { system, messages: sent });
}

/** The events of a stream text that arrives in pieces of at most `size` characters. */
export function decodeStream(text: string, size = text.length): Result<readonly StreamEvent[]> {
  const framing = sseFraming();
  const decoder = messages.decoder(mint);
  const events: StreamEvent[] = [];
  const records = textPieces(text, size).flatMap((piece) => [...framing.push(piece)]);
  for (const record of [...records, ...framing.end()]) {
    if (decoder.done) break;
    const step = decoder.push(record);
    if (!step.ok) return step;
    events.push(...step.value);
  }
  const end = decoder.end();
  return end.ok ? success([...events, ...end.value]) : end;
}

/** Events of the Messages API as the text of a stream. */
export function streamOf(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** The events of a whole answer text. */
export function decodeText(text: string): Result<readonly StreamEvent[]> {
  return messages.decode(valueOf(readDocument(text)), mint);
}
