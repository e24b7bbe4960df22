import { parseDocument } from "../../src/formats/document.ts";
import { exactMember } from "../../src/prompt/exact_member.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { longParses } from "../support/long_parses.ts";
import { valueOf } from "../support/translated.ts";

Deno.test("a field is parsed again only for numbers that JavaScript would write differently", () => {
  const padding = "x".repeat(1_000);
  for (const [number, expected] of [["1.5", 0], ["1.0", 1]] as const) {
    const tools = `[{"a":${number},"b":"${padding}"}]`;
    const document = valueOf(parseDocument(`{"model":"m","tools":${tools}}`));
    using parses = longParses();
    assertEquals(JSON.stringify(exactMember(document, "tools")), tools);
    assertEquals([exactMember(document, "absent"), parses.count()], [null, expected]);
  }
});

Deno.test("a field is parsed once for all targets of a request", () => {
  const tools = `[{"a":1.0,"b":"${"x".repeat(1_000)}"}]`;
  const document = valueOf(parseDocument(`{"model":"m","tools":${tools}}`));
  using parses = longParses();
  const first = exactMember(document, "tools");
  assert(exactMember(document, "tools") === first);
  assertEquals(parses.count(), 1);
});
