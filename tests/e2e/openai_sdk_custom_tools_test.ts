import type OpenAI from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { startSdk, WIRES } from "./sdk.ts";
import { startSocketSdk } from "./socket_sdk.ts";

const PATCH = '*** Begin Patch\n*** Add File: a\n+"\\\u{1F600}\n*** End Patch\n';
const DEFINITION = 'start: "*** Begin Patch" /[\\s\\S]+/';
const PATCHER: OpenAI.Responses.CustomTool = {
  type: "custom",
  name: "apply_patch",
  format: { type: "grammar", syntax: "lark", definition: DEFINITION },
};
const LOOK: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const CHAT_PATCHER: OpenAI.ChatCompletionCustomTool = {
  type: "custom",
  custom: {
    name: "apply_patch",
    format: { type: "grammar", grammar: { syntax: "lark", definition: DEFINITION } },
  },
};

/** A prompt for which the model calls both tools, and then says that it is done. */
function planOf(call: Readonly<Record<string, unknown>>): string {
  const calls = [{ name: "apply_patch", ...call }, { name: "look", input: {} }];
  return `sim-plan: ${JSON.stringify([{ say: "I patch.", call: calls }, "Done."])}`;
}

const PLAN = planOf({ input: { input: PATCH } });
const CAPABLE = "capabilities: {custom_tools: true}";

/** The provider types, and a compat provider that takes custom tools itself. */
const KINDS = [...WIRES.map((wire) => [wire, ""] as const), ["compat", CAPABLE] as const];

for (const [wire, setting] of KINDS) {
  const kind = setting === "" ? wire : `${wire} with ${setting}`;

  Deno.test(`the OpenAI SDK runs a loop with a custom tool over Responses, whole and streamed, over ${kind}`, async () => {
    await using sdk = startSdk(wire, setting);
    const asked = { model: "sim-plan", store: false, tools: [PATCHER, LOOK] };
    const user = { role: "user", content: PLAN } as const;
    const { data, response } = await sdk.client.responses.create({ ...asked, input: [user] })
      .withResponse();
    const stream = sdk.client.responses.stream({ ...asked, input: [user] });
    const deltas: string[] = [];
    stream.on("event", (event) => {
      if (event.type === "response.custom_tool_call_input.delta") deltas.push(event.delta);
    });
    const streamed = await stream.finalResponse();
    for (const { output } of [data, streamed]) {
      const calls = output.filter((item) => item.type.endsWith("_call"));
      assertEquals(calls.map(({ type }) => type), ["custom_tool_call", "function_call"]);
      const [call] = output.filter((item) => item.type === "custom_tool_call");
      assertEquals([call?.name, call?.input], ["apply_patch", PATCH]);
    }
    assert(deltas.length > (wire === "local" ? 0 : 1));
    assertEquals(deltas.join(""), PATCH);
    const lossy = response.headers.get("x-gateway-lossy") ?? "";
    assertEquals(lossy.includes("tools[0].format"), setting === "");
    const items = streamed.output.filter((item) =>
      item.type === "custom_tool_call" || item.type === "function_call"
    );
    const results = items.map((item) => ({
      type: item.type === "function_call"
        ? "function_call_output" as const
        : "custom_tool_call_output" as const,
      call_id: item.call_id,
      output: "ok",
    }));
    const last = await sdk.client.responses.create({
      ...asked,
      input: [user, ...items, ...results],
    });
    assertEquals(last.output_text, "Done.");
  });

  Deno.test(`the OpenAI SDK runs a loop with a custom tool over Chat, whole and streamed, over ${kind}`, async () => {
    await using sdk = startSdk(wire, setting);
    const tools: OpenAI.ChatCompletionTool[] = [CHAT_PATCHER, {
      type: "function",
      function: { name: "look" },
    }];
    const user = { role: "user", content: PLAN } as const;
    const asked = { model: "sim-plan", messages: [user], tools };
    const whole = await sdk.client.chat.completions.create(asked);
    const message = whole.choices[0]?.message;
    const [call, other] = message?.tool_calls ?? [];
    assert(message !== undefined && call?.type === "custom" && other?.type === "function");
    assertEquals(call.custom, { name: "apply_patch", input: PATCH });
    const stream = await sdk.client.chat.completions.create({ ...asked, stream: true });
    let input = "";
    for await (const { choices: [choice] } of stream) {
      for (const piece of choice?.delta.tool_calls ?? []) {
        if (piece.index === 0) input += "custom" in piece ? customInput(piece.custom) : "";
      }
    }
    assertEquals(input, PATCH);
    const last = await sdk.client.chat.completions.create({
      ...asked,
      messages: [
        user,
        { role: "assistant", content: message.content, tool_calls: [call, other] },
        { role: "tool", tool_call_id: call.id, content: "ok" },
        { role: "tool", tool_call_id: other.id, content: "ok" },
      ],
    });
    assertEquals(last.choices[0]?.message.content, "Done.");
  });
}

function customInput(custom: unknown): string {
  assert(typeof custom === "object" && custom !== null && "input" in custom);
  assert(typeof custom.input === "string");
  return custom.input;
}

/** Arguments that a model may write for the function, and the input that the client has. */
const ROWS: readonly (readonly [written: string, input: string])[] = [
  ['{"input": "a\\n\\ud83d\\ude00"}', "a\n\u{1F600}"],
  ['{"why": "x", "input": "a"}', "a"],
  ['{"input": "a", "why": "x"}', "a"],
  ['"a text\\n"', "a text\n"],
  [PATCH, PATCH],
  ['{"patch": "a"}', '{"patch": "a"}'],
  ["{}", "{}"],
  ["", ""],
];

Deno.test("a custom tool gets an input whatever the model writes for its function", async () => {
  await using sdk = startSdk("compat");
  for (const [written, input] of ROWS) {
    const asked = {
      model: "sim-plan",
      store: false,
      tools: [PATCHER, LOOK],
      input: planOf({ arguments: written }),
    };
    const whole = await sdk.client.responses.create(asked);
    const streamed = await sdk.client.responses.stream(asked).finalResponse();
    for (const { output } of [whole, streamed]) {
      const call = output.find((item) => item.type === "custom_tool_call");
      assertEquals([written, customInput(call)], [written, input]);
      assert(output.some(({ type }) => type === "function_call"));
    }
  }
});

Deno.test("the OpenAI SDK runs a loop with a custom tool over a WebSocket on each provider type", async () => {
  await using sdk = startSocketSdk();
  await using socket = await sdk.open();
  const lane = socket.session.lane();
  for (const provider of [...WIRES, "native"]) {
    const asked = { model: `${provider}/sim-plan`, store: false, tools: [PATCHER, LOOK] };
    lane.create({ ...asked, input: PLAN });
    const first = await lane.finalResponse();
    const calls = first.output.filter((item) =>
      item.type === "custom_tool_call" || item.type === "function_call"
    );
    assertEquals(calls.map(({ type }) => type), ["custom_tool_call", "function_call"]);
    const [call] = calls;
    assert(call?.type === "custom_tool_call");
    assertEquals([provider, call.input], [provider, PATCH]);
    lane.create({
      ...asked,
      previous_response_id: first.id,
      input: calls.map((item) => ({
        type: item.type === "function_call"
          ? "function_call_output" as const
          : "custom_tool_call_output" as const,
        call_id: item.call_id,
        output: "ok",
      })),
    });
    const last = await lane.finalResponse();
    assertEquals([provider, last.output_text], [provider, "Done."]);
  }
  assert(socket.types.includes("response.custom_tool_call_input.delta"));
});
