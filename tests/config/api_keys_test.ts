import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withProvider } from "./parse.ts";

function keysIn(text: string, variables: Record<string, string> = {}) {
  return configOf(text, variables).providers["openai"]?.api_keys;
}

function problemsOfKeys(...lines: readonly string[]): readonly string[] {
  return problemsOf(withProvider("openai", ...lines))
    .map((line) => line.replace("providers.openai.", "").replace(/ \(line .*/, ""));
}

Deno.test("a lone api_key is a list with one key called default, and no key is an empty list", () => {
  const lone = [{ name: "default", value: "k", weight: 1 }];
  assertEquals(keysIn(withProvider("openai", "api_key: k")), lone);
  assertEquals(keysIn(withProvider("openai", "api_keys: [{name: default, value: k}]")), lone);
  assertEquals([
    keysIn(withProvider("openai", "api_key: ''")),
    keysIn(
      "providers: {openai: {}}\nrouting: {routes: [{name: r, targets: [{provider: openai}]}]}",
    ),
  ], [
    [],
    [],
  ]);
});

Deno.test("keys have weight 1, serve all models and rest for a minute unless the file says otherwise", () => {
  const keys =
    '[{name: a.B_c-1, value: "${KEY}"}, {name: b, value: 7, weight: 3, models: ["gpt-*"]}]';
  const text = withProvider("openai", `api_keys: ${keys}`);
  assertEquals(keysIn(text, { KEY: "sk-1" }), [
    { name: "a.B_c-1", value: "sk-1", weight: 1 },
    { name: "b", value: "7", weight: 3, models: ["gpt-*"] },
  ]);
  assertEquals(configOf(text, { KEY: "sk-1" }).providers["openai"]?.key_rest, 60_000);
  const longer = withProvider("openai", `api_keys: ${keys}`, "key_rest: 5m");
  assertEquals(configOf(longer, { KEY: "sk-1" }).providers["openai"]?.key_rest, 300_000);
  assertEquals(warningsOf(longer, { KEY: "sk-1" }), []);
});

Deno.test("api_key together with api_keys, and an empty list, are refused", () => {
  assertEquals(problemsOfKeys("api_key: k", "api_keys: [{name: a, value: x}]"), [
    "api_key: cannot be set together with api_keys; remove one of the two",
  ]);
  assertEquals(problemsOfKeys("api_keys: []"), ["api_keys: must not be empty"]);
});

Deno.test("names and values of keys are unique within a provider, and problems show no value", () => {
  assertEquals(
    problemsOfKeys(
      "api_keys: [{name: a, value: sk-one}, {name: a, value: sk-two}, {name: b, value: sk-one}]",
    ),
    [
      "api_keys[1].name: is already the name of an earlier key",
      "api_keys[2].value: is already the value of an earlier key",
    ],
  );
  const two = "providers: {openai: {api_keys: [{name: a, value: k}]}, anthropic: {api_keys: " +
    "[{name: a, value: k}]}}\nrouting: {routes: [{name: r, targets: [{provider: openai}]}]}";
  assertEquals(problemsOf(two), []);
});

Deno.test("wrong names, values, weights, models and rests of keys are refused", () => {
  const name = "must be a name of letters, digits, dots, underscores and hyphens";
  const value = "must be one line of printable ASCII characters that is not empty";
  const cases: readonly (readonly [string, string])[] = [
    ["api_keys: [{name: 'a b', value: k}]", `api_keys[0].name: ${name}`],
    ["api_keys: [{name: '', value: k}]", `api_keys[0].name: ${name}`],
    ["api_keys: [{value: k}]", "api_keys[0].name: is required"],
    ["api_keys: [{name: a}]", "api_keys[0]: needs value or credential, one of both"],
    ["api_keys: [{name: a, value: ''}]", `api_keys[0].value: ${value}`],
    ["api_keys: [{name: a, value: k, weight: -1}]", "api_keys[0].weight: must be at least 0"],
    ["api_keys: [{name: a, value: k, models: []}]", "api_keys[0].models: must not be empty"],
    ["api_keys: [{name: a, value: k, other: 1}]", "api_keys[0].other: is not a known key"],
    [
      "api_keys: [{name: a, value: k, weight: 0}]",
      "api_keys: must contain at least one key with a weight above 0",
    ],
    ["key_rest: 0s", "key_rest: must be longer than 0s"],
  ];
  for (const [line, problem] of cases) {
    assertEquals(problemsOfKeys(line).map((text) => text.split(";")[0]), [problem], line);
  }
});

Deno.test("a variable of a key that is not set is named as the reason", () => {
  const text = withProvider("openai", 'api_keys: [{name: a, value: "${MISSING}"}]');
  const problems = problemsOf(text).join("\n");
  assertEquals(problems.includes("the variable MISSING is not set"), true, problems);
});

Deno.test("key_rest without several keys has a warning", () => {
  for (const keys of ["api_key: k", "api_keys: [{name: a, value: k}]"]) {
    assertEquals(
      warningsOf(withProvider("openai", keys, "key_rest: 5m"))
        .map((line) => line.replace(/ \(line .*/, "")),
      ["providers.openai.key_rest: has no effect: api_keys does not have several keys"],
    );
  }
});

Deno.test("key_affinity needs a list of keys, and breakpoints a provider of type messages", () => {
  assertEquals(problemsOfKeys("api_key: k", "key_affinity: session"), [
    "key_affinity: needs the keys of api_keys, among which it chooses",
  ]);
  assertEquals(problemsOfKeys("cache_breakpoints: auto"), [
    "cache_breakpoints: needs type messages; the type of this provider is compat",
  ]);
  const valid = [
    ["openai", "api_keys: [{name: a, value: k}]", "key_affinity: session"],
    ["openai", "key_affinity: none", "cache_breakpoints: none"],
    ["anthropic", "cache_breakpoints: auto"],
  ] as const;
  for (const [id, ...lines] of valid) assertEquals(problemsOf(withProvider(id, ...lines)), []);
});
