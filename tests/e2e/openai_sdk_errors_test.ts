import OpenAI from "openai";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertTyped, BROKEN, errorOf, type Sdk, startSdk, WIRES } from "./sdk.ts";
import { NOTICES_EARLY_LEAVE } from "../support/runtime.ts";

const messages = [{ role: "user", content: "good day" }] as const;

async function failure({ client }: Sdk, model: string, stream: boolean): Promise<unknown> {
  return await errorOf(
    client.chat.completions.create({ model, messages: [...messages], stream }),
  );
}

/** Returns the chunks of a stream before it threw, and its error. */
async function broken({ client }: Sdk, model: string) {
  const stream = await client.chat.completions.create({
    model,
    messages: [...messages],
    stream: true,
  });
  let text = "";
  const error = await errorOf((async () => {
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
  })());
  return { text, error };
}

for (const wire of WIRES) {
  Deno.test(`the SDK throws typed errors over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    await assertTyped((model, stream) => failure(sdk, model, stream));
  });

  Deno.test(`the SDK throws where a stream breaks over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    for (const model of BROKEN) {
      const { text, error } = await broken(sdk, model);
      assertEquals(text, "one two three four", model);
      assert(error instanceof OpenAI.APIError, `${model}: ${String(error)}`);
      assertEquals([error.type, error.code], ["upstream_error", "upstream_stream_error"]);
    }
    await sdk.gateway.reported(BROKEN.length);
    assertEquals([...new Set(sdk.gateway.reports.map(endOf))], ["stream_broken"]);
  });

  Deno.test(`the SDK's stream helper throws where a stream breaks over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const runner = sdk.client.chat.completions.stream({
      model: "sim-broken-stream",
      messages: [...messages],
    });
    const error = await errorOf(runner.finalChatCompletion());
    assert(error instanceof OpenAI.OpenAIError, String(error));
  });

  Deno.test(`a JSON answer that breaks is an error of the SDK over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    for (const model of BROKEN.filter((name) => name !== "sim-broken-huge")) {
      const error = await failure(sdk, model, false);
      assert(error instanceof OpenAI.InternalServerError, `${model}: ${String(error)}`);
    }
  });

  Deno.test(`the SDK can leave a stream over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const stream = await sdk.client.chat.completions.create({
      model: "sim-broken-silent",
      messages: [...messages],
      stream: true,
    });
    let text = "";
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? "";
      if (text.includes("four")) stream.controller.abort();
    }
    assertEquals(text, "one two three four");
    assertEquals(endOf(await sdk.gateway.reported(1)), "client_gone");
  });
}

Deno.test("the SDK can leave while it waits for an answer", async () => {
  await using sdk = startSdk("compat");
  const leaving = new AbortController();
  const waiting = errorOf(
    sdk.client.chat.completions.create(
      { model: "sim-hang", messages: [...messages] },
      { signal: leaving.signal },
    ),
  );
  await sdk.arrived;
  leaving.abort();
  assert(await waiting instanceof OpenAI.APIUserAbortError);
  if (NOTICES_EARLY_LEAVE) assertEquals(endOf(await sdk.gateway.reported(1)), "client_gone");
});

Deno.test("a refusal of the gateway is a typed error with param and code", async () => {
  await using sdk = startSdk("messages");
  const error = await errorOf(
    sdk.client.chat.completions.create({ model: "sim-echo", messages: [...messages], n: 2 }),
  );
  assert(error instanceof OpenAI.BadRequestError);
  assertEquals([error.code, error.param], ["unsupported_feature", "n"]);
});
