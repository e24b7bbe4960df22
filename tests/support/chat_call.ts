import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { streamOf } from "./pieces.ts";

/** Members of a complete answer of a compat provider. */
export const COMPLETION: JsonObject = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1_700_000_001,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
};

/** The least that a chat request may hold besides its model. */
export const MESSAGES: JsonObject = { messages: [{ role: "user", content: "Hi" }] };

/** How a chat request differs from the plainest one. */
export interface ChatOptions {
  /** Without a slash at its end; only a gateway on a socket needs it. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Members besides model and messages; the last of equal names counts. */
  readonly body?: JsonObject;
  readonly signal?: AbortSignal;
}

/** `POST /v1/chat/completions` with the model `m`, unless the options name another. */
export function chatRequest(options: ChatOptions = {}): Request {
  return new Request(`${options.url ?? "http://localhost"}/v1/chat/completions`, {
    method: "POST",
    headers: { host: "localhost", ...options.headers },
    body: JSON.stringify({ model: "m", ...MESSAGES, ...options.body }),
    signal: options.signal ?? null,
  });
}

/** Response that a client received, read to its end. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The `error` of the envelope; empty when there is none. */
  readonly error: JsonObject;
}

/** Reads an answer to its end. */
export async function got(response: Response): Promise<Got> {
  const text = await response.text();
  const body = parseJson(text);
  const error = isObject(body) && isObject(body.error) ? body.error : {};
  return { status: response.status, headers: response.headers, text, error };
}

/** Status, type and code of an error, as they are checked together; an absent code is undefined. */
export function verdictOf({ status, error }: Got): readonly unknown[] {
  return [status, error.type, error.code];
}

/** Returns the response of a provider in a scripted world; a text is sent as it is. */
export function answers(
  status: number,
  body: JsonObject | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const bytes = new TextEncoder().encode(text);
  // A status that has no body must not be given one.
  const stream = [204, 205].includes(status) ? null : streamOf([bytes]);
  return Promise.resolve(new Response(stream, { status, headers }));
}
