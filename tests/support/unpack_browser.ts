/** The browser from npm, 67 MB, for Linux on x86-64. */
const CHROMIUM = "npm:@sparticuz/chromium@153.0.0";

// The specifier is a variable, so that only this program downloads the package.
const { default: chromium } = await import(CHROMIUM);
console.log(await chromium.executablePath());
