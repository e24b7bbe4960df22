import { assert, assertEquals } from "../../support/assert.ts";
import { answers, COMPLETION } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/valkey_server.ts";
import { scriptedWorld } from "../../support/world.ts";

const STORED_CHARS = 300_000;

const ITEM = { id: "msg_own", type: "message", role: "user", content: "x".repeat(STORED_CHARS) };

/** Members of a request that name the stored items of an earlier response. */
const NAMED = {
  "the history of a response": (id: string) => ({ previous_response_id: id, input: "go on" }),
  "referenced items": () => ({ input: [{ type: "item_reference", id: ITEM.id }] }),
};

for (const [what, fieldsOf] of Object.entries(NAMED)) {
  Deno.test(`${what} counts in server.max_body_memory until the response has ended`, async () => {
    const released = Promise.withResolvers<void>();
    let isHeld = false, sent = 0;
    const world = scriptedWorld({
      async fetch() {
        sent += 1;
        if (isHeld) await released.promise;
        return await answers(200, COMPLETION);
      },
    });
    const { app, gateway } = testGateway(
      `${oneProvider("http://up.test")}server: {max_body_memory: 1000000}\n`,
      world,
    );
    const { admission } = gateway.state;
    const create = (fields: object) =>
      app(
        new Request("http://gateway.test/v1/responses", {
          method: "POST",
          body: JSON.stringify({ model: "m", ...fields }),
        }),
      );
    const { id } = await (await create({ input: [ITEM] })).json();
    assertEquals(admission.bodyBytes(), 0);
    isHeld = true;
    const running = [create(fieldsOf(id)), create(fieldsOf(id)), create(fieldsOf(id))];
    await until(() => Promise.resolve(sent === 4));
    assert(admission.bodyBytes() > 3 * STORED_CHARS, String(admission.bodyBytes()));
    const refused = await create(fieldsOf(id));
    assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
    assertEquals((await refused.json()).error.code, "overloaded");
    released.resolve();
    for (const response of await Promise.all(running)) {
      assertEquals(response.status, 200);
      await response.text();
    }
    assertEquals([sent, admission.bodyBytes()], [4, 0]);
  });
}

Deno.test("a history of more than 32 MiB is refused, because its request is written in one piece", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app, gateway } = testGateway(oneProvider("http://up.test"), world);
  const content = "x".repeat(9_000_000);
  let previous: string | null = null;
  for (const status of [200, 200, 200, 200, 413]) {
    const response: Response = await app(
      new Request("http://gateway.test/v1/responses", {
        method: "POST",
        body: JSON.stringify({
          model: "m",
          previous_response_id: previous,
          input: [{ type: "message", role: "user", content }],
        }),
      }),
    );
    const { id, error } = await response.json();
    assertEquals([response.status, error?.code], [
      status,
      status === 200 ? undefined : "state_too_large",
    ]);
    previous = id;
  }
  assertEquals(gateway.state.admission.bodyBytes(), 0);
});
