import { endOf } from "../../src/observe/report.ts";
import { toneOf } from "../../src/simulator/relay/tone.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testGateway } from "../support/gateway.ts";
import { pieces } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";
import { bodyOf, type Ending, ENDINGS } from "./cut_body.ts";

const CONFIG = `
providers:
  up:
    type: compat
    base_url: http://upstream.test/v1
    capabilities: {relay: [completions, moderations, images, audio]}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;

interface Cut {
  readonly path: string;
  readonly request: Record<string, unknown>;
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly endings: readonly Ending[];
  /** Bytes with which the response can be complete although it breaks off. */
  readonly completeFrom: number;
  /**
   * True if a response that has ended is complete; absent for bytes, whose connection must fail.
   */
  readonly isTerminal?: (text: string) => boolean;
}

const encoder = new TextEncoder();

function event(data: Record<string, unknown>): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

const CHUNKS = ["a", "b"].map((text) =>
  `data: ${JSON.stringify({ object: "text_completion", choices: [{ index: 0, text }] })}\n\n`
).join("");
const COMPLETION = encoder.encode(`: hello\n\n${CHUNKS}data: [DONE]\n\n`);
const IMAGES = encoder.encode(
  event({ type: "image_generation.partial_image", b64_json: "AA==" }) +
    event({ type: "image_generation.completed", b64_json: "AA==" }),
);
const SPEECH = encoder.encode(
  event({ type: "speech.audio.delta", audio: "AA==" }) + event({ type: "speech.audio.done" }),
);
const MODERATION = encoder.encode('{"id":"modr-1","results":[{"flagged":true}]}');

const SSE = "text/event-stream";
const CASES: Readonly<Record<string, Cut>> = {
  "a stream of completions": {
    path: "/v1/completions",
    request: { model: "m", prompt: "x", stream: true },
    contentType: SSE,
    body: COMPLETION,
    endings: ENDINGS,
    // A record ends with the first of the two line ends behind it or not at all.
    completeFrom: COMPLETION.length,
    isTerminal: (text) => text.endsWith("data: [DONE]\n\n") && !text.includes("error"),
  },
  "a stream of images": {
    path: "/v1/images/generations",
    request: { model: "m", prompt: "x", stream: true },
    contentType: SSE,
    body: IMAGES,
    endings: ENDINGS,
    completeFrom: IMAGES.length,
    isTerminal: (text) => text.includes("image_generation.completed") && !text.includes("error"),
  },
  "a stream of speech": {
    path: "/v1/audio/speech",
    request: { model: "m", input: "x", voice: "v", stream_format: "sse" },
    contentType: SSE,
    body: SPEECH,
    endings: ENDINGS,
    completeFrom: SPEECH.length,
    isTerminal: (text) => text.includes("speech.audio.done") && !text.includes("error"),
  },
  "a JSON response": {
    path: "/v1/moderations",
    request: { model: "m", input: "x" },
    contentType: "application/json",
    body: MODERATION,
    endings: ENDINGS,
    completeFrom: MODERATION.length,
    isTerminal: (text) => text === new TextDecoder().decode(MODERATION),
  },
  "speech": {
    path: "/v1/audio/speech",
    request: { model: "m", input: "x", voice: "v" },
    contentType: "audio/wav",
    body: toneOf("x"),
    endings: ["reset"],
    completeFrom: Infinity,
  },
};

for (const [name, cut] of Object.entries(CASES)) {
  for (const ending of cut.endings) {
    Deno.test(`${name} that breaks off at any byte (${ending}) is never taken for a whole one`, async () => {
      let body = bodyOf([], "clean");
      const headers = { "content-type": cut.contentType };
      const fetch = () => Promise.resolve(new Response(body, { headers }));
      const gateway = testGateway(CONFIG, scriptedWorld({ fetch }));
      for (let at = 0; at <= cut.body.length; at++) {
        const sent = cut.body.subarray(0, at);
        body = bodyOf(pieces(sent, 16).map((piece) => piece.slice()), ending);
        const response = await gateway.app(
          new Request(`http://gateway.test${cut.path}`, {
            method: "POST",
            body: JSON.stringify(cut.request),
          }),
        );
        const text = await textOf(response);
        const end = endOf(await gateway.reported(at + 1));
        const where = `${at} bytes: ${end}`;
        const isWhole = ending === "reset" && cut.contentType === "application/json"
          ? false
          : at >= cut.completeFrom;
        assertEquals(end === "complete", isWhole, where);
        if (response.status !== 200) {
          assertEquals(response.status, 502, where);
          assert(/^upstream_(invalid|unreachable)$/.test(end), where);
        } else if (cut.isTerminal === undefined) {
          assertEquals([text, end], [null, "stream_broken"], where);
        } else {
          assertEquals(cut.isTerminal(text ?? ""), isWhole, where);
          if (!isWhole) assertEquals(text?.split('"error":').length, 2, `one error: ${where}`);
        }
      }
    });
  }
}

