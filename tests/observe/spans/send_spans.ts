import { newSpans } from "../../../src/observe/spans/spans.ts";
import { reportOf } from "../reports.ts";

// A process that exports one call for each byte of its input, and prints its log.
const log = (text: string) => console.log(text);
const spans = await newSpans({
  serviceName: "test",
  protocol: "auto",
  environment: Deno.env.toObject(),
  provider: () => null,
  turn: () => null,
  after: () => () => {},
  log: { info: log, warn: log },
});
for await (const bytes of Deno.stdin.readable) {
  for (let call = 0; call < bytes.length; call++) {
    const report = reportOf();
    spans?.begin(report, new Headers());
    spans?.sink(report);
  }
}
await spans?.flush();
console.log("ended");
