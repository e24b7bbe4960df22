import type { JsonObject } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { newReplicas, type Replica } from "../support/replicas.ts";
import { textAt } from "../support/state_call.ts";

/** Creates a response; returns its ID. */
async function created(replica: Replica, body: JsonObject): Promise<string> {
  const reply = await replica.post("/responses", { model: "sim-echo", ...body });
  assertEquals(reply.status, 200, reply.text);
  return textAt(reply.json, "id");
}

/** True if a text is in the database file or its write-ahead log. */
async function contains(path: string, text: string): Promise<boolean> {
  const decoder = new TextDecoder("latin1");
  const contents = await Promise.all(
    [path, `${path}-wal`].map((name) => Deno.readFile(name).catch(() => new Uint8Array())),
  );
  assert(contents.some((bytes) => bytes.length > 0));
  return contents.some((bytes) => decoder.decode(bytes).includes(text));
}

/** Returns a new encryption key. */
function newKey(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toBase64();
}

Deno.test("encryption keys are rotated between starts, and what has lost its key is state_unreadable", async () => {
  const folder = await Deno.makeTempDir({ prefix: "switchyard-keys-" });
  const path = `${folder}/state.db`;
  const state = `state: {store: sqlite, sqlite: {path: "${path}"}, encryption_keys: []}`;
  {
    await using replicas = newReplicas(state);
    const start = (keys: readonly string[]) =>
      replicas.start((config) => config.replace("keys: []", `keys: [${keys.join(", ")}]`));
    const [old, next] = [newKey(), newKey()];
    const open = await start([]);
    await created(open, { input: "the plain prompt" });
    // The search finds what is not encrypted.
    assert(await contains(path, "plain prompt"));
    await open.close();

    const first = await start([old]);
    const one = await created(first, { input: "the first secret prompt" });
    assert(!await contains(path, "secret prompt"));
    await first.close();

    const second = await start([next, old]);
    assertEquals((await second.get(`/responses/${one}`)).status, 200);
    const two = await created(second, {
      input: "the second secret prompt",
      previous_response_id: one,
    });
    const conversation = textAt(
      (await second.post("/conversations", {
        metadata: { topic: "a secret prompt" },
        items: [{ type: "message", role: "user", content: "a secret prompt" }],
      })).json,
      "id",
    );
    assert(!await contains(path, "secret prompt"));
    await second.close();

    const third = await start([next]);
    assertEquals((await third.get(`/conversations/${conversation}`)).status, 200);
    const unreadable = await third.get(`/responses/${one}`);
    assertEquals([unreadable.status, unreadable.error.code], [503, "state_unreadable"]);
    assertEquals(unreadable.headers.get("retry-after"), null);
    await third.close();
    assert(!third.log().includes("secret prompt"));
    assertMatch(third.log(), /stored response cannot be read: it is encrypted with key \d+/i);

    const fourth = await start([newKey()]);
    for (
      const where of [`/responses/${one}`, `/responses/${two}`, `/conversations/${conversation}`]
    ) {
      const found = await fourth.get(where);
      assertEquals([found.status, found.error.code], [503, "state_unreadable"], where);
    }
    await created(fourth, { input: "the third secret prompt" });
    assertEquals(await (await fourth.send("/ready")).json(), {
      status: "ready",
      providers: 1,
      state: "ok",
    });
    await fourth.close();
    assert(!await contains(path, "secret prompt"));
  }
  await Deno.remove(folder, { recursive: true });
});
