import { hostAt, HOSTS, PROFILE_NAMES, profileOf } from "../../src/data/hosts.ts";
import { HOST_PROTOCOLS } from "../../src/simulator/hosts.ts";
import { configFile, ran } from "../cli/test_terminal.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";

Deno.test("each host has a date and a source, and each profile a host of the simulator", () => {
  for (const { asOf, sources } of Object.values(HOSTS)) {
    assert(/^2026-\d\d-\d\d$/.test(asOf) && sources.length > 0);
  }
  assertEquals(PROFILE_NAMES, [...HOST_PROTOCOLS.keys()]);
});

Deno.test("a host is known by its address, whatever the case and the path below", () => {
  for (const [name, host] of Object.entries(HOSTS)) {
    if (!("address" in host)) continue;
    const url = host.baseUrl.replaceAll("{region}", "eu-1").replace(/\{\w+\}/g, "own");
    assertEquals(hostAt(host.type, url)?.name, name);
    assertEquals(hostAt(host.type, `${url.toUpperCase()}/`)?.name, name);
  }
  assertEquals(hostAt("compat", "https://api.openai.com.example/v1"), null);
  assertEquals(hostAt("compat", "https://a.example/api.groq.com/"), null);
  assertEquals(hostAt("messages", "https://api.openai.com/v1"), null);
});

Deno.test("an unknown profile, and none, is the plain protocol", () => {
  for (const name of [undefined, "unknown", "azure", "constructor"]) {
    assertEquals(profileOf(name), {});
  }
});

Deno.test("the check suggests the profile of an address, and names the host of each target", async () => {
  const config = (more: string) => `
providers:
  g: {type: compat, base_url: "${HOSTS.gemini.baseUrl}"${more}}
routing: {routes: [{name: r, targets: [{provider: g, model: m}]}]}
`;
  using plain = await configFile(config(""));
  const { out } = await ran(["check", "--config", plain.path]);
  assertStringIncludes(out, "compatibility_profile: gemini bridges the differences");
  assertStringIncludes(out, "host: Google Gemini");
  using named = await configFile(config(", compatibility_profile: gemini"));
  const checked = await ran(["check", "--config", named.path]);
  assert(!checked.out.includes("Warning"), checked.out);
  assertStringIncludes(
    checked.out,
    "profile: Google Gemini, the endpoint for OpenAI clients, as of 2026-11-23.",
  );
});
