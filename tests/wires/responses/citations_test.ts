import fc from "fast-check";
import type { Citation } from "../../../src/prompt/prompt.ts";
import { citedParts } from "../../../src/wires/responses/citations.ts";
import { assertEquals } from "../../support/assert.ts";

function citation(start: number): Citation {
  return { url: "http://a.test", title: "", start, end: start + 1 };
}

/** The same citation in a text of the Responses API. */
function annotation(start_index: number): unknown {
  const end_index = start_index + 1;
  return { type: "url_citation", url: "http://a.test", title: "", start_index, end_index };
}

const part = fc.oneof(
  fc.string({ maxLength: 3 }).map((text) => ({ type: "output_text", text })),
  fc.constant({ type: "refusal", refusal: "No." }),
);

Deno.test("each citation is in the text that contains its first character, in order", () => {
  const places = fc.array(fc.nat(12), { maxLength: 6 });
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), places, (parts, starts) => {
    const last = parts.findLastIndex(({ type }) => type === "output_text");
    let before = 0;
    const expected = parts.map((one, index) => {
      if (!("text" in one)) return one;
      const from = before;
      before += one.text.length;
      const annotations = starts
        .filter((at) => at >= from && (at < before || index === last))
        .map((at) => annotation(at - from));
      return { ...one, annotations };
    });
    assertEquals<unknown>(
      citedParts(parts, starts.map(citation)),
      last < 0 ? null : expected,
    );
  }));
});

Deno.test("100,000 citations are assigned to 100,000 parts", () => {
  const count = 100_000;
  const parts = Array.from({ length: count }, () => ({ type: "output_text", text: "a" }));
  const citations = Array.from({ length: count }, (_, at) => citation(at));
  const cited = citedParts(parts, citations) ?? [];
  const [first] = cited;
  assertEquals<unknown>(first?.annotations, [annotation(0)]);
  assertEquals(
    cited.every(({ annotations }) => Array.isArray(annotations) && annotations.length === 1),
    true,
  );
});
