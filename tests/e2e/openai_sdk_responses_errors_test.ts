import OpenAI from "openai";
import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { assertTyped, BROKEN, errorOf, type Sdk, startSdk, WIRES } from "./sdk.ts";

async function failure({ client }: Sdk, model: string, stream: boolean): Promise<unknown> {
  return await errorOf(client.responses.create({ model, input: "good day", stream }));
}

for (const wire of WIRES) {
  Deno.test(`the SDK throws typed errors for responses over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    await assertTyped((model, stream) => failure(sdk, model, stream));
  });

  Deno.test(`the SDK sees a response fail where its stream breaks over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    for (const model of BROKEN) {
      const stream = await sdk.client.responses.create({ model, input: "hi", stream: true });
      const last = (await Array.fromAsync(stream)).at(-1);
      assert(last?.type === "response.failed", `${model}: ${last?.type}`);
      assertEquals(last.response.status, "failed");
      assertEquals(last.response.error?.code, "server_error");
      const [item] = last.response.output;
      assert(item?.type === "message", model);
      const text = item.content.map((part) => part.type === "output_text" ? part.text : "");
      assertEquals([text.join(""), item.status], ["one two three four", "incomplete"], model);
      const unknown = await errorOf(sdk.client.responses.retrieve(last.response.id));
      assert(unknown instanceof OpenAI.NotFoundError, "what failed is not kept");
    }
    await sdk.gateway.reported(BROKEN.length * 2);
    const ends = sdk.gateway.reports.map(endOf);
    assertEquals(ends.filter((end) => end === "stream_broken").length, BROKEN.length);
  });

  Deno.test(`the SDK's stream helper reports a failed response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const runner = sdk.client.responses.stream({ model: "sim-broken-stream", input: "hi" });
    assertEquals((await runner.finalResponse()).status, "failed");
  });

  Deno.test(`a JSON response that breaks is an error of the SDK over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    for (const model of BROKEN.filter((name) => name !== "sim-broken-huge")) {
      const error = await failure(sdk, model, false);
      assert(error instanceof OpenAI.InternalServerError, `${model}: ${String(error)}`);
    }
  });

  Deno.test(`the SDK shows the status and reason of an ended response over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { responses } = sdk.client;
    for (
      const answer of [
        await responses.create({ model: "sim-length", input: "hi" }),
        await responses.stream({ model: "sim-length", input: "hi" }).finalResponse(),
      ]
    ) {
      assertEquals(answer.status, "incomplete");
      assertEquals(answer.incomplete_details, { reason: "max_output_tokens" });
      assertEquals(answer.output_text, "This answer ends in the middle of a");
    }
  });
}

Deno.test("a field that no chat provider supports is a typed error with param and code", async () => {
  await using sdk = startSdk("compat");
  const { responses } = sdk.client;
  const body = { model: "sim-echo", input: "hi" };
  const refused = [
    [responses.create({ ...body, background: true }), "unsupported_feature", "background"],
    [
      responses.create({ ...body, tools: [{ type: "web_search" }] }),
      "unsupported_feature",
      "tools[0].type",
    ],
    [
      responses.create({ ...body, previous_response_id: "resp_unheard_of" }),
      "previous_response_not_found",
      "previous_response_id",
    ],
  ] as const;
  for (const [call, code, param] of refused) {
    const error = await errorOf(call);
    assert(error instanceof OpenAI.BadRequestError, String(error));
    assertEquals([error.code, error.param], [code, param]);
  }
});
