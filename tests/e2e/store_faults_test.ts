import { assertEquals, assertMatch } from "../support/assert.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault_proxy.ts";
import { newReplicas, type Replica, type Replicas } from "../support/replicas.ts";
import { textAt } from "../support/state_call.ts";
import {
  startValkeyServer,
  until,
  type ValkeyServer,
  valkeyTest,
} from "../support/valkey_server.ts";

/** Two gateways over one server; the first one reaches it through a proxy. */
interface Faulty {
  readonly server: ValkeyServer;
  readonly proxy: FaultProxy;
  readonly replicas: Replicas;
  readonly replica: Replica;
  readonly direct: Replica;
  /** Makes the upstream wait; `asked` resolves with the next request. */
  hold(): { readonly asked: Promise<void>; release(): void };
}

async function withFaulty(run: (faulty: Faulty) => Promise<void>, more = ""): Promise<void> {
  const server = await startValkeyServer();
  const proxy = startFaultProxy(server.port);
  const state = `state: {store: valkey, valkey: {url: "${server.url}", timeout: 1s}${more}}`;
  let onAsked = () => {};
  let released = Promise.resolve();
  const replicas = newReplicas(state, {
    async upstream(request) {
      onAsked();
      await released;
      const { model } = await request.json();
      const message = { role: "assistant", content: "said" };
      const choices = [{ index: 0, message, finish_reason: "stop" }];
      return Response.json({ id: "c", object: "chat.completion", created: 1, model, choices });
    },
  });
  try {
    const replica = await replicas.start((config) =>
      config.replace(`:${server.port}/`, `:${proxy.port}/`)
    );
    await run({
      server,
      proxy,
      replicas,
      replica,
      direct: await replicas.start(),
      hold() {
        const asked = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        onAsked = asked.resolve;
        released = gate.promise;
        return { asked: asked.promise, release: gate.resolve };
      },
    });
  } finally {
    server.resume();
    proxy.pass();
    await replicas[Symbol.asyncDispose]();
    await proxy.close();
    await server.close();
  }
}

const CHAT = { model: "m", messages: [{ role: "user", content: "x" }] };
const CREATE = { model: "m", input: "one" };

/** Waits until the gateway knows whether its store is unavailable. */
async function untilUp(replica: Replica, isUp: boolean): Promise<void> {
  await until(() => replica.isStoreUp() === isUp);
}

/** Faults of the store, and what ends them. All but the kill leave its records. */
const FAULTS: readonly {
  readonly name: string;
  begin(faulty: Faulty): void | Promise<void>;
  end(faulty: Faulty): void | Promise<void>;
  readonly isEmptied?: true;
}[] = [
  {
    name: "is stopped",
    begin: ({ server }) => server.pause(),
    end: ({ server }) => server.resume(),
  },
  {
    name: "is killed and starts empty",
    begin: ({ server }) => server.kill(),
    end: ({ server }) => server.restart(),
    isEmptied: true,
  },
  {
    name: "resets its connections in the middle of replies",
    begin: ({ proxy }) => proxy.cutAfter(3),
    end: ({ proxy }) => proxy.pass(),
  },
  {
    name: "accepts requests and sends no replies",
    begin: ({ proxy }) => proxy.hold(),
    end: ({ proxy }) => proxy.pass(),
  },
];

for (const { name, begin, end, isEmptied } of FAULTS) {
  valkeyTest(
    `while the store ${name}, what needs it is 503 and the rest is served; then all of it is`,
    async () => {
      await withFaulty(async (faulty) => {
        const { replica, replicas } = faulty;
        const id = textAt((await replica.post("/responses", CREATE)).json, "id");
        const conversation = textAt((await replica.post("/conversations")).json, "id");
        await begin(faulty);
        await untilUp(replica, false);
        const sent = replicas.requests.length;
        const stateful = [
          () => replica.get(`/responses/${id}`),
          () => replica.get(`/responses/${id}/input_items`),
          () => replica.delete(`/responses/${id}`),
          () => replica.post("/responses", CREATE),
          () => replica.post("/responses", { ...CREATE, store: false, previous_response_id: id }),
          () => replica.post("/responses", { ...CREATE, store: false, conversation }),
          () => replica.post("/conversations"),
          () => replica.get(`/conversations/${conversation}`),
          () => replica.delete(`/conversations/${conversation}`),
          () => replica.get(`/conversations/${conversation}/items`),
        ];
        for (const send of stateful) {
          const { status, error, headers } = await send();
          const refusal = [status, error.code, headers.get("retry-after")];
          assertEquals(refusal, [503, "state_unavailable", "1"], String(send));
        }
        assertEquals(replicas.requests.length, sent);
        assertEquals((await replica.post("/chat/completions", CHAT)).status, 200);
        assertEquals((await replica.post("/responses", { ...CREATE, store: false })).status, 200);
        await end(faulty);
        await untilUp(replica, true);
        const found = await replica.get(`/responses/${id}`);
        assertEquals(found.status, isEmptied ? 404 : 200);
        assertEquals((await replica.post("/responses", CREATE)).status, 200);
        assertEquals(await replica.metric("gateway_state_pending_writes"), 0);
      });
    },
  );

  valkeyTest(
    `a response during which the store ${name} is pending, and stored when it is back`,
    async () => {
      await withFaulty(async (faulty) => {
        const { replica, direct, hold } = faulty;
        assertEquals(
          (await replica.post("/responses", CREATE)).headers.get("x-gateway-state"),
          null,
        );
        const { asked, release } = hold();
        const creating = replica.post("/responses", CREATE);
        await asked;
        await begin(faulty);
        release();
        const { status, headers, json } = await creating;
        assertEquals([status, headers.get("x-gateway-state")], [200, "pending"]);
        const path = `/responses/${textAt(json, "id")}`;
        assertEquals((await replica.get(path)).json, json);
        assertEquals(await replica.metric("gateway_state_pending_writes"), 1);
        await end(faulty);
        await until(async () => await replica.metric("gateway_state_pending_writes") === 0);
        await untilUp(direct, true);
        assertEquals((await direct.get(path)).json, json);
      });
    },
  );
}

