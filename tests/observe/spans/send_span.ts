import { newSpans } from "../../../src/observe/spans/spans.ts";
import { reportOf } from "../reports.ts";

// A separate process: the packages read its environment, with the permissions that it has.
const spans = await newSpans({
  serviceName: "from-file",
  protocol: Deno.env.get("TEST_PROTOCOL") === "http/json" ? "http/json" : "auto",
  environment: Deno.env.toObject(),
  provider: () => null,
  turn: () => null,
  after: () => () => {},
  log: console,
});
const report = reportOf();
spans?.begin(report, new Headers());
spans?.sink(report);
await spans?.flush();
console.log(spans === null ? "off" : "sent");
