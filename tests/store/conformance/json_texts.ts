import fc from "fast-check";

/** Texts of JSON objects with numbers that a conversion to doubles would change. */
export const exactObject: fc.Arbitrary<string> = fc.oneof(
  fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }).map((value) => JSON.stringify({ value })),
  fc.constantFrom(
    '{"n":12345678901234567890123,"f":1.0,"e":1e400,"z":-0}',
    '{"__proto__":{"a":1},"":"\\u0000\\ud800","é":"😀"}',
  ),
);
