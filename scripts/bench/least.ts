import { Cancellation } from "../../src/core/cancellation.ts";
import { utf8Text } from "../../src/formats/utf8.ts";
import { newHttpClient } from "../../src/http_client/client.ts";
import { type HeaderPair, newResponse } from "../../src/runtime/new_response.ts";
import { serveUntilStdinEnds } from "./serve.ts";
import { onDisconnect } from "../../src/runtime/listener_request.ts";

// The least that any gateway does for a whole response, with the gateway's own parts: watches the
// client, parses both bodies, sends and writes as many header fields. Its argument is the
// upstream's URL.

const [upstream = ""] = Deno.args;
const client = newHttpClient();

serveUntilStdinEnds(async (request) => {
  const cancellation = new Cancellation();
  let isWatched = true;
  onDisconnect(request, () => {
    if (isWatched) cancellation.clientDisconnected();
  });
  const received = await request.bytes();
  const { model } = parse(received);
  const { body } = await client.send(upstream, {
    method: "POST",
    headers: REQUEST_FIELDS,
    body: received,
    cancellation,
  });
  if (body === null || body instanceof ReadableStream) throw new Error("The response has no body.");
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let piece = await body.read(); piece !== null; piece = await body.read()) {
    pieces.push(piece.slice());
  }
  const [first = new Uint8Array(), ...others] = pieces;
  const whole = others.length === 0 ? first : Uint8Array.from(pieces.flatMap((one) => [...one]));
  parse(whole);
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
  return newResponse(whole, 200, fields);
});

const REQUEST_FIELDS = {
  "user-agent": "switchyard",
  "content-type": "application/json",
  authorization: "Bearer sk-bench",
  "accept-encoding": "identity",
};

function parse(bytes: Uint8Array<ArrayBuffer>): { readonly model?: unknown } {
  return JSON.parse(utf8Text(bytes) ?? "null");
}
