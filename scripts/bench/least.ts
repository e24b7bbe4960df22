import { Cancellation } from "../../src/core/cancellation.ts";
import { utf8Bytes, utf8Text } from "../../src/formats/utf8.ts";
import { newHttpClient } from "../../src/http_client/client.ts";
import { type HeaderPair, newResponse } from "../../src/runtime/new_response.ts";
import { serveUntilStdinEnds } from "./serve.ts";
import { onDisconnect } from "../../src/runtime/listener_request.ts";

// The least that any gateway does for a whole response, with the gateway's own parts: watches the
// client, parses both bodies, sends and writes as many header fields. Its argument is the
// upstream's URL. For one of the Messages API it also writes both bodies in the other form.

const [upstream = ""] = Deno.args;
const translates = upstream.endsWith("/messages");
const client = newHttpClient();

serveUntilStdinEnds(async (request) => {
  const cancellation = new Cancellation();
  let isWatched = true;
  onDisconnect(request, () => {
    if (isWatched) cancellation.clientDisconnected();
  });
  const received = await request.bytes();
  const asked = parse(received);
  const { model } = asked;
  const { body } = await client.send(upstream, {
    method: "POST",
    headers: REQUEST_FIELDS,
    body: translates ? utf8Bytes(JSON.stringify(messagesRequest(asked))) : received,
    cancellation,
  });
  if (body === null || body instanceof ReadableStream) throw new Error("The response has no body.");
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    pieces.push(piece.slice());
  }
  const [first = new Uint8Array(), ...others] = pieces;
  const whole = others.length === 0 ? first : Uint8Array.from(pieces.flatMap((one) => [...one]));
  const answer = parse(whole);
  const written = translates ? utf8Bytes(JSON.stringify(completionOf(answer))) : whole;
  isWatched = false;
  const id = crypto.randomUUID();
  const fields: HeaderPair[] = [
    ["cache-control", "no-transform"],
    ["content-type", "application/json"],
    ["x-gateway-request-id", id],
    ["x-request-id", id],
    ["x-gateway-latency-ms", "1.0"],
    ["x-gateway-overhead-duration-ms", "0.5"],
    ["x-gateway-route", "main"],
    ["x-gateway-provider", "up"],
    ["x-gateway-model", String(model)],
  ];
  return newResponse(written, 200, fields);
});

const REQUEST_FIELDS = {
  "user-agent": "switchyard",
  "content-type": "application/json",
  authorization: "Bearer sk-bench",
  "accept-encoding": "identity",
};

/** Members of a chat request and of a message, of those that the benchmark sends. */
interface Body {
  readonly id?: string;
  readonly model?: string;
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly content?: readonly { readonly text: string }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
}

function parse(bytes: Uint8Array<ArrayBuffer>): Body {
  return JSON.parse(utf8Text(bytes) ?? "null");
}

function messagesRequest({ model, messages = [], max_tokens }: Body) {
  return {
    model,
    max_tokens,
    messages: messages.map(({ role, content }) => ({ role, content })),
  };
}

function completionOf({ id, model, content = [], usage }: Body) {
  const { input_tokens: read = 0, output_tokens: written = 0 } = usage ?? {};
  const message = { role: "assistant", content: content.map(({ text }) => text).join("") };
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }],
    usage: { prompt_tokens: read, completion_tokens: written, total_tokens: read + written },
  };
}
