import type { CallReport } from "../../src/observe/report.ts";
import { testGateway } from "../support/gateway.ts";
import { pieces, streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";
import { callChat, plainConfig } from "./chat_call.ts";

/** How a call is made and its upstream set up. */
export interface Streaming {
  /** Fields of the request besides `stream`. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Settings of the provider, each behind a comma. */
  readonly settings?: string;
  /** Bytes in one read; everything at once unless given. */
  readonly readSize?: number;
  readonly wire?: "compat" | "messages" | "local";
}

/** Response that a client received, and the reports. */
export interface Streamed {
  readonly status: number;
  readonly text: string;
  readonly report: Readonly<CallReport>;
}

/** The client asks for the usage chunk. */
export const WITH_USAGE = { stream_options: { include_usage: true } } as const;

/** One streaming call in the process over an upstream that answers with this body and ends. */
export async function streamed(
  body: string | Uint8Array,
  streaming: Streaming = {},
): Promise<Streamed> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const { fields = {}, settings = "", readSize = bytes.length, wire = "compat" } = streaming;
  const headers = {
    "content-type": wire === "local" ? "application/x-ndjson" : "text/event-stream",
  };
  const gateway = testGateway(
    plainConfig(wire, "http://upstream.test", settings),
    scriptedWorld({
      fetch: () =>
        Promise.resolve(
          new Response(streamOf(bytes.length === 0 ? [] : pieces(bytes, readSize)), { headers }),
        ),
    }),
  );
  const response = await callChat(gateway, { stream: true, ...fields });
  const text = await response.text();
  return { status: response.status, text, report: await gateway.reported(1) };
}

/** Events of a Chat Completions stream: a text is sent as it is, anything else as JSON. */
export function sse(...values: readonly unknown[]): string {
  return values.map((value) =>
    `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
  ).join("");
}

/** A chunk with one choice and what comes on top of it. */
export function chunk(
  delta: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return { ...IDENTITY, choices: [{ index: 0, delta, finish_reason: null }], ...members };
}

/** The chunk that finishes the choice. */
export function finish(members: Readonly<Record<string, unknown>> = {}) {
  return chunk({}, {
    choices: [{ index: 0, delta: {}, finish_reason: "stop" }],
    ...members,
  });
}

/** Members of every chunk. */
export const IDENTITY = {
  id: "chatcmpl-7",
  object: "chat.completion.chunk",
  created: 1_700_000_007,
  model: "gpt-x",
} as const;

/** The first chunk of a stream, which carries nothing. */
export const ROLE = chunk({ role: "assistant", content: "" });
/** A chunk with content. */
export const HELLO = chunk({ content: "Hello" });
