/** Digits of a source map: each has five bits of a number, and one that says if more follow. */
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * Returns the mappings of a source map (ECMA-426) with the source and the line of each line alone,
 * without columns and names. The runtime parses a map when it loads the code and keeps all of its
 * positions, of which one with columns has four times as many: measured, 12 MB of an executable.
 */
export function lineMappings(mappings: string): string {
  // Each number is the difference to the one before it.
  let [source, line] = [0, 0];
  let [writtenSource, writtenLine] = [0, 0];
  return mappings.split(";").map((positions) => {
    let written = "";
    for (const position of positions === "" ? [] : positions.split(",")) {
      const [, sourceStep, lineStep] = numbersOf(position);
      if (sourceStep === undefined || lineStep === undefined) continue;
      source += sourceStep;
      line += lineStep;
      if (written !== "") continue;
      written = [0, source - writtenSource, line - writtenLine, 0].map(textOf).join("");
      [writtenSource, writtenLine] = [source, line];
    }
    return written;
  }).join(";");
}

function numbersOf(text: string): readonly number[] {
  const numbers: number[] = [];
  let [number, bits] = [0, 0];
  for (const digit of text) {
    const value = DIGITS.indexOf(digit);
    number |= (value & 31) << bits;
    bits += 5;
    if ((value & 32) !== 0) continue;
    // The lowest bit is the sign.
    numbers.push((number & 1) === 1 ? -(number >> 1) : number >> 1);
    [number, bits] = [0, 0];
  }
  return numbers;
}

function textOf(number: number): string {
  let text = "";
  let left = number < 0 ? -number << 1 | 1 : number << 1;
  do {
    const digit = left & 31;
    left >>= 5;
    text += DIGITS[left > 0 ? digit | 32 : digit];
  } while (left > 0);
  return text;
}
