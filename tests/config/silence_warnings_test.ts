import { assertEquals } from "../support/assert.ts";
import { warningsOf } from "./parse.ts";

const TARGETS = "targets: [{provider: openai}]";
const FALLBACK = "fallback: [{provider: anthropic, model: m}]";
const LIMIT = "first_content_timeout: 20s";

function withRoutes(...routes: readonly string[]): string {
  return `
providers: {openai: {}, anthropic: {}}
routing: {routes: [${routes.join(", ")}]}
`;
}

const SILENT =
  ".fallback: is not tried while the stream of a target has no content: set first_content_timeout of its provider above what gateway_time_to_first_token_seconds shows";

function warnings(text: string): readonly string[] {
  return warningsOf(text).map((line) => line.replace(/ \(line.*/, ""));
}

Deno.test("fallbacks without a limit to the first content of any target are a warning", () => {
  const route = `{name: a, ${TARGETS}, ${FALLBACK}}`;
  assertEquals(warnings(withRoutes(route)), [`routing.routes[0]${SILENT}`]);
  const target = `targets: [{provider: openai, ${LIMIT}}]`;
  assertEquals(warnings(withRoutes(`{name: a, ${target}, ${FALLBACK}}`)), []);
  assertEquals(warnings(withRoutes(route).replace("openai: {", `openai: {${LIMIT}`)), []);
});

Deno.test("all routes and named models whose fallbacks have no limit are in one warning at the first one", () => {
  const limited =
    `{name: b, match: {models: [b]}, targets: [{provider: openai, ${LIMIT}}], ${FALLBACK}}`;
  const [a, c] = ["a", "c"].map((name) =>
    `{name: ${name}, match: {models: [${name}]}, ${TARGETS}, ${FALLBACK}}`
  );
  const model = `named: {targets: [{provider: openai, model: m}], ${FALLBACK}}`;
  const file = `${withRoutes(a ?? "", limited, c ?? "")}models: {${model}}`;
  assertEquals(warnings(file), [
    `routing.routes[0]${SILENT}; likewise the fallbacks of c and named`,
  ]);
  const alone = `${withRoutes(`{name: a, ${TARGETS}}`)}models: {${model}}`;
  assertEquals(warnings(alone), [`models.named${SILENT}`]);
});
