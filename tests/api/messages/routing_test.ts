import { assertEquals } from "../../support/assert.ts";
import { chatRequest, got } from "../../support/chat_call.ts";
import { messagesGateway } from "./gateway.ts";

const EFFORT = { output_config: { effort: "low" } };
const SENTENCE = "This model does not support the effort parameter.";

Deno.test("a route with the path /v1/messages takes the requests of this API, and no others", async () => {
  const { ask, app, sent } = messagesGateway(
    "[{name: own, match: {path: /v1/messages}, targets: [{provider: a}]}, {name: rest, targets: [{provider: b}]}]",
  );
  assertEquals((await ask()).headers.get("x-gateway-route"), "own");
  assertEquals((await got(await app(chatRequest()))).headers.get("x-gateway-route"), "rest");
  assertEquals(sent.map(({ host }) => host), ["a", "b"]);
});

Deno.test("without a route for its path, a message takes the routes of Chat", async () => {
  const { ask } = messagesGateway(
    "[{name: emb, match: {path: /v1/embeddings}, targets: [{provider: a}]}, {name: chat, match: {path: /v1/chat}, targets: [{provider: b}]}]",
  );
  const { headers } = await ask();
  assertEquals(headers.get("x-gateway-route"), "chat");
});

Deno.test("x-gateway-request-type in a route is messages, which no client can forge", async () => {
  const { ask } = messagesGateway(
    "[{name: own, match: {headers: {x-gateway-request-type: messages}}, targets: [{provider: a}]}, {name: rest, targets: [{provider: b}]}]",
  );
  const forged = { "x-gateway-request-type": "embeddings" };
  assertEquals((await ask({}, forged)).headers.get("x-gateway-route"), "own");
});

Deno.test("the small models of side requests have a route by their pattern", async () => {
  const { ask, sent } = messagesGateway(
    '[{name: small, match: {models: ["claude-*haiku*"]}, targets: [{provider: a}]}, {name: rest, targets: [{provider: b}]}]',
  );
  for (
    const model of ["claude-haiku-4-5-20251001", "claude-3-5-haiku-20241022", "claude-opus-5-5"]
  ) {
    await ask({ model });
  }
  assertEquals(sent.map(({ host, body }) => `${host}/${String(body.model)}`), [
    "a/claude-haiku-4-5-20251001",
    "a/claude-3-5-haiku-20241022",
    "b/claude-opus-5-5",
  ]);
});

Deno.test("X-Gateway-Provider and X-Gateway-Model choose as for the other APIs", async () => {
  const { ask, sent } = messagesGateway("[{name: main, targets: [{provider: a}, {provider: b}]}]");
  await ask({}, { "x-gateway-provider": "b", "x-gateway-model": "other" });
  assertEquals(sent.map(({ host, body }) => `${host}/${String(body.model)}`), ["b/other"]);
});

Deno.test("a target that cannot carry a field is skipped for one that can", async () => {
  const { ask, sent } = messagesGateway(
    "[{name: main, targets: [{provider: a}, {provider: able}]}]",
  );
  for (let count = 0; count < 4; count++) assertEquals((await ask(EFFORT)).status, 200);
  assertEquals(new Set(sent.map(({ host }) => host)), new Set(["able"]));
});

Deno.test("a request that every target refuses goes to a fallback that can carry it", async () => {
  const { ask, sent } = messagesGateway(
    "[{name: main, targets: [{provider: a}], fallback: [{provider: loc}, {provider: able}]}]",
  );
  assertEquals((await ask(EFFORT)).headers.get("x-gateway-provider"), "able");
  assertEquals(sent.length, 1);
});

Deno.test("when all targets refuse, the refusal of the first is returned in the vendor's words", async () => {
  const { ask, sent } = messagesGateway(
    "[{name: main, targets: [{provider: a}, {provider: loc}], fallback: [{provider: b}]}]",
  );
  const { status, error, headers } = await ask(EFFORT);
  assertEquals([status, error.type, error.message], [400, "invalid_request_error", SENTENCE]);
  assertEquals(error.details, { error_code: "unsupported_feature", param: "output_config.effort" });
  assertEquals(headers.get("request-id"), headers.get("x-gateway-request-id"));
  assertEquals(sent, []);
});

Deno.test("when a called target fails and the fallbacks refuse, its failure is returned", async () => {
  const routes =
    "[{name: main, targets: [{provider: able}], fallback: [{provider: a}, {provider: loc}]}]";
  const { ask, sent } = messagesGateway(routes, { able: 503 });
  const { status, error } = await ask(EFFORT);
  assertEquals([status, error.type, error.message], [503, "overloaded_error", "able fails"]);
  assertEquals(sent.map(({ host }) => host), ["able"]);
});

Deno.test("a failed target falls back to another type of provider, whose request is translated for it", async () => {
  const { ask, sent } = messagesGateway(
    "[{name: main, targets: [{provider: a}], fallback: [{provider: loc}]}]",
    {
      a: 500,
    },
  );
  const { status, text, headers } = await ask({ stop_sequences: ["x"] });
  assertEquals([status, JSON.parse(text).content[0].text], [200, "Hi"]);
  assertEquals(headers.get("x-gateway-provider"), "loc");
  assertEquals(sent.map(({ host, body }) => [host, body.stop ?? body.options]), [
    ["a", ["x"]],
    ["loc", { num_predict: 9, stop: ["x"] }],
  ]);
});

Deno.test("X-Gateway-No-Fallback and X-Gateway-No-Retry are obeyed", async () => {
  const routes = "[{name: main, targets: [{provider: a}], fallback: [{provider: b}]}]";
  const { ask, sent } = messagesGateway(routes, { a: 503 }, "");
  const { status } = await ask({}, {
    "x-gateway-no-fallback": "true",
    "x-gateway-no-retry": "true",
  });
  assertEquals([status, sent.length], [503, 1]);
});

Deno.test("an unknown provider and a request that no route takes are errors of this API", async () => {
  const { ask } = messagesGateway(
    "[{name: emb, match: {path: /v1/embeddings}, targets: [{provider: a}]}]",
  );
  const { status, error } = await ask();
  assertEquals([status, error.type], [502, "api_error"]);
});
