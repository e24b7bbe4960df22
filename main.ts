import { FAILED_STATUS, OK_STATUS } from "./src/cli/command.ts";
import { run } from "./src/cli/run.ts";
import { realTerminal } from "./src/cli/terminal.ts";

/**
 * Time in milliseconds for what a command has left, such as a log without a reader, to end by
 * itself.
 */
const LAST_TASKS_TIMEOUT_MS = 1_000;

const terminal = realTerminal();
const status = await run(Deno.args, terminal);
const code = status === OK_STATUS && terminal.isOutputLost ? FAILED_STATUS : status;
await terminal.flush();
Deno.exitCode = code;
Deno.unrefTimer(setTimeout(() => Deno.exit(code), LAST_TASKS_TIMEOUT_MS));
