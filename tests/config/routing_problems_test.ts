import { assertEquals } from "../support/assert.ts";
import { problemsOf, warningsOf } from "./parse.ts";

/** A file with two providers and these routes. */
function withRoutes(...routes: readonly string[]): string {
  const items = routes.map((route) => `    - ${route}\n`).join("");
  return `providers: {openai: {}, anthropic: {}}\nrouting:\n  routes:\n${items}`;
}

const TARGETS = "targets: [{provider: openai}]";

Deno.test("a file without routes is refused", () => {
  assertEquals(problemsOf("providers: {openai: {}}\n"), [
    "routing: is required (line 1, column 1)",
  ]);
  assertEquals(problemsOf("providers: {openai: {}}\nrouting: {}\n"), [
    "routing.routes: is required (line 2, column 1)",
  ]);
  assertEquals(problemsOf("providers: {openai: {}}\nrouting: {routes: []}\n"), [
    "routing.routes: must not be empty (line 2, column 19)",
  ]);
});

Deno.test("problems of a route are reported with line and column", () => {
  const cases: Record<string, string> = {
    [`{${TARGETS}}`]: "name: is required (line 4, column 7)",
    [`{name: ' ', ${TARGETS}}`]: "name: must not be blank (line 4, column 14)",
    "{name: a}": "targets: is required (line 4, column 7)",
    "{name: a, targets: []}": "targets: must not be empty (line 4, column 26)",
    "{name: a, targets: [{}]}": "targets[0].provider: is required (line 4, column 27)",
    "{name: a, targets: [{provider: openal}]}":
      'targets[0].provider: is not a configured provider; did you mean "openai"? (line 4, column 38)',
    "{name: a, targets: [{provider: openai, model: ''}]}":
      "targets[0].model: must not be blank (line 4, column 53)",
    "{name: a, targets: [{provider: openai, weight: -1}]}":
      "targets[0].weight: must be at least 0 (line 4, column 54)",
    "{name: a, targets: [{provider: openai, weight: 1.5}]}":
      "targets[0].weight: must be a whole number (line 4, column 54)",
    "{name: a, targets: [{provider: openai, weight: 0}]}":
      "targets: must contain at least one target with a weight above 0 (line 4, column 26)",
    "{name: a, omit_tools: [function], targets: [{provider: openai}]}":
      "omit_tools[0]: must be the type of a hosted tool; tools that the client runs are never left out (line 4, column 30)",
    [`{name: a, early_head: 999ms, ${TARGETS}}`]:
      "early_head: must be at least 1000ms (line 4, column 29)",
    [`{name: a, early_head: off, ${TARGETS}}`]:
      "early_head: must be a duration made of h, m, s and ms in this order, such as 30s or 1h30m (line 4, column 29)",
    [`{name: a, hold: 0s, ${TARGETS}}`]: "hold: must be longer than 0s (line 4, column 23)",
    [`{name: a, hold: 1s, hold_bytes: 0, ${TARGETS}}`]:
      "hold_bytes: must be at least 1 (line 4, column 39)",
    [`{name: a, hold: 1s, hold_bytes: 67108865, ${TARGETS}}`]:
      "hold_bytes: must be at most 67108864 (line 4, column 39)",
    "{name: a, omit_tools: web_search, targets: [{provider: openai}]}":
      "omit_tools: must be a list (line 4, column 29)",
    [`{name: a, ${TARGETS}, fallback: [{provider: openai, weight: -1}]}`]:
      "fallback[0].weight: must be at least 0 (line 4, column 86)",
    [`{name: a, ${TARGETS}, fallback: [{provider: other}]}`]:
      "fallback[0].provider: is not a configured provider (line 4, column 70)",
    [`{name: a, ${TARGETS}, strategy: fastest}`]:
      "strategy: must be weighted, round-robin, random, least-pending, lowest-latency or sticky (line 4, column 58)",
    [`{name: a, ${TARGETS}, match: {path: v1}}`]:
      "match.path: must be *, or a path that begins with / and contains * only at its end (line 4, column 62)",
    [`{name: a, ${TARGETS}, match: {path: '/a*b'}}`]:
      "match.path: must be *, or a path that begins with / and contains * only at its end (line 4, column 62)",
    [`{name: a, ${TARGETS}, match: {models: []}}`]:
      "match.models: must not be empty (line 4, column 64)",
    [`{name: a, ${TARGETS}, match: {headers: {X-A: b, x-a: c}}}`]:
      "match.headers.x-a: is set twice; header names are not case-sensitive (line 4, column 74)",
  };
  for (const [route, problem] of Object.entries(cases)) {
    assertEquals(problemsOf(withRoutes(route)), [`routing.routes[0].${problem}`], route);
  }
});

