import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf } from "./parse.ts";

const PROVIDERS = `
providers:
  up: {type: compat, base_url: "http://up"}
  claude: {type: messages, base_url: "http://claude"}
routing: {routes: [{name: main, targets: [{provider: up, model: taken}]}, {name: "model:x", targets: [{provider: up}]}]}
`;

function file(models: string): string {
  return `${PROVIDERS}models: ${models}`;
}

const TARGETS = "targets: [{provider: up, model: m}]";

Deno.test("a named model has the members of a route besides name and match, with their defaults", () => {
  const { models } = configOf(file(`{coder: {${TARGETS}}}`));
  assertEquals<unknown>(models.coder, {
    parameters: {},
    response_model: "served",
    omit_tools: [],
    hold_bytes: 1024 * 1024,
    targets: [{ provider: "up", model: "m", weight: 1, upstream_request_type: "chat_completions" }],
    fallback: [],
    fallback_on: ["outage", "context_length"],
  });
});

Deno.test("wrong names, targets and limits of named models are problems with their paths", () => {
  const cases = [
    [`{up/coder: {${TARGETS}}}`, "begins with the ID of a provider"],
    [`{__proto__: {${TARGETS}}}`, "is named __proto__, which is not allowed"],
    [`{-x: {${TARGETS}}}`, "must be 1 to 128 letters"],
    ["{coder: {targets: [{provider: up}]}}", "needs a model"],
    [`{coder: {${TARGETS}, fallback: [{provider: up}]}}`, "needs a model"],
    ["{coder: {targets: []}}", "must"],
    ["{coder: {targets: [{provider: uq, model: m}]}}", "is not a configured provider"],
    [
      "{coder: {targets: [{provider: claude, model: m, upstream_request_type: responses}]}}",
      "can be responses only at a provider of type compat",
    ],
    ["{coder: {targets: [{provider: up, model: m, weight: 0}]}}", "a weight above 0"],
    [`{coder: {${TARGETS}, context_size: 10, max_output: 11}}`, "must not be less than max_output"],
    [
      `{coder: {${TARGETS}, max_output: 10, parameters: {max_tokens: 11}}}`,
      "must not be more than max_output",
    ],
    [`{x: {${TARGETS}}}`, "is already the name of the route of a named model"],
    [`{coder: {${TARGETS}, match: {}}}`, "is not a known key"],
    [`{coder: {${TARGETS}, override: {}}}`, "is not a known key"],
    [`{coder: {${TARGETS}, parameters: {temperature: 3}}}`, "must be at most 2"],
    [`{coder: {${TARGETS}, response_model: other}}`, "must be"],
  ] as const;
  for (const [models, expected] of cases) {
    const problems = problemsOf(file(models));
    assertEquals([models, problems.length], [models, 1], problems.join("\n"));
    assertEquals([problems[0]?.includes(expected), expected], [true, expected], problems[0]);
  }
});

Deno.test("equal limits, names with slashes and patterns are permitted, and a target of a pattern needs no model", () => {
  const limits =
    `{coder: {${TARGETS}, context_size: 9, max_output: 9, parameters: {max_tokens: 9}}}`;
  assertEquals(problemsOf(file(limits)), []);
  const models = `{team/coder: {${TARGETS}}, "fast-*": {targets: [{provider: up}]}}`;
  assertEquals(problemsOf(file(models)), []);
});

Deno.test("there may be 200 named models", () => {
  const many = (count: number) =>
    file(`{${Array.from({ length: count }, (_, at) => `m${at}: {${TARGETS}}`).join(", ")}}`);
  assertEquals(problemsOf(many(200)), []);
  assertEquals(problemsOf(many(201)).map((one) => one.includes("at most 200 named models")), [
    true,
  ]);
});

Deno.test("a name that is also a model or a provider is a warning that says which wins", () => {
  const named = (name: string) => warningsOf(file(`{${name}: {${TARGETS}}}`)).join("\n");
  assertEquals(
    named("taken").includes("is also a model of a provider: the named model wins"),
    true,
  );
  assertEquals(
    named("claude").includes("is also the ID of a provider: the named model wins"),
    true,
  );
  assertEquals(named("coder").includes("the named model wins"), false);
  const repeated = warningsOf(file(`{coder: {${TARGETS}, fallback: [{provider: up, model: m}]}}`));
  assertEquals(repeated.some((line) => line.includes("is already a target of this route")), true);
});
