import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { newHttpClient } from "../../src/http_client/client.ts";
import { DEFAULT_TRANSPORT } from "../../src/core/transport.ts";
import { assertEquals } from "../support/assert.ts";
import { pem, tlsSettings } from "../http_client/certificates.ts";
import { textOf } from "../http_client/heard.ts";
import { post } from "../http_client/server.ts";
import { configJsonSchema } from "../../src/config/json_schema.ts";
import { CHECKS_CLIENT_CERTIFICATES } from "../support/runtime.ts";
import { isObject } from "../../src/core/json/json.ts";

Deno.test("the pinned runtime ignores that a server requires client certificates, and no key of the file promises it", async () => {
  const server = createServer({
    cert: pem("named.pem"),
    key: pem("server.key"),
    ca: pem("ca.pem"),
    requestCert: true,
    rejectUnauthorized: true,
  }, (_request, response) => response.end("served without a certificate"));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = newHttpClient();
  const transport = { ...DEFAULT_TRANSPORT, tls: tlsSettings() };
  const served = await client.send(`https://127.0.0.1:${port}/`, post(null, { transport }))
    .then(textOf, () => null);
  assertEquals(served, CHECKS_CLIENT_CERTIFICATES ? null : "served without a certificate");
  client.close();
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  const { properties } = configJsonSchema();
  const sections = isObject(properties) ? [properties.server, properties.security] : [];
  assertEquals(sections.length, 2);
  for (const section of sections) {
    assertEquals(/"[^"]*(cert|mtls)[^"]*":/i.exec(JSON.stringify(section)), null);
  }
});
