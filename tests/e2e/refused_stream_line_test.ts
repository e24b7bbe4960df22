import { isObject, parseJson } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { answers, COMPLETION } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up.test"}
  other: {type: messages, base_url: "http://other.test"}
routing:
  routes:
    - {name: main, match: {models: ["m"]}, targets: [{provider: up}]}
    - {name: other, match: {models: ["o"]}, targets: [{provider: other}]}
retry: {enabled: false}
`;

type Upstream = (signal: AbortSignal | null) => Promise<Response>;

const FAILING: Upstream = () => answers(500, { error: { message: "No." } });

/** Returns the access line of one call: status, stream and how it ended. */
async function line(
  path: string,
  body: Readonly<Record<string, unknown>> | null,
  upstream: Upstream = FAILING,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly unknown[]> {
  const world = scriptedWorld({ fetch: (_url, { signal }) => upstream(signal ?? null) });
  const gateway = testGateway(CONFIG, world);
  const response = await gateway.app(
    new Request(`http://localhost${path}`, {
      method: body === null ? "GET" : "POST",
      headers: { host: "localhost", ...headers },
      body: body === null ? null : JSON.stringify(body),
    }),
  );
  await response.body?.cancel();
  const line = gateway.log.map(parseJson).filter(isObject).find(({ msg }) => msg === "request");
  return [line?.status, line?.stream, line?.end];
}

const CHAT = "/v1/chat/completions", RESPONSES = "/v1/responses";

const MESSAGES = { messages: [{ role: "user", content: "Hi" }] };

for (const [path, asked] of [[CHAT, MESSAGES], [RESPONSES, { input: "Hi" }]] as const) {
  Deno.test(`the access line of a stream refused before it began says so (${path})`, async () => {
    const ask = (fields: Readonly<Record<string, unknown>>, upstream: Upstream = FAILING) =>
      line(path, { model: "m", stream: true, ...asked, ...fields }, upstream);
    assertEquals(await ask({}), [500, true, "upstream_status"]);
    assertEquals(await ask({ model: "none" }), [502, true, "refused"]);
    assertEquals(await ask({ temperature: "warm" }), [400, true, "refused"]);
    assertEquals(await ask({ model: "o", top_logprobs: 3 }), [400, true, "refused"]);
    assertEquals(
      await ask({}, () => answers(200, "data: {broken\n\n")),
      [502, true, "upstream_invalid"],
    );
    assertEquals(
      await ask({}, () => Promise.reject(new TypeError("refused"))),
      [502, true, "upstream_unreachable"],
    );
    const named = await line(path, { model: "m", stream: true, ...asked }, FAILING, {
      "x-gateway-provider": "nobody",
    });
    assertEquals(named, [400, true, "refused"]);
  });

  Deno.test(`what did not ask for a stream is none in the access line (${path})`, async () => {
    for (const stream of [undefined, false, null, "true"]) {
      const [, says] = await line(path, { model: "m", ...asked, stream });
      assertEquals(says, false);
    }
  });
}

Deno.test("requests to unstreamed endpoints are no streams in the access line", async () => {
  const fields = { model: "m", input: "Hi", stream: true };
  assertEquals((await line("/v1/embeddings", fields))[1], false);
  const completed = await line(CHAT, { model: "m", ...MESSAGES }, () => answers(200, COMPLETION));
  assertEquals(completed, [200, false, "complete"]);
});

Deno.test("a retrieved response with stream=true is a stream in the access line", async () => {
  assertEquals(await line("/v1/responses/resp_1?stream=true", null), [404, true, "refused"]);
  assertEquals(await line("/v1/responses/resp_1", null), [404, false, "refused"]);
  assertEquals(await line("/v1/responses/resp_1/input_items?stream=true", null), [
    404,
    false,
    "refused",
  ]);
});
