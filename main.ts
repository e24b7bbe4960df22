import { run } from "./src/cli/run.ts";
import { realTerminal } from "./src/cli/terminal.ts";

const terminal = realTerminal();
const code = await run(Deno.args, terminal);
await terminal.flush();
Deno.exit(code);
