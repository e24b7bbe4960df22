import { BadRequestError, NotFoundError } from "openai";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { startSdk } from "./sdk.ts";

for (const wire of ["compat", "local"] as const) {
  Deno.test(`the SDK gets embeddings over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { data, usage, model } = await sdk.client.embeddings.create({
      model: "sim-embed",
      input: ["good day", "good night"],
      encoding_format: "float",
    });
    assertEquals(data.map(({ index }) => index), [0, 1]);
    for (const { embedding } of data) assert(Math.abs(Math.hypot(...embedding) - 1) < 1e-6);
    assertEquals([model, usage.prompt_tokens, usage.total_tokens], ["sim-embed", 4, 4]);
  });

  Deno.test(`embeddings over ${wire}: the SDK's default base64 is refused with the advice to request float`, async () => {
    await using sdk = startSdk(wire);
    try {
      await sdk.client.embeddings.create({ model: "sim-embed", input: "good day" });
      assert(false, "went well");
    } catch (error) {
      assert(error instanceof BadRequestError);
      assertEquals([error.code, error.param], ["unsupported_feature", "encoding_format"]);
      assertStringIncludes(error.message, "float");
      const key = "providers.sim.capabilities.embeddings_base64";
      assertEquals(error.message.includes(key), wire === "compat");
    }
  });
}

Deno.test("the SDK gets embeddings without any setting where the provider declares base64", async () => {
  await using sdk = startSdk("compat", "capabilities: {embeddings_base64: true}");
  const { data } = await sdk.client.embeddings.create({ model: "sim-embed", input: "good day" });
  const vector = data[0]?.embedding ?? [];
  assert(Math.abs(Math.hypot(...vector) - 1) < 1e-6);
});

Deno.test("the SDK receives a refusal of embeddings over messages", async () => {
  await using sdk = startSdk("messages");
  const asked = { model: "sim-embed", input: "a", encoding_format: "float" } as const;
  try {
    await sdk.client.embeddings.create(asked);
    assert(false, "went well");
  } catch (error) {
    assert(error instanceof BadRequestError);
    assertEquals([error.code, error.param], ["unsupported_feature", "provider"]);
  }
});

for (const wire of ["compat", "messages", "local"] as const) {
  Deno.test(`the SDK lists the models of ${wire} and finds each of them`, async () => {
    await using sdk = startSdk(wire, "models: {mode: fetch}");
    const models = await Array.fromAsync(sdk.client.models.list());
    const name = wire === "local" ? "sim/sim-echo:latest" : "sim/sim-echo";
    assert(models.some(({ id }) => id === name));
    for (const { id } of models) {
      assertEquals((await sdk.client.models.retrieve(id)).id, id);
    }
    try {
      await sdk.client.models.retrieve("sim/none");
      assert(false, "went well");
    } catch (error) {
      assert(error instanceof NotFoundError);
      assertEquals(error.code, "model_not_found");
    }
  });
}