Deno.test("speech that breaks off before its first byte is a failed attempt, which is retried", async () => {
  let count = 0;
  const tone = toneOf("x");
  const fetch = () => {
    const body = ++count === 1 ? bodyOf([], "reset") : bodyOf([tone], "clean");
    return Promise.resolve(new Response(body, { headers: { "content-type": "audio/wav" } }));
  };
  const config = CONFIG.replace("{enabled: false}", "{initial_delay: 1s, jitter_factor: 0}");
  const world = scriptedWorld({ fetch });
  const gateway = testGateway(config, world);
  const body = JSON.stringify({ model: "m", input: "x", voice: "v" });
  const called = gateway.app(
    new Request("http://gateway.test/v1/audio/speech", { method: "POST", body }),
  );
  await world.advance(1_000);
  assertEquals(await (await called).bytes(), tone);
  assertEquals((await gateway.reported(1)).attempts.length, 2);
});

Deno.test("a client that leaves while bytes arrive ends the call and its upstream", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    type: "bytes",
    pull: (controller) => controller.enqueue(new Uint8Array([1, 2, 3])),
    cancel: () => void (isCancelled = true),
  });
  const fetch = () =>
    Promise.resolve(new Response(body, { headers: { "content-type": "audio/wav" } }));
  const gateway = testGateway(CONFIG, scriptedWorld({ fetch }));
  const sent = JSON.stringify({ model: "m", input: "x", voice: "v" });
  const response = await gateway.app(
    new Request("http://gateway.test/v1/audio/speech", { method: "POST", body: sent }),
  );
  const reader = response.body?.getReader();
  assertEquals((await reader?.read())?.value, new Uint8Array([1, 2, 3]));
  await reader?.cancel();
  assertEquals([endOf(await gateway.reported(1)), isCancelled], ["client_gone", true]);
});

Deno.test("a HEAD of the content of a file ends its call and its upstream", async () => {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    type: "bytes",
    pull: (controller) => controller.enqueue(new Uint8Array([1, 2, 3])),
    cancel: () => void (isCancelled = true),
  });
  const gateway = testGateway(
    CONFIG.replace("[completions,", "[files,"),
    scriptedWorld({ fetch: () => Promise.resolve(new Response(body)) }),
  );
  const response = await gateway.app(
    new Request("http://gateway.test/v1/files/file-1/content", {
      method: "HEAD",
      headers: { "x-gateway-provider": "up" },
    }),
  );
  assertEquals([response.status, response.body], [200, null]);
  assertEquals([(await gateway.reported(1)).status, isCancelled], [200, true]);
  assertEquals(gateway.gateway.state.inFlight.count, 0);
});

/** Returns the body of a response; null if it broke off. */
async function textOf(response: Response): Promise<string | null> {
  try {
    return await response.text();
  } catch {
    return null;
  }
}
