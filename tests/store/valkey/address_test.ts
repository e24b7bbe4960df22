import { parseServerAddress, serverName } from "../../../src/store/valkey/address.ts";
import { assertEquals } from "../../support/assert.ts";
import { valkeySettings } from "./connections.ts";

Deno.test("the URL of a server has a scheme, a host, and perhaps a port and a database", () => {
  const address = { host: "cache.example.com", port: 6379, database: 0, isEncrypted: false };
  assertEquals(parseServerAddress("valkey://cache.example.com"), address);
  assertEquals(parseServerAddress("redis://cache.example.com:6379/0"), address);
  assertEquals(parseServerAddress("rediss://cache.example.com:7000/12"), {
    ...address,
    port: 7000,
    database: 12,
    isEncrypted: true,
  });
  assertEquals(parseServerAddress("valkeys://[::1]:1/")?.host, "::1");
});

Deno.test("other texts are no addresses of a server", () => {
  for (
    const text of [
      "",
      "cache.example.com:6379",
      "http://cache.example.com",
      "unix:///run/valkey.sock",
      "valkey:///0",
      "valkey://host/name",
      "valkey://host/0/1",
    ]
  ) assertEquals(parseServerAddress(text), null, text);
});

Deno.test("messages name host and port, or the sentinels, and no credentials", () => {
  assertEquals(serverName(valkeySettings("valkey://user:secret@host:1/2")), "host:1");
  const sentinels = ["one:26379", "two:26379"];
  assertEquals(
    serverName(valkeySettings("valkey://host", { sentinels, master: "main" })),
    "the primary main of one:26379, two:26379",
  );
});
