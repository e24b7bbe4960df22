import { newCarrier } from "../../src/prompt/carry.ts";
import { type Preset, presetPrompt } from "../../src/prompt/preset.ts";
import type { Prompt } from "../../src/prompt/prompt.ts";
import type { Result } from "../../src/core/failure/result.ts";
import { wires } from "../../src/wires/registry.ts";
import type { Wire } from "../../src/wires/wire.ts";
import { assertEquals } from "../support/assert.ts";
import { assertFailed, providerOf, valueOf, type Written } from "../support/translated.ts";
import { promptOf } from "./prompt_of.ts";

const MESSAGES = [{ role: "system", content: "Hi" }, { role: "user", content: "Hi" }];
const ABLE = { capabilities: { adaptive_thinking: true, reasoning_effort: true } };
const NOTHING: Preset = {
  name: "coder",
  parameters: {},
  maxOutput: null,
  system: null,
  showsName: false,
};

/** A request as a named model with these members changes it for a wire, and what is lossy. */
function preset(wire: Wire, chat: Written, members: Partial<Preset>) {
  const prompt = promptOf({ messages: MESSAGES, ...chat }, { wire, settings: ABLE });
  const carrier = newCarrier({ fields: wire.fields, provider: providerOf(wire, ABLE) });
  const isMessages = wire.name === "messages";
  const filled: Result<Prompt> = presetPrompt(prompt, { ...NOTHING, ...members }, {
    carrier,
    isMessages,
  });
  return { filled, lossy: () => carrier.done().lossy ?? [] };
}

Deno.test("only over the Messages protocol thinking keeps sampling parameters out", () => {
  const parameters = { temperature: 0.5, top_p: 0.9, top_k: 5 };
  const sent = (wire: Wire, chat: Written) => {
    const { temperature, topP, topK } = valueOf(preset(wire, chat, { parameters }).filled).sampling;
    return [temperature, topP, topK].map((one) => one?.value ?? null);
  };
  const all = [0.5, 0.9, 5];
  assertEquals(sent(wires.messages, { thinking: { type: "adaptive" } }), [null, null, null]);
  assertEquals(sent(wires.messages, { thinking: { type: "disabled" } }), all);
  assertEquals(sent(wires.messages, {}), all);
  assertEquals(sent(wires.compat, { thinking: { type: "enabled" } }), all);
});

Deno.test("a parameter with a value that changes nothing is carried by every wire", () => {
  const tier = (value: string) =>
    preset(wires.local, {}, { parameters: { service_tier: value } }).filled;
  assertEquals(valueOf(tier("auto")).labels.serviceTier?.value, "auto");
  assertFailed(tier("flex"), "unsupported_feature", "models.coder.parameters.service_tier");
});

Deno.test("a limit in the older field of Chat stays the only one, and is lowered too", () => {
  const members = { parameters: { max_tokens: 50 }, maxOutput: 80 };
  const limits = (chat: Written) => {
    const { filled, lossy } = preset(wires.messages, chat, members);
    const { completion, legacy } = valueOf(filled).limits;
    return [completion?.value ?? null, legacy?.value ?? null, lossy()];
  };
  assertEquals(limits({}), [50, null, []]);
  assertEquals(limits({ max_tokens: 70 }), [null, 70, []]);
  assertEquals(limits({ max_tokens: 90 }), [null, 80, ["max_tokens"]]);
  assertEquals(limits({ max_completion_tokens: 90 }), [80, null, ["max_completion_tokens"]]);
});

Deno.test("instructions of a named model have their place in the configuration as their path", () => {
  const { filled } = preset(wires.messages, {}, { system: "Be brief." });
  const [, added] = valueOf(filled).messages;
  assertEquals([added?.kind, added?.at.path, added?.content?.at.path], [
    "instruction",
    "models.coder.system",
    "models.coder.system",
  ]);
});
