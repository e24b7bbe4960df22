import { ConnectionError } from "../../../src/core/failure/connection_error.ts";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { bindingOf } from "../../support/object_store.ts";
import { COMPLETION, MESSAGES } from "../../support/chat_call.ts";
import {
  naming,
  nativeConfig,
  type NativeGateway,
  nativeGateway,
  type ScriptedResponse,
} from "../../support/native_gateway.ts";
import { refusalOf } from "../../support/state_call.ts";

const ABLE = { can: ["chat_completions_lifecycle"] };
const BODY = { model: "m", ...MESSAGES, store: true };
const CHUNK = { id: "c_1", object: "chat.completion.chunk", created: 1, model: "m" };

function gateway(body: JsonObject | string, account = ABLE): NativeGateway {
  return nativeGateway(nativeConfig({ up: account }), () => ({ body }));
}

function chunk(content: string, more: JsonObject = {}): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }];
  return `data: ${JSON.stringify({ ...CHUNK, choices, ...more })}\n\n`;
}

const FINISH = chunk("", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const USAGE = chunk("", {
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const DONE = "data: [DONE]\n\n";

async function boundIn(calls: NativeGateway, id: string): Promise<string | undefined> {
  return (await bindingOf(calls, "chat_completion", id))?.kind;
}

testOverStores(
  "a stored completion is bound to the account that created it, streamed or not",
  async () => {
    const whole = gateway(COMPLETION);
    assertEquals((await whole.post("/chat/completions", BODY)).json, COMPLETION);
    assertEquals(await boundIn(whole, "chatcmpl-1"), "bound");
    const streamed = gateway(chunk("Hi") + FINISH + USAGE + DONE);
    const answer = await streamed.post("/chat/completions", { ...BODY, stream: true });
    assertEquals(answer.text, chunk("Hi") + FINISH + DONE);
    assertEquals(await boundIn(streamed, "c_1"), "bound");
  },
);

Deno.test("a completion that its provider does not store is bound to no owner", async () => {
  for (const store of [false, null, undefined]) {
    const calls = gateway(COMPLETION);
    await calls.post("/chat/completions", { model: "m", ...MESSAGES, store });
    assertEquals(calls.state.objects.stats().chat_completion_bindings.entries, 0);
  }
  const plain = gateway(COMPLETION, { can: [] });
  assertEquals((await plain.post("/chat/completions", BODY)).status, 200);
  assertEquals(plain.state.objects.stats().chat_completion_bindings.entries, 0);
});

Deno.test(
  "a stored completion with a second id in the same text is a 502 and not bound",
  async () => {
    const twice = (text: string) => text.replace("{", '{"id":"other",');
    const whole = gateway(twice(JSON.stringify(COMPLETION)));
    const streamed = gateway(twice(chunk("Hi")) + FINISH + DONE);
    for (const [calls, stream] of [[whole, false], [streamed, true]] as const) {
      const answer = await calls.post("/chat/completions", { ...BODY, stream });
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
      assertEquals(calls.state.objects.stats().chat_completion_bindings.entries, 0);
    }
  },
);

/** Members of a whole completion or of each chunk that make it no stored one. */
const WRONG: Readonly<Record<string, JsonObject>> = {
  "no id": { id: undefined },
  "null for an id": { id: null },
  "an empty id": { id: "" },
  "a number for an id": { id: 5 },
  "a space in front of its id": { id: " c_1" },
  "a line end behind its id": { id: "c_1\n" },
  "no object": { object: undefined },
  "another object": { object: "text_completion" },
};

for (const [what, members] of Object.entries(WRONG)) {
  Deno.test(
    `a completion with ${what} is a 502 and not bound, where it is to be stored`,
    async () => {
      const body = { ...COMPLETION, ...members };
      const calls = gateway(body);
      const answer = await calls.post("/chat/completions", BODY);
      assertEquals([answer.status, answer.error.code], [502, "invalid_upstream_response"]);
      assertEquals(
        [calls.state.objects.stats().chat_completion_bindings.entries, calls.requests.length],
        [0, 1],
      );
    },
  );

  Deno.test(
    `a first chunk with ${what} is a 502, a later one ends the stream in an error`,
    async () => {
      const first = gateway(chunk("Hi", members) + FINISH + DONE);
      const refused = await first.post("/chat/completions", { ...BODY, stream: true });
      assertEquals([refused.status, refused.error.code], [502, "invalid_upstream_response"]);
      for (const late of [chunk("!", members) + FINISH, FINISH.replace("c_1", "c_2")]) {
        const calls = gateway(chunk("Hi") + late + DONE);
        const { status, text } = await calls.post("/chat/completions", { ...BODY, stream: true });
        assertEquals(status, 200);
        assert(text.startsWith(chunk("Hi")), text);
        const [error, done, ...more] = text.slice(chunk("Hi").length).split("\n\n");
        assert(error?.includes('"upstream_stream_error"'), text);
        assertEquals([done, more], ["data: [DONE]", [""]]);
        assertEquals(calls.state.objects.stats().chat_completion_bindings.entries, 0);
      }
    },
  );
}

Deno.test("with store, records that are no chunks need no ID", async () => {
  const nothing = 'data: {}\n\ndata: {"choices":null}\n\ndata: {"type":"ping"}\n\ndata: \n\n';
  const streamed = gateway(chunk("Hi") + nothing + FINISH + "data:  [DONE]\n\n");
  const answer = await streamed.post("/chat/completions", { ...BODY, stream: true });
  assertEquals(answer.text, chunk("Hi") + FINISH + DONE);
  assertEquals(await boundIn(streamed, "c_1"), "bound");
});

Deno.test("without store a missing ID or object member is filled in", async () => {
  for (const store of [false, undefined]) {
    const body = { model: "m", ...MESSAGES, store };
    const { id: _id, object: _object, ...bare } = COMPLETION;
    const whole = await gateway(bare).post("/chat/completions", body);
    assertEquals([whole.status, whole.json.object], [200, "chat.completion"]);
    const changing = chunk("Hi", { id: "c_2" }) + chunk("!") + FINISH + DONE;
    const streamed = await gateway(changing).post("/chat/completions", { ...body, stream: true });
    assertEquals(streamed.status, 200);
    assert(!streamed.text.includes("error"), streamed.text);
  }
});

Deno.test("a stored stream that breaks off is not bound", async () => {
  for (const ends of ["", "data: {\n\n", 'data: {"error":{"message":"x"}}\n\n']) {
    const calls = gateway(chunk("Hi") + ends);
    const { text } = await calls.post("/chat/completions", { ...BODY, stream: true });
    assert(text.includes("upstream_stream_error"), text);
    assertEquals(calls.state.objects.stats().chat_completion_bindings.entries, 0);
  }
});

Deno.test(
  "a completion with store is retried only if the upstream certainly did not process it",
  async () => {
    const accounts = { first: ABLE, second: ABLE };
    const failures: readonly (readonly [ScriptedResponse | Error, boolean])[] = [
      [{ status: 429, body: "" }, true],
      [{ status: 503, body: "" }, true],
      [{ status: 529, body: "" }, true],
      [new ConnectionError("refused", "nothing listens"), true],
      [{ status: 500, body: "" }, false],
      [new ConnectionError("reset", "reset", { mayHaveRun: true, isAnswered: false }), false],
      [{ body: { ...COMPLETION, id: "" } }, false],
    ];
    for (const [says, again] of failures) {
      const calls = nativeGateway(
        nativeConfig(accounts),
        ({ host }) => host === "first" ? says : { body: COMPLETION },
      );
      const sent = calls.post("/chat/completions", BODY);
      await calls.world.advance(1000);
      assertEquals((await sent).status === 200, again);
      const hosts = calls.requests.map(({ host }) => host);
      assertEquals(hosts, again ? ["first", "first", "second"] : ["first"]);
      assertEquals(calls.state.objects.stats().chat_completion_bindings.entries, again ? 1 : 0);
    }
  },
);

testOverStores("an id of two accounts is a conflict", async () => {
  const calls = nativeGateway(
    nativeConfig({ first: ABLE, second: ABLE }),
    () => ({ body: COMPLETION }),
  );
  await calls.post("/chat/completions", BODY);
  assertEquals((await calls.get("/chat/completions/chatcmpl-1")).status, 200);
  await calls.post("/chat/completions", BODY, naming("second"));
  const refused = await calls.get("/chat/completions/chatcmpl-1");
  assertEquals(refusalOf(refused), [400, "provider_binding_conflict", "completion_id"]);
  assertEquals(calls.requests.length, 3);
});
