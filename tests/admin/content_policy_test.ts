import { contentPolicy } from "../../src/admin/content_policy.ts";
import { assertEquals, assertStringIncludes } from "../support/assert.ts";

Deno.test("the content policy names no IPv6 address, for which a source has no form", () => {
  const gateway = { url: "http://[::1]:8080", names: [] };
  assertStringIncludes(
    contentPolicy("", "[::1]:8081", gateway),
    "connect-src 'self' http://127.0.0.1:8080 http://localhost:8080;",
  );
});

/** Sources of a page of this `Host` that a gateway at this address permits. */
function connectSources(url: string, host: string): readonly string[] {
  const policy = contentPolicy("", host, { url, names: [] });
  const [, sources = ""] = /connect-src ([^;]*);/.exec(policy) ?? [];
  return sources.split(" ");
}

Deno.test("the content policy permits every host at the port of a gateway that only an IPv6 address reaches, and no port besides", () => {
  const local = ["http://127.0.0.1:8080", "http://localhost:8080"];
  for (
    const [url, host, expected] of [
      ["http://[fd00::1]:8080", "[fd00::1]:8081", ["'self'", "http://*:8080", ...local]],
      ["http://[fd00::1]:8080", "localhost:8081", [
        "'self'",
        "http://*:8080",
        ...local.toReversed(),
      ]],
      ["http://[::]:8080", "[fd00::1]:8081", ["'self'", "http://*:8080", ...local]],
      ["http://[::]:8080", "[::1]:8081", ["'self'", ...local]],
      ["http://127.0.0.1:8080", "[fd00::1]:8081", ["'self'", ...local]],
    ] as const
  ) assertEquals([...connectSources(url, host)], [...expected], `${url} ${host}`);
});

Deno.test("the content policy of a gateway at every address permits the host of the page and names no address at which no client connects", () => {
  assertEquals(connectSources("http://0.0.0.0:8080", "10.0.0.5:8081"), [
    "'self'",
    "http://10.0.0.5:8080",
    "http://127.0.0.1:8080",
    "http://localhost:8080",
  ]);
});
