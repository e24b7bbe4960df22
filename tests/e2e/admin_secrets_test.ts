import { clientApis } from "../../src/api/registry.ts";
import { nextView, renderTop } from "../../src/cli/top_text.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { answers } from "../support/chat_call.ts";
import { EVERY_TYPE, simulated } from "../support/simulated.ts";
import { type Fetch, scriptedWorld } from "../support/world.ts";

/** Secrets that no snapshot may have, from every way into the gateway. */
const SECRETS = {
  clientKey: "sy-client-key-7f3a",
  providerKey: "sk-provider-key-9b1c",
  prompt: "prompt-words-51de",
  answer: "answer-words-c0de",
  query: "query-value-33aa",
  header: "header-value-90ff",
  upstreamError: "upstream-error-words-ab12",
  password: "admin-password-77",
} as const;

const CONFIG = `
security: {enabled: true, api_key: {keys: [{name: ada, value: ${SECRETS.clientKey}}]}}
${EVERY_TYPE.replaceAll(/api_key: k\d?/g, `api_key: ${SECRETS.providerKey}`)}`;

/**
 * Bodies for every endpoint at once: what an endpoint does not know is refused, which is looked at
 * too.
 */
function bodies(model: string): readonly Record<string, unknown>[] {
  const { prompt } = SECRETS;
  const messages = [{ role: "user", content: prompt }];
  return [
    { model, messages },
    { model, messages, stream: true },
    { model, messages, max_tokens: 10 },
    { model, input: prompt },
    { model, input: prompt, stream: true, instructions: prompt },
    { model, prompt, voice: prompt, query: prompt, documents: [prompt] },
    { model, messages: prompt, input: { text: prompt } },
    { model, messages, temperature: prompt, tools: [{ type: prompt, function: prompt }] },
    { model, messages, metadata: { a: prompt } },
  ];
}

function assertNoSecret(text: string, what: string) {
  for (const [name, secret] of Object.entries(SECRETS)) {
    const at = text.indexOf(secret);
    assert(at < 0, `${name} is in ${what}: ${text.slice(Math.max(0, at - 200), at + 50)}`);
  }
}

/** Calls every endpoint of the gateway with every body, and looks at each snapshot. */
async function callAll(fetch: Fetch, model: string): Promise<number> {
  const world = scriptedWorld({ fetch });
  const { app, feed, get } = testAdmin(
    CONFIG,
    world,
    `{enabled: true, password: ${SECRETS.password}}`,
  );
  feed.close();
  const authorization = `Basic ${btoa(`me:${SECRETS.password}`)}`;
  const endpoints = clientApis.flatMap((api) => api.endpoints)
    .filter(({ body }) => body !== "multipart");
  for (const { method, path } of endpoints) {
    const url = `http://localhost${path.replace(/:\w+(\{[^}]*\})?/g, "id-1")}?${SECRETS.query}=1`;
    for (const body of method === "POST" ? bodies(model) : [null]) {
      const response = await app(
        new Request(url, {
          method,
          headers: {
            host: "localhost",
            authorization: `Bearer ${SECRETS.clientKey}`,
            "x-secret": SECRETS.header,
          },
          body: body === null ? null : JSON.stringify(body),
        }),
      );
      await response.text();
    }
    const snapshot = await get("/snapshot", { headers: { authorization } });
    assertEquals(snapshot.status, 200);
    assertNoSecret(await snapshot.text(), `the snapshot after ${method} ${path}`);
  }
  const wrong = await app(
    new Request("http://localhost/v1/models", {
      headers: { host: "localhost", authorization: `Bearer ${SECRETS.prompt}` },
    }),
  );
  await wrong.text();
  const last = await get("/snapshot", { headers: { authorization } });
  assertNoSecret(await last.text(), "the snapshot after a wrong client key");
  const { body } = await get("/events", { headers: { authorization } });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value: event = "" } = await reader?.read() ?? {};
  await reader?.cancel();
  assert(event.startsWith("data: {"), "the stream begins with a snapshot");
  assertNoSecret(event, "the stream of snapshots");
  const view = nextView(null, JSON.parse(event.slice("data: ".length)));
  const lines = renderTop(view, { columns: 10_000, rows: null, isColoured: false });
  assertNoSecret(lines.join("\n"), "the lines of top");
  const usage = await get("/usage?format=csv", { headers: { authorization } });
  assertNoSecret(await usage.text(), "the usage");
  return feed.finishedCount;
}

Deno.test("no snapshot has a key, prompt, response, header value or query string, whatever is called", async () => {
  assert(await callAll(simulated().fetch, "sim-echo") > 100);
});

Deno.test("no snapshot has words of an upstream's error or response that cannot be read", async () => {
  const { upstreamError, answer, providerKey } = SECRETS;
  const error = {
    type: "error",
    error: { type: upstreamError, message: `${upstreamError} ${providerKey}`, code: upstreamError },
  };
  let count = 0;
  const fetch: Fetch = () => {
    switch (count++ % 6) {
      case 0:
        return answers(400, error);
      case 1:
        return answers(500, error);
      case 2:
        return answers(401, upstreamError);
      case 3:
        return answers(200, `${answer} is no JSON`);
      case 4:
        return answers(200, `data: ${JSON.stringify(error)}\n\n`, {
          "content-type": "text/event-stream",
        });
      default:
        return Promise.reject(new TypeError(`no connection: ${upstreamError}`));
    }
  };
  assert(await callAll(fetch, "m") > 100);
});
