import { newLineReader } from "./lines.ts";

/**
 * Maximum number of messages that wait for the other process; one that stopped reading is given up.
 * All credentials and key sets of a configuration are handed over at once, also while a worker that
 * starts does not read yet.
 */
export const MAX_WAITING_MESSAGES = 2_000;

/** Maximum length of all messages that wait behind another one. */
const MAX_WAITING_CHARS = 32 * 1024 * 1024;

/** Maximum length of one message; a configuration with its certificates is far below. */
const MAX_MESSAGE_CHARS = 64 * 1024 * 1024;

/** Messages between the parent and one worker, one JSON text a line. */
export interface Channel<Sent, Received> {
  /** Sends a message after the earlier ones. Returns false if the other process does not read. */
  send(message: Sent): boolean;
  /**
   * Yields the received messages in order, until the other process closes its end or breaks the
   * format.
   */
  received(): AsyncIterableIterator<Received>;
  /** Closes this end when all messages are sent. */
  close(): Promise<void>;
}

/**
 * Returns the channel over the two pipes of a process. Both ends are the same program, so types are
 * not checked.
 */
export function newChannel<Sent extends { readonly kind: string }, Received>(
  input: ReadableStream<Uint8Array<ArrayBuffer>>,
  output: WritableStream<Uint8Array<ArrayBuffer>>,
): Channel<Sent, Received> {
  const encoder = new TextEncoder();
  const writer = output.getWriter();
  let waiting = 0;
  let waitingChars = 0;
  let isBroken = false;
  let sending = Promise.resolve();

  async function write(text: string): Promise<void> {
    try {
      await writer.write(encoder.encode(`${text}\n`));
    } catch {
      // The other process has ended, which its own end reports.
      isBroken = true;
    } finally {
      waiting--;
      waitingChars -= text.length;
    }
  }

  return {
    send(message) {
      if (isBroken || waiting >= MAX_WAITING_MESSAGES) return false;
      const text = JSON.stringify(message);
      // A single message of any length is sent, such as a configuration with many keys.
      if (waiting > 0 && waitingChars + text.length > MAX_WAITING_CHARS) return false;
      waiting++;
      waitingChars += text.length;
      sending = sending.then(() => write(text));
      return true;
    },
    async *received() {
      const lines = newLineReader(MAX_MESSAGE_CHARS);
      try {
        for await (const text of input.pipeThrough(new TextDecoderStream())) {
          for (const line of lines.push(text)) {
            if (line.kind === "dropped") return;
            yield JSON.parse(line.text);
          }
        }
      } catch {
        // A broken line or pipe ends the channel as its close does.
      }
    },
    async close() {
      await sending;
      await writer.close().catch(() => {});
    },
  };
}
