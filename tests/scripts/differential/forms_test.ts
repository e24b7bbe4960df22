import { startPythonReaders } from "../../../scripts/differential/forms.ts";

Deno.test("the readers of forms end although the folder of their Python was removed meanwhile", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.mkdir(`${folder}/bin`);
  const python = `${folder}/bin/python`;
  await Deno.writeTextFile(python, `#!/bin/sh\nrm -r "${folder}"\ncat > /dev/null\n`, {
    mode: 0o755,
  });
  await using _readers = startPythonReaders(python);
});
