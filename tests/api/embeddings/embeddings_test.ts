import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { assertEquals } from "../../support/assert.ts";
import { testGateway } from "../../support/gateway.ts";
import { pieces, streamOf } from "../../support/pieces.ts";
import { assertValid } from "../../support/schemas.ts";
import { scriptedWorld } from "../../support/world.ts";

const COMPAT =
  '{ "object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,-2e-3]}],\n' +
  ' "model":"up","usage":{"prompt_tokens":2,"total_tokens":2},"extra":12345678901234567890 }';
const LOCAL = '{"model":"up","embeddings":[[1.0,-2e-3]],"prompt_eval_count":2}';

const PROVIDERS = `
  compat: {type: compat, base_url: "http://compat.test/v1"}
  base64: {type: compat, base_url: "http://base64.test/v1", capabilities: {embeddings_base64: true}}
  messages: {type: messages, base_url: "http://messages.test", api_key: k}
  local: {type: local, base_url: "http://local.test"}
`;

/** One target, and fallbacks. */
async function embedded(fields: Record<string, unknown>, ...targets: readonly string[]) {
  const [target, ...fallbacks] = targets.map((provider) => `{provider: ${provider}, model: e}`);
  const seen: { readonly url: string; readonly body: string }[] = [];
  const { app } = testGateway(
    `
providers: ${PROVIDERS}
routing: {routes: [{name: all, targets: [${target}], fallback: [${fallbacks.join(", ")}]}]}
retry: {enabled: false}
`,
    scriptedWorld({
      async fetch(url, init) {
        seen.push({ url, body: await new Response(init.body ?? null).text() });
        const text = url.includes("local.test") ? LOCAL : COMPAT;
        return new Response(streamOf(pieces(utf8Bytes(text), 7)), {
          headers: { "x-ms-upstream": "told", "content-type": "application/json" },
        });
      },
    }),
  );
  const answer = await app(
    new Request("http://gateway.test/v1/embeddings", {
      method: "POST",
      body: JSON.stringify({ model: "auto", input: "Hi", ...fields }),
    }),
  );
  const text = await answer.text();
  return { answer, text, seen, body: JSON.parse(text) };
}

async function refused(fields: Record<string, unknown>, ...targets: readonly string[]) {
  const { answer, body, seen } = await embedded(fields, ...targets);
  assertValid("ErrorResponse", body);
  assertEquals(seen, []);
  return [answer.status, body.error.code, body.error.param];
}

Deno.test("compat embeddings forward the client's document, and the response byte for byte", async () => {
  const fields = { input: [[1, 2]], dimensions: 3, user: "u", encoding_format: "float" };
  const { text, seen, body, answer } = await embedded(fields, "compat");
  assertEquals(seen, [{
    url: "http://compat.test/v1/embeddings",
    body: JSON.stringify({ model: "e", ...fields }),
  }]);
  assertEquals(text, COMPAT);
  assertEquals(answer.headers.get("x-ms-upstream"), "told");
  assertValid("CreateEmbeddingResponse", body);
});

Deno.test("local embeddings send texts, and return the numbers in their original text", async () => {
  const { text, seen, body } = await embedded({ input: ["Hi"], encoding_format: null }, "local");
  assertEquals(seen, [{
    url: "http://local.test/api/embed",
    body: '{"model":"e","input":["Hi"],"truncate":false}',
  }]);
  assertEquals(text.includes('"embedding":[1.0,-2e-3]'), true);
  assertEquals(body.usage, { prompt_tokens: 2, total_tokens: 2 });
  assertValid("CreateEmbeddingResponse", body);
});

Deno.test("embeddings accept only the five documented fields, and refuse what a provider cannot carry", async () => {
  for (const provider of ["compat", "local"]) {
    assertEquals(await refused({ truncate: true }, provider), [
      400,
      "unsupported_feature",
      "truncate",
    ]);
  }
  const base64 = { encoding_format: "base64" };
  for (const provider of ["compat", "local"]) {
    assertEquals(await refused(base64, provider), [400, "unsupported_feature", "encoding_format"]);
  }
  for (const [key, value] of Object.entries({ dimensions: 3, user: "u", input: [1, 2] })) {
    assertEquals(await refused({ [key]: value }, "local"), [400, "unsupported_feature", key]);
  }
  assertEquals(await refused({}, "messages"), [400, "unsupported_feature", "provider"]);
  assertEquals((await embedded(base64, "base64")).answer.status, 200);
});

Deno.test("targets and fallbacks that cannot carry an embeddings request are skipped", async () => {
  const base64 = { encoding_format: "base64" };
  for (const targets of [["messages", "local", "compat", "base64"], ["local", "base64"]]) {
    const { answer, seen } = await embedded(base64, ...targets);
    assertEquals(answer.headers.get("x-gateway-provider"), "base64");
    assertEquals(seen.length, 1);
  }
  assertEquals(await refused(base64, "compat", "local", "messages"), [
    400,
    "unsupported_feature",
    "encoding_format",
  ]);
});

Deno.test("a compat response with fewer vectors than inputs is a 502", async () => {
  for (const input of [["a", "b"], [[1], [2]], []]) {
    const { answer, body } = await embedded({ input }, "compat");
    assertEquals([answer.status, body.error?.code], [502, "invalid_upstream_response"]);
  }
  for (const input of ["a", ["a"], [1, 2.0, 3], [[1, 2]]]) {
    const { text } = await embedded({ input }, "compat");
    assertEquals(text, COMPAT);
  }
});
