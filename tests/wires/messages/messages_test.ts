import { messages } from "../../../src/wires/messages/messages.ts";
import { assertEquals } from "../../support/assert.ts";
import { senderOf, type Written } from "../../support/translated.ts";
import { provider } from "./encoded_request.ts";

function headers(written: Written, client: Record<string, string> = {}) {
  return messages.headers(senderOf(provider(written)), new Headers(client));
}

Deno.test("a base URL may end with /v1 and slashes", () => {
  for (
    const url of ["https://a.test", "https://a.test/", "https://a.test/v1", "https://a.test//v1//"]
  ) {
    assertEquals(messages.base(url), "https://a.test");
  }
  assertEquals(messages.base("https://a.test/x/v1"), "https://a.test/x");
});

Deno.test("the key and the API version are sent", () => {
  assertEquals(headers({ api_key: "k" }), {
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
  });
  assertEquals(headers({ api_version: "2026-10-21" }), {
    "anthropic-version": "2026-10-21",
    "content-type": "application/json",
  });
});

Deno.test("only beta headers that are not empty are forwarded from the client", () => {
  const client = {
    authorization: "Bearer c",
    "x-api-key": "c",
    cookie: "c",
    "anthropic-beta": "c",
  };
  const sent = headers({ api_key: "k" }, { ...client, "Messages-Beta": "a, b" });
  assertEquals(sent, {
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "anthropic-beta": "a, b",
  });
  assertEquals("anthropic-beta" in headers({}, { "messages-beta": "" }), false);
});

Deno.test("the key overrides configured headers and is the only credential", () => {
  const fixed = { "X-Api-Key": "h", Authorization: "Bearer h", "X-Team": "t" };
  const sent = headers({ api_key: "k", headers: fixed });
  assertEquals(sent["x-api-key"], "k");
  assertEquals(sent["x-team"], "t");
  assertEquals("authorization" in sent, false);
  assertEquals(headers({ headers: fixed }).authorization, "Bearer h");
});
