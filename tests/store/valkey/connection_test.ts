import { Buffer } from "node:buffer";
import { newScript, runScript } from "../../../src/store/valkey/script.ts";
import { assertEquals } from "../../support/assert.ts";
import {
  sharedValkeyServer,
  startValkeyServer,
  until,
  valkeyTest,
} from "../../support/valkey_server.ts";
import { connect, newTestConnection, valkeySettings } from "./connections.ts";

const server = await sharedValkeyServer();

valkeyTest("a command gets its reply, with texts as bytes", async () => {
  const connection = await connect(server.url);
  assertEquals<unknown>(await connection.send("ECHO", ["hi"]), {
    kind: "reply",
    value: Buffer.from("hi"),
  });
  await connection.close();
});

valkeyTest("a script is executed, also after the server has forgotten all scripts", async () => {
  const connection = await connect(server.url);
  const script = newScript("return {ARGV[1] + 1, KEYS[1]}");
  const expected = { ok: true, value: [42, Buffer.from("{s}:k")] };
  assertEquals<unknown>(await runScript(connection, script, ["{s}:k"], [41]), expected);
  await server.command("SCRIPT", "FLUSH");
  assertEquals<unknown>(await runScript(connection, script, ["{s}:k"], [41]), expected);
  await connection.close();
});

valkeyTest("a command to a server that is stopped ends, and later ones succeed again", async () => {
  const own = await startValkeyServer();
  const { connection, log } = await newTestConnection(valkeySettings(own.url));
  await connection.open(5_000);
  await own.pause();
  assertEquals(await connection.send("PING", []), { kind: "away" });
  assertEquals(await connection.send("PING", []), { kind: "away" });
  own.resume();
  await until(async () => (await connection.send("PING", [])).kind === "reply");
  assertEquals(log.lines, [
    "error: The state store at the server is not available: it does not answer.",
    "warn: The state store at the server is available again.",
  ]);
  await connection.close();
  await own.close();
});
