import type { FinishedCall } from "../../src/admin/snapshot.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { streamOf } from "../support/pieces.ts";
import { scriptedWorld } from "../support/world.ts";

const CONFIG = `
providers:
  up: {type: local, base_url: "http://up.test", capabilities: {structured_outputs: true}}
  spare: {type: local, base_url: "http://spare.test", capabilities: {structured_outputs: true}}
routing:
  routes: [{name: main, targets: [{provider: up}], fallback: [{provider: spare}]}]
retry: {enabled: false}
`;

const RECORDS = {
  good: [{ content: '{"secret_name":1}' }],
  bad: [{ content: '{"secret_name":' }, { content: '"secret-answer"}' }],
};

const REQUEST = {
  model: "m",
  messages: [{ role: "user", content: "Hi" }],
  response_format: {
    type: "json_schema",
    json_schema: {
      name: "secret_schema",
      strict: true,
      schema: {
        type: "object",
        properties: { secret_name: { type: "number" } },
        required: ["secret_name"],
        additionalProperties: false,
      },
    },
  },
};

/** Returns the finished call of a request whose providers respond in this way. */
async function finishedCallOf(
  responses: Readonly<Record<string, keyof typeof RECORDS>>,
  stream: boolean,
): Promise<FinishedCall> {
  const world = scriptedWorld({
    fetch: (url) => {
      const records = RECORDS[responses[new URL(url).host] ?? "good"];
      const parts = stream ? records : [{ content: records.map((one) => one.content).join("") }];
      const text = parts.map((message, at) =>
        JSON.stringify({
          model: "m",
          message: { role: "assistant", ...message },
          done: at === parts.length - 1,
          ...at === parts.length - 1 && { done_reason: "stop" },
        }) + "\n"
      );
      return Promise.resolve(
        new Response(streamOf(text.map((one) => new TextEncoder().encode(one)))),
      );
    },
  });
  const { app, feed, get, snapshot } = testAdmin(CONFIG, world);
  const answering = app(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost" },
      body: JSON.stringify({ ...REQUEST, stream }),
    }),
  );
  await world.advance(50);
  await (await answering).text();
  await world.advance(1000);
  const text = await (await get("/snapshot")).text();
  assert(!text.includes("secret"), text);
  const { finished: [call], providers } = await snapshot();
  feed.close();
  assert(call !== undefined);
  for (const { provider, outcome } of call.attempts) {
    const counts = providers.find(({ id }) => id === provider)?.outcomes;
    assertEquals(counts, { [outcome]: 1 });
  }
  return call;
}

const BROKEN =
  "promise_broken: The response is no object of the schema, so it breaks 'response_format.json_schema.strict'.";

Deno.test("the timeline of a broken promise names the failed attempts and the broken field, without the response", async () => {
  const both = { "up.test": "bad", "spare.test": "bad" } as const;
  const call = await finishedCallOf(both, false);
  assertEquals(call.failure, BROKEN);
  assertEquals(call.code, "promise_broken");
  assertEquals(call.verified, ["response_format.json_schema.strict"]);
  assertEquals(outcomesOf(call), ["up:promise_broken", "spare:promise_broken"]);
});

Deno.test("a promise that a fallback keeps is verified, and the first attempt has broken it", async () => {
  const call = await finishedCallOf({ "up.test": "bad" }, false);
  assertEquals([call.failure, call.code], [null, undefined]);
  assertEquals(outcomesOf(call), ["up:promise_broken", "spare:success"]);
});

Deno.test("an attempt whose stream breaks a promise after its first text is no success in the timeline", async () => {
  const call = await finishedCallOf({ "up.test": "bad" }, true);
  assertEquals([call.failure, call.code], [BROKEN, "promise_broken"]);
  assertEquals(call.access["end"], "stream_broken");
  assertEquals(outcomesOf(call), ["up:promise_broken"]);
});

function outcomesOf({ attempts }: FinishedCall): readonly string[] {
  return attempts.map(({ provider, outcome }) => `${provider}:${outcome}`);
}