valkeyTest(
  "a write to a full server is pending, and made when there is room; nothing else is lost",
  async () => {
    await withFaulty(async ({ server, replica, direct }) => {
      const before = textAt((await replica.post("/responses", CREATE)).json, "id");
      await server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await server.command("CONFIG", "SET", "maxmemory", "1");
      const { status, headers, json } = await replica.post("/responses", CREATE);
      assertEquals([status, headers.get("x-gateway-state")], [200, "pending"]);
      await untilUp(replica, false);
      assertEquals((await replica.post("/responses", CREATE)).error.code, "state_unavailable");
      assertEquals((await replica.post("/chat/completions", CHAT)).status, 200);
      await server.command("CONFIG", "SET", "maxmemory", "0");
      await until(async () => await replica.metric("gateway_state_pending_writes") === 0);
      assertEquals((await direct.get(`/responses/${textAt(json, "id")}`)).json, json);
      assertEquals((await direct.get(`/responses/${before}`)).status, 200);
    });
  },
);

valkeyTest("a server that replies slowly serves all operations", async () => {
  await withFaulty(async ({ proxy, replica }) => {
    proxy.drip(0);
    const first = await replica.post("/responses", CREATE);
    assertEquals([first.status, first.headers.get("x-gateway-state")], [200, null]);
    const id = textAt(first.json, "id");
    const next = await replica.post("/responses", { ...CREATE, previous_response_id: id });
    assertEquals(next.status, 200);
    assertEquals((await replica.get(`/responses/${id}`)).json, first.json);
  });
});

valkeyTest("chat calls send no command to the store", async () => {
  await withFaulty(async ({ server, replica }) => {
    /** The commands of records and quotas so far; pings are no scripts. */
    const scripts = async () => {
      const stats = String(await server.command("INFO", "commandstats"));
      return [...stats.matchAll(/^cmdstat_(eval\w*|get|set|hget|hset):calls=(\d+)/gm)]
        .map(([, command, calls]) => `${command} ${calls}`);
    };
    await replica.post("/responses", CREATE);
    const before = await scripts();
    assertMatch(before.join(), /eval/);
    for (let call = 0; call < 20; call++) {
      assertEquals((await replica.post("/chat/completions", CHAT)).status, 200);
    }
    assertEquals(await scripts(), before);
  });
});

valkeyTest(
  "what waits for the store is bounded by state.max_bytes, and the rest is lost openly",
  async () => {
    await withFaulty(async ({ server, replica, replicas, hold }) => {
      await replica.post("/responses", CREATE);
      const { asked, release } = hold();
      const input = "x".repeat(4_000);
      const creating = Array.from(
        { length: 30 },
        () => replica.post("/responses", { ...CREATE, input }),
      );
      await asked;
      await until(() => replicas.requests.length === 31);
      await server.kill();
      release();
      const states = (await Promise.all(creating)).map(({ status, headers }) =>
        status === 200 ? headers.get("x-gateway-state") : String(status)
      );
      const pending = states.filter((state) => state === "pending").length;
      assertEquals(await replica.metric("gateway_state_pending_writes"), pending);
      assertEquals(pending > 0 && pending * 4_000 <= 40_000, true, states.join());
      assertEquals(states.filter((state) => state === "lost").length > 0, true, states.join());
      for (let call = 0; call < 200; call++) await replica.post("/responses", CREATE);
      assertEquals(await replica.metric("gateway_state_pending_writes"), pending);
      await server.restart();
      await until(async () => await replica.metric("gateway_state_pending_writes") === 0);
    }, ", max_bytes: 40000");
  },
);
