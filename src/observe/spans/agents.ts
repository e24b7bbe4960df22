import type { Agent } from "node:http";
import { readText } from "../../config/files.ts";
import type { Log } from "../log.ts";

/** Settings of an agent: certificates and key as PEM. */
interface AgentSettings {
  readonly keepAlive: boolean;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

type NewAgent = new (settings: AgentSettings) => Agent;

/**
 * Returns a factory of the agents that send spans, with the certificates of the variables, which
 * are read now; an unreadable one is logged and as if it were not set. Every batch has a new connection: on
 * one that the collector has closed meanwhile, the request of Deno's `node:http` throws after its
 * timeout where nothing catches it, which ends the process.
 */
export async function newAgents(
  variable: (name: string) => string,
  { HttpAgent, HttpsAgent }: { readonly HttpAgent: NewAgent; readonly HttpsAgent: NewAgent },
  log: Pick<Log, "warn">,
): Promise<(protocol: string) => Agent> {
  const [ca, cert, key] = await Promise.all(
    ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].map(readFile),
  );
  return (protocol) =>
    protocol === "http:" ? new HttpAgent({ keepAlive: false }) : new HttpsAgent({
      keepAlive: false,
      ...ca !== undefined && { ca },
      ...cert !== undefined && { cert },
      ...key !== undefined && { key },
    });

  async function readFile(name: string): Promise<string | undefined> {
    const path = variable(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ||
      variable(`OTEL_EXPORTER_OTLP_${name}`);
    if (path === "") return undefined;
    const file = await readText(path);
    if (file.ok) return file.text;
    log.warn(`spans are sent without the file of OTEL_EXPORTER_OTLP_${name}: it ${file.trouble}`);
    return undefined;
  }
}
