import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { goldenCases, withCrlf } from "../support/golden.ts";
import { pieces, streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";
import { plainConfig } from "./chat_call.ts";

const encoder = new TextEncoder();

/**
 * The bytes that a Messages client receives of a stream in reads of this size, and how the call
 * ended.
 */
async function received(stream: Uint8Array, readSize: number) {
  const headers = { "content-type": "text/event-stream" };
  const gateway = testGateway(
    plainConfig("messages", "http://upstream.test"),
    scriptedWorld({
      fetch: () => Promise.resolve(new Response(streamOf(pieces(stream, readSize)), { headers })),
    }),
  );
  const response = await gateway.app(
    new Request("http://gateway/v1/messages", {
      method: "POST",
      body: '{"model":"m","max_tokens":9,"stream":true,"messages":[]}',
    }),
  );
  const bytes = await response.bytes();
  return { bytes, end: endOf(await gateway.reported(1)) };
}

/**
 * The complete streams of the golden cases: text, tools, refusal, compaction, fallback and others.
 */
const STREAMS = goldenCases(
  new URL("../golden/messages_over_messages", import.meta.url).pathname,
).filter(({ upstreamAnswer, clientAnswer }) =>
  upstreamAnswer.headers["content-type"] === "text/event-stream" &&
  upstreamAnswer.body === clientAnswer.body
);

Deno.test("the streams that the official clients were published with are among the cases", () => {
  const names = STREAMS.map(({ name }) => name);
  const published = ["text", "tool_use", "tool_json_cut", "refusal", "compaction", "fallback"];
  for (const name of published) assert(names.includes(`stream_${name}`), name);
});

for (const { name, upstreamAnswer } of STREAMS) {
  Deno.test(`messages over messages: every byte of ${name} arrives, however it is cut`, async () => {
    const lf = upstreamAnswer.body;
    for (const text of [lf, withCrlf(lf), lf.replaceAll("\n", "\r")]) {
      const stream = encoder.encode(text);
      for (const readSize of [1, 7, stream.length]) {
        const { bytes, end } = await received(stream, readSize);
        assertEquals(new TextDecoder().decode(bytes), text, `${readSize} bytes a read`);
        assertEquals([bytes.length, end], [stream.length, "complete"]);
      }
    }
  });
}

Deno.test("messages over messages: a tail behind message_stop is not sent", async () => {
  const [first] = STREAMS;
  assert(first !== undefined);
  const { body } = first.upstreamAnswer;
  const { bytes, end } = await received(encoder.encode(`${body}data: [DONE]\n\n`), 7);
  assertEquals([new TextDecoder().decode(bytes), end], [body, "complete"]);
});
