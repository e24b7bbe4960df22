import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";
import { stored } from "../../../support/object_store.ts";
import { create, type SocketClient, type TurnEvents } from "../../../support/socket_client.ts";
import { EVERY_TYPE, NATIVE, simulated, TRANSLATED } from "../../../support/simulated.ts";
import { socketGateway } from "../../../support/socket_gateway.ts";

/** Status, code and param of the error that a turn ended with. */
function refusalIn({ end, error }: TurnEvents): readonly unknown[] {
  return [end.status, error.code, error.param];
}

const NOT_FOUND = [400, "previous_response_not_found", "previous_response_id"];

/** Asks a provider of the simulator, in continuation of an earlier response where there is one. */
async function say(client: SocketClient, provider: string, more: Record<string, unknown> = {}) {
  return await client.turn(
    JSON.stringify({ ...create({ model: `${provider}/sim-echo` }), ...more }),
  );
}

/** Every text that an upstream was given, in order. */
function textsIn(body: unknown): readonly string[] {
  return [...JSON.stringify(body).matchAll(/"(?:text|content)":"([^"]+)"/g)]
    .map(([, text = ""]) => text);
}

for (const provider of [...NATIVE, ...TRANSLATED]) {
  for (const store of [true, false]) {
    const how = store ? "stored" : "not stored";

    Deno.test(`the last response can be continued over ${provider}, ${how}`, async () => {
      const isKeptThere = store && provider === "stored";
      const upstream = simulated();
      await using served = socketGateway(EVERY_TYPE, upstream);
      await using client = await served.open();
      let previous: string | null = null;
      for (const input of ["one", "two", "three"]) {
        const received: TurnEvents = await say(client, provider, {
          input,
          store,
          previous_response_id: previous,
        });
        assertEquals([received.ending, received.output], ["response.completed", input]);
        // A native response repeats the request that its provider received, byte for byte.
        const isReplayed = NATIVE.some((one) => one === provider) && !isKeptThere;
        if (!isReplayed) assertEquals(received.response.previous_response_id, previous);
        previous = received.id;
      }
      const { body } = upstream.sent[2] ?? {};
      assertEquals(
        textsIn(body?.input ?? body?.messages),
        isKeptThere ? [] : ["one", "one", "two", "two", "three"],
      );
      if (isKeptThere) assertEquals(body?.input, "three");
      else assertEquals(body?.previous_response_id, undefined);
    });
  }

  Deno.test(`a response before the last one cannot be continued over ${provider}, and the socket stays open`, async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const { id: first } = await say(client, provider);
    const { id: second } = await say(client, provider);
    const refused = await say(client, provider, { previous_response_id: first });
    assertEquals(refusalIn(refused), NOT_FOUND);
    // What did not name the last response has not touched it either.
    const received = await say(client, provider, { previous_response_id: second });
    assertEquals(received.ending, "response.completed");
  });
}

Deno.test("a response of another socket cannot be continued, wherever it is stored", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using first = await served.open();
  await using second = await served.open();
  for (const provider of ["stored", "compat"]) {
    const { id } = await say(first, provider);
    assertEquals(
      refusalIn(await say(second, provider, { previous_response_id: id })),
      NOT_FOUND,
    );
  }
});

Deno.test("an unstored native response that continues a stored one is continued by ID and items together", async () => {
  const upstream = simulated();
  await using served = socketGateway(EVERY_TYPE, upstream);
  await using client = await served.open();
  const first = await say(client, "stored", { input: "one" });
  const second = await say(client, "stored", {
    input: "two",
    store: false,
    previous_response_id: first.id,
  });
  const third = await say(client, "stored", { input: "three", previous_response_id: second.id });
  assertEquals([third.ending, third.output], ["response.completed", "three"]);
  const { body } = upstream.sent[2] ?? {};
  assertEquals<unknown>(body?.previous_response_id, first.id);
  assertEquals(textsIn(body?.input), ["two", "two", "three"]);
});

