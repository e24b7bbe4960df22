import { assert, assertEquals } from "../../../support/assert.ts";
import { NATIVE_RECORDS, WAITING_RECORDS } from "./native_recording.ts";
import { failureIn, relayed } from "./native_stream.ts";

const TEXT = NATIVE_RECORDS.join("");
const BYTES = new TextEncoder().encode(TEXT);

/** Where each record ends, in bytes. */
const ENDS = NATIVE_RECORDS.map((_, at) =>
  new TextEncoder().encode(NATIVE_RECORDS.slice(0, at + 1).join("")).length
);

const READ_SIZES = [48, BYTES.length];

// Each byte is the end in one of the two sizes: the reader of records does not know how the stream
// will end while it reads.
for (const [first, ending] of (["clean", "reset"] as const).entries()) {
  for (const [second, readSize] of READ_SIZES.entries()) {
    Deno.test(`a native stream may end at any byte (${ending}, ${readSize} a read)`, async () => {
      for (let at = (first + second) % 2; at <= BYTES.length; at += 2) {
        const { refused, text, broken, outcome } = await relayed(BYTES.subarray(0, at), {
          ending,
          readSize,
        });
        const whole = ENDS.filter((end) => end <= at).length;
        if (whole <= WAITING_RECORDS) {
          const kind = ending === "clean" ? "invalid_upstream_response" : "upstream_unreachable";
          assertEquals([refused?.kind, text], [kind, ""], `${at} bytes`);
        } else if (whole === NATIVE_RECORDS.length) {
          assertEquals([refused, text, broken], [null, TEXT, null]);
          assertEquals<unknown>(outcome?.resource?.id, "resp_1");
        } else {
          const before = NATIVE_RECORDS.slice(0, whole).join("");
          assert(text.startsWith(before) && broken !== null && outcome === null, `${at} bytes`);
          const rest = text.slice(before.length);
          assertEquals(rest.split("\n\n").length, 2, rest);
          const number = /.*"sequence_number": ?(\d+)/s.exec(before)?.[1];
          assertEquals<unknown>(failureIn(rest, Number(number) + 1).id, "resp_1");
        }
      }
    });
  }
}
