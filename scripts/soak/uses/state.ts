import type { JsonObject } from "../../../src/core/json/json.ts";
import { readAnswer } from "../answers.ts";
import { at, list } from "../records.ts";
import { checkAnswer, demand, type SoakClient, textIn } from "../client.ts";
import { TYPES } from "../config.ts";
import { question } from "./inference.ts";
import type { Use } from "./use.ts";

const RESPONSES = "/v1/responses";

/** Responses that are stored, continued, read and deleted, by the gateway or by the provider. */
const STORED_RESPONSES: readonly Use[] = [...TYPES, "native"].map((provider) => ({
  name: `stored responses over ${provider}`,
  async run(client) {
    const model = `${provider}/sim-transcript`;
    const first = await client.ok("POST", RESPONSES, { model, input: question(client) });
    checkAnswer(client, "responses", first);
    const id = textIn(first, "id");
    const more = { model, input: `And again ${client.mark}.`, previous_response_id: id };
    const second = await client.ok("POST", RESPONSES, { ...more, stream: true });
    checkAnswer(client, "responses", second);
    const again = await client.ok("GET", `${RESPONSES}/${id}`);
    sameJson(again.json.output, first.json.output, "the stored response");
    const items = await client.ok("GET", `${RESPONSES}/${id}/input_items`);
    demand(items.text.includes(client.mark), "the input items are those of another use");
    const deleted = await client.ok("DELETE", `${RESPONSES}/${id}`);
    demand(deleted.status === 204 || deleted.json.deleted === true, "the response was not deleted");
    await gone(client, `${RESPONSES}/${id}`);
  },
}));

const NATIVE_RESPONSES: readonly Use[] = [
  {
    name: "background responses over native",
    async run(client) {
      const body = { model: "native/sim-echo", input: question(client), background: true };
      const { id } = { id: textIn(await client.ok("POST", RESPONSES, body), "id") };
      client.said();
      await client.ok("GET", `${RESPONSES}/${id}`);
      const done = await client.ok("GET", `${RESPONSES}/${id}`);
      demand(done.json.status === "completed", `the status is ${done.json.status}`);
      const { text } = readAnswer("responses", "application/json", done.text);
      demand(text === question(client), `the response is altered: ${text}`);
      const cancelled = await client.send("POST", `${RESPONSES}/${id}/cancel`);
      await cancelled.text();
    },
  },
  {
    name: "input tokens and compaction over native",
    async run(client) {
      const body = { model: "native/sim-echo", input: question(client) };
      for (const path of ["input_tokens", "compact"]) {
        const received = await client.ok("POST", `${RESPONSES}/${path}`, body);
        sameJson(received.json, JSON.parse(client.said().at(-1)?.text() ?? "null"), path);
      }
    },
  },
];

const CONVERSATIONS: Use = {
  name: "conversations",
  async run(client) {
    const path = "/v1/conversations";
    const item = (text: string): JsonObject => ({ type: "message", role: "user", content: text });
    const created = await client.ok("POST", path, {
      items: [item(`First ${client.mark}.`)],
      metadata: { use: client.mark },
    });
    const id = textIn(created, "id");
    const asked = await client.ok("POST", RESPONSES, {
      model: `${TYPES[client.number % TYPES.length]}/sim-transcript`,
      conversation: id,
      input: question(client),
    });
    checkAnswer(client, "responses", asked);
    demand(asked.text.includes(`First ${client.mark}.`), "the conversation was not sent");
    await client.ok("POST", `${path}/${id}/items`, { items: [item(`Last ${client.mark}.`)] });
    const listed = await client.ok("GET", `${path}/${id}/items?order=asc&limit=10`);
    demand(list(listed.json.data).length === 4, `the conversation has other items: ${listed.text}`);
    const itemId = at(listed.json, "data", 3, "id");
    const read = await client.ok("GET", `${path}/${id}/items/${itemId}`);
    demand(read.text.includes(`Last ${client.mark}.`), "the item is another one");
    await client.ok("DELETE", `${path}/${id}/items/${itemId}`);
    const changed = await client.ok("POST", `${path}/${id}`, { metadata: { use: "changed" } });
    demand(at(changed.json, "metadata", "use") === "changed", "the metadata did not change");
    const found = await client.ok("GET", `${path}/${id}`);
    demand(at(found.json, "metadata", "use") === "changed", "the metadata was not stored");
    await client.ok("DELETE", `${path}/${id}`);
    await gone(client, `${path}/${id}`);
  },
};

const STORED_CHAT: Use = {
  name: "stored chat over native",
  async run(client) {
    const path = "/v1/chat/completions";
    const headers = "?limit=1";
    const created = await client.ok("POST", path, {
      model: "native/sim-echo",
      store: true,
      metadata: { use: client.mark },
      messages: [{ role: "user", content: question(client) }],
    });
    checkAnswer(client, "chat", created);
    const id = textIn(created, "id");
    const read = await client.ok("GET", `${path}/${id}`);
    sameJson(at(read.json, "choices"), at(created.json, "choices"), "the stored completion");
    const messages = await client.ok("GET", `${path}/${id}/messages`);
    demand(messages.text.includes(client.mark), "the messages are those of another use");
    const changed = await client.ok("POST", `${path}/${id}`, { metadata: { use: "changed" } });
    demand(at(changed.json, "metadata", "use") === "changed", "the metadata did not change");
    await client.ok("GET", `${path}${headers}`);
    await client.ok("DELETE", `${path}/${id}`);
    await gone(client, `${path}/${id}`);
  },
};

async function gone(client: SoakClient, path: string): Promise<void> {
  const response = await client.send("GET", path);
  await response.text();
  demand(response.status === 404, `${path} is still there: status ${response.status}`);
}

/** Throws unless two JSON values are the same, whatever the order of their members. */
export function sameJson(value: unknown, expected: unknown, what: string): void {
  const texts = [value, expected].map((each) => JSON.stringify(sorted(each)));
  demand(texts[0] === texts[1], `${what} is ${texts[0]}, not ${texts[1]}`);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1)
      .map(([name, member]) => [name, sorted(member)]),
  );
}

/** Everything that is stored by the gateway or by a provider. */
export const STATE_USES: readonly Use[] = [
  ...STORED_RESPONSES,
  ...NATIVE_RESPONSES,
  CONVERSATIONS,
  STORED_CHAT,
];
