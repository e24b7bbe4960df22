import { serveUntilStdinEnds } from "./serve.ts";

// The least that a proxy in this runtime can do; its argument is the upstream's URL.

const [upstream = ""] = Deno.args;

serveUntilStdinEnds(async (request) => {
  const body = await request.bytes();
  return await fetch(upstream, { method: "POST", body });
});
