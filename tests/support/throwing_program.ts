// A program whose error names the place in its source. Its first lines are removed by bundling.

interface Place {
  readonly name: string;
}

function fail({ name }: Place): never {
  throw new Error(name);
}

try {
  fail({ name: "here" });
} catch (error) {
  console.log(error instanceof Error ? error.stack?.split("\n").at(-1) : "");
}
