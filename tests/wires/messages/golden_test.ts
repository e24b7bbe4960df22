import { chatEncoder } from "../../../src/api/chat/encoder.ts";
import { completionOf } from "../../../src/api/chat/completion.ts";
import { chain } from "../../../src/core/chain.ts";
import { failureAnswer } from "../../../src/core/envelope.ts";
import type { Failure } from "../../../src/core/failure.ts";
import { isObject, type JsonObject } from "../../../src/core/json.ts";
import type { StreamRecord } from "../../../src/core/reply.ts";
import { readDocument } from "../../../src/formats/document.ts";
import { sseFraming, sseText } from "../../../src/formats/sse.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type GoldenCase, goldenCases, withCrlf } from "../../support/golden.ts";
import { textPieces } from "../../support/pieces.ts";
import { encodeText, mint, provider, valueOf } from "./asked.ts";

const FOLDER = new URL("../../golden/chat_over_messages", import.meta.url).pathname;
const SETTINGS = { api_key: "key" };

interface Answered {
  readonly status: number;
  readonly type: string | undefined;
  readonly body: string;
}

function labelsOf(request: JsonObject) {
  return {
    id: "chatcmpl-00000000000040008000000000000001",
    created: mint.unix(),
    model: "m",
    legacyFunctions: Array.isArray(request.functions),
  };
}

function failed(failure: Failure): Answered {
  const { status, headers, body } = failureAnswer(failure);
  return { status, type: headers["content-type"], body: new TextDecoder().decode(body) };
}

function whole(request: JsonObject, text: string): Answered {
  const events = messages.decode(valueOf(readDocument(text)), mint);
  if (!events.ok) return failed(events.failure);
  const { body } = valueOf(completionOf(events.value, labelsOf(request)));
  return { status: 200, type: "application/json", body: JSON.stringify(body) };
}

/** Reads and delivers as the gateway does: a failure before the first record is a plain answer. */
function streamed(request: JsonObject, text: string, size: number): Answered {
  const options = isObject(request.stream_options) ? request.stream_options : {};
  const includeUsage = options.include_usage === true;
  const delivery = chain(
    messages.decoder(mint),
    chatEncoder({ ...labelsOf(request), includeUsage }),
  );
  const framing = sseFraming();
  const records = textPieces(text, size).flatMap((piece) => [...framing.push(piece)]);
  const source = [...records, ...framing.end()].values();
  const out: StreamRecord[] = [];
  while (!delivery.done) {
    const next = source.next();
    const step = next.done ? delivery.end() : delivery.push(next.value);
    if (step.ok) out.push(...step.value);
    else if (out.length === 0) return failed(step.failure);
    else {
      out.push(...delivery.fail(step.failure));
      break;
    }
  }
  return { status: 200, type: "text/event-stream", body: sseText(out) };
}

function play({ clientRequest, upstreamRequest, upstreamAnswer, clientAnswer }: GoldenCase): void {
  const request = valueOf(readDocument(clientRequest.body)).value;
  assertEquals(valueOf(encodeText(clientRequest.body, SETTINGS)), upstreamRequest.body);
  const headers = messages.headers(provider(SETTINGS), new Headers(clientRequest.headers));
  for (const [name, value] of Object.entries(upstreamRequest.headers)) {
    assertEquals(headers[name], value);
  }
  const expected: Answered = {
    status: clientAnswer.status,
    type: clientAnswer.headers["content-type"],
    body: clientAnswer.body,
  };
  if (request.stream !== true) {
    assertEquals(whole(request, upstreamAnswer.body), expected);
    return;
  }
  for (const text of [upstreamAnswer.body, withCrlf(upstreamAnswer.body)]) {
    for (const size of [1, 7, text.length]) {
      assertEquals(streamed(request, text, size), expected);
    }
  }
}

const CASES = goldenCases(FOLDER);

Deno.test("there are golden cases", () => assert(CASES.length > 0));

for (const one of CASES) {
  Deno.test(`chat over messages: ${one.name}`, () => play(one));
}
