import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { responseOf, streamOf } from "../../support/native_gateway.ts";
import { namedFile, namedGateway, namedOver } from "./named_gateway.ts";

const SYSTEM = "Answer in British English.";

const USER = { role: "user", content: "Hi" };

const text = (words: string) => ({ type: "text", text: words });

/** The simplest requests with instructions of the client, and without. */
const REQUESTS: Readonly<Record<string, readonly [own: JsonObject, none: JsonObject]>> = {
  "/chat/completions": [
    { messages: [{ role: "system", content: "Mine." }, USER], store: undefined },
    { messages: [USER], store: undefined },
  ],
  "/responses": [{ instructions: "Mine.", input: "Hi" }, { input: "Hi" }],
  "/messages": [
    { system: "Mine.", messages: [USER], max_tokens: 64 },
    { messages: [USER], max_tokens: 64 },
  ],
};

/** Returns the texts of the instructions and of the user in an upstream request, in order. */
function textsIn({ instructions, system, input, messages }: JsonObject): string {
  return JSON.stringify([instructions, system, input, messages]);
}

function countOf(whole: string, part: string): number {
  return whole.split(part).length - 1;
}

Deno.test("the instructions of a named model are sent once, after those of the client and before the dialogue, over each client API and provider type", async () => {
  for (const [path, [own, none]] of Object.entries(REQUESTS)) {
    for (const kind of ["compat", "responses", "messages", "local"] as const) {
      const { post, requests } = namedGateway(kind, `system: ${SYSTEM}`);
      for (const [index, body] of [own, none].entries()) {
        const reply = await post(path, { model: "coder", ...body });
        assertEquals([path, kind, reply.status], [path, kind, 200], reply.text);
        const sent = textsIn(requests.at(-1)?.json ?? {});
        assertEquals([path, kind, countOf(sent, SYSTEM)], [path, kind, 1], sent);
        const order = index === 0 ? ["Mine.", SYSTEM, "Hi"] : [SYSTEM, "Hi"];
        const places = order.map((words) => sent.indexOf(words));
        assertEquals([path, kind, places.toSorted((a, b) => a - b)], [path, kind, places], sent);
      }
    }
  }
});

Deno.test("a client that writes developer messages gets the instructions of a named model as one", async () => {
  for (const kind of ["compat", "responses"] as const) {
    const { post, requests } = namedGateway(kind, `system: ${SYSTEM}`);
    const messages = [{ role: "developer", content: "Mine." }, USER];
    await post("/chat/completions", { model: "coder", messages, store: undefined });
    const { messages: chat, input } = requests[0]?.json ?? {};
    const list = chat ?? input;
    assert(Array.isArray(list) && isObject(list[1]));
    assertEquals([kind, list[1].role, list[1].content], [kind, "developer", SYSTEM]);
  }
});

Deno.test("a Messages request over a messages provider changes in model and system only", async () => {
  const { post, requests } = namedGateway("messages", `system: ${SYSTEM}`);
  const body = '{ "model":"coder", "max_tokens" : 64, "system":[{"type":"text","text":"Mine.",' +
    '"cache_control":{"type":"ephemeral"}}] ,"messages":[{"role":"user","content":"Hi"}], "x":1.0 }';
  const reply = await post("/messages", body);
  assertEquals(reply.status, 200, reply.text);
  assertEquals(
    requests[0]?.body,
    body.replace('"coder"', '"served"').replace(
      '"ephemeral"}}]',
      `"ephemeral"}},{"type":"text","text":"${SYSTEM}"}]`,
    ),
  );
});

Deno.test("a response that the gateway stores has the instructions of the client, and its continuation sends those of the named model again", async () => {
  const { post, get, requests } = namedGateway("messages", `system: ${SYSTEM}`);
  const made = await post("/responses", { model: "coder", input: "Hi", instructions: "Mine." });
  assertEquals([made.status, made.json.instructions], [200, "Mine."]);
  const read = await get(`/responses/${made.json.id}`);
  assertEquals(read.json.instructions, "Mine.");
  assert(!(await get(`/responses/${made.json.id}/input_items`)).text.includes(SYSTEM));
  const next = { model: "coder", input: "Go on", previous_response_id: made.json.id ?? "" };
  assertEquals((await post("/responses", next)).status, 200);
  const sent = textsIn(requests[1]?.json ?? {});
  assertEquals([countOf(sent, SYSTEM), countOf(sent, "Mine.")], [1, 0], sent);
});

Deno.test("a response that the provider stores has only the instructions of the client, also after the file has another text", async () => {
  for (const own of ["Mine.", null]) {
    const sent = own === null ? SYSTEM : `${own}\n\n${SYSTEM}`;
    const { post, get, requests, reload } = namedOver(
      "{responses_lifecycle: true}",
      `system: ${SYSTEM}`,
      ({ json, path }) => {
        const more = { instructions: sent };
        const isStream = json.stream === true || path.includes("stream=true");
        return isStream
          ? { body: streamOf("resp_2", more), headers: { "content-type": "text/event-stream" } }
          : { body: JSON.stringify(responseOf("resp_1", more)) };
      },
    );
    const body = { model: "coder", input: "Hi", ...own !== null && { instructions: own } };
    const made = await post("/responses", body);
    assertEquals([requests[0]?.json.instructions, made.json.instructions], [sent, own]);
    const streamed = await post("/responses", { ...body, stream: true });
    assert(!streamed.text.includes(SYSTEM) && streamed.text.includes("response.completed"));
    reload(namedFile("{responses_lifecycle: true}", "system: Another text."));
    assertEquals((await get("/responses/resp_1")).json.instructions, own);
    const replayed = await get("/responses/resp_2?stream=true");
    assert(!replayed.text.includes(SYSTEM) && replayed.text.includes("response.completed"));
  }
});

Deno.test("a count of tokens has the instructions of the named model", async () => {
  const count = { body: '{"input_tokens":7,"object":"response.input_tokens"}' };
  const body = { model: "coder", messages: [USER], system: "Mine." };
  const over = namedOver("{response_input_tokens: true}", `system: ${SYSTEM}`, () => count);
  assertEquals((await over.post("/messages/count_tokens", body)).json.input_tokens, 7);
  assertEquals(countOf(over.requests[0]?.body ?? "", SYSTEM), 1);
  const asked = await over.post("/responses/input_tokens", { model: "coder", input: "Hi" });
  assertEquals([asked.status, asked.json.input_tokens], [200, 7], asked.text);
  const { model, instructions } = over.requests[1]?.json ?? {};
  assertEquals([model, instructions], ["served", SYSTEM]);
  const { post, requests } = namedGateway(
    "messages",
    `system: ${SYSTEM}\n    parameters: {effort: high}`,
  );
  await post("/messages/count_tokens", body);
  assertEquals(requests[0]?.json, {
    model: "served",
    messages: [USER],
    system: [text("Mine."), text(SYSTEM)],
  });
});
