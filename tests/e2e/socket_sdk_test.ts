import type OpenAI from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { NATIVE, TRANSLATED } from "../support/simulated.ts";
import { type SdkSocket, startSocketSdk } from "./socket_sdk.ts";

type Request = OpenAI.Responses.ResponseCreateParams;
type Lane = ReturnType<SdkSocket["session"]["lane"]>;

const TOOLS: OpenAI.Responses.FunctionTool[] = [{
  type: "function",
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  strict: false,
}];

async function ask(lane: Lane, request: Request) {
  lane.create(request);
  return await lane.finalResponse();
}

/** Five questions, five calls and their results: ten turns in all. */
async function toolLoop(lane: Lane, common: Request): Promise<void> {
  let previous: string | null = null;
  for (let round = 0; round < 5; round++) {
    const input = `Weather in town ${round}?`;
    const asked: OpenAI.Responses.Response = await ask(lane, {
      ...common,
      input,
      previous_response_id: previous,
    });
    const call = asked.output.find((item) => item.type === "function_call");
    assert(call?.type === "function_call", JSON.stringify(asked));
    assertEquals([asked.status, call.name], ["completed", "weather"]);
    const answered: OpenAI.Responses.Response = await ask(lane, {
      ...common,
      input: [{ type: "function_call_output", call_id: call.call_id, output: `sun ${round}` }],
      previous_response_id: asked.id,
    });
    assertEquals(answered.output_text, `The tools said "sun ${round}".`);
    previous = answered.id;
  }
}

/** Loops over each provider: thinking without the store is what the gateway remembers least of. */
const LOOPS = [
  { model: "sim-tools", store: true, more: {} },
  {
    model: "sim-think-tools",
    store: false,
    more: { reasoning: { effort: "low" as const }, max_output_tokens: 4096 },
  },
];

for (const provider of [...NATIVE, ...TRANSLATED]) {
  for (const { model, store, more } of LOOPS) {
    const how = `${store ? "stored" : "not stored"}, ${model}`;

    Deno.test(`the SDK's socket loops through ten turns over ${provider}, ${how}`, async () => {
      await using sdk = startSocketSdk();
      await using socket = await sdk.open();
      const common = { model: `${provider}/${model}`, tools: TOOLS, store, ...more };
      await toolLoop(socket.session.lane(), common);
      assertEquals(socket.types.filter((type) => type === "response.completed").length, 10);
      assert(!socket.types.includes("error"));
    });
  }
}

Deno.test("the SDK's socket has lanes side by side", async () => {
  await using sdk = startSocketSdk();
  await using socket = await sdk.open();
  const answers = ["one", "two", "three"].map((name) =>
    ask(socket.session.lane(name), { model: "compat/sim-echo", input: `said ${name}` })
  );
  const texts = (await Promise.all(answers)).map((response) => response.output_text);
  assertEquals(texts, ["said one", "said two", "said three"]);
});

Deno.test("the SDK's socket receives errors, with and without a stream ID, and stays usable", async () => {
  await using sdk = startSocketSdk();
  await using socket = await sdk.open();
  for (const lane of [socket.session.lane(), socket.session.lane("s")]) {
    const wrong = { model: "compat/sim-echo", input: "Hi", previous_response_id: "resp_unknown" };
    const error = await ask(lane, wrong).then(() => null, (thrown: unknown) => thrown);
    assert(error instanceof Error && "error" in error);
    const { error: body } = error;
    assert(typeof body === "object" && body !== null && "type" in body);
    assertEquals(body.type, "error");
    const response = await ask(lane, { model: "compat/sim-echo", input: "good day" });
    assertEquals(response.output_text, "good day");
  }
});

Deno.test("the SDK continues over HTTP a response that was stored over its socket", async () => {
  await using sdk = startSocketSdk();
  for (const provider of ["stored", "compat"]) {
    await using socket = await sdk.open();
    const model = `${provider}/sim-echo`;
    const first = await ask(socket.session.lane(), { model, input: "one" });
    const kept = await sdk.client.responses.retrieve(first.id);
    assertEquals([kept.status, kept.output_text], ["completed", "one"]);
    const second = await sdk.client.responses.create({
      model,
      input: "two",
      previous_response_id: first.id,
    });
    assertEquals(second.output_text, "two");
  }
});
