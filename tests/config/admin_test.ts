import { assertEquals } from "../support/assert.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

Deno.test("the admin page is off, on a loopback address and without a password by default", () => {
  const { admin } = configOf(withSection());
  assertEquals(admin, { enabled: false, host: "127.0.0.1", port: 8081 });
});

Deno.test("the admin page requires a password unless its host is a loopback address", () => {
  for (const host of ["127.0.0.1", "127.8.8.8", "localhost", "::1", "admin.localhost"]) {
    assertEquals(problemsOf(withSection(`admin: {enabled: true, host: "${host}"}`)), [], host);
  }
  assertEquals(problemsOf(withSection("admin: {enabled: true, host: 0.0.0.0}")), [
    "admin.host: requires admin.password, because it is not a loopback address; set it, or use " +
    "127.0.0.1 (line 1, column 30)",
  ]);
  const unset = withSection('admin: {enabled: true, host: "10.0.0.5", password: "${NONE}"}');
  assertEquals(problemsOf(unset, { NONE: " " }), [
    "admin.password: must not be blank while admin.host is not a loopback address (line 1, column 52)",
  ]);
  assertEquals(problemsOf(withSection("admin: {enabled: false, host: 0.0.0.0}")), []);
  const set = withSection("admin: {enabled: true, host: 0.0.0.0, password: correct-horse}");
  assertEquals(configOf(set).admin.password, "correct-horse");
});

Deno.test("a blank password of the admin page is none", () => {
  const { admin } = configOf(withSection('admin: {enabled: true, password: "${NONE}"}'), {
    NONE: "",
  });
  assertEquals(Object.keys(admin), ["enabled", "host", "port"]);
});

Deno.test("a wrong host, port or key of the admin page is refused", () => {
  assertEquals(problemsOf(withSection('admin: {host: "http://x", port: 70000, pasword: x}')), [
    "admin.host: must be an IP address or a host name (line 1, column 15)",
    "admin.port: must be at most 65535 (line 1, column 33)",
    'admin.pasword: is not a known key; did you mean "password"? (line 1, column 40)',
  ]);
});

Deno.test("risky settings of the admin page are warned of, without their values", () => {
  const text = withSection(
    "server: {port: 8081}",
    "admin: {enabled: true, host: 0.0.0.0, password: short-one}",
  );
  assertEquals(warningsOf(text), [
    "admin.port: is server.port too; the gateway starts only if the hosts are different addresses " +
    "(line 2, column 1)",
    "admin.password: has fewer than 12 characters, which can be guessed (line 2, column 49)",
  ]);
});
