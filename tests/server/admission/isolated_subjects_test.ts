import { assertEquals } from "../../support/assert.ts";
import { newSigningKey, tokenGateway, tokenSecurity } from "../../support/token_issuer.ts";

const KEY = await newSigningKey("k1");

const SECURITY = tokenSecurity({}, {
  api_key: {
    keys: [{ name: "nightly", value: "key-of-nightly", end_users: { header: "X-User" } }],
  },
});

Deno.test("no client with a token, no key and no end user sees an object of another one", async () => {
  const { app } = await tokenGateway(SECURITY, [KEY]);
  const callers: Readonly<Record<string, Record<string, string>>> = {
    "token of ada": { authorization: `Bearer ${await KEY.sign()}` },
    "token of bob": { authorization: `Bearer ${await KEY.sign({ sub: "bob" })}` },
    "key without a user": { authorization: "Bearer key-of-nightly" },
    "end user ada": { authorization: "Bearer key-of-nightly", "x-user": "ada" },
    "end user bob": { authorization: "Bearer key-of-nightly", "x-user": "bob" },
    "end user with the name of a token": {
      authorization: "Bearer key-of-nightly",
      "x-user": "corp/ada",
    },
  };
  const call = async (caller: string, method: string, path: string, body?: object) => {
    const request = new Request(`http://localhost/v1/conversations${path}`, {
      method,
      headers: { host: "localhost", ...callers[caller] },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return await app(request);
  };
  const ids = new Map<string, string>();
  for (const caller of Object.keys(callers)) {
    ids.set(caller, (await (await call(caller, "POST", "", {})).json()).id);
  }
  for (const [owner, id] of ids) {
    for (const caller of ids.keys()) {
      const expected = caller === owner ? 200 : 404;
      const name = `${caller} at the object of ${owner}`;
      assertEquals((await call(caller, "GET", `/${id}`)).status, expected, name);
      const items = await call(caller, "GET", `/${id}/items`);
      assertEquals(items.status, expected, name);
    }
  }
  for (const [owner, id] of ids) {
    for (const caller of ids.keys()) {
      if (caller !== owner) assertEquals((await call(caller, "DELETE", `/${id}`)).status, 404);
    }
    assertEquals((await call(owner, "DELETE", `/${id}`)).status, 200);
  }
});

Deno.test("a new token of the same subject sees the objects of the earlier one", async () => {
  const { app } = await tokenGateway(SECURITY, [KEY]);
  const call = async (jti: string, method: string, path = "") =>
    await app(
      new Request(`http://localhost/v1/conversations${path}`, {
        method,
        headers: { host: "localhost", authorization: `Bearer ${await KEY.sign({ jti })}` },
        body: method === "POST" ? "{}" : null,
      }),
    );
  const { id } = await (await call("1", "POST")).json();
  assertEquals((await call("2", "GET", `/${id}`)).status, 200);
});
