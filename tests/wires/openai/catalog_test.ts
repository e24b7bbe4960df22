import { assertEquals } from "../../support/assert.ts";
import { decodeModels } from "../../../src/wires/openai/catalog.ts";

Deno.test("models are listed by ID, each once, without entries that have no ID", () => {
  const data = [{ id: "b", object: "model" }, { id: "a" }, { id: "b" }, { id: "" }, {}, null, "c"];
  for (const body of [{ object: "list", data }, data]) {
    assertEquals(decodeModels(JSON.stringify(body)), { ok: true, value: ["b", "a"] });
  }
});

Deno.test("a body that is not a model list is a failure", () => {
  for (const text of ["", "{}", "null", '{"data":null}', '{"data":{}}', "<html>"]) {
    const result = decodeModels(text);
    assertEquals(result.ok ? null : result.failure.kind, "invalid_upstream_response");
  }
});
