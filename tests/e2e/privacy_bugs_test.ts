import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { pieces, streamOf } from "../support/pieces.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";
import { privacyConfig } from "../privacy/rules.ts";

const VALUE = "bob.miller@example.com";
const TOKEN = /qz(?:[a-z]{2}){8}email/;

const APIS = [
  ["/v1/chat/completions", { messages: [{ role: "user", content: `Mail ${VALUE}` }] }],
  ["/v1/messages", { max_tokens: 9, messages: [{ role: "user", content: `Mail ${VALUE}` }] }],
  ["/v1/responses", { store: false, input: `Mail ${VALUE}` }],
  ["/v1/responses", { store: true, input: `Mail ${VALUE}` }],
] as const;

/**
 * A gateway whose provider repeats the token of its request three times, and whose search for
 * values fails as a bug would at the lookup of number `failing`, counted from 1.
 */
function gatewayOf(failing: number) {
  const sent: string[] = [];
  const fetch: Fetch = async (_url, { body }) => {
    const request = await new Response(body ?? "").text();
    sent.push(request);
    const [token = ""] = TOKEN.exec(request) ?? [];
    const parts = [`One ${token}. `, `Two ${token}. `, `Three ${token}. `];
    const choice = (rest: object) => ({
      id: "c",
      created: 1,
      model: "m",
      choices: [{ index: 0, ...rest }],
    });
    const isStream = JSON.parse(request).stream === true;
    const text = isStream
      ? [
        ...parts.map((content) => choice({ delta: { content }, finish_reason: null })),
        choice({ delta: {}, finish_reason: "stop" }),
      ].map((chunk) => `data: ${JSON.stringify({ object: "chat.completion.chunk", ...chunk })}\n\n`)
        .join("") + "data: [DONE]\n\n"
      : JSON.stringify({
        object: "chat.completion",
        ...choice({
          message: { role: "assistant", content: parts.join("") },
          finish_reason: "stop",
        }),
      });
    return new Response(streamOf(pieces(new TextEncoder().encode(text), 200)), {
      headers: { "content-type": isStream ? "text/event-stream" : "application/json" },
    });
  };
  const config = oneProvider("http://up.test") + privacyConfig(["find: [email], action: replace"]);
  const served = testGateway(config, scriptedWorld({ fetch }));
  breakTokens(served.gateway, failing);
  return { ...served, sent };
}

/** Lets the lookups of tokens fail from that of this number on. */
function breakTokens({ generation: { privacy } }: Gateway, failing: number): void {
  assert(privacy !== null);
  const { newCall } = privacy;
  let lookups = 0;
  privacy.newCall = (policy) => {
    const call = newCall(policy);
    const { get } = call.tokens;
    call.tokens.get = (core) => {
      if (++lookups >= failing) throw new TypeError(`secret ${VALUE} ${core}`);
      return get(core);
    };
    return call;
  };
}

for (const [at, [path, body]] of APIS.entries()) {
  for (const stream of [false, true]) {
    const kind = stream ? "a stream" : "an answer";
    Deno.test(`a bug while ${kind} of ${path} (${at}) is restored is exactly one failure, and nothing half restored`, async () => {
      for (const failing of [1, 2, 3, 4, 5]) {
        const { app, log, reported } = gatewayOf(failing);
        const response = await app(
          new Request(`http://gateway.test${path}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ model: "m", stream, ...body }),
          }),
        );
        const text = await response.text();
        const { failure, bug } = await reported(1);
        if (failure === null) {
          // The number of lookups of the answer is smaller.
          assert(failing > 3 && text.includes(`Three ${VALUE}`), text);
          continue;
        }
        assertEquals(failure.kind, "internal_error", text);
        assert(bug !== null);
        assert(!TOKEN.test(text), text);
        if (!stream) {
          assertEquals(response.status, 500);
          assert(!text.includes(VALUE), text);
        } else {
          assertEquals([...text.matchAll(/internal_error/g)].length, 1, text);
          assert(!/message_stop|response\.completed|"finish_reason":"stop"/.test(text), text);
        }
        assert(!/bob\.miller|qz[a-z]{16}/.test(log.join("\n")), log.join("\n"));
      }
    });
  }
}

Deno.test("a bug while a request is searched is one failure, and nothing is sent", async () => {
  for (const [path, body] of APIS) {
    const { app, gateway, sent, log, reported } = gatewayOf(Infinity);
    const { privacy } = gateway.generation;
    assert(privacy !== null);
    const { newCall } = privacy;
    privacy.newCall = (policy) => {
      const call = newCall(policy);
      call.tokens.take = (value) => {
        throw new TypeError(value);
      };
      return call;
    };
    const response = await app(
      new Request(`http://gateway.test${path}`, {
        method: "POST",
        body: JSON.stringify({ model: "m", stream: true, ...body }),
      }),
    );
    const text = await response.text();
    assertEquals([response.status, sent], [500, []]);
    assert(text.includes("internal_error") && !text.includes("bob.miller"), text);
    assertEquals((await reported(1)).failure?.kind, "internal_error");
    assert(!/bob\.miller/.test(log.join("\n")), log.join("\n"));
  }
});

Deno.test("a bug in a turn of a WebSocket is one error event, and the next turn is served", async () => {
  const config = oneProvider("http://up.test") + privacyConfig(["find: [email], action: replace"]);
  const upstream = wordStreams(({ body }) => {
    const [token = "none"] = TOKEN.exec(JSON.stringify(body)) ?? [];
    if (JSON.stringify(body).includes("refuse")) {
      const error = { message: `no ${token}`, type: "invalid_request_error", code: "x" };
      return Promise.resolve(Response.json({ error }, { status: 400 }));
    }
    return saying("One ", `${token}. `, "Two ", `${token}. `);
  });
  await using served = socketGateway(config, upstream);
  breakTokens(served.gateway, 1);
  await using client = await served.open();
  for (const word of ["say", "refuse"]) {
    const { events, ending, end } = await client.turn(
      create({ input: `${word} ${VALUE}`, store: false }),
    );
    assert(ending === "error" || ending === "response.failed", ending);
    assert(JSON.stringify(end).includes("internal_error"), JSON.stringify(end));
    assert(!TOKEN.test(JSON.stringify(events)), JSON.stringify(events));
    const plain = await client.turn(create({ input: "Hi", store: false }));
    assertEquals([plain.ending, plain.output], ["response.completed", "One none. Two none. "]);
  }
});
