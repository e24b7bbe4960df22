import { ConnectionError } from "../../src/core/failure/connection_error.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { textOf } from "./heard.ts";
import { post } from "./server.ts";

// A program that sends a request to each of these URLs in turn, and prints each result on one line.

const world = newRealWorld();
for (const url of Deno.args) {
  try {
    const answer = await world.send(url, post("x", { headers: { "accept-encoding": "identity" } }));
    console.log(await textOf(answer));
  } catch (error) {
    console.log(error instanceof ConnectionError ? `${error.kind} ${error.mayHaveRun}` : error);
  }
}
world.close();
