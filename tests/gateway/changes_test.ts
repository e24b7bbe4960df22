import { changesBetween } from "../../src/gateway/changes.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals } from "../support/assert.ts";

const BEFORE = `
providers:
  one: {type: compat, base_url: "http://one", api_key: secret-1}
  two: {type: compat, base_url: "http://two"}
routing:
  routes:
    - {name: first, match: {models: [m]}, targets: [{provider: one}]}
    - {name: last, targets: [{provider: one}]}
`;

function changes(after: string): string[] {
  return changesBetween(configOf(BEFORE), configOf(after));
}

Deno.test("an equal configuration has no changes, however it is written", () => {
  assertEquals(changes(`# a comment\n${BEFORE}\nretry: {max_attempts: 3}`), []);
});

Deno.test("changed providers and routes are listed by name, without their values", () => {
  const after = BEFORE.replace("secret-1", "secret-2").replace("  two:", "  three:")
    .replace("name: last", "name: rest").replace("models: [m]", "models: [n]");
  assertEquals(changes(after), [
    "providers: one changed, three added, two removed",
    "routes: first changed, rest added, last removed",
  ]);
});

Deno.test("changed named models are listed by name", () => {
  const models = (text: string) => `${BEFORE}\nmodels: ${text}`;
  const body = "{targets: [{provider: one, model: m}]}";
  const before = configOf(models(`{coder: ${body}, old: ${body}}`));
  const after = models(`{coder: {targets: [{provider: two, model: m}]}, new: ${body}}`);
  assertEquals(changesBetween(before, configOf(after)), [
    "models: coder changed, new added, old removed",
  ]);
});

Deno.test("the order of the routes and the usual strategy are changes of their own", () => {
  const [head = "", first = "", last = ""] = BEFORE.split(/^(?= {4}- )/m);
  assertEquals(changes(head + last + first), ["routes: other order"]);
  const strategy = BEFORE.replace("routing:", "routing:\n  default_strategy: random");
  assertEquals(changes(strategy), ["routing.default_strategy changed"]);
});

Deno.test("a change of any other section is listed by its name", () => {
  assertEquals(changes(`${BEFORE}\nretry: {enabled: false}\ncaching: {enabled: true}`), [
    "retry changed",
    "caching changed",
  ]);
});
