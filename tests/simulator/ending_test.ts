import { newEndingHandler } from "../../src/simulator/ending.ts";
import { assertEquals } from "../support/assert.ts";

const REQUEST = () => new Request("http://localhost/");

Deno.test("a handler that ends responds with 503 to the requests without a response, and to no other ones", async () => {
  const late = Promise.withResolvers<Response>();
  const responses = [new Response("early"), late.promise, new Response("later")];
  const { handle, end } = newEndingHandler(() => responses.shift() ?? new Response());
  assertEquals(await (await handle(REQUEST())).text(), "early");
  const hanging = handle(REQUEST());
  end();
  assertEquals((await hanging).status, 503);
  assertEquals(await (await handle(REQUEST())).text(), "later");
});
