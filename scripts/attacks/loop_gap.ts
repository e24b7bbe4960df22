// Loaded into the gateway before its program: writes each gap of the event loop to stderr.

const TICK_MS = 5, MIN_GAP_MS = 20;

let last = performance.now();
const timer = setInterval(() => {
  const now = performance.now();
  const gap = now - last - TICK_MS;
  if (gap >= MIN_GAP_MS) console.error(`loop-gap ${gap.toFixed(0)}`);
  last = now;
}, TICK_MS);
Deno.unrefTimer(timer);