const FAILURES = {
  "an error of its provider": { model: "compat/sim-error-400" },
  "a stream that breaks": { model: "compat/sim-broken-stream" },
  "a call that is not known": {
    input: [{ type: "function_call_output", call_id: "call_unknown", output: "7" }],
  },
  "a field that cannot be kept": { truncation: "auto" },
  "a request that is none": { temperature: "hot" },
  "a warm-up that is none": { generate: false, metadata: { key: 7 } },
};

for (const [name, more] of Object.entries(FAILURES)) {
  Deno.test(`a failed continuation drops the response that it continued: ${name}`, async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const { id } = await say(client, "compat");
    const failed = await say(client, "compat", { previous_response_id: id, ...more });
    assertMatch(failed.ending, /^(?:error|response\.failed)$/);
    const again = await say(client, "compat", { previous_response_id: id });
    assertEquals(refusalIn(again), NOT_FOUND);
    assertEquals((await say(client, "compat")).ending, "response.completed");
  });

  Deno.test(`a failed new conversation keeps the earlier last response: ${name}`, async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const { id } = await say(client, "compat");
    const failed = await say(client, "compat", more);
    assertMatch(failed.ending, /^(?:error|response\.failed)$/);
    const again = await say(client, "compat", { previous_response_id: id });
    assertEquals(again.ending, "response.completed");
  });
}

Deno.test("a response that ended at its length limit can be continued if its provider accepts that", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  const { id, ending } = await say(client, "native", { model: "native/sim-length", store: false });
  assertEquals(ending, "response.incomplete");
  const received = await say(client, "native", { previous_response_id: id });
  assertEquals(received.ending, "response.completed");
});

Deno.test("a continuation stays with its provider and its account", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  const first = await say(client, "messages", { store: false });
  const other = await say(client, "compat", { previous_response_id: first.id, store: false });
  assertEquals(refusalIn(other), [400, "invalid_value", "provider"]);
  const { id } = await say(client, "compat");
  const owner = { provider: "local", account: "another", origin: null, creator: null };
  await stored(served.gateway.state.objects.responses.bind(id, owner));
  const received = await client.turn(create({ model: "sim-echo", previous_response_id: id }));
  assertEquals(refusalIn(received), [400, "provider_binding_conflict", "previous_response_id"]);
});

Deno.test("a socket's conversation may grow to 16 MiB, then the error asks for a new one", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  const input = "x".repeat(7.9 * 1024 * 1024);
  const fields = { model: "compat/sim-long-1", input, store: false };
  const first = await say(client, "compat", fields);
  const second = await say(client, "compat", { ...fields, previous_response_id: first.id });
  const third = await say(client, "compat", {
    ...fields,
    input: "y".repeat(512 * 1024),
    previous_response_id: second.id,
  });
  assertEquals([second.ending, third.ending], ["response.completed", "response.completed"]);
  const fourth = await say(client, "compat", { previous_response_id: third.id });
  assertEquals(refusalIn(fourth), [413, "state_too_large", "previous_response_id"]);
  assertEquals((await say(client, "compat")).ending, "response.completed");
});

Deno.test("the error of a refused message has its stream_id", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  const long = "s".repeat(257);
  const refused = [
    ['{"type":"response.create","input":"a","input":"b","stream_id":"s"}', "s", "invalid_json"],
    [JSON.stringify(create({ stream_id: long })), long, "invalid_value"],
  ] as const;
  for (const [message, label, code] of refused) {
    const { events, end, error } = await client.turn(message);
    assertEquals<unknown>([events.length, end.stream_id, error.code], [1, label, code]);
  }
});

Deno.test("every event in reply to a message with a stream_id has that stream_id", async () => {
  await using served = socketGateway(EVERY_TYPE, simulated());
  await using client = await served.open();
  for (const provider of ["native", "compat"]) {
    for (const stream_id of ['a "quoted" lane', "s".repeat(256)]) {
      for (const model of ["sim-echo", "sim-error-503", "sim-broken-stream", "unheard-of"]) {
        const { events, ending } = await say(client, provider, {
          model: `${provider}/${model}`,
          stream_id,
        });
        assert(model !== "sim-echo" || ending === "response.completed", ending);
        assert(events.every((event) => event.stream_id === stream_id), JSON.stringify(events));
      }
    }
    const { events } = await say(client, provider);
    assert(events.every((event) => !("stream_id" in event)));
  }
});
