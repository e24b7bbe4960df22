import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { parseDestination, requestParts, reuseParts } from "../../src/http_client/request.ts";
import type { Outgoing } from "../../src/core/world.ts";
import { assert, assertEquals } from "../support/assert.ts";

const NONE: Pick<Outgoing, "method" | "headers" | "body"> = {
  method: "GET",
  headers: {},
  body: null,
};

/** Returns the written request, of one character for each byte. */
function written(url: string, more: Partial<Outgoing> = {}): string {
  return requestParts(parseDestination(url), { ...NONE, ...more })
    .flatMap((part) => Array.from(part, (code) => String.fromCharCode(code))).join("");
}

function lines(url: string, more: Partial<Outgoing> = {}): string[] {
  return written(url, more).split("\r\n");
}

function isTypeError(work: () => unknown): boolean {
  try {
    work();
    return false;
  } catch (error) {
    return error instanceof TypeError;
  }
}

function isUnsendable(headers: Outgoing["headers"]): boolean {
  try {
    written("http://a.test/", { headers });
    return false;
  } catch (error) {
    return error instanceof ConnectionError && error.kind === "unsendable" && !error.mayHaveRun;
  }
}

Deno.test("a request is written with its length, and one without a body only where it needs one", () => {
  const head = ["host: a.test", "accept: */*", "accept-language: *"];
  const url = "http://a.test/v1";
  assertEquals(lines(url), ["GET /v1 HTTP/1.1", ...head, "", ""]);
  assertEquals(lines(url, { method: "DELETE" }), ["DELETE /v1 HTTP/1.1", ...head, "", ""]);
  const none = ["POST /v1 HTTP/1.1", ...head, "content-length: 0", "", ""];
  assertEquals(lines(url, { method: "POST" }), none);
  assertEquals(lines(url, { method: "POST", body: "" }), none);
  const some = ["POST /v1 HTTP/1.1", ...head, "content-length: 2", "", "\xc3\xa9"];
  assertEquals(lines(url, { method: "POST", body: "é" }), some);
  assertEquals(lines(url, { method: "POST", body: Uint8Array.of(0xc3, 0xa9) }), some);
});

Deno.test("a URL is parsed to its destination", () => {
  const addresses: readonly (readonly [string, string, number, boolean, string, string])[] = [
    ["http://a.test", "a.test", 80, false, "a.test", "/"],
    ["http://a.test:80/x", "a.test", 80, false, "a.test", "/x"],
    ["https://a.test/x?y=z#w", "a.test", 443, true, "a.test", "/x?y=z"],
    ["https://a.test:80/x?", "a.test", 80, true, "a.test:80", "/x"],
    ["http://a.test:443/", "a.test", 443, false, "a.test:443", "/"],
    ["http://a.test:0/", "a.test", 0, false, "a.test:0", "/"],
    ["http://[::1]:8080/x", "::1", 8080, false, "[::1]:8080", "/x"],
    ["https://[2001:db8::1]/x", "2001:db8::1", 443, true, "[2001:db8::1]", "/x"],
    ["http://127.1/x", "127.0.0.1", 80, false, "127.0.0.1", "/x"],
    [
      "http://bücher.test/ü?ü=%zz",
      "xn--bcher-kva.test",
      80,
      false,
      "xn--bcher-kva.test",
      "/%C3%BC?%C3%BC=%zz",
    ],
    ["http://a.test/a%2Fb/%7e?c=%20+d", "a.test", 80, false, "a.test", "/a%2Fb/%7e?c=%20+d"],
  ];
  for (const [url, hostname, port, isSecure, host, path] of addresses) {
    const target = parseDestination(url);
    const origin = new URL(url).origin;
    const parts = { hostname, port, isSecure, host, path, origin };
    const expected = { ...parts, authorization: null, lastHead: null };
    assertEquals(target, expected, url);
  }
  for (const url of ["ftp://a.test/", "file:///etc/passwd", "a.test", "http://"]) {
    assert(isTypeError(() => parseDestination(url)), url);
  }
});

