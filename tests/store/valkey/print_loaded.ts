import { createRequire } from "node:module";
import { openGateway } from "../../../src/cli/gateway_server.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { testTerminal } from "../../cli/test_terminal.ts";

/**
 * Opens a gateway with each configuration in the arguments, and prints how many files of the
 * library are loaded then.
 */
for (const text of Deno.args) {
  const loaded = parseConfig(text, {});
  if (!loaded.ok) throw new Error(loaded.problems.join("\n"));
  const config = { ...loaded.config, server: { ...loaded.config.server, port: 0 } };
  const gateway = await openGateway(config, testTerminal());
  if (!gateway.ok) throw new Error(gateway.trouble);
  const files = Object.keys(createRequire(import.meta.url).cache);
  console.log(files.filter((file) => file.includes("iovalkey")).length);
  await gateway.close();
}
Deno.exit(0);
