import type { JsonObject } from "../../src/core/json/json.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { program } from "../cli/program.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { objectsAt, type StateCalls, stateCalls, textAt } from "../support/state_call.ts";

/** The real program in a process, over a database file. */
interface Process extends StateCalls {
  /** Sends the signal; resolves with the exit code and the log when the process has ended. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<{ readonly code: number; readonly err: string }>;
}

/** A folder for the database, and the simulator as upstream. */
interface Place {
  readonly path: string;
  start(): Promise<Process>;
  /** Runs the program, which must end by itself. */
  run(): Promise<{ readonly code: number; readonly err: string }>;
}

async function withPlace(run: (place: Place) => Promise<void>): Promise<void> {
  const world = newRealWorld();
  const folder = await Deno.makeTempDir({ prefix: "switchyard-process-" });
  const client = Deno.createHttpClient({});
  const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const upstream = Deno.serve(address, newSimulator(world));
  const path = `${folder}/state.db`;
  const processes = new Set<Process>();

  async function started() {
    const file = `${folder}/config.yaml`;
    await Deno.writeTextFile(
      file,
      `server: {port: 0}
state: {store: sqlite, sqlite: {path: "${path}"}}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:${upstream.addr.port}/compat/v1"}}
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
retry: {enabled: false}
`,
    );
    return program(["--config", file]);
  }

  async function start(): Promise<Process> {
    const { child, out, err } = await started();
    const [, url] = await out.until(/listens on (\S+)/) ?? [];
    if (url === undefined) throw new Error(await err.rest());
    const one: Process = {
      ...stateCalls(async (request) => {
        const { pathname, search } = new URL(request.url);
        const { method, headers } = request;
        const body = method === "POST" ? await request.text() : null;
        return await fetch(url + pathname + search, { method, headers, body, client });
      }),
      async end(signal) {
        processes.delete(one);
        child.kill(signal);
        const [{ code }, text] = await Promise.all([child.status, err.rest(), out.rest()]);
        return { code, err: text };
      },
    };
    processes.add(one);
    return one;
  }

  try {
    await run({
      path,
      start,
      async run() {
        const { child, out, err } = await started();
        const [{ code }, text] = await Promise.all([child.status, err.rest(), out.rest()]);
        return { code, err: text };
      },
    });
  } finally {
    await Promise.all([...processes].map((one) => one.end("SIGKILL")));
    client.close();
    await upstream.shutdown();
    world.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Creates a response; null if the process has ended before its reply. */
async function created(calls: StateCalls, body: JsonObject): Promise<JsonObject | null> {
  const reply = await calls.post("/responses", { model: "sim-echo", ...body }).catch(() => null);
  if (reply !== null) assertEquals(reply.status, 200, reply.text);
  return reply?.json ?? null;
}

Deno.test("responses and conversations outlive the end of the program, and a second one on the same file ends with exit code 1 and one line", async () => {
  await withPlace(async ({ start, run, path }) => {
    const before = await start();
    const first = await created(before, { input: "one", metadata: { a: "b" } }) ?? {};
    const second =
      await created(before, { input: "two", previous_response_id: first.id ?? null }) ??
        {};
    const conversation = textAt(
      (await before.post("/conversations", { metadata: { topic: "x" } })).json,
      "id",
    );
    await created(before, { input: "three", conversation, store: false });
    const { code, err } = await before.end("SIGTERM");
    assertEquals([code, /ERROR/.test(err)], [0, false], err);
    const after = await start();
    for (const response of [first, second]) {
      assertEquals((await after.get(`/responses/${textAt(response, "id")}`)).json, response);
    }
    const found = await after.get(`/conversations/${conversation}`);
    assertEquals(found.json.metadata, { topic: "x" });
    await created(after, { input: "four", conversation });
    const { json } = await after.get(`/conversations/${conversation}/items?order=asc`);
    const texts = objectsAt(json, "data").map((item) => objectsAt(item, "content")[0]?.text);
    assertEquals(texts, ["three", "three", "four", "four"]);
    const third = await created(after, { input: "x", previous_response_id: second.id ?? null });
    const items = await after.get(`/responses/${textAt(third ?? {}, "id")}/input_items`);
    assertEquals(objectsAt(items.json, "data").length, 5);

    const other = await run();
    assertEquals(other.code, 1);
    assertMatch(other.err, /^[^\n]+\n$/);
    assert(other.err.includes(path), other.err);
    assertEquals((await after.get(`/conversations/${conversation}`)).status, 200);
    await created(after, { input: "y", previous_response_id: textAt(third ?? {}, "id") });
  });
});

Deno.test("after each of three kills the program starts, and every acknowledged response and item is there", async () => {
  await withPlace(async ({ start }) => {
    const acknowledged: JsonObject[] = [];
    const items: string[] = [];
    let conversation: string | null = null;
    for (let kill = 0; kill < 3; kill++) {
      const running = await start();
      for (const response of acknowledged) {
        assertEquals((await running.get(`/responses/${textAt(response, "id")}`)).json, response);
      }
      conversation ??= textAt((await running.post("/conversations")).json, "id");
      const path = `/conversations/${conversation}/items`;
      const listed = objectsAt((await running.get(`${path}?limit=100`)).json, "data");
      const stored = new Set(listed.map(({ id }) => id));
      assertEquals(items.filter((id) => !stored.has(id)), []);
      const enough = acknowledged.length + 6;
      const reached = Promise.withResolvers<void>();
      let isOver = false;
      const writers = Promise.all([0, 1, 2].map(async (writer) => {
        for (let turn = 0; !isOver; turn++) {
          const response = await created(running, { input: `kill ${kill}, ${writer}, ${turn}` });
          if (response === null) return;
          acknowledged.push(response);
          if (acknowledged.length >= enough) reached.resolve();
          if (writer > 0 || items.length > 90) continue;
          const id = `item_${kill}_${turn}`;
          const item = { id, type: "message", role: "user", content: id };
          const reply = await running.post(path, { items: [item] }).catch(() => null);
          if (reply?.status === 200) items.push(id);
        }
      }));
      await reached.promise;
      // In the middle of the next writes.
      await running.end("SIGKILL");
      isOver = true;
      await writers;
    }
    assert(acknowledged.length >= 18 && items.length > 0);
  });
});
