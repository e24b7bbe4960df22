import { utf8Text } from "../../formats/utf8.ts";

/** Times of a subtitle (SubRip; WebVTT, section 4.1), of which the second one is its end. */
const END_TIME = /^-->[ \t]+(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{3})(?!\d)/;

const ARROW = "-->";

/** Bytes at the end of subtitles in which the last time is searched; a subtitle is a few lines. */
const MAX_TAIL_BYTES = 16 * 1024;

/** Returns the end of the last subtitle of a response in seconds; null if it has no subtitles. */
export function subtitledSeconds(body: Uint8Array<ArrayBuffer>): number | null {
  const tail = body.subarray(-MAX_TAIL_BYTES);
  const first = tail.findIndex((byte) => (byte & 0xc0) !== 0x80);
  const text = utf8Text(tail.subarray(Math.max(first, 0))) ?? "";
  const found = END_TIME.exec(text.slice(text.lastIndexOf(ARROW)));
  if (found === null) return null;
  const [, hours = "0", minutes, seconds, milliseconds] = found;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) +
    Number(milliseconds) / 1000;
}
