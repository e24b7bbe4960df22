import { reasonOf } from "../../../src/store/valkey/problems.ts";
import { assertEquals } from "../../support/assert.ts";

class ReplyError extends Error {
  override name = "ReplyError";
}

Deno.test("an error of the server has a reason in our own words", () => {
  const reasons = [
    ["WRONGPASS invalid username-password pair", "it refuses the user name or password"],
    ["OOM command not allowed when used memory > 'maxmemory'", "its memory is full (maxmemory)"],
    [
      "READONLY You can't write against a read only replica",
      "it is a replica, which accepts no writes",
    ],
    ["LOADING the dataset", "it is loading its data"],
    ["ERR something of the secret", "it has sent an unknown error"],
  ] as const;
  for (const [text, reason] of reasons) assertEquals(reasonOf(new ReplyError(text)), reason);
});

Deno.test("an error of a connection has a reason without its text", () => {
  const named = Object.assign(new Error("getaddrinfo ENOTFOUND secret.example.com"), {
    code: "ENOTFOUND",
  });
  assertEquals(reasonOf(named), "its host name cannot be resolved");
  assertEquals(
    reasonOf(new Error("invalid peer certificate: UnknownIssuer")),
    "its certificate is not trusted or is for another name",
  );
});

Deno.test("an error that only follows from another one has no reason", () => {
  assertEquals(reasonOf(new Error("Reached the max retries per request limit")), null);
  assertEquals(reasonOf(undefined), null);
});
