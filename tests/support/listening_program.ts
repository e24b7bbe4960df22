// A program that prints its address and answers until its input ends. With the argument "shared"
// other processes may listen on its port too.
import { listen } from "../../src/cli/listen.ts";

const listening = listen(() => Promise.resolve(new Response("answer")), "127.0.0.1", 0, null, {
  reusePort: Deno.args.includes("shared"),
  warn: (message) => console.log(message),
});
if (!listening.ok) throw new Error(listening.trouble);
console.log(listening.url);
for await (const _ of Deno.stdin.readable);
await listening.close();
