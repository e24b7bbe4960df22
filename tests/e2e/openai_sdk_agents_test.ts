import type OpenAI from "openai";
import { assert, assertEquals } from "../support/assert.ts";
import { startSdk, WIRES } from "./sdk.ts";

const PNG = "data:image/png;base64,iVBORw0KGgo=";
const LOOK: OpenAI.Responses.FunctionTool = {
  type: "function",
  name: "look",
  parameters: { type: "object", properties: {} },
  strict: false,
};
const USER = { role: "user", content: "Look." } as const;

for (const wire of WIRES) {
  Deno.test(`the OpenAI SDK sends names and cache hints of chats over ${wire}`, async () => {
    await using sdk = startSdk(wire);
    const { data, response } = await sdk.client.chat.completions.create({
      model: "sim-echo",
      messages: [{ ...USER, name: "ann" }],
      prompt_cache_key: "k",
      prompt_cache_retention: "24h",
    }).withResponse();
    assertEquals(data.choices[0]?.message.content, "Look.");
    const lossy = response.headers.get("x-gateway-lossy");
    assertEquals(lossy, wire === "compat" ? null : "messages[0].name");
  });

  Deno.test(`the OpenAI SDK sends an image as the output of a call over ${wire}, to a model that calls a tool of the input`, async () => {
    await using sdk = startSdk(wire);
    const declared: OpenAI.Responses.ResponseInputItem = {
      type: "additional_tools",
      role: "developer",
      tools: [LOOK],
    };
    const body = { model: "sim-tools", store: false, reasoning: { context: "all_turns" } } as const;
    const first = await sdk.client.responses.create({ ...body, input: [declared, USER] });
    const [call] = first.output.filter((item) => item.type === "function_call");
    assert(call?.name === "look");
    const { data, response } = await sdk.client.responses.create({
      ...body,
      input: [declared, USER, call, {
        type: "function_call_output",
        call_id: call.call_id,
        output: [{ type: "input_image", image_url: PNG, detail: "auto" }],
      }],
    }).withResponse();
    assertEquals(data.status, "completed");
    assertEquals(
      response.headers.get("x-gateway-lossy"),
      wire === "messages" ? "reasoning.context" : "input[3].output[0]",
    );
  });
}
