import { serveUntilStdinEnds } from "./serve.ts";

// The bare proxy: the minimum that a proxy on this runtime costs. Its argument is the upstream's
// URL.

const [upstream = ""] = Deno.args;

serveUntilStdinEnds(async (request) => {
  const body = await request.bytes();
  return await fetch(upstream, { method: "POST", body });
});
