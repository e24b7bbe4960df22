// Loaded into the gateway before its program: writes each gap of the event loop to stderr, and the
// time of the processor in it, which other programs do not make longer.
import process from "node:process";

const TICK_MS = 5, MIN_GAP_MS = 20;

let last = performance.now();
let used = process.threadCpuUsage();
const timer = setInterval(() => {
  const now = performance.now();
  const gap = now - last - TICK_MS;
  if (gap >= MIN_GAP_MS) {
    const { user, system } = process.threadCpuUsage(used);
    console.error(`loop-gap ${gap.toFixed(0)} ${((user + system) / 1000).toFixed(0)}`);
  }
  last = now;
  used = process.threadCpuUsage();
}, TICK_MS);
Deno.unrefTimer(timer);
