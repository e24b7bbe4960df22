import { newAdminGuard } from "../../src/admin/guard.ts";
import { assertEquals } from "../support/assert.ts";

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const HOST = { host: "127.0.0.1:8081" };

/**
 * Status of the refusal of a request by a guard with these names of the machine; null if it may
 * pass.
 */
function verdict({ method = "GET", url = "http://127.0.0.1:8081/", headers = HOST }: Sent) {
  const guard = newAdminGuard({ hosts: ["Machine.example.", "gateway.example"], password: null });
  return guard({ method, url, headers: new Headers(headers) })?.status ?? null;
}

/** Status for a request with this credential. */
function withPassword(authorization: string | null) {
  const guard = newAdminGuard({ hosts: [], password: "right pässword" });
  const headers = new Headers({ ...HOST, ...authorization !== null && { authorization } });
  return guard({ method: "GET", url: "http://127.0.0.1:8081/", headers });
}

function basic(credentials: string): string {
  return `Basic ${new TextEncoder().encode(credentials).toBase64()}`;
}

Deno.test("the admin listener answers to localhost, IP addresses and names of the machine only", () => {
  const known = [
    "localhost",
    "localhost:9",
    "app.localhost",
    "127.0.0.1:8081",
    "10.0.0.5",
    "[::1]:8081",
  ];
  for (const host of [...known, "machine.example:8081", "MACHINE.example.", "gateway.example"]) {
    assertEquals(verdict({ headers: { host } }), null, host);
  }
  for (
    const host of [
      "evil.example",
      "machine.example.evil",
      "localhost.evil",
      "1.2.3",
      "",
      "a b",
      "[x",
    ]
  ) {
    assertEquals(verdict({ headers: { host } }), 403, host);
  }
});

Deno.test("a request whose request line names a foreign host is refused", () => {
  assertEquals(verdict({ url: "http://evil.example/" }), 403);
  assertEquals(verdict({ url: "http://evil.example/", headers: {} }), 403);
});

Deno.test("a page of another origin gets nothing from the admin listener", () => {
  for (const origin of ["http://127.0.0.1:8081", "https://127.0.0.1:8081"]) {
    assertEquals(verdict({ headers: { ...HOST, origin } }), null, origin);
  }
  const foreign = [
    "http://evil.example",
    "http://127.0.0.1:8080",
    "http://127.0.0.1",
    "null",
    "app://x",
  ];
  for (const origin of [...foreign, "http://localhost:8081", "file://127.0.0.1:8081", ""]) {
    assertEquals(verdict({ headers: { ...HOST, origin } }), 403, origin);
  }
});

Deno.test("a page of another site cannot load a file of the admin listener or take a place of its streams, but may link to the page", () => {
  for (const site of ["cross-site", "same-site"]) {
    const script = {
      "sec-fetch-site": site,
      "sec-fetch-mode": "no-cors",
      "sec-fetch-dest": "script",
    };
    assertEquals(verdict({ headers: { ...HOST, ...script } }), 403, site);
    const frame = {
      "sec-fetch-site": site,
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "iframe",
    };
    assertEquals(verdict({ headers: { ...HOST, ...frame } }), 403, site);
    const link = {
      "sec-fetch-site": site,
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
    };
    assertEquals(verdict({ headers: { ...HOST, ...link } }), null, site);
    const stream = "http://127.0.0.1:8081/events?1";
    assertEquals(verdict({ url: stream, headers: { ...HOST, ...link } }), 403, site);
  }
  assertEquals(verdict({ headers: { ...HOST, "sec-fetch-site": "same-origin" } }), null);
  assertEquals(verdict({ headers: { ...HOST, "sec-fetch-site": "none" } }), null);
});

Deno.test("the admin listener serves GET and HEAD only, and no long URLs", () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
    assertEquals(verdict({ method }), 405, method);
  }
  assertEquals(verdict({ method: "HEAD" }), null);
  assertEquals(verdict({ url: `http://127.0.0.1:8081/?${"a".repeat(8_192)}` }), 414);
});

Deno.test("a password of the admin page is required on every request, whatever the user name", () => {
  assertEquals(withPassword(basic("anyone:right pässword")), null);
  assertEquals(withPassword(basic(":right pässword")), null);
  const wrong = [
    null,
    "",
    "Basic",
    "Basic !",
    basic("right pässword"),
    basic("a:wrong"),
    basic("a:"),
  ];
  for (
    const one of [...wrong, basic("a:right pässword "), "Bearer right", basic("a".repeat(5_000))]
  ) {
    const refused = withPassword(one);
    assertEquals(refused?.status, 401, one ?? "none");
    assertEquals(refused?.headers, {
      "www-authenticate": 'Basic realm="switchyard admin", charset="UTF-8"',
    });
  }
});
