import { Buffer } from "node:buffer";
import {
  type Attack,
  connectRaw,
  many,
  oneProvider,
  pause,
  requestHead,
  type Target,
} from "./support.ts";

const CONNECTION_COUNT = 2_000, FLOOD_MS = 15_000;

/** Bytes of an unfinished head, which the runtime holds. */
const HEAD_BYTES = 390_000;

/** Bytes that are written at once, and in a second on all connections: a network of 1 Gbit/s. */
const PIECE = Buffer.alloc(30_000, "a"), BYTES_PER_S = 125_000_000;

const BEGUN = requestHead("GET /health").slice(0, -"\r\n".length) + "x-long: ";

/**
 * Bound of the growth in MiB: of the heads, however many they are, and of as many connections after
 * a whole request, each of which takes 34 KiB.
 */
const MAX_HEADS_GROWTH_MIB = 640, MAX_CONNECTIONS_GROWTH_MIB = CONNECTION_COUNT * 34 / 1024;

/**
 * Heads without an end on many connections, each after a whole request. The connections are opened
 * again whenever they are closed.
 */
export const unfinishedHeads: Attack = {
  row: "A9 heads",
  size: (times) =>
    `${CONNECTION_COUNT * times} connections, unfinished heads of 390 KB at 125 MB/s`,
  config: (upstream) => oneProvider(`${upstream}/compat/v1`),
  maxGrowthMib: (times) => MAX_HEADS_GROWTH_MIB + MAX_CONNECTIONS_GROWTH_MIB * times,
  async load(target, times) {
    const began = performance.now();
    let opened = 0, written = 0;
    const isOver = () => performance.now() - began > FLOOD_MS * times;

    async function hold(target: Target) {
      using connection = await connectRaw(target);
      opened++;
      await connection.write(requestHead("GET /health"));
      await connection.readUntil("}");
      await connection.write(BEGUN);
      for (let bytes = 0; bytes < HEAD_BYTES && !isOver(); bytes += PIECE.length) {
        written += PIECE.length;
        const aheadMs = began + written * 1_000 / BYTES_PER_S - performance.now();
        if (aheadMs > 0) await pause(aheadMs);
        if (!await connection.write(PIECE)) return;
      }
      await Promise.race([connection.readUntil("\r\n\r\n\r\n"), pause(left())]);
    }

    const left = () => Math.max(0, began + FLOOD_MS * times - performance.now());
    await many(CONNECTION_COUNT * times, async () => {
      while (!isOver()) await hold(target).catch(() => pause(100));
    });
    return `${opened} connections opened, ${(written / 1e6).toFixed(0)} MB written`;
  },
};
