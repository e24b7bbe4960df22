import { assertEquals } from "../support/assert.ts";
import { warningsOf } from "./parse.ts";

function withRoute(route: string, more = ""): string {
  return `
providers:
  slow: {type: compat, base_url: "http://slow.test", timeout: 101s, first_content_timeout: 60s}
  fast: {type: compat, base_url: "http://fast.test", timeout: 100s, first_content_timeout: 60s}
routing: {routes: [{name: main, ${route}}]}
${more}
`;
}

const EARLY = "early_head: 20s, targets: [{provider: fast}], fallback: [";

Deno.test("an early head with a native target is named, because its streams get comments only", () => {
  const native = "{provider: fast, upstream_request_type: responses}";
  const [warning = "", ...others] = warningsOf(withRoute(`${EARLY}${native}]`));
  assertEquals(others, []);
  assertEquals(
    warning.startsWith("routing.routes[0].early_head: gives clients of Responses only comments"),
    true,
  );
  assertEquals(warningsOf(withRoute(`targets: [{provider: fast}], fallback: [${native}]`)), []);
});

Deno.test("timeouts of all attempts above 600 s are named where a head is sent early", () => {
  const both = `${EARLY}{provider: slow}]`;
  const [warning = ""] = warningsOf(withRoute(both));
  assertEquals(warning.includes("for up to 603s"), true);
  assertEquals(warningsOf(withRoute(`${EARLY}{provider: fast, model: m}]`)), []);
  assertEquals(warningsOf(withRoute(both, "retry: {max_attempts: 2}")), []);
  assertEquals(warningsOf(withRoute(both, "retry: {enabled: false}")), []);
  const drained = "early_head: 20s, targets: [{provider: fast}, {provider: slow, weight: 0}]";
  assertEquals(warningsOf(withRoute(drained)), []);
});

Deno.test("a named model whose early head cannot do what it is there for is named like a route", () => {
  const native = "fallback: [{provider: fast, model: m, upstream_request_type: responses}]";
  const model = `models: {x: {early_head: 20s, targets: [{provider: fast, model: m}], ${native}}}`;
  const [warning = "", ...others] = warningsOf(withRoute("targets: [{provider: fast}]", model));
  assertEquals([warning.startsWith("models.x.early_head: gives"), others], [true, []]);
});
