import { jsonChanges } from "../../src/replay/json_changes.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a change at many messages is one path, and hides none that is after it", () => {
  const request = (content: string, tool: string) => ({
    messages: Array.from({ length: 60 }, () => ({ role: "user", content })),
    tools: [{ name: tool }],
  });
  assertEquals(jsonChanges(request("a", "x"), request("b", "y")), [
    { path: "messages[].content", before: "a", after: "b" },
    { path: "tools[].name", before: "x", after: "y" },
  ]);
});

Deno.test("of more than 50 paths the further ones are that of the whole value", () => {
  const members = (value: number) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`m${at}`, value]));
  const paths = jsonChanges(members(1), members(2)).map(({ path }) => path);
  assertEquals([paths.length, paths.at(0), paths.at(49), paths.at(50)], [51, "m0", "m49", "$"]);
});
