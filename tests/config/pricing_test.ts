import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

Deno.test("prices are keyed by provider and model, and the model may contain slashes", () => {
  const config = configOf(withSection(
    "pricing:",
    "  openai/gpt-4o: {input: 2.5, output: '10', cached_input: 0}",
    "  openai/org/model: {input: 0, output: 0, cache_write: 1}",
    "  openai/dall-e-3: {per_image: 0.04}",
    "  openai/media: {input: 1, output: 2, per_minute: '0.006', per_million_characters: 15}",
  ));
  assertEquals<unknown>(config.pricing, {
    "openai/gpt-4o": { input: 2.5, output: 10, cached_input: 0 },
    "openai/org/model": { input: 0, output: 0, cache_write: 1 },
    "openai/dall-e-3": { per_image: 0.04 },
    "openai/media": { input: 1, output: 2, per_minute: 0.006, per_million_characters: 15 },
  });
});

Deno.test("problems of prices and telemetry are reported with line and column", () => {
  const cases: Record<string, string> = {
    "pricing: {gpt-4o: {input: 1, output: 1}}":
      "pricing.(key): must be <provider>/<model> (line 1, column 11)",
    "pricing: {openai/: {input: 1, output: 1}}":
      "pricing.(key): must be <provider>/<model> (line 1, column 11)",
    "pricing: {openai/m: {input: 1}}": "pricing.(key).output: is required (line 1, column 11)",
    "pricing: {openai/m: {output: 1, per_image: 1}}":
      "pricing.(key).input: is required (line 1, column 11)",
    "pricing: {openai/m: {per_minute: -1}}":
      "pricing.(key).per_minute: must be at least 0 (line 1, column 34)",
    "pricing: {openai/m: {input: -1, output: 1}}":
      "pricing.(key).input: must be at least 0 (line 1, column 29)",
    "pricing: {openai/m: {input: 1, output: 1, cached: 1}}":
      "pricing.(key).cached: is not a known key (line 1, column 43)",
    "pricing: 1": "pricing: must be a mapping (line 1, column 10)",
    "telemetry: {service_name: ' '}":
      "telemetry.service_name: must not be blank (line 1, column 27)",
    "telemetry: {service: a}": "telemetry.service: is not a known key (line 1, column 13)",
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line)), [problem], line);
  }
});

Deno.test("a price of a provider that is not configured is a warning", () => {
  const priced = (id: string) => `pricing: {${id}/m: {input: 1, output: 1}}`;
  assertEquals(warningsOf(withSection(priced("openai"))), []);
  assertEquals(warningsOf(withSection(priced("openal"))), [
    'pricing.(key): is the price of a provider that is not configured; did you mean "openai"? (line 1, column 11)',
  ]);
  assertEquals(warningsOf(withSection(priced("other"))), [
    "pricing.(key): is the price of a provider that is not configured (line 1, column 11)",
  ]);
});
