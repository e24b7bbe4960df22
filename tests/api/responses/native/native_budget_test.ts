import { assert, assertEquals } from "../../../support/assert.ts";
import { bindingOf, stored } from "../../../support/object_store.ts";
import { nativeConfig, nativeGateway, responseOf } from "../../../support/native_gateway.ts";

const CAN = ["responses_lifecycle"];

Deno.test("1,000 IDs are stored, and the oldest is evicted first", async () => {
  let count = 0;
  const calls = nativeGateway(
    nativeConfig({ up: { can: CAN } }),
    () => ({ body: responseOf(`resp_${++count}`) }),
  );
  const create = () => calls.post("/responses", { model: "m", input: "x" });
  await create();
  await create();
  const binding = await bindingOf(calls, "response", "resp_1");
  assert(binding?.kind === "bound");
  for (let at = 0; at < 998; at++) {
    await stored(calls.state.objects.responses.bind(`other_${at}`, binding.owner));
  }
  assert(await bindingOf(calls, "response", "resp_1") !== null);
  await create();
  assertEquals(calls.state.objects.stats().response_bindings.entries, 1000);
  assertEquals((await calls.get("/responses/resp_1")).status, 404);
  await calls.get("/responses/resp_2");
  assertEquals(calls.lastRequest(), "up GET /responses/resp_2");
});

Deno.test("all IDs together take at most 1 MiB, and a larger ID is not stored", async () => {
  const long = "x".repeat(400_000);
  let count = 0;
  const calls = nativeGateway(
    nativeConfig({ up: { can: CAN } }),
    () => ({ body: responseOf(count === 3 ? "y".repeat(1_100_000) : `${long}${++count}`) }),
  );
  for (let at = 0; at < 3; at++) await calls.post("/responses", { model: "m", input: "x" });
  assertEquals(calls.state.objects.stats().response_bindings.entries, 2);
  assert(await bindingOf(calls, "response", `${long}1`) === null);
  const answer = await calls.post("/responses", { model: "m", input: "x" });
  assertEquals([answer.status, calls.state.objects.stats().response_bindings.entries], [200, 2]);
});
