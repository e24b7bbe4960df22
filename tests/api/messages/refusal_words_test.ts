import { dottedPath, refusalWords } from "../../../src/api/messages/refusal_words.ts";
import type { RefusalKind } from "../../../src/core/failure.ts";
import {
  missing,
  undeclared,
  unsupported,
  wrongType,
} from "../../../src/wires/chat_request/refusals.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a path has dots in place of brackets", () => {
  assertEquals(
    dottedPath("messages[1].content[20].source.type"),
    "messages.1.content.20.source.type",
  );
  assertEquals(dottedPath("model"), "model");
});

Deno.test("a refusal of shared code has the words of the Messages API", () => {
  const cases = [
    [missing("tools[0].name"), "tools.0.name: Field required"],
    [
      wrongType("messages[0].content", "a text or a list"),
      "messages.0.content: Input should be a text or a list",
    ],
    [unsupported("metadata"), "metadata: Extra inputs are not permitted"],
    [
      undeclared("output_config.format", { id: "p" }, "structured_outputs"),
      "output_config.format: The provider cannot honour 'output_config.format'. " +
      "If its upstream can, set providers.p.capabilities.structured_outputs.",
    ],
  ] as const;
  for (const [{ failure }, words] of cases) assertEquals(refusalWords(failure), words);
});

Deno.test("a message that begins with its path, or has no path, stays as it is", () => {
  const cases: readonly [RefusalKind, string, string | null][] = [
    [
      "unsupported_feature",
      "messages.1.output_config: Extra inputs are not permitted",
      "messages.1.output_config",
    ],
    [
      "unsupported_feature",
      "This model does not support the effort parameter.",
      "output_config.effort",
    ],
    ["missing_required_parameter", "max_tokens: Field required", "max_tokens"],
    ["model_not_found", "The route 'main' has no target with the requested model.", "model"],
    ["invalid_json", "The request body is not valid UTF-8.", null],
  ];
  for (const [kind, message, param] of cases) {
    assertEquals(refusalWords({ kind, message, param }), message);
  }
});

Deno.test("any other message about a field has the path in front", () => {
  assertEquals(
    refusalWords({ kind: "invalid_value", message: "It is wrong.", param: "a[0].b" }),
    "a.0.b: It is wrong.",
  );
  assertEquals(
    refusalWords({
      kind: "invalid_value",
      message: "Shorten 'a[0].b' to 9 characters.",
      param: "a[0].b",
    }),
    "a.0.b: Shorten 'a.0.b' to 9 characters.",
  );
});
