import { stateful } from "../api/responses/stateful.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { COMPLETION, MESSAGES } from "../support/chat_call.ts";
import { nativeConfig, nativeGateway, responseOf } from "../support/native_gateway.ts";
import { withOutage } from "../support/outage.ts";
import type { Reply } from "../support/state_call.ts";

function outcomeOf({ status, error, headers }: Reply): readonly unknown[] {
  return [status, error.code, error.type, headers.get("retry-after")];
}

const AWAY = [503, "state_unavailable", "server_error", "1"];

const ABLE = {
  can: ["conversations", "chat_completions_lifecycle", "background_responses"],
};

for (const stream of [false, true]) {
  const how = stream ? "stream" : "whole response";

  Deno.test(`a ${how} to be stored is refused before the provider is called while the store is unavailable`, async () => {
    const { calls, outage } = await withOutage((options) =>
      stateful(undefined, undefined, options)
    );
    await outage.leave();
    const begun = outage.raw.operations.length;
    for (const store of [{}, { store: true }]) {
      const reply = await calls.post("/responses", { model: "m", input: "x", stream, ...store });
      assertEquals(outcomeOf(reply), AWAY);
      assertMatch(String(reply.error.message), /send 'store: false' to go on without it/);
    }
    assertEquals([calls.requests.length, outage.raw.operations.length], [0, begun]);
    const unstored = await calls.post("/responses", {
      model: "m",
      input: "x",
      stream,
      store: false,
    });
    assertEquals([unstored.status, calls.requests.length], [200, 1]);
    assertEquals(outage.raw.operations.length, begun);
    await outage.comeBack();
    await calls.created({ input: "x", stream });
    await outage.store.close();
  });

  Deno.test(`a native ${how} to be stored is refused before the provider is called while the store is unavailable`, async () => {
    const { calls, outage } = await withOutage((options) =>
      nativeGateway(nativeConfig({ up: ABLE }), () => ({ body: responseOf("resp_1") }), options)
    );
    await outage.leave();
    for (const background of [false, true]) {
      const reply = await calls.post("/responses", { model: "m", input: "x", stream, background });
      assertEquals(outcomeOf(reply), AWAY);
    }
    assertEquals(calls.requests.length, 0);
    await outage.store.close();
  });
}

Deno.test("a conversation at a provider is not created while the store is unavailable", async () => {
  const { calls, outage } = await withOutage((options) =>
    nativeGateway(
      nativeConfig({ up: ABLE }),
      () => ({ body: { id: "conv_1", object: "conversation" } }),
      options,
    )
  );
  await outage.leave();
  assertEquals(outcomeOf(await calls.post("/conversations", {})), AWAY);
  assertEquals(calls.requests.length, 0);
  await outage.store.close();
});

Deno.test("a completion is refused while the store is unavailable only if its provider stores it", async () => {
  const asked = { model: "m", ...MESSAGES };
  for (
    const [can, store, status] of [
      [ABLE.can, true, 503],
      [ABLE.can, false, 200],
      [[], true, 200],
    ] as const
  ) {
    const { calls, outage } = await withOutage((options) =>
      nativeGateway(nativeConfig({ up: { can } }), () => ({ body: COMPLETION }), options)
    );
    await outage.leave();
    const reply = await calls.post("/chat/completions", { ...asked, store });
    assertEquals([reply.status, calls.requests.length], [status, status === 200 ? 1 : 0]);
    if (status === 503) {
      assertEquals(outcomeOf(reply), AWAY);
      assertMatch(String(reply.error.message), /send 'store: false'/);
    }
    await outage.store.close();
  }
});

Deno.test("plain chat, embeddings, models and unstored responses touch no store, and are served while it is unavailable", async () => {
  const { calls, outage } = await withOutage((options) =>
    nativeGateway(nativeConfig({ up: ABLE }), ({ path }) => {
      if (path.startsWith("/responses")) return { body: responseOf("resp_1") };
      if (path.startsWith("/embeddings")) {
        const data = [{ object: "embedding", index: 0, embedding: [1] }];
        return { body: { object: "list", model: "m", data } };
      }
      if (path.startsWith("/models")) return { body: { object: "list", data: [{ id: "m" }] } };
      return { body: COMPLETION };
    }, options)
  );

  async function statuses(): Promise<readonly number[]> {
    const replies = [
      await calls.post("/chat/completions", { model: "m", ...MESSAGES }),
      await calls.post("/messages", { model: "m", max_tokens: 9, ...MESSAGES }, {
        "x-gateway-route": "chat",
      }),
      await calls.post("/embeddings", { model: "m", input: "x" }, { "x-gateway-route": "main" }),
      await calls.get("/models"),
      await calls.post("/responses", { model: "m", input: "x", store: false }),
    ];
    return replies.map(({ status }) => status);
  }

  const served = [200, 200, 200, 200, 200];
  assertEquals(await statuses(), served);
  await outage.leave();
  assertEquals(await statuses(), served);
  assertEquals(outage.raw.operations, []);
  await outage.store.close();
});
