import type { Codec } from "../../src/core/stream/stream.ts";
import type { StreamEvent } from "../../src/core/stream/events.ts";
import type { StreamRecord } from "../../src/core/stream/reply.ts";
import { type Result, success } from "../../src/core/failure/result.ts";
import { newSseFraming } from "../../src/formats/sse.ts";
import { textPieces } from "../support/pieces.ts";

type Decoder = Codec<StreamRecord, StreamEvent>;

/** Returns the events of stream records, including the events at the end of the stream. */
export function decodeRecords(
  decoder: Decoder,
  records: readonly StreamRecord[],
): Result<readonly StreamEvent[]> {
  const events: StreamEvent[] = [];
  for (const record of records) {
    if (decoder.done()) break;
    const step = decoder.push(record);
    if (!step.ok) return step;
    events.push(...step.value);
  }
  const end = decoder.end();
  return end.ok ? success([...events, ...end.value]) : end;
}

/** Returns the events of an SSE text that arrives in parts of at most `size` characters. */
export function decodeSse(
  decoder: Decoder,
  text: string,
  size: number,
): Result<readonly StreamEvent[]> {
  const framing = newSseFraming();
  const records = textPieces(text, size).flatMap((piece) => [...framing.push(piece)]);
  return decodeRecords(decoder, [...records, ...framing.end()]);
}
