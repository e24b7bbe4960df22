import { APIError } from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { type HostSdk, type Loop, LOOPS, startHost } from "./host_loops.ts";

/** The word that the host accepts in place of a signature. */
const UNSIGNED = "skip_thought_signature_validator";

const THINKING = { thinking: { type: "enabled", budget_tokens: 1024 } };

const SEALING: Readonly<Record<string, readonly [loop: Loop, more: Parameters<Loop>[1]["more"]]>> =
  {
    messages: [LOOPS.messages, THINKING],
    responses: [LOOPS.responses, { include: ["reasoning.encrypted_content"] }],
  };

/** The last request to the host. */
function lastOf({ sent }: HostSdk): string {
  const last = sent.at(-1);
  assert(last !== undefined);
  return last;
}

for (const host of ["gemini", "openrouter"]) {
  // One model thinks aloud before its call, the other has no thinking text.
  for (const model of ["sim-recall", "sim-tools", "sim-tools-parallel"]) {
    for (const [api, [loop, more]] of Object.entries(SEALING)) {
      for (const stream of [false, true]) {
        Deno.test(`what ${host} signed comes back to ${model} from a client of ${api} after a restart, ${stream ? "streamed" : "whole"}`, async () => {
          await using sdk = startHost(host, `compatibility_profile: ${host}`);
          const between = () => sdk.restart();
          await loop(sdk, { stream, model, between, ...more !== undefined && { more } });
          assertEquals(lastOf(sdk).includes(UNSIGNED), false);
        });
      }
    }
  }
}

Deno.test("a signature that a client of chat drops comes back from the memory of the gateway", async () => {
  for (const stream of [false, true]) {
    await using sdk = startHost("gemini", "compatibility_profile: gemini");
    await LOOPS.chat(sdk, { stream });
    assertEquals(lastOf(sdk).includes(UNSIGNED), false);
    await LOOPS.chat(sdk, { stream, between: () => sdk.restart() });
    assertEquals(lastOf(sdk).includes(UNSIGNED), true);
  }
});

Deno.test("without a state store a client of chat continues with the word for unsigned calls", async () => {
  await using sdk = startHost(
    "gemini",
    "compatibility_profile: gemini",
    "state: {store: none}",
  );
  await LOOPS.chat(sdk, { stream: false });
  assertEquals(lastOf(sdk).includes(UNSIGNED), true);
});

Deno.test("the error of a host in a list has its status, message and code for every client API", async () => {
  await using sdk = startHost("gemini");
  for (const [api, loop] of Object.entries(LOOPS)) {
    const failed = await loop(sdk, { stream: false }).then(() => null, (error: unknown) => error);
    assert(failed instanceof APIError || failed instanceof OpenAI.APIError);
    assertEquals(failed.status, 400);
    assertStringIncludes(failed.message, "Unknown name");
    // An error of the Messages API has a type, and no code.
    if (failed instanceof OpenAI.APIError) assertEquals<unknown>(failed.code, 400);
    else assertStringIncludes(failed.message, "invalid_request_error");
    assertEquals(failed instanceof OpenAI.APIError, api !== "messages");
  }
});

Deno.test("a stored response is continued with what the host signed of it", async () => {
  await using sdk = startHost("gemini", "compatibility_profile: gemini");
  const tools = [{ type: "function" as const, name: "f", parameters: {}, strict: false }];
  const body = { model: "sim-tools", tools };
  const { id, output } = await sdk.openai.responses.create({ ...body, input: "Hi" });
  const call = output.find((item) => item.type === "function_call");
  assert(call?.type === "function_call");
  await sdk.openai.responses.create({
    ...body,
    previous_response_id: id,
    input: [{ type: "function_call_output", call_id: call.call_id, output: "1" }],
  });
  assertEquals(lastOf(sdk).includes(UNSIGNED), false);
  assertStringIncludes(lastOf(sdk), "thought_signature");
});

Deno.test("a loop without the details of its reasoning is refused by OpenRouter in its words", async () => {
  const profile = "compatibility_profile: openrouter";
  await using sdk = startHost("openrouter", profile, "state: {store: none}");
  const failed = await LOOPS.chat(sdk, { stream: false }).then(
    () => null,
    (error: unknown) => error,
  );
  assert(failed instanceof Error);
  assertStringIncludes(failed.message, "thinking blocks must be passed back unchanged");
});
