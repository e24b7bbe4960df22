import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { newAgents } from "../../../src/observe/spans/agents.ts";
import { assertEquals } from "../../support/assert.ts";

const CLASSES = { HttpAgent, HttpsAgent };

const SILENT = { warn() {} };

/** The variables by name; empty for every other one. */
function variables(set: Readonly<Record<string, string>>): (name: string) => string {
  return (name) => set[name] ?? "";
}

Deno.test("batches keep no connection, which the collector could close before the next one", async () => {
  for (const protocol of ["http:", "https:"]) {
    const agent = (await newAgents(variables({}), CLASSES, SILENT))(protocol);
    assertEquals([agent instanceof HttpsAgent, Reflect.get(agent, "keepAlive")], [
      protocol === "https:",
      false,
    ]);
  }
});

Deno.test("certificates and key of the variables are sent, those for spans before others", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const name of ["ca", "other", "cert", "key"]) {
      await Deno.writeTextFile(`${folder}/${name}`, `text of ${name}`);
    }
    const agents = await newAgents(
      variables({
        OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/other`,
        OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: `${folder}/ca`,
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: `${folder}/cert`,
        OTEL_EXPORTER_OTLP_CLIENT_KEY: `${folder}/key`,
      }),
      CLASSES,
      SILENT,
    );
    const { ca, cert, key } = Reflect.get(agents("https:"), "options");
    assertEquals([ca, cert, key], ["text of ca", "text of cert", "text of key"]);
    const unreadable = variables({ OTEL_EXPORTER_OTLP_CERTIFICATE: `${folder}/none` });
    const told: string[] = [];
    const log = { warn: (text: string) => told.push(text) };
    const without = (await newAgents(unreadable, CLASSES, log))("https:");
    assertEquals(Reflect.get(without, "options").ca, undefined);
    assertEquals(told, [
      "spans are sent without the file of OTEL_EXPORTER_OTLP_CERTIFICATE: it does not exist",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
