import fc from "fast-check";
import {
  isLoopback,
  isLoopbackName,
  parseAuthority,
  parseOrigin,
} from "../../src/core/authority.ts";
import { assert, assertEquals } from "../support/assert.ts";

const PIECES = [
  ..."localhost|127.0.0.1|127.1|[::1]|[::ffff:127.0.0.1]|example.com|.|:|/|@|#|?|,| |%|*|_|-|\\"
    .split("|"),
  ..."http://|https://|http:|//|0|1|80|443|65535|65536|a|A|é|\u0000|\t|[|]|::|xn--a".split("|"),
];

const hostile = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((all) => all.join(""));

Deno.test("whatever is read as an origin is the origin that a browser reads", () => {
  let read = 0;
  fc.assert(
    fc.property(fc.constantFrom("http://", "https://", ""), hostile, (scheme, text) => {
      const origin = parseOrigin(scheme + text);
      // Other schemes have other rules, and are only ever compared with what is configured.
      if (origin === null || !/^https?$/.test(origin.scheme)) return;
      const url = URL.parse(scheme + text);
      // Browsers read some numbers as addresses, or refuse them: here they are names that match
      // nothing.
      if (url === null || /^[\d.]+$/.test(url.hostname)) return;
      read++;
      assertEquals(origin.host, url.hostname.replace(/\.$/, ""));
      assertEquals(`${origin.scheme}:`, url.protocol);
      const usual = url.protocol === "http:" ? 80 : 443;
      assertEquals(origin.port ?? usual, url.port === "" ? usual : Number(url.port));
      assertEquals([url.username, url.password, url.pathname], ["", "", "/"]);
      assertEquals([url.search, url.hash], ["", ""]);
    }),
    { numRuns: 5_000 },
  );
  assert(read > 100, `only ${read} were read at all`);
});

Deno.test("a host name that browsers resolve by DNS is never treated as this machine", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const host = parseAuthority(text)?.host;
      if (host === undefined || !isLoopback(host)) return;
      const url = URL.parse(`http://${text}`);
      // A browser that cannot read it goes nowhere.
      if (url === null) return;
      const name = url.hostname.replace(/\.$/, "");
      assert(/(^|\.)localhost$|^127\.\d+\.\d+\.\d+$|^\[::(1|ffff:7f.*)\]$/.test(name), text);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("a host is read with and without its port", () => {
  assertEquals(parseAuthority("Example.COM.:8080"), { host: "example.com", port: 8080 });
  assertEquals(parseAuthority("example.com"), { host: "example.com", port: null });
  assertEquals(parseAuthority("[0:0::1]:0"), { host: "[::1]", port: 0 });
  for (const zone of ["%eth0", "%25eth0", "%25br-1.2_~"]) {
    assertEquals(parseAuthority(`[FE80::0:1${zone}]:80`), { host: "[fe80::1]", port: 80 });
    assertEquals(parseOrigin(`http://[fe80::1${zone}]`), null, "no browser sends it");
  }
  for (const text of ["[fe80::1%]", "[fe80::1%a/b]", "[%eth0]", "example.com%eth0"]) {
    assertEquals(parseAuthority(text), null, text);
  }
  assertEquals(parseAuthority("localhost:"), { host: "localhost", port: null });
  assertEquals(parseAuthority("a".repeat(300)), null);
});

Deno.test("loopback hosts are localhost, its subdomains, 127.0.0.0/8 and ::1, and no similar names", () => {
  for (const name of ["localhost", "x.localhost", "localhost.", "127.0.0.1", "127.1.2.3"]) {
    assertEquals(isLoopbackName(name), true, name);
  }
  for (const name of ["::1", "[::1]", "::ffff:7f00:1", "[::ffff:7f00:1]"]) {
    assertEquals(isLoopbackName(name), true, name);
  }
  const others = ["localhost.test", "alocalhost", "127.0.0.1.test", "126.0.0.1", "::2", "::7f00:1"];
  for (const name of others) assertEquals(isLoopbackName(name), false, name);
});