Deno.test("no URL can end the request line", () => {
  for (const url of ["http://a.test/a b\r\nx: y?c d\r\ne", "http://a.test/\0#\r\n"]) {
    const [first = "", ...others] = lines(url);
    assertEquals([first.split(" ").length, others.length], [3, 5]);
  }
});

Deno.test("the credentials of a URL are sent unless the request has an Authorization header", () => {
  const users = [["us%20er:pa%3Ass@", "us er:pa:ss"], ["me@", "me:"], [":pw@", ":pw"], [
    "u%zz@",
    "u%zz:",
  ]];
  for (const [user = "", plain = ""] of users) {
    const url = `http://${user}a.test/`;
    assertEquals(parseDestination(url).authorization, `Basic ${btoa(plain)}`);
    const sent = lines(url, { headers: { authorization: "Bearer y" } });
    assertEquals(sent.filter((line) => line.startsWith("auth")), ["authorization: Bearer y"]);
  }
});

Deno.test("headers are sent as bytes, and framing headers are set only by the client", () => {
  const headers = {
    "X-Name": " caf\xe9\t\r\n",
    "x-name": "2",
    accept: "text/html",
    host: "evil",
    "Content-Length": "99",
    "transfer-encoding": "chunked",
    connection: "close",
    upgrade: "h2c",
    expect: "100-continue",
  };
  assertEquals(lines("http://a.test/", { method: "POST", body: "{}", headers }), [
    "POST / HTTP/1.1",
    "host: a.test",
    "x-name: caf\xe9, 2",
    "accept: text/html",
    "accept-language: *",
    "content-length: 2",
    "",
    "{}",
  ]);
});

Deno.test("a header that would span more than one line is refused", () => {
  const codes = ["\r", "\n", "\0", "\r\n", "\x01", "\x7f", "\u{1f600}", "\u0100"];
  for (const code of codes) {
    for (const headers of [{ "x-a": `1${code}2` }, { [`x${code}a`]: "1" }]) {
      assert(isUnsendable(headers), JSON.stringify(headers));
    }
  }
  for (const name of ["", "x a", "x:", "é", "x(", " x"]) {
    assert(isUnsendable({ [name]: "1" }), name);
  }
});

Deno.test("a request in a reused buffer has no bytes of an earlier request", () => {
  const url = "http://a.test/v1";
  const target = parseDestination(url);
  const bodies = ["x".repeat(3_000), "y", "", "z".repeat(5_000), "é".repeat(100)];
  for (const body of [...bodies, "w".repeat(32 * 1024), "v".repeat(9_000), "u".repeat(33 * 1024)]) {
    const parts = requestParts(target, { ...NONE, method: "POST", body });
    const text = new TextDecoder().decode(Uint8Array.from(parts.flatMap((part) => [...part])));
    assertEquals(text.split("\r\n\r\n")[1], body);
    assertEquals(
      text.includes(`content-length: ${new TextEncoder().encode(body).length}\r\n`),
      true,
    );
    reuseParts(parts);
  }
});

Deno.test("each request to one destination has its own method and header fields", () => {
  const target = parseDestination("http://a.test/v1");
  const requests: Pick<Outgoing, "method" | "headers" | "body">[] = [
    { method: "POST", headers: { a: "1", b: "2" }, body: "" },
    { method: "POST", headers: { a: "1", b: "3" }, body: "" },
    { method: "POST", headers: { a: "1" }, body: "" },
    { method: "POST", headers: { a: "1", b: "3", c: "4" }, body: "" },
    { method: "DELETE", headers: { a: "1", b: "3", c: "4" }, body: null },
    { method: "POST", headers: { b: "3", a: "1" }, body: "" },
    { method: "POST", headers: { b: "3", a: "1" }, body: "" },
  ];
  for (const request of requests) {
    const expected = requestParts(parseDestination("http://a.test/v1"), request);
    assertEquals(requestParts(target, request), expected);
  }
});
