import { parseArgs } from "node:util";
import { runSoak } from "./soak.ts";

const USAGE = `deno task soak [--minutes 2] [--rate 20]
  --minutes  minutes of load
  --rate     uses of the gateway that begin in each second; one use has up to 12 requests`;

const { values } = parseArgs({
  args: [...Deno.args],
  options: {
    minutes: { type: "string", default: "2" },
    rate: { type: "string", default: "20" },
  },
});
const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
if (!(minutes > 0 && rate > 0)) {
  console.error(USAGE);
  Deno.exit(2);
}
const problems = await runSoak({ minutes, rate, print: console.log });
Deno.exit(problems.length === 0 ? 0 : 1);
