import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import {
  parseThinking,
  reasoningTextBlock,
  sealThinking,
} from "../../src/api/reasoning/sealed_thinking.ts";
import { sealedText } from "../../src/core/stream/sealed_text.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type HostSdk, startHost } from "./host_loops.ts";

/** The word that the host accepts in place of a signature. */
const UNSIGNED = "skip_thought_signature_validator";
const MODEL = "sim-recall";
const OTHER_MODEL = "sim-tools";
const PROFILE = "compatibility_profile: gemini";
const LARGE_SEAL_CHARS = 1024 * 1024;

const start = (key = "sk-upstream") => startHost("gemini", PROFILE, "", key);

const MESSAGES = {
  model: MODEL,
  max_tokens: 4000,
  thinking: { type: "enabled" as const, budget_tokens: 1024 },
  tools: [{ name: "weather", input_schema: { type: "object" as const } }],
};
const ASKED: Anthropic.MessageParam = { role: "user", content: "Weather?" };

type Content = Anthropic.ContentBlock[];

/** The content of the first step of a tool loop, and its seal. */
async function sealedStep(sdk: HostSdk): Promise<readonly [content: Content, seal: string]> {
  const { content } = await sdk.anthropic.messages.create({ ...MESSAGES, messages: [ASKED] });
  const [thinking] = content;
  assert(thinking?.type === "thinking" && thinking.signature.startsWith("switchyard1."));
  return [content, thinking.signature];
}

/** Sends the second step with another seal; returns the status, the lossy paths and the failure. */
async function secondStep(sdk: HostSdk, content: Content, signature: string, model = MODEL) {
  const sent = content.map((block) => block.type === "thinking" ? { ...block, signature } : block);
  const results = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "sunny" }]
      : []
  );
  const messages = [ASKED, { role: "assistant" as const, content: sent }, {
    role: "user" as const,
    content: results,
  }];
  const call = sdk.anthropic.messages.create({ ...MESSAGES, model, messages }).withResponse();
  return await call.then(
    ({ response: { status, headers } }) => ({
      status,
      lossy: headers.get("x-gateway-lossy") ?? "",
      text: "",
    }),
    (error: unknown) => {
      assert(error instanceof Anthropic.APIError);
      return { status: error.status, lossy: "", text: error.message };
    },
  );
}

/** Returns a seal with one flipped bit in the character at this place. */
function flipped(seal: string, at: number): string {
  return seal.slice(0, at) + String.fromCharCode(seal.charCodeAt(at) ^ 1) + seal.slice(at + 1);
}

/** Damaged versions of a seal. */
function damaged(seal: string): readonly string[] {
  const places = Array.from(
    { length: 12 },
    (_, at) => 12 + Math.floor(at * (seal.length - 13) / 11),
  );
  return [
    ...places.map((at) => flipped(seal, at)),
    ...[seal.length - 1, seal.length >> 1, 29, 28, 12, 11].map((end) => seal.slice(0, end)),
    `${seal}A`,
    `switchyard1.${"A".repeat(LARGE_SEAL_CHARS)}`,
  ];
}

Deno.test("a damaged seal of a Messages client counts as a foreign one, and its call as unsigned", async () => {
  await using sdk = start();
  const [content, seal] = await sealedStep(sdk);
  // What the gateway has stored would come back otherwise.
  await sdk.restart();
  for (const signature of damaged(seal)) {
    const { status, text } = await secondStep(sdk, content, signature);
    assertEquals([status, text], [200, ""]);
    const last = sdk.sent.at(-1) ?? "";
    assertEquals([last.includes(UNSIGNED), last.includes("switchyard1.")], [true, false]);
  }
  assertEquals((await secondStep(sdk, content, seal)).status, 200);
  assertEquals(sdk.sent.at(-1)?.includes(UNSIGNED), false);
});

Deno.test("a seal of another key or model is left out and named", async () => {
  await using other = start("sk-other");
  const [content, seal] = await sealedStep(other);
  await using sdk = start();
  const [own, ownSeal] = await sealedStep(sdk);
  await sdk.restart();
  for (
    const [model, blocks, signature] of [
      [MODEL, content, seal],
      [OTHER_MODEL, own, ownSeal],
    ] as const
  ) {
    const { status, lossy } = await secondStep(sdk, blocks, signature, model);
    assertEquals(status, 200);
    assertEquals(lossy.split(", ").includes("messages.1.content.0.signature"), true, lossy);
    assertEquals(sdk.sent.at(-1)?.includes(UNSIGNED), true);
  }
});

Deno.test("a valid seal of 1 MiB comes back to its host like a small one", async () => {
  await using sdk = start();
  const [content, seal] = await sealedStep(sdk);
  await sdk.restart();
  const blocks = parseThinking(sealedText(seal) ?? "") ?? [];
  const large = sealThinking([reasoningTextBlock("S".repeat(LARGE_SEAL_CHARS)), ...blocks]);
  assertEquals((await secondStep(sdk, content, large)).status, 200);
  const last = sdk.sent.at(-1) ?? "";
  assertEquals([last.includes(UNSIGNED), last.includes("SSSS")], [false, false]);
});

Deno.test("a damaged seal of a Responses client is refused by its path, without its text", async () => {
  await using sdk = start();
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: "Weather?" }];
  const body = {
    model: MODEL,
    store: false,
    tools: [{ type: "function" as const, name: "weather", parameters: {}, strict: false }],
  };
  const { output } = await sdk.openai.responses.create({ ...body, input });
  const [reasoning, ...others] = output;
  assert(reasoning?.type === "reasoning" && typeof reasoning.encrypted_content === "string");
  const results = others.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output" as const, call_id: item.call_id, output: "sunny" }]
      : []
  );
  const ask = (encrypted_content: string) =>
    sdk.openai.responses.create({
      ...body,
      input: [
        ...input,
        { ...reasoning, encrypted_content },
        ...others as typeof input,
        ...results,
      ],
    });
  const count = sdk.sent.length;
  for (const seal of damaged(reasoning.encrypted_content)) {
    const failed = await ask(seal).then(() => null, (error: unknown) => error);
    assert(failed instanceof OpenAI.APIError);
    assertEquals([failed.status, failed.code, failed.param], [
      400,
      "unsupported_feature",
      "input[1].encrypted_content",
    ]);
    assertEquals(failed.message.includes(seal.slice(30, 60) || "switchyard1"), false);
  }
  assertEquals(sdk.sent.length, count);
  assertEquals((await ask(reasoning.encrypted_content)).status, "completed");
});
