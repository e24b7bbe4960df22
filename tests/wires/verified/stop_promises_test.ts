import { messageOf } from "../../../src/core/failure/openai_error.ts";
import { promptOf } from "../../prompt/prompt_of.ts";
import { splitStops } from "../../../src/wires/verified/stop_promises.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const CHECKED = { isSent: () => false, verify: true };

function stopOf(text: string) {
  return promptOf({ messages: [{ role: "user", content: "Hi" }], stop: [text] }).stop;
}

Deno.test("a stop text that the gateway checks has up to 4,096 characters", () => {
  const longest = " ".repeat(4_096);
  const parsed = splitStops(stopOf(longest), CHECKED);
  assert(parsed.ok);
  assertEquals(parsed.value.promises, [{ kind: "stop", path: "stop", texts: [longest] }]);
  const refused = splitStops(stopOf(`${longest} `), CHECKED);
  assert(!refused.ok);
  assertEquals(messageOf(refused.failure).includes("at most 4096 characters"), true);
  assert(
    splitStops(stopOf(`${longest} `), { ...CHECKED, isSent: () => true }).ok,
    "the provider's own",
  );
});
