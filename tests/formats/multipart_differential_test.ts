import fc from "fast-check";
import { drawnForms } from "../../scripts/differential/drawn_forms.ts";
import { readWithBusboy } from "../../scripts/differential/read_with_busboy.ts";
import { sentForm } from "../../scripts/differential/sent_form.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("busboy reads the same names and the same model in every form that the gateway accepts", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(drawnForms, async (drawn) => {
      const form = sentForm(drawn);
      if (form === null) return;
      accepted += 1;
      assertEquals(await readWithBusboy(form), form.reading);
    }),
    { seed: 1, numRuns: 2_000 },
  );
  assert(accepted > 200, `${accepted} forms were accepted`);
});
