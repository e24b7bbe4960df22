import { Buffer } from "node:buffer";
import { Socket } from "node:net";
import { newReplyFramer } from "./reply_framer.ts";

const READ_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** Beginning of the message with which the library destroys the connection of a silent server. */
const SILENCE = "Socket timeout";

/** Turns of the event loop after which a server that has replied is no longer silent. */
const LATE_TURNS_COUNT = 2;

/**
 * Returns a connection as a stream of the kind that the library expects. It passes on whole
 * replies: for parts of texts the parser of the library runs a timer that outlasts the connection.
 */
export function newConnectionStream(connection: Deno.Conn): Socket {
  return new ConnectionStream(connection);
}

class ConnectionStream extends Socket {
  readonly #connection: Deno.Conn;
  readonly #framer = newReplyFramer();
  /** Receives what is read; what is passed on or kept is a copy. */
  readonly #buffer = Buffer.alloc(READ_BYTES);
  /** Bytes of a reply that is not complete. */
  #parts: Buffer[] = [];
  /** Number of reads that have ended. */
  #reads = 0;
  #lateTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Deno.Conn) {
    super();
    this.#connection = connection;
  }

  override _read(): void {
    this.#readReplies().catch((error) => void this.destroy(error));
  }

  /** Reads until a reply is complete. */
  async #readReplies(): Promise<void> {
    for (;;) {
      const count = await this.#connection.read(this.#buffer);
      this.#reads++;
      if (count === null) return void this.destroy();
      const bytes = this.#buffer.subarray(0, count);
      const complete = this.#framer.take(bytes);
      const rest = complete < count ? [Buffer.from(bytes.subarray(complete))] : [];
      if (complete > 0) {
        const replies = Buffer.concat([...this.#parts, bytes.subarray(0, complete)]);
        this.#parts = rest;
        return void this.push(replies);
      }
      this.#parts.push(...rest);
      // Only a server that sends nothing is silent.
      this.emit("data", NOTHING);
    }
  }

  override _write(
    chunk: string | Uint8Array,
    _encoding: string,
    callback: (error?: Error | null) => void,
  ): void {
    this.#writeAll(bytesOf(chunk)).then(() => callback(), callback);
  }

  override _writev(
    chunks: { chunk: string | Uint8Array }[],
    callback: (error?: Error | null) => void,
  ): void {
    const bytes = Buffer.concat(chunks.map(({ chunk }) => bytesOf(chunk)));
    this.#writeAll(bytes).then(() => callback(), callback);
  }

  /**
   * Destroys the stream. After a pause of the process, timers run before what has arrived meanwhile
   * is read, so a server counts as silent only if a read does not end in the next turns.
   */
  override destroy(error?: Error): this {
    if (error?.message.startsWith(SILENCE) !== true) return super.destroy(error);
    const reads = this.#reads;
    const look = (turns: number): void => {
      if (this.#reads !== reads) return;
      if (turns === 0) return void super.destroy(error);
      this.#lateTimer = setTimeout(look, 0, turns - 1);
    };
    look(LATE_TURNS_COUNT);
    return this;
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    clearTimeout(this.#lateTimer);
    this.#connection.close();
    // Also emits the event `close`.
    super._destroy(error, (failure) => callback(failure ?? null));
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      at += await this.#connection.write(bytes.subarray(at));
    }
  }
}

function bytesOf(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
