import OpenAI from "openai";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Runs `use` with the official client, which calls the simulator without a socket. */
async function withClient(use: (client: OpenAI) => Promise<void>): Promise<void> {
  const world = newRealWorld();
  const answer = newSimulator(world);
  const client = new OpenAI({
    baseURL: "http://sim/v1",
    apiKey: "sk-one",
    maxRetries: 0,
    fetch: (...request) => answer(new Request(...request as Parameters<typeof fetch>)),
  });
  try {
    await use(client);
  } finally {
    world.close();
  }
}

Deno.test("the official client's stream helper accepts every kind of output", async () => {
  const add = { type: "function", name: "add", parameters: {}, strict: false } as const;
  const cases = [
    { model: "sim-echo" },
    { model: "sim-parallel", tools: [add] },
    { model: "sim-tools", tools: [{ type: "web_search" } as const] },
    { model: "sim-think" },
    { model: "sim-refuse" },
    { model: "sim-length" },
  ];
  await withClient(async (client) => {
    for (const body of cases) {
      const last = await client.responses.stream({ ...body, input: "good day" }).finalResponse();
      assert(last.status === "completed" || body.model === "sim-length", body.model);
      assert(last.output.length > 0);
    }
  });
});

Deno.test("the official client can create, cancel, list, delete, compact and count responses", async () => {
  await withClient(async ({ responses }) => {
    const body = { model: "sim-echo", input: "good day", background: true };
    const { id, status } = await responses.create(body);
    assertEquals(status, "queued");
    assertEquals((await responses.cancel(id)).status, "cancelled");
    for await (const item of responses.inputItems.list(id)) assertEquals(item.type, "message");
    await responses.delete(id);
    const compacted = await responses.compact({ model: "sim-echo", input: "good day" });
    assertEquals(compacted.output.length, 2);
    assertEquals((await responses.inputTokens.count({ input: "good day" })).input_tokens, 2);
  });
});

Deno.test("the official client can create, list, update and delete conversations and stored completions", async () => {
  await withClient(async ({ chat, conversations }) => {
    const { id } = await conversations.create({ items: [{ role: "user", content: "hi" }] });
    const items = [{ role: "user", content: "there" } as const];
    await conversations.items.create(id, { items });
    let count = 0;
    for await (const item of conversations.items.list(id, { limit: 1 })) {
      if (item.type === "message") count++;
    }
    assertEquals(count, 2);
    await conversations.delete(id);
    const messages = [{ role: "user", content: "hi" } as const];
    const made = await chat.completions.create({ model: "sim-echo", messages, store: true });
    const updated = await chat.completions.update(made.id, { metadata: { a: "b" } });
    assertEquals(updated.metadata, { a: "b" });
    const found = [];
    for await (const each of chat.completions.list({ metadata: { a: "b" } })) found.push(each.id);
    assertEquals(found, [made.id]);
    await chat.completions.delete(made.id);
  });
});
