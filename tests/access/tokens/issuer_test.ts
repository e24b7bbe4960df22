import { isName, type Issuer, labelsOf, type Template } from "../../../src/access/tokens/issuer.ts";
import type { JsonValue } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a name of a client has no half of a character, which would be another one in a store", () => {
  const names = ["ada", "\u{1f600}", "\ud83d", "a\udc00b"];
  assertEquals(names.map(isName), [true, true, false, false]);
});

Deno.test("a label is the text of its claim, or the first of its list; another value leaves that of the template", () => {
  const labels = new Map([["team", "blue"]]);
  const template = { labels } as unknown as Template;
  const issuer = { labels: [["team", "org.team"]] } as unknown as Issuer;
  const team = (value: JsonValue) =>
    labelsOf(issuer, template, { org: { team: value } }).get("team");
  assertEquals(["red", ["red", "green"], "x".repeat(100)].map(team), [
    "red",
    "red",
    "x".repeat(100),
  ]);
  const others: readonly JsonValue[] = [
    "x".repeat(101),
    "",
    "a\nb",
    7,
    true,
    null,
    [],
    [7, "red"],
    [["red"]],
    {},
  ];
  assertEquals(new Set(others.map(team)), new Set(["blue"]));
  assertEquals(labels.get("team"), "blue");
});
