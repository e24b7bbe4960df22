import { newNativeRelay } from "../../../../src/api/responses/native/relay.ts";
import type { Outcome } from "../../../../src/core/stream/stream.ts";
import type { Failure } from "../../../../src/core/failure/failure.ts";
import { isObject, type JsonObject, parseJson } from "../../../../src/core/json/json.ts";
import { fault, success } from "../../../../src/core/failure/result.ts";
import { newSseFraming, sseText } from "../../../../src/formats/sse.ts";
import { commit } from "../../../../src/upstream/deliver.ts";
import { newRecordReader } from "../../../../src/upstream/record_reader.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { pieces } from "../../../support/pieces.ts";
import { assertValid } from "../../../support/schemas.ts";

/** The text of one event as a provider sends it. */
export function sse(event: JsonObject, name: string | null = String(event.type)): string {
  return `${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(event)}\n\n`;
}

/** An event with a Response object of the usual id. */
export function lifecycle(
  type: string,
  sequence: number,
  response: JsonObject = {},
): JsonObject {
  const [, status = ""] = type.split(".");
  return {
    type,
    sequence_number: sequence,
    response: {
      id: "resp_1",
      object: "response",
      status: status === "created" ? "in_progress" : status,
      output: [],
      ...response,
    },
  };
}

/** A piece of text. */
export function delta(sequence: number, members: JsonObject = {}): JsonObject {
  return {
    type: "response.output_text.delta",
    sequence_number: sequence,
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: "Hi",
    logprobs: [],
    ...members,
  };
}

/** A sign of life, which begins no answer. */
export function keepalive(sequence: number): string {
  return sse({ type: "keepalive", sequence_number: sequence, response_id: "resp_1" });
}

export const CREATED = sse(lifecycle("response.created", 0));
export const DELTA = sse(delta(1));

/** How a stream is relayed in a test. */
export interface Relaying {
  readonly conversation?: string;
  readonly expected?: string;
  /** Bytes in one read; everything at once unless given. */
  readonly readSize?: number;
  /** How the connection ends; in order unless given. */
  readonly ending?: "clean" | "reset";
}

/** Result of a stream. */
export interface Relayed {
  /** Why nothing was delivered; null when something was. */
  readonly refused: Failure | null;
  readonly text: string;
  /** Why what was delivered broke off; null when it is complete or was refused. */
  readonly broken: Failure | null;
  readonly outcome: Outcome | null;
}

/** Relays what a provider sends through real framing and delivery. */
export async function relayed(
  sent: string | Uint8Array,
  { conversation, expected, readSize, ending = "clean" }: Relaying = {},
): Promise<Relayed> {
  const bytes = typeof sent === "string" ? new TextEncoder().encode(sent) : sent;
  const reads = pieces(bytes, readSize ?? Math.max(bytes.length, 1)).values();
  const settled: Outcome[] = [];
  const ends: (Failure | null)[] = [];
  const committed = await commit({
    source: newRecordReader({
      turn: () => null,
      turnToParse: () => null,
      read() {
        const { value } = reads.next();
        return Promise.resolve(
          value === undefined && ending === "reset"
            ? fault("upstream_unreachable", "It broke.")
            : success(value ?? null),
        );
      },
    }, newSseFraming()),
    translation: newNativeRelay({
      conversation: conversation ?? null,
      storesNothing: false,
      expected: expected ?? null,
      newId: () => "resp_new",
      unix: () => 9,
      model: "m",
    }),
    onComplete(outcome) {
      settled.push(outcome);
      return null;
    },
    onBug(error) {
      throw error;
    },
    onEnd: (failure) => Promise.resolve(void ends.push(failure)),
  });
  const text = committed.ok
    ? sseText((await Array.fromAsync(committed.value)).flatMap((records) => [...records]))
    : "";
  assertEquals(ends.length, 1, "over runs once");
  return {
    refused: committed.ok ? null : committed.failure,
    text,
    broken: committed.ok ? ends[0] ?? null : null,
    outcome: settled[0] ?? null,
  };
}

/**
 * The Response object of the synthetic failure that ends a text, which must be one by its shape.
 */
export function failureIn(text: string, sequence: number): JsonObject {
  const [, data = ""] = /event: response\.failed\ndata: (.*)\n\n$/.exec(text) ?? [];
  const event = parseJson(data);
  assert(isObject(event), `ends without a failure: ${text}`);
  assertValid("ResponseFailedEvent", event);
  assertEquals<unknown>(event.sequence_number, sequence);
  const { response } = event;
  assert(isObject(response) && isObject(response.error));
  assertEquals<unknown>(
    [response.object, response.status, response.error.code, typeof response.error.message],
    ["response", "failed", "server_error", "string"],
  );
  return response;
}

/**
 * Asserts that a stream was delivered up to a failure, and ended with exactly that one terminal.
 */
export function assertBroken({ refused, text, broken, outcome }: Relayed, before: string): void {
  assertEquals([refused, outcome], [null, null]);
  assert(broken !== null, `complete: ${text}`);
  assert(text.startsWith(before), text);
  const rest = text.slice(before.length);
  assertEquals(rest.split("\n\n").length, 2, rest);
  assertEquals<unknown>(failureIn(rest, before.split("\n\n").length - 1).id, "resp_1");
}
