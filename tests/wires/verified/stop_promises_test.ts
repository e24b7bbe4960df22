import { newCarrier } from "../../../src/prompt/carry.ts";
import { wires } from "../../../src/wires/registry.ts";
import { promptOf } from "../../prompt/prompt_of.ts";
import { sentStops } from "../../../src/wires/verified/stop_promises.ts";
import { assertEquals } from "../../support/assert.ts";
import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { providerOf } from "../../support/translated.ts";

/** Returns what of one stop text is sent and what is promised, and the sentence of a refusal. */
function sent(text: string, isSent = false) {
  const { stop } = promptOf({ messages: [{ role: "user", content: "Hi" }], stop: [text] });
  const { fields } = wires.responses;
  const carrier = newCarrier({ fields, provider: providerOf(wires.responses) });
  const made = sentStops(stop, { isSent: () => isSent, verify: true, carrier });
  return { made, message: made.ok ? "" : messageOf(made.failure), ...carrier.done() };
}

Deno.test("a stop text that the gateway checks has up to 4,096 characters", () => {
  const longest = " ".repeat(4_096);
  const checked = sent(longest);
  assertEquals(checked.made, { ok: true, value: [] });
  assertEquals(checked.promises, [{ kind: "stop", path: "stop", texts: [longest] }]);
  const refused = sent(`${longest} `);
  assertEquals([refused.promises, refused.message.includes("at most 4096 characters")], [
    undefined,
    true,
  ]);
  const own = sent(`${longest} `, true);
  assertEquals([own.made, own.promises], [{ ok: true, value: [`${longest} `] }, undefined]);
});
