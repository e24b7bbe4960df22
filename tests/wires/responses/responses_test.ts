import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import { assertEquals } from "../../support/assert.ts";
import { providerOf, senderOf } from "../../support/translated.ts";

Deno.test("address, headers, errors and models are those of the compat provider", () => {
  const sender = senderOf(
    providerOf(compat, { api_key: "k", organization: "o", headers: { "x-a": "b" } }),
  );
  const client = new Headers({ "compat-beta": "b", "idempotency-key": "i", cookie: "c" });
  assertEquals(responses.headers(sender, client), compat.headers(sender, client));
  assertEquals(responses.base("https://api.openai.com/v1/"), "https://api.openai.com/v1");
  assertEquals(responses.catalog, compat.catalog);
  const error = { message: "m", type: "t", param: "p", code: "c" };
  assertEquals(responses.error({ error }), error);
});

Deno.test("the protocol of the provider's type serves embeddings", () => {
  assertEquals(responses.embeddings, null);
});
