import { parseConfig } from "../../src/config/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { oneProvider } from "../support/gateway.ts";

Deno.test("providers that the file does not have are named by their path", () => {
  const text = `${
    oneProvider("https://up.example/v1")
  }telemetry: {propagate: [up, upp], provider_names: {other-one: openai}}\n`;
  const parsed = parseConfig(text, {});
  assert(parsed.ok);
  const told = parsed.warnings.filter((line) => line.includes("telemetry"));
  assertEquals(told.length, 2);
  assert(
    told[0]?.includes(
      "telemetry.propagate[1]: names a provider that does not exist; did you mean up?",
    ),
  );
  assert(
    told[1]?.includes("telemetry.provider_names.other-one: names a provider that does not exist"),
  );
});
