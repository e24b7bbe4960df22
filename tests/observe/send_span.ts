import { newSpans } from "../../src/observe/spans.ts";
import { reportOf } from "./reports.ts";

// A separate process: the packages read its environment, with the permissions that it has.
const spans = await newSpans({
  serviceName: "from-file",
  environment: Deno.env.toObject(),
  log: console,
});
spans?.sink(reportOf());
await spans?.flush();
console.log(spans === null ? "off" : "sent");
