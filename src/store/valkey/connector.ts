import { Socket } from "node:net";
import type * as Library from "iovalkey";
import { dial, type DialAttempt, type DialOptions } from "./dial.ts";

/** The options of a client that its connector reads. */
interface ConnectorOptions {
  readonly host?: string;
  readonly port?: number;
}

/** Returns the connector of clients of a server, or of a node of a cluster. */
export function newConnector(
  { AbstractConnector }: Pick<typeof Library, "AbstractConnector">,
  options: DialOptions,
): new (options: unknown) => Library.AbstractConnector {
  return class ServerConnector extends AbstractConnector {
    readonly #options: ConnectorOptions;
    #attempt: DialAttempt | null = null;

    constructor(client: unknown) {
      super(0);
      this.#options = connectorOptions(client);
    }

    override async connect(): Promise<Socket> {
      const { host = "", port = 0 } = this.#options;
      this.#attempt = dial(host, port, options);
      try {
        this.stream = await this.#attempt.stream;
        return this.stream;
      } catch (error) {
        // The client makes the connection again only after a stream that has ended.
        this.firstError = error instanceof Error ? error : new Error("closed");
        return new Socket().destroy();
      } finally {
        this.#attempt = null;
      }
    }

    /** Destroys the connection at once. The library would wait for its end with a timer. */
    override disconnect(): void {
      this.connecting = false;
      this.#attempt?.abort();
      this.stream?.end();
      this.stream?.destroy();
    }
  };
}

function connectorOptions(options: unknown): ConnectorOptions {
  if (typeof options !== "object" || options === null) return {};
  const host = "host" in options && typeof options.host === "string" ? options.host : "";
  const port = "port" in options && typeof options.port === "number" ? options.port : 0;
  return { host, port };
}
