import Anthropic from "@anthropic-ai/sdk";
import { assert, assertEquals } from "../support/assert.ts";
import { type AnthropicSdk, startAnthropicSdk, TRANSLATED } from "./anthropic_sdk.ts";
import { BROKEN, errorOf } from "./sdk.ts";

const messages: Anthropic.MessageParam[] = [{ role: "user", content: "good day" }];

function create({ client }: AnthropicSdk, model: string, stream: boolean): Promise<unknown> {
  return errorOf(client.messages.create({ model, max_tokens: 64, messages, stream }));
}

/** The request ID that a failed call has, which is that of the gateway's last report. */
function assertRequestId(sdk: AnthropicSdk, error: InstanceType<typeof Anthropic.APIError>): void {
  const ids = sdk.gateway.reports.map(({ id }) => id);
  assert(ids.includes(error.requestID ?? ""), String(error.requestID));
}

const TYPED = [
  ["sim-error-400", Anthropic.BadRequestError, 400, "invalid_request_error"],
  ["sim-error-401", Anthropic.AuthenticationError, 401, "authentication_error"],
  ["sim-error-403", Anthropic.PermissionDeniedError, 403, "permission_error"],
  ["sim-unheard-of", Anthropic.NotFoundError, 404, "not_found_error"],
  ["sim-error-422", Anthropic.UnprocessableEntityError, 422, "invalid_request_error"],
  ["sim-error-429", Anthropic.RateLimitError, 429, "rate_limit_error"],
  ["sim-error-500", Anthropic.InternalServerError, 500, "api_error"],
  ["sim-error-503", Anthropic.InternalServerError, 503, "overloaded_error"],
  ["sim-broken-empty", Anthropic.InternalServerError, 502, "api_error"],
] as const;

for (const wire of TRANSLATED) {
  Deno.test(`the Anthropic SDK throws typed errors with the request ID over ${wire}`, async () => {
    await using sdk = startAnthropicSdk(wire);
    for (const [model, kind, status, type] of TYPED) {
      for (const stream of [false, true]) {
        const error = await create(sdk, model, stream);
        assert(error instanceof kind, `${model}: ${String(error)}`);
        assertEquals([error.status, error.type], [status, type], model);
        assert((error.apiMessage ?? "").length > 5, String(error.apiMessage));
        assertRequestId(sdk, error);
      }
    }
  });

  Deno.test(`the Anthropic SDK throws where a stream breaks over ${wire}`, async () => {
    await using sdk = startAnthropicSdk(wire);
    for (const model of BROKEN) {
      const stream = sdk.client.messages.stream({ model, max_tokens: 64, messages });
      let text = "";
      stream.on("text", (piece) => void (text += piece));
      const error = await errorOf(stream.finalMessage());
      assertEquals(text, "one two three four", model);
      assert(error instanceof Anthropic.APIError, `${model}: ${String(error)}`);
      assertEquals(error.type, "api_error", model);
    }
  });
}

Deno.test("the Anthropic SDK throws typed errors for what the gateway itself refuses", async () => {
  await using sdk = startAnthropicSdk(
    "compat",
    "security: {enabled: true, api_key: {keys: [{name: c, value: sk-client}]}}\n",
  );
  const { client } = sdk;
  const wrong = new Anthropic({ baseURL: sdk.gateway.url, apiKey: "sk-wrong" });
  const body = { model: "sim-echo", max_tokens: 64, messages };
  const calls: readonly [Promise<unknown>, unknown, string, string][] = [
    [
      wrong.messages.create(body),
      Anthropic.AuthenticationError,
      "authentication_error",
      "invalid_api_key",
    ],
    [
      client.messages.countTokens(body),
      Anthropic.NotImplementedError,
      "not_supported",
      "token_counting_unsupported",
    ],
    [client.models.retrieve("nope"), Anthropic.NotFoundError, "not_found_error", "model_not_found"],
    [client.messages.batches.list(), Anthropic.NotFoundError, "not_found_error", "unknown_url"],
    [client.beta.files.list(), Anthropic.NotFoundError, "not_found_error", "unknown_url"],
    [
      client.messages.create({ ...body, thinking: { type: "between_tools" } }),
      Anthropic.BadRequestError,
      "invalid_request_error",
      "unsupported_feature",
    ],
  ];
  for (const [call, kind, type, code] of calls) {
    const error = await errorOf(call);
    assert(error instanceof Anthropic.APIError, String(error));
    assertEquals<unknown>([error.constructor, error.type, error.errorCode], [kind, type, code]);
    assertRequestId(sdk, error);
  }
});

Deno.test("the Anthropic SDK repeats neither a call without a valid key nor one that cannot be counted", async () => {
  await using sdk = startAnthropicSdk(
    "compat",
    "security: {enabled: true, api_key: {keys: [{name: c, value: sk-client}]}}\n",
  );
  const options = { baseURL: sdk.gateway.url, maxRetries: 3 };
  const body = { model: "sim-echo", messages };
  const wrong = new Anthropic({ ...options, apiKey: "sk-wrong" });
  await errorOf(wrong.messages.create({ ...body, max_tokens: 64 }));
  await errorOf(new Anthropic({ ...options, apiKey: "sk-client" }).messages.countTokens(body));
  assertEquals(sdk.gateway.reports.map(({ status }) => status), [401, 501]);
});

Deno.test("the Anthropic SDK lists models page by page, and finds one model", async () => {
  await using sdk = startAnthropicSdk("compat");
  const ids: string[] = [];
  for await (const { id } of sdk.client.models.list({ limit: 1 })) ids.push(id);
  assertEquals(ids, ["sim/sim-echo", "sim/sim-other"]);
  const model = await sdk.client.models.retrieve("sim/sim-echo");
  assertEquals([model.type, model.display_name, model.lifecycle], [
    "model",
    "sim/sim-echo",
    "active",
  ]);
});
