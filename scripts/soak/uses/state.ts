import type { JsonObject } from "../../../src/core/json/json.ts";
import { at } from "../answers/json_at.ts";
import { readAnswer } from "../answers/read.ts";
import { checkAnswer, demand, textIn } from "../client.ts";
import { TYPES } from "../config.ts";
import { question } from "./inference.ts";
import { listed, remove, sameJson, textOf } from "./stored.ts";
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
    sameJson(again.json.usage, first.json.usage, "the usage of the stored response");
    const items = listed(await client.ok("GET", `${RESPONSES}/${id}/input_items`));
    sameJson(items.map(textOf), [question(client)], "the input items");
    // What the gateway has stored is deleted without a body (204).
    await remove(client, RESPONSES, provider === "native" ? { id, object: "response" } : { id });
  },
}));

const NATIVE_RESPONSES: readonly Use[] = [
  {
    name: "background responses over native",
    async run(client) {
      const body = { model: "native/sim-echo", input: question(client), background: true };
      const { id } = { id: textIn(await client.ok("POST", RESPONSES, body), "id") };
      client.simulated();
      await client.ok("GET", `${RESPONSES}/${id}`);
      const done = await client.ok("GET", `${RESPONSES}/${id}`);
      demand(done.json.status === "completed", `the status is ${done.json.status}`);
      const { text } = readAnswer("responses", "application/json", done.text);
      demand(text === question(client), `the response is altered: ${text}`);
      // The cancellation of a response that is complete changes nothing.
      const late = await client.ok("POST", `${RESPONSES}/${id}/cancel`);
      sameJson(late.json, done.json, "the complete response after its cancellation");
      await remove(client, RESPONSES, { id, object: "response" });
    },
  },
  {
    name: "cancelled background responses over native",
    async run(client) {
      const body = { model: "native/sim-echo", input: question(client), background: true };
      const created = await client.ok("POST", RESPONSES, body);
      const id = textIn(created, "id");
      const cancelled = await client.ok("POST", `${RESPONSES}/${id}/cancel`);
      sameJson(
        [cancelled.json.id, cancelled.json.object, cancelled.json.status],
        [id, "response", "cancelled"],
        "the cancelled response",
      );
      const read = await client.ok("GET", `${RESPONSES}/${id}`);
      sameJson(read.json, cancelled.json, "the response after its cancellation");
      await remove(client, RESPONSES, { id, object: "response" });
    },
  },
  {
    name: "input tokens and compaction over native",
    async run(client) {
      const body = { model: "native/sim-echo", input: question(client) };
      for (const path of ["input_tokens", "compact"]) {
        const received = await client.ok("POST", `${RESPONSES}/${path}`, body);
        sameJson(received.json, JSON.parse(client.simulated().at(-1)?.text() ?? "null"), path);
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
    const items = listed(await client.ok("GET", `${path}/${id}/items?order=asc&limit=10`));
    const { text } = readAnswer("responses", asked.type, asked.text);
    const texts = [`First ${client.mark}.`, question(client), text, `Last ${client.mark}.`];
    sameJson(items.map(textOf), texts, "the items of the conversation");
    const itemId = at(items[3], "id");
    const read = await client.ok("GET", `${path}/${id}/items/${itemId}`);
    sameJson(read.json, items[3], "the item");
    // The response is the conversation (Conversations API, deleting an item).
    const without = await client.ok("DELETE", `${path}/${id}/items/${itemId}`);
    const { id: remainingId, object } = without.json;
    sameJson([remainingId, object], [id, "conversation"], "the response of the deletion");
    const remaining = listed(await client.ok("GET", `${path}/${id}/items?order=asc`));
    sameJson(remaining, items.slice(0, 3), "the remaining items");
    const changed = await client.ok("POST", `${path}/${id}`, { metadata: { use: "changed" } });
    demand(at(changed.json, "metadata", "use") === "changed", "the metadata did not change");
    const found = await client.ok("GET", `${path}/${id}`);
    demand(at(found.json, "metadata", "use") === "changed", "the metadata was not stored");
    await remove(client, path, { id, object: "conversation.deleted" });
  },
};

const STORED_CHAT: Use = {
  name: "stored chat over native",
  async run(client) {
    const path = "/v1/chat/completions";
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
    const messages = listed(await client.ok("GET", `${path}/${id}/messages`));
    sameJson(messages.map((each) => at(each, "content")), [question(client)], "the messages");
    const all = listed(await client.ok("GET", `${path}?metadata[use]=${client.mark}`));
    sameJson(all, [read.json], "the list of stored completions");
    const changed = await client.ok("POST", `${path}/${id}`, { metadata: { use: "changed" } });
    demand(at(changed.json, "metadata", "use") === "changed", "the metadata did not change");
    await remove(client, path, { id, object: "chat.completion.deleted" });
  },
};

/** Everything that is stored by the gateway or by a provider. */
export const STATE_USES: readonly Use[] = [
  ...STORED_RESPONSES,
  ...NATIVE_RESPONSES,
  CONVERSATIONS,
  STORED_CHAT,
];