Deno.test("two routes with one name are refused", () => {
  const other = "{name: a, targets: [{provider: anthropic}], match: {path: /x}}";
  assertEquals(problemsOf(withRoutes(other, `{name: a, ${TARGETS}}`)), [
    "routing.routes[1].name: is already the name of an earlier route (line 5, column 14)",
  ]);
});

Deno.test("a drained target next to another is allowed", () => {
  const targets = "[{provider: openai, weight: 0}, {provider: anthropic}]";
  assertEquals(warningsOf(withRoutes(`{name: a, targets: ${targets}}`)), []);
});

const SILENT =
  "routing.routes[0].fallback: is not tried while the stream of a target has no content: set first_content_timeout of its provider above what gateway_time_to_first_token_seconds shows (line 4, column 48)";

Deno.test("a fallback that repeats a target is a warning", () => {
  const fallback = "[{provider: openai, model: m}, {provider: openai}]";
  assertEquals(warningsOf(withRoutes(`{name: a, ${TARGETS}, fallback: ${fallback}}`)), [
    SILENT,
    "routing.routes[0].fallback[1]: is already a target of this route (line 4, column 89)",
  ]);
});

Deno.test("a weight in a fallback has no meaning, which is a warning", () => {
  const fallback = "[{provider: openai, model: m, weight: 3}]";
  assertEquals(warningsOf(withRoutes(`{name: a, ${TARGETS}, fallback: ${fallback}}`)), [
    SILENT,
    "routing.routes[0].fallback[0].weight: has no effect in a fallback: fallbacks are tried in order (line 4, column 88)",
  ]);
});

Deno.test("sizes, limits and reasons of a route are checked", () => {
  const cases: Record<string, string> = {
    "targets: [{provider: openai, context_size: 0}]": "targets[0].context_size: must be at least 1",
    "targets: [{provider: openai, first_content_timeout: 0s}]":
      "targets[0].first_content_timeout: must be longer than 0s",
    [`${TARGETS}, fallback: [{provider: openai, context_size: 1.5}]`]:
      "fallback[0].context_size: must be a whole number",
    [`${TARGETS}, fallback_on: [timeout]`]:
      "fallback_on[0]: must be outage, context_length or content_filter",
  };
  for (const [route, problem] of Object.entries(cases)) {
    const [found = "", ...others] = problemsOf(withRoutes(`{name: a, ${route}}`));
    assertEquals([found.replace(/ \(line.*/, ""), others], [`routing.routes[0].${problem}`, []]);
  }
});

Deno.test("a route behind one that takes all its requests is a warning", () => {
  const shadowed = (first: string, second: string) =>
    warningsOf(withRoutes(`{name: a, ${TARGETS}${first}}`, `{name: b, ${TARGETS}${second}}`));
  const warning =
    "routing.routes[1]: is only reached by name, because routing.routes[0] matches its requests first (line 5, column 7)";
  assertEquals(shadowed("", ""), [warning]);
  assertEquals(shadowed("", ", match: {models: [m]}"), [warning]);
  assertEquals(shadowed(", match: {path: /v1/*}", ", match: {path: /v1/chat}"), [warning]);
  assertEquals(shadowed(", match: {path: /v1/chat}", ", match: {path: /v1/*}"), []);
  assertEquals(shadowed(", match: {models: [m]}", ""), []);
  assertEquals(shadowed(", match: {headers: {X-A: b}}", ""), []);
});

Deno.test("a value that a synthetic match name never has is a warning", () => {
  function warned(header: string) {
    const match = `{headers: {${header}}}`;
    return warningsOf(withRoutes(`{name: a, match: ${match}, ${TARGETS}}`))
      .map((text) => text.replace(/ \(line.*/, ""));
  }
  const path = "routing.routes[0].match.headers";
  assertEquals(warned("X-Gateway-Request-Type: chat"), [
    `${path}.X-Gateway-Request-Type: never matches; the request types are chat_completions, responses, messages, embeddings, ` +
    "/v1/completions, /v1/moderations, /v1/rerank, /v1/images/generations, /v1/images/edits, " +
    "/v1/images/variations, /v1/audio/speech, /v1/audio/transcriptions and /v1/audio/translations",
  ]);
  assertEquals(warned("x-gateway-provider: nobody"), [
    `${path}.x-gateway-provider: never matches, because no provider has this ID`,
  ]);
  const right = "x-gateway-request-type: responses, x-gateway-provider: openai, x-gateway-model: z";
  assertEquals(warned(right), []);
});
