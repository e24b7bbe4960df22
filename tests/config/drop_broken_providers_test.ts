import { parseReload, type Reloaded } from "../../src/config/load.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

function file(providers: string, targets: string, more = ""): string {
  return `
providers: {${providers}}
routing:
  routes:
    - name: main
      targets: [${targets}]
${more}`;
}

const GOOD = "good: {type: compat, base_url: 'http://good'}";
const BAD = "bad: {type: compat, base_url: 'ftp://bad'}";
/** Left out, problems without their positions, and what the first route still has. */
function outcome(loaded: Reloaded) {
  const problems = loaded.problems.map((line) => line.replace(/ \(line.*/, ""));
  if (!loaded.ok) return { refused: problems };
  const { config, leftOut } = loaded;
  const [route] = config.routing.routes;
  const named = (items: readonly { readonly provider: string }[] = []) =>
    items.map(({ provider }) => provider);
  return {
    leftOut,
    problems,
    providers: Object.keys(config.providers),
    targets: named(route?.targets),
    fallback: named(route?.fallback),
  };
}

Deno.test("a broken provider is left out with its targets and fallbacks", () => {
  const text = file(
    `${GOOD}, ${BAD}`,
    "{provider: bad, weight: many}, {provider: good}",
    "      fallback: [{provider: bad}, {provider: good, model: m}]",
  );
  const result = outcome(parseReload(text, {}));
  assertEquals(result.problems?.length, 2);
  assertEquals({ ...result, problems: [] }, {
    leftOut: ["bad"],
    problems: [],
    providers: ["good"],
    targets: ["good"],
    fallback: ["good"],
  });
});

Deno.test("a problem of one provider leaves out that provider only", () => {
  for (
    const bad of [
      "bad: {type: nonsense}",
      "bad: {base_url: 'http://up'}",
      "bad:",
      "bad: 7",
      "bad: {type: compat, base_url: 'http://up', tiemout: 1s}",
      "bad: {type: compat, base_url: 'http://up', timeout: 1s, timeout: 2s}",
      "'b a d': {type: compat, base_url: 'http://up'}",
    ]
  ) {
    const id = bad.startsWith("'") ? "b a d" : "bad";
    const loaded = parseReload(file(`${GOOD}, ${bad}`, `{provider: ${id}}, {provider: good}`), {});
    assertEquals(loaded.ok && loaded.leftOut, [id], bad);
  }
});

Deno.test("a valid file keeps everything", () => {
  assertEquals(outcome(parseReload(file(GOOD, "{provider: good}"), {})), {
    leftOut: [],
    problems: [],
    providers: ["good"],
    targets: ["good"],
    fallback: [],
  });
});

Deno.test("a reload is refused when a route would lose its last target", () => {
  const onlyBad = outcome(parseReload(file(`${GOOD}, ${BAD}`, "{provider: bad}"), {}));
  assertEquals(onlyBad, {
    refused: [
      onlyBad.refused?.[0] ?? "",
      "routing.routes[0].targets: must not be empty once the broken providers are left out",
    ],
  });
  const drained = "{provider: bad}, {provider: good, weight: 0}";
  assertEquals(
    outcome(parseReload(file(`${GOOD}, ${BAD}`, drained), {})).refused?.at(-1),
    "routing.routes[0].targets: must contain at least one target with a weight above 0 " +
      "once the broken providers are left out",
  );
});

Deno.test("a reload is refused when no provider is left", () => {
  const { refused = [] } = outcome(parseReload(file(BAD, "{provider: bad}"), {}));
  const nothing =
    "providers: must contain at least one provider once the broken providers are left out";
  assert(refused.includes(nothing), refused.join("\n"));
});

Deno.test("a reload is refused for a problem outside the providers", () => {
  const elsewhere = file(`${GOOD}, ${BAD}`, "{provider: good}", "retry: {max_attempts: 0}");
  const { refused = [] } = outcome(parseReload(elsewhere, {}));
  assertEquals(refused.length, 2);
  assertEquals(refused[1], "retry.max_attempts: must be at least 1");
  assertMatch(refused[0] ?? "", /^providers\.bad\.base_url: /);
  const unknown = outcome(parseReload(file(`${GOOD}, ${BAD}`, "{provider: goood}"), {}));
  assertEquals(unknown.refused?.length, 2);
  assertEquals(outcome(parseReload("", {})).refused?.length, 1);
});

Deno.test("a broken provider is left out of the targets of named models", () => {
  const models = `models:
  coder:
    targets: [{provider: bad, model: m, weight: many}, {provider: good, model: m}]
    fallback: [{provider: bad, model: m}]
`;
  const loaded = parseReload(file(`${GOOD}, ${BAD}`, "{provider: good}", models), {});
  assert(loaded.ok, JSON.stringify(loaded));
  const { targets, fallback } = loaded.config.models.coder ?? {};
  assertEquals([targets?.map(({ provider }) => provider), fallback], [["good"], []]);
});
