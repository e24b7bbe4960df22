import { assert, assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

const MARKER = "sk-7f3a9c1e5b2d8064";
const GENERAL = "general: {api_key: k, backend_url: https://board.example}";

Deno.test("the switches of data_sharing decide what the dashboard receives", () => {
  const line =
    "data_sharing: {enabled: true, share_prompts: '${ON}', gateway_lat: -33.5, gateway_lon: 180}";
  const config = configOf(withSection(GENERAL, line), { ON: "true" });
  assertEquals<unknown>(config.general, { api_key: "k", backend_url: "https://board.example" });
  assertEquals<unknown>(config.data_sharing, {
    enabled: true,
    share_prompts: true,
    share_responses: false,
    remote_control: false,
    gateway_lat: -33.5,
    gateway_lon: 180,
  });
});

Deno.test("problems in general, data_sharing and update_check are reported with line and column", () => {
  const cases: Record<string, string> = {
    "general: {backend_url: board.example}":
      "general.backend_url: must be an absolute URL that begins with http:// or https:// (line 1, column 24)",
    "general: {backend_url: 'wss://board.example'}":
      "general.backend_url: must be an absolute URL that begins with http:// or https:// (line 1, column 24)",
    "general: {backend_url: 'https://board.example/?a=b'}":
      "general.backend_url: must not contain a query or a fragment (line 1, column 24)",
    [`general: {backend_url: 'https://${MARKER}@board.example'}`]:
      "general.backend_url: must not contain a user name or a password (line 1, column 24)",
    [`general: {api_key: ' ${MARKER}'}`]:
      "general.api_key: must be one line of printable ASCII characters without blanks around it (line 1, column 20)",
    "general: {apikey: k}":
      'general.apikey: is not a known key; did you mean "api_key"? (line 1, column 11)',
    "data_sharing: {enabled: perhaps}":
      "data_sharing.enabled: must be true or false (line 1, column 25)",
    "data_sharing: {enabled: true}":
      "data_sharing.enabled: requires general.api_key and general.backend_url (line 1, column 25)",
    "data_sharing: {remote_control: true}":
      "data_sharing.remote_control: requires data_sharing.enabled: true (line 1, column 32)",
    "data_sharing: {gateway_lat: 90.5}":
      "data_sharing.gateway_lat: must be at most 90 (line 1, column 29)",
    "data_sharing: {gateway_lon: -181}":
      "data_sharing.gateway_lon: must be at least -180 (line 1, column 29)",
    "data_sharing: {gateway_lat: north}":
      "data_sharing.gateway_lat: must be a number (line 1, column 29)",
    "update_check: {interval: 24}":
      "update_check.interval: must be a duration with a unit, such as 30s (line 1, column 26)",
    "update_check: {interval: 0s}":
      "update_check.interval: must be longer than 0s (line 1, column 26)",
    "update_check: {timeout: 0s}":
      "update_check.timeout: must be longer than 0s (line 1, column 25)",
    "update_check: {endpoint: releases}":
      "update_check.endpoint: must be an absolute URL that begins with http:// or https:// (line 1, column 26)",
    "update_check: {enable: false}":
      'update_check.enable: is not a known key; did you mean "enabled"? (line 1, column 16)',
  };
  for (const [line, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withSection(line)), [problem], line);
  }
});

Deno.test("data sharing without address or key names the missing one", () => {
  const on = "data_sharing: {enabled: true}";
  assertEquals(problemsOf(withSection("general: {api_key: k}", on)), [
    "data_sharing.enabled: requires general.backend_url (line 2, column 25)",
  ]);
  assertEquals(problemsOf(withSection("general: {backend_url: https://board.example}", on)), [
    "data_sharing.enabled: requires general.api_key (line 2, column 25)",
  ]);
  assertEquals(problemsOf(withSection(GENERAL, on)), []);
});

Deno.test("a key or an address whose variable is not set is an error while sharing is on", () => {
  const general = 'general: {api_key: "${KEY}", backend_url: "${BOARD}"}';
  assertEquals(problemsOf(withSection(general, "data_sharing: {enabled: true}")), [
    "general.api_key: must not be blank while data_sharing.enabled is true (line 1, column 20)",
    "general.api_key: the variable KEY is not set, so it is replaced by empty text (line 1, column 20)",
    "general.backend_url: must not be blank while data_sharing.enabled is true (line 1, column 43)",
    "general.backend_url: the variable BOARD is not set, so it is replaced by empty text (line 1, column 43)",
  ]);
  assertEquals(problemsOf(withSection(general)), []);
});

Deno.test("a switch without effect and an open connection to the dashboard are warnings", () => {
  assertEquals(warningsOf(withSection("data_sharing: {share_prompts: true}")), [
    "data_sharing.share_prompts: has no effect while data_sharing.enabled is false (line 1, column 31)",
  ]);
  const on = "data_sharing: {enabled: true}";
  const at = (url: string) => withSection(`general: {api_key: k, backend_url: "${url}"}`, on);
  assertEquals(warningsOf(at("http://board.example")), [
    "general.backend_url: is not encrypted: the key and the shared data can be read on the network; use https (line 1, column 36)",
  ]);
  for (const url of ["HTTP://board.example", " http://board.example"]) {
    assertEquals(warningsOf(at(url)).length, 1, url);
  }
  for (const url of ["https://board.example", "http://127.0.0.1:4000", "http://[::1]:4000/x"]) {
    assertEquals(warningsOf(at(url)), [], url);
  }
});

Deno.test("no key and no address of these sections is ever shown", () => {
  const lines = [
    `general: {api_key: {${MARKER}: 1}}`,
    `general: {backend_url: "${MARKER}"}`,
    `general: {backend_url: "https://u:${MARKER}@board.example"}`,
    `general: ${MARKER}`,
    `data_sharing: {enabled: ${MARKER}}`,
    `data_sharing: [${MARKER}]`,
    `update_check: {endpoint: "${MARKER}"}`,
    `update_check: {timeout: ${MARKER}}`,
  ];
  for (const line of lines) {
    const problems = problemsOf(withSection(line)).join("\n");
    assert(problems !== "" && !problems.includes(MARKER), `${line}\n${problems}`);
  }
});
