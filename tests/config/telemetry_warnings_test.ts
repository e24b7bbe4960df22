import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";

Deno.test("providers that the file does not have are named by their path", () => {
  const text = `${
    oneProvider("https://up.example/v1")
  }telemetry: {propagate: [up, upp], provider_names: {other-one: openai}}\n`;
  const parsed = parseConfig(text, {});
  assert(parsed.ok);
  const warned = parsed.warnings.filter((line) => line.includes("telemetry"));
  assertEquals(warned.length, 2);
  assert(
    warned[0]?.includes(
      "telemetry.propagate[1]: names a provider that does not exist; did you mean up?",
    ),
  );
  assert(
    warned[1]?.includes("telemetry.provider_names.other-one: names a provider that does not exist"),
  );
});
