import { authorNamePaths } from "../../../src/wires/chat_request/author_names.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("the names of authors are lost for every role that may have one, and empty names are not", () => {
  const roles = ["system", "developer", "user", "assistant", "tool", "function"];
  const messages = roles.map((role) => ({ role, content: "Hi", name: "ann" }));
  assertEquals(authorNamePaths(messages), [0, 1, 2, 3].map((at) => `messages[${at}].name`));
  const unnamed = ["", null].map((name) => ({ role: "user", content: "Hi", name }));
  assertEquals(authorNamePaths([...unnamed, "no message"]), []);
});
