import { parseConfig } from "../../src/config/load.ts";
import type { Config } from "../../src/config/schema.ts";
import { openStateStore } from "../../src/store/open_store.ts";
import { type GatewayServer, openGateway, type WorkerRole } from "../../src/cli/gateway_server.ts";
import { type TestTerminal, testTerminal } from "../cli/test_terminal.ts";

/** A whole gateway on a socket, with everything that it sends by itself. */
export interface OutboundGateway extends AsyncDisposable {
  readonly server: Extract<GatewayServer, { readonly ok: true }>;
  readonly terminal: TestTerminal;
  /** Calls the gateway with a connection that ends with it. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Serves another configuration from now on. */
  reload(config: string): void;
  /** Returns the value of `gateway_export_dropped_total`. */
  dropped(): Promise<number>;
  /** Ends the gateway; what waits is sent first. */
  close(): Promise<void>;
}

/** Serves this configuration on a free port, as one of several workers if it has a role. */
export async function outboundGateway(
  config: string,
  role: WorkerRole | null = null,
): Promise<OutboundGateway> {
  const terminal = testTerminal();
  const opened = await openGateway(parsed(config), terminal, openStateStore, role);
  if (!opened.ok) throw new Error(opened.trouble);
  const server = opened;
  const client = Deno.createHttpClient({});
  let closing: Promise<void> | null = null;

  const call = (path: string, init: RequestInit = {}) =>
    fetch(server.url + path, { ...init, client });

  function close() {
    if (closing === null) client.close();
    return closing ??= server.close();
  }

  return {
    server,
    terminal,
    fetch: call,
    reload: (text) => void server.reload(parsed(text)),
    async dropped() {
      const text = await (await call("/metrics")).text();
      return Number(/^gateway_export_dropped_total (\d+)$/m.exec(text)?.[1]);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function parsed(text: string): Config {
  const loaded = parseConfig(text, {});
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  return { ...loaded.config, server: { ...loaded.config.server, port: 0 } };
}
