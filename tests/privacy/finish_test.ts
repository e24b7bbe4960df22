import { newPrivacyCounts } from "../../src/core/privacy_counts.ts";
import { newRuleText } from "../../src/privacy/answer_text.ts";
import { finishDocument, finishSteps } from "../../src/privacy/finish.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { rulesOf } from "./rules.ts";
import { PLAIN } from "./stream_cases.ts";

const MASKS = "find: [email], phase: response, action: mask";

Deno.test("a long answer is searched in pieces, with the same result", () => {
  const rules = () => newRuleText(rulesOf(MASKS), newPrivacyCounts());
  const content = `${"Some words. ".repeat(100_000)}jane@example.org`;
  const text = JSON.stringify({ choices: [{ message: { content } }] });
  const steps = finishSteps(rules(), text, PLAIN);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  assert(count > content.length / 40_000, `${count} pieces`);
  assertEquals(step.value, text.replace("jane@example.org", "[email]"));
  assertEquals(finishDocument(rules(), text, PLAIN), step.value);
});
