import { assertEquals } from "../../support/assert.ts";
import { decodeTags } from "../../../src/wires/local/catalog.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";

Deno.test("models are listed by name with their tag, each once, without entries that have no name", () => {
  const models = [
    { name: "b:latest", model: "other" },
    { model: "a:7b" },
    { name: "", model: "c" },
    { name: "b:latest" },
    { digest: "d" },
    null,
  ];
  assertEquals(valueOf(decodeTags(JSON.stringify({ models }))), ["b:latest", "a:7b", "c"]);
});

Deno.test("the model list of an empty server is empty", () => {
  for (const text of ["{}", '{"models":null}', '{"models":[]}']) {
    assertEquals(valueOf(decodeTags(text)), []);
  }
});

Deno.test("a body that is not a model list is a failure", () => {
  for (const text of ["", "[]", "Ollama is running", '{"models":{}}']) {
    assertFailed(decodeTags(text), "invalid_upstream_response");
  }
});
