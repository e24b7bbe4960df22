import { dottedPath, refusalWords } from "../../../src/api/messages/refusal_words.ts";
import { invalidValue, notAmong, wrongType } from "../../../src/api/messages/refusals.ts";
import { refuse } from "../../../src/core/failure/result.ts";
import { newCarrier } from "../../../src/prompt/carry.ts";
import { brokenRule, missing, unsupported } from "../../../src/prompt/refusals.ts";
import { wires } from "../../../src/wires/registry.ts";
import { assertEquals } from "../../support/assert.ts";
import { providerOf } from "../../support/translated.ts";

Deno.test("a path has dots in place of brackets", () => {
  assertEquals(
    dottedPath("messages[1].content[20].source.type"),
    "messages.1.content.20.source.type",
  );
  assertEquals(dottedPath("model"), "model");
});

Deno.test("a refusal of a field has the words of the Messages API", () => {
  const provider = providerOf(wires.local);
  const { refuseUndeclared } = newCarrier({ fields: wires.local.fields, provider });
  const cases = [
    [wrongType(null, "tools.0.name", "a valid string"), "tools.0.name: Field required"],
    [wrongType(1, "system", "a valid list"), "system: Input should be a valid list"],
    [notAmong("a.b", ["c", "d", "e"]), "a.b: Input should be 'c', 'd' or 'e'"],
    [unsupported("metadata"), "metadata: Extra inputs are not permitted"],
    [unsupported("tools[0].type", "Use another."), "tools.0.type: Use another."],
    [
      refuseUndeclared({ path: "output_config.format" }, "structured_outputs"),
      "output_config.format: If its upstream can, set providers.p.capabilities.structured_outputs.",
    ],
    [
      refuseUndeclared({ path: "output_config.effort" }, "reasoning_effort"),
      "This model does not support the effort parameter.",
    ],
  ] as const;
  for (const [{ failure }, words] of cases) assertEquals(refusalWords(failure), words);
});

Deno.test("a rule of a wire is a sentence about the path, behind the path", () => {
  const cases = [
    [missing("tools[0].name"), "tools.0.name: 'tools.0.name' is required."],
    [brokenRule("stop[1]", "must not be empty"), "stop.1: 'stop.1' must not be empty."],
    [
      refuse("unsupported_feature", { kind: "rule", before: "Omit ", rule: "here" }, "a[0]"),
      "a.0: Omit 'a.0' here.",
    ],
  ] as const;
  for (const [{ failure }, words] of cases) assertEquals(refusalWords(failure), words);
});

Deno.test("a text follows the path if its kind is about a field; any other is the whole message", () => {
  const cases = [
    [invalidValue("a[0].b", "It is wrong."), "a.0.b: It is wrong."],
    [refuse("invalid_value", "It is wrong."), "It is wrong."],
    [refuse("model_not_found", "No target has the model.", "model"), "No target has the model."],
    [
      refuse("invalid_json", "The request body is not valid UTF-8."),
      "The request body is not valid UTF-8.",
    ],
  ] as const;
  for (const [{ failure }, words] of cases) assertEquals(refusalWords(failure), words);
});
