import { parseProxyRule } from "../../src/http_client/proxy_rule.ts";
import { parseDestination } from "../../src/http_client/request.ts";
import { assert, assertEquals } from "../support/assert.ts";

function isProxied(env: Readonly<Record<string, string>>, url: string): boolean {
  return parseProxyRule((name) => env[name])?.(parseDestination(url)) ?? false;
}

Deno.test("each scheme has its own proxy variable and ALL_PROXY sets both, in upper and lower case", () => {
  const cases: readonly (readonly [name: string, http: boolean, https: boolean])[] = [
    ["HTTP_PROXY", true, false],
    ["HTTPS_PROXY", false, true],
    ["ALL_PROXY", true, true],
    ["NO_PROXY", false, false],
  ];
  for (const [name, http, https] of cases) {
    for (const variable of [name, name.toLowerCase()]) {
      const env = { [variable]: "proxy.test:3128" };
      const found = [isProxied(env, "http://a.test/"), isProxied(env, "https://a.test/")];
      assertEquals(found, [http, https], variable);
      assertEquals(isProxied({ [variable]: "" }, "http://a.test/"), false);
    }
  }
  assertEquals(parseProxyRule(() => undefined), null);
});

Deno.test("requests to loopback names and addresses never go through a proxy", () => {
  const env = { HTTP_PROXY: "http://proxy.test", HTTPS_PROXY: "http://proxy.test" };
  const hosts = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "127.0.0.1",
    "127.9.8.7",
    "2130706433",
    "[::1]",
    "[::ffff:127.0.0.1]",
  ];
  for (const host of hosts) {
    for (const scheme of ["http", "https"]) {
      assert(!isProxied(env, `${scheme}://${host}:11434/v1`), `${scheme} ${host}`);
    }
  }
  for (const host of ["localhost.test", "notlocalhost", "128.0.0.1", "[::2]", "0.0.0.0"]) {
    assert(isProxied(env, `http://${host}/v1`), host);
  }
});

Deno.test("requests to link-local addresses, such as the metadata service of a cloud, never go through a proxy", () => {
  const env = { ALL_PROXY: "http://proxy.test" };
  for (const host of ["169.254.169.254", "169.254.170.2", "[fe80::1]", "[fd00:ec2::23]"]) {
    assert(!isProxied(env, `http://${host}/latest`), host);
  }
  for (const host of ["169.255.0.1", "[fd00:ec3::23]"]) {
    assert(isProxied(env, `http://${host}/`), host);
  }
});

Deno.test("NO_PROXY lists hosts, domains, addresses, networks and ports as in Go", () => {
  const cases: readonly (readonly [list: string, url: string, isDirect: boolean])[] = [
    ["*", "http://a.test/", true],
    ["a.test", "http://a.test/", true],
    ["a.test", "http://A.Test/", true],
    ["A.TEST", "https://a.test/", true],
    ["a.test", "http://b.a.test/", true],
    ["a.test", "http://ba.test/", false],
    ["a.test", "http://test/", false],
    [".a.test", "http://b.a.test/", true],
    [".a.test", "http://a.test/", false],
    ["*.a.test", "http://c.b.a.test/", true],
    ["*.a.test", "http://a.test/", false],
    ["b.test, a.test ,", "http://a.test/", true],
    [" , ,", "http://a.test/", false],
    ["a.test:8080", "http://a.test:8080/", true],
    ["a.test:8080", "http://a.test/", false],
    ["a.test:80", "http://a.test/", true],
    ["a.test:443", "https://a.test/", true],
    [".a.test:443", "https://b.a.test/", true],
    ["10.1.2.3", "http://10.1.2.3/", true],
    ["10.1.2.3", "http://10.1.2.4/", false],
    ["10.1.2.3:81", "http://10.1.2.3:81/", true],
    ["10.1.2.3:81", "http://10.1.2.3/", false],
    ["10.0.0.0/8", "http://10.200.2.3:99/", true],
    ["10.0.0.0/8", "http://11.0.0.1/", false],
    ["10.0.0.0/8", "http://ten.test/", false],
    ["10.0.0.0/33", "http://10.0.0.1/", false],
    ["2001:db8::1", "http://[2001:db8:0:0::1]/", true],
    ["[2001:db8::1]", "http://[2001:db8::1]:8080/", true],
    ["[2001:db8::1]:81", "http://[2001:db8::1]/", false],
    ["[2001:db8::1]:81", "http://[2001:db8::1]:81/", true],
    ["2001:db8::/32", "https://[2001:db8:ffff::2]/", true],
    ["2001:db8::/32", "https://[2001:db9::2]/", false],
    ["10.0.0.0/8", "http://[2001:db8::1]/", false],
  ];
  for (const [list, url, isDirect] of cases) {
    const env = { ALL_PROXY: "http://proxy.test", NO_PROXY: list };
    assertEquals(isProxied(env, url), !isDirect, `${list} for ${url}`);
  }
});
